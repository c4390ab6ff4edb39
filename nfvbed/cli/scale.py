"""`nfvbed scale`: change the number of VNFs that are side by side."""

import click

from nfvbed.cli.completion import SITE
from nfvbed.cli.entering import open_site
from nfvbed.cli.onboarded import onboarded, show
from nfvbed.dataplanes.catalogue import open_project


@click.command(name="scale")
@click.argument("vnfs", metavar="VNFS", type=click.IntRange(min=1))
@click.option("--site", type=SITE, default="lab", show_default=True, help="Where: a name in deploy/sites.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the deployment's record as JSON.")
def command(vnfs: int, site: str, dry_run: bool, as_json: bool) -> None:
    """Have VNFS of the VNF that is onboarded side by side, each with a share of the flows.

    Those of a chain cannot be scaled: every frame passes all of them. In the lab a data plane makes the ports of all
    VNFs before one is started, so it is set up again with as many: no frame comes through meanwhile.
    """
    project = open_project()
    place = open_site(project.load_site(site), project.root)
    found = onboarded(place)
    if dry_run:
        click.echo(place.foresee_scale(found.deployment, vnfs))
        return
    try:
        deployment = place.scale(found.deployment, vnfs)
    finally:
        place.close()
    show(deployment, f"{deployment.variant} ({deployment.topology}) has {len(deployment.vnfs)} VNFs", as_json)
