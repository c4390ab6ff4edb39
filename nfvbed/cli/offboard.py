"""`nfvbed offboard`: take VNFs away, and leave their data plane."""

import click

from nfvbed.cli.onboarded import onboarded, show
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.catalogue import open_site


@click.command(name="offboard")
@click.option("--site", default="lab", show_default=True, help="Where: a name in deploy/sites.")
@click.option("--dry-run", is_flag=True, help="Say which VNFs would end, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the deployment's record as JSON.")
def command(site: str, dry_run: bool, as_json: bool) -> None:
    """End the VNFs that `nfvbed onboard` started, and leave the data plane with its ports running.

    VNFs, these or others, can be onboarded on it again; `nfvbed destroy` takes the data plane down too.
    """
    project = open_project()
    place = open_site(project.load_site(site), project.root)
    found = onboarded(place)
    where = f"{found.variant.name} ({found.deployment.topology})"
    if dry_run:
        click.echo(f"the VNFs of {where} would be offboarded")
        return
    try:
        deployment = place.offboard(found.deployment)
    finally:
        place.close()
    show(deployment, f"the VNFs of {where} are offboarded; the data plane is running", as_json)
