"""`nfvbed heal`: start VNFs again that died."""

import click

from nfvbed.cli.completion import SITE
from nfvbed.cli.entering import open_site
from nfvbed.cli.onboarded import onboarded, show
from nfvbed.dataplanes.catalogue import open_project


@click.command(name="heal")
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option("--dry-run", is_flag=True, help="Say which VNFs would be started again, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the deployment's record as JSON.")
def command(site: str, dry_run: bool, as_json: bool) -> None:
    """Restart onboarded VNFs that have died; the others run on.

    It is done when frames come through in both directions, as with `nfvbed onboard`.
    """
    project = open_project()
    place = open_site(project.load_site(site), project.root)
    found = onboarded(place)
    where = f"{found.variant.name} ({found.deployment.topology})"
    dead = ", ".join(place.dead_vnfs(found.deployment))
    if dry_run:
        click.echo(f"{where}: {dead} would be started again" if dead else f"{where}: no VNF has died")
        return
    try:
        deployment = place.heal(found.deployment)
    finally:
        place.close()
    show(deployment, f"{where}: {dead} started again" if dead else f"{where}: no VNF had died", as_json)
