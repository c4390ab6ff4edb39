"""`nfvbed offboard`: take VNFs away, and leave their data plane."""

import click

from nfvbed.cli.completion import SITE
from nfvbed.cli.entering import open_site
from nfvbed.cli.onboarded import onboarded, show
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.site import Site


@click.command(name="offboard")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option("--dry-run", is_flag=True, help="Say which VNFs would end, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the deployment's record as JSON.")
def command(name: str | None, site: str, dry_run: bool, as_json: bool) -> None:
    """End the VNFs that `nfvbed onboard` started, and leave the data plane with its ports running.

    VNFs, these or others, can be onboarded on it again; `nfvbed destroy` takes the data plane down too. NAME: only the
    VNF that `nfvbed onboard FILE` has onboarded under this name.
    """
    project = open_project()
    place = open_site(project.load_site(site), project.root)
    if name is not None:
        _offboard_given(place, name, dry_run)
        return
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


def _offboard_given(site: Site, name: str, dry_run: bool) -> None:
    if dry_run:
        click.echo(f"VNF {name} would be offboarded")
        return
    try:
        site.offboard_descriptor(name, lambda line: click.echo(line, err=True))
    finally:
        site.close()
    click.echo(f"VNF {name} is offboarded; nothing of it is left")
