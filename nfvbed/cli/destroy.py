"""`nfvbed destroy`: remove what is deployed, and what dead ones left."""

import click

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.catalogue import open_site


@click.command(name="destroy")
@click.option("--site", default="lab", show_default=True, help="Where: a name in deploy/sites.")
@click.option(
    "--all", "everything", is_flag=True, help="Also run directories whose ledger cannot be read. Default: leave them."
)
@click.option("--dry-run", is_flag=True, help="Say what would be taken down, and change nothing.")
def command(site: str, everything: bool, dry_run: bool) -> None:
    """Remove what is deployed, and whatever an nfvbed that was killed left behind."""
    project = open_project()
    opened = open_site(project.load_site(site), project.root)
    try:
        lines = opened.foresee_take_down() if dry_run else opened.take_down(everything=everything)
    finally:
        opened.close()
    for line in lines:
        click.echo(line)
