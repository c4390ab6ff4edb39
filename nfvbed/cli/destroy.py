"""`nfvbed destroy`: remove what is deployed, and what dead ones left."""

import click

from nfvbed.cli.completion import SITE
from nfvbed.cli.console import Console
from nfvbed.cli.entering import find_site
from nfvbed.cli.rack_options import CONFIRMED, EVICT, confirm, refuse_rack_options
from nfvbed.cli.rack_progress import RackProgress
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.signals import end_like_interrupt


@click.command(name="destroy")
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option(
    "--all", "everything", is_flag=True, help="Also run directories whose ledger cannot be read. Default: leave them."
)
@click.option("--dry-run", is_flag=True, help="Say what would be taken down, and change nothing.")
@CONFIRMED
@EVICT
def command(site: str, everything: bool, dry_run: bool, confirmed: str | None, evict: bool) -> None:
    """Remove what is deployed, and whatever an nfvbed that was killed left behind.

    On a site of kind kolla (a rack) that is the cloud with all that is in it: the site's name has to be typed. A cloud
    on which others have instances, ports, stacks or volumes stays, and they are listed, unless --evict is given.
    """
    project = open_project()
    spec = project.load_site(site)
    if not spec.names_before_destroy:
        refuse_rack_options({"confirmed": confirmed})
    if evict and not spec.is_whole_cloud:
        raise UsageError("--evict: of sites that are a whole cloud of nfvbed's", fix="leave it out: others' stays")
    opened = find_site(spec, project.root)
    opened.evicts, opened.observer = evict, RackProgress(Console(stderr=True))
    try:
        if not dry_run and opened.asks_name():
            confirm(spec.name, confirmed)
            end_like_interrupt()
        lines = opened.foresee_take_down() if dry_run else opened.take_down(everything=everything)
    finally:
        opened.close()
    for line in lines:
        click.echo(line)
