"""`nfvbed verify`: a cloud that runs, against the variant that is deployed on it."""

import json
from dataclasses import asdict, dataclass
from typing import Any

import click
from rich.console import Console

from nfvbed.cli.doctor import findings_table
from nfvbed.cli.settings import json_option
from nfvbed.cli.vnf_options import DEFAULT_VNF, choice_of, of_site
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError, UnsupportedError, UsageError
from nfvbed.findings import Finding, State
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.deployed import Deployed
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.render import order_pinned
from nfvbed.sites.kolla.verify.rack import verify_rack
from nfvbed.sites.openstack.tacker.connection import connect_as_named
from nfvbed.sites.site import Site
from nfvbed.sites.verify.path import PATH, TOPIC, verify_with_path
from nfvbed.sites.verify.verifiable import VerifiableSite
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec, SiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice

KOLLAS_CLOUD = "kolla-admin"
"""Name that Kolla's post-deploy gives the cloud in the clouds.yaml that it writes."""


@dataclass(frozen=True)
class Verified:
    """What was verified."""

    site: str
    variant: str
    deployment: str
    """Id; empty: nfvbed has not deployed it."""


@click.command(name="verify")
@click.argument("variant", required=False)
@click.option("--site", default="devcloud", show_default=True, help="Where: a name in deploy/sites.")
@click.option("--vnf", default=DEFAULT_VNF, show_default=True, help="What is booted where no VNF is onboarded.")
@click.option("--flavor", metavar="NAME", help="Its flavor: a name in flavors. Default: the VNF's.")
@click.option("--release", default=NEWEST, show_default=True, metavar="NAME", help="Of a rack: it runs that release.")
@click.option("--os-cloud", default=KOLLAS_CLOUD, show_default=True, help="Of a rack: its name in clouds.yaml.")
@click.option("--no-probe", is_flag=True, help="Only read: boot nothing, and send no frame.")
@json_option
def command(variant: str | None, site: str, no_probe: bool, as_json: bool, **options: Any) -> None:
    """Check whether a cloud is what the variant says that is deployed on it: VARIANT, where it is named.

    Agents and services report, bridges have the datapath, ports no error, sockets are connected, polling threads are on
    their cores and have queues, virtual functions and hugepages are there; and frames come through an instance.

    Exit status 0 when all of it holds, else 20. What was found is written down beside the deployment.
    """
    project = open_project()
    spec = project.load_site(site)
    if isinstance(spec, KollaSiteSpec):
        _verify_rack(project, spec, variant, options, as_json)
        return
    place = open_site(spec, project.root)
    if not isinstance(place, VerifiableSite):
        raise UnsupportedError(
            f"site {site} has no cloud that could be verified",
            where=f"deploy/sites/{site}.yml kind",
            observed=spec.kind,
            fix="--site devcloud, or one of kind kolla; nfvbed trace shows on all sites whether frames come through",
        )
    try:
        deployed = _deployed(place, variant)
        wanted = _as_its_file_says(project, spec, deployed)

        def choice() -> VnfChoice | None:
            given = of_site(spec, {"flavor": options["flavor"]})
            return choice_of(project, wanted, PATH, options["vnf"], given)

        findings = verify_with_path(place, deployed, wanted, None if no_probe else choice)
        place.keep_findings(deployed, findings)
    finally:
        place.close()
    _show(Verified(site, deployed.variant.name, deployed.deployment.id), findings, as_json)


def _verify_rack(
    project: Project, site: KollaSiteSpec, variant: str | None, options: dict[str, Any], as_json: bool
) -> None:
    """Read a rack; which variant is deployed on it nobody has written down."""
    if variant is None:
        raise UsageError(
            f"say which variant is deployed on site {site.name}", fix=f"nfvbed verify VARIANT --site {site.name}"
        )
    order = order_pinned(pinning_of(project, site, variant), site, project.load_kolla_release(options["release"]))
    found = verify_rack(order, connect_as_named(options["os_cloud"], None))
    reason = "no frame is sent on a site of kind kolla yet"
    untried = Finding(topic=TOPIC, state=State.UNKNOWN, summary=reason, probed="not tried")
    _show(Verified(site.name, variant, ""), (*found, untried), as_json)


def _deployed(place: Site, variant: str | None) -> Deployed:
    found = place.find_deployed()
    have = "nothing is" if found is None else f"{found.variant.name} is"
    if found is None or variant not in (None, found.variant.name):
        raise UsageError(
            f"{variant or 'no variant'} is {'not ' if variant else ''}deployed on site {place.name}",
            observed=f"{have} deployed",
            fix=f"nfvbed deploy {variant or 'VARIANT'} --site {place.name} first",
        )
    return found


def _as_its_file_says(project: Project, spec: SiteSpec, deployed: Deployed) -> Variant:
    wanted = project.load_variant(deployed.variant.name, spec)
    if wanted != deployed.variant:
        raise UsageError(
            f"the file of {wanted.name} has changed since it was deployed",
            where=f"deploy/variants/{wanted.name}.yml",
            observed="other options than those that are deployed",
            fix=f"nfvbed destroy and deploy {wanted.name} again, or undo the change",
        )
    return wanted


def _show(what: Verified, findings: tuple[Finding, ...], as_json: bool) -> None:
    """Print what was found.

    Raises:
        DeployError: something does not hold.
    """
    wrong = [one for one in findings if one.state is State.ABSENT]
    if as_json:
        document = {**asdict(what), "holds": not wrong, "findings": [one.model_dump(mode="json") for one in findings]}
        click.echo(json.dumps(document, indent=2))
    else:
        console = Console()
        console.print(f"{what.variant} on site {what.site}", highlight=False)
        console.print(findings_table("What was found", findings))
    if wrong:
        raise DeployError(
            f"site {what.site} is not what {what.variant} says",
            observed="; ".join(f"{one.topic}: {one.summary}" for one in wrong),
            fix="; ".join(dict.fromkeys(one.fix for one in wrong if one.fix)),
        )
