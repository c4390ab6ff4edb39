"""`nfvbed scale`: change the number of VNFs that are side by side."""

import click

from nfvbed.cli.completion import SITE
from nfvbed.cli.entering import open_site
from nfvbed.cli.onboarded import onboarded, show
from nfvbed.dataplanes.catalogue import open_project


@click.command(name="scale")
@click.argument("vnfs", metavar="VNFS", type=click.IntRange(min=1))
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the deployment's record as JSON.")
def command(vnfs: int, site: str, dry_run: bool, as_json: bool) -> None:
    """Scale the onboarded VNF to VNFS instances side by side, each with a share of the flows.

    The VNFs of a chain cannot be scaled: every frame passes all of them. In the lab the data plane is set up again with
    ports for as many VNFs. No frame comes through meanwhile.
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
