"""`nfvbed verify`: a cloud that runs, against the variant that is deployed on it."""

from functools import partial
from typing import Any

import click

from nfvbed.cli.completion import FLAVOR, RELEASE, SITE, VARIANT, VNF
from nfvbed.cli.console import Console
from nfvbed.cli.entering import find_site
from nfvbed.cli.listing import Output, listing_options
from nfvbed.cli.readiness import findings_table
from nfvbed.cli.vnf_options import DEFAULT_VNF, choice_of, of_site
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError, UnsupportedError, UsageError
from nfvbed.records.findings import State
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.kolla.executor.takeover import KOLLAS_NAME as KOLLAS_CLOUD
from nfvbed.sites.site import Site
from nfvbed.sites.stages import VerifiedCloud
from nfvbed.sites.verify.path import PATH, verify_with_path
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.loader import Project
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice


@click.command(name="verify")
@click.argument("variant", type=VARIANT, required=False)
@click.option("--site", type=SITE, default="devcloud", show_default=True, help="Site: a name in deploy/sites.")
@click.option("--vnf", type=VNF, default=DEFAULT_VNF, show_default=True, help="VNF to boot where none is onboarded.")
@click.option(
    "--flavor",
    "--flavour",
    "flavor",
    type=FLAVOR,
    metavar="NAME",
    help="Its flavor: a name in flavors. Default: the VNF's.",
)
@click.option(
    "--release",
    type=RELEASE,
    metavar="NAME",
    help=f"Of a rack deployed without nfvbed: its release. Default: {NEWEST}.",
)
@click.option("--os-cloud", metavar="NAME", help=f"Of such a rack: its name in clouds.yaml. Default: {KOLLAS_CLOUD}.")
@click.option("--no-probe", is_flag=True, help="Only read: boot nothing, and send no frame.")
@listing_options("topic", "state", "summary", "probed", "fix")
def command(variant: str | None, site: str, no_probe: bool, output: Output, **options: Any) -> None:
    """Check a running cloud against the variant that is deployed on it, or against VARIANT.

    Checked are agents and services, datapaths of bridges, errors of ports, and connections of sockets. So are cores and
    queues of polling threads, virtual functions and hugepages. Last, frames are sent through an instance.

    Exit status 0 when all of it holds, else 20. The findings are stored with the deployment.
    """
    project = open_project()
    spec = project.load_site(site)
    if variant is not None:
        project.load_variant(variant, spec)  # an unknown name is refused before anything is asked
    place = find_site(spec, project.root)

    def choice(wanted: Variant) -> VnfChoice | None:
        return choice_of(project, wanted, PATH, options["vnf"], of_site(spec, {"flavor": options["flavor"]}))

    cloud = place.staged_cloud()
    if cloud is not None:
        chosen = None if no_probe else choice
        _show(site, cloud.verify(variant, chosen, options["release"], options["os_cloud"]), output)
        return
    place.require_open()
    if not place.has_cloud:
        raise UnsupportedError(
            f"site {site} has no cloud that could be verified",
            where=f"deploy/sites/{site}.yml kind",
            observed=spec.kind,
            fix="--site devcloud, or one of kind kolla;"
            f" nfvbed trace {variant or 'VARIANT'} --site {site} shows whether frames come through",
        )
    try:
        deployed = _deployed(place, variant)
        wanted = _as_its_file_says(project, spec, deployed)
        findings = verify_with_path(place, deployed, wanted, None if no_probe else partial(choice, wanted))
        place.keep_findings(deployed, findings)
    finally:
        place.close()
    _show(site, VerifiedCloud(deployed.variant.name, deployed.deployment.id, findings), output)


def _deployed(place: Site, variant: str | None) -> DeploymentRecord:
    found = place.find_deployed()
    have = "nothing is" if found is None else f"{found.variant.name} is"
    if found is None or variant not in (None, found.variant.name):
        raise UsageError(
            f"{variant or 'no variant'} is {'not ' if variant else ''}deployed on site {place.name}",
            observed=f"{have} deployed",
            fix=f"nfvbed deploy {variant or 'VARIANT'} --site {place.name} first",
        )
    return found


def _as_its_file_says(project: Project, spec: SiteSpec, deployed: DeploymentRecord) -> Variant:
    wanted = deployed.adapted(project.load_variant(deployed.variant.name, spec))
    if wanted != deployed.variant:
        raise UsageError(
            f"the file of {wanted.name} has changed since it was deployed",
            where=f"deploy/variants/{wanted.name}.yml",
            observed="other options than those that are deployed",
            fix=f"nfvbed destroy and deploy {wanted.name} again, or undo the change",
        )
    return wanted


def _show(site: str, what: VerifiedCloud, output: Output) -> None:
    """Print what was found.

    Raises:
        DeployError: a part of the deployment is not there.
    """
    wrong = [one for one in what.findings if one.state is State.ABSENT]
    findings = [one.model_dump(mode="json") for one in what.findings]
    named = {"site": site, "variant": what.variants, "deployment": what.deployment}

    def as_text() -> None:
        console = Console()
        console.print(f"{what.variants} on site {site}", highlight=False)
        console.print(findings_table("What was found", what.findings))

    output.show(lambda: findings, lambda: {**named, "holds": not wrong, "findings": findings}, as_text)
    if wrong:
        raise DeployError(
            f"site {site} is not what {what.variants} says",
            observed="; ".join(f"{one.topic}: {one.summary}" for one in wrong),
            fix="; ".join(dict.fromkeys(one.fix for one in wrong if one.fix)),
        )
