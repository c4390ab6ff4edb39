"""`nfvbed onboard`: start a VNF on a variant and leave it running, once frames come through it."""

import json
from typing import Any

import click

from nfvbed.cli.completion import SITE, TOPOLOGY, VARIANT, VNF_OR_FILE
from nfvbed.cli.descriptor_files import onboard_file, vnf_of_file
from nfvbed.cli.descriptor_options import given_options, is_file, refuse_given
from nfvbed.cli.entering import open_site
from nfvbed.cli.machine_options import is_by_itself, machine_options, refuse_machine_options, several_machines
from nfvbed.cli.offload_price import measure_price
from nfvbed.cli.onboard_check import check_fit
from nfvbed.cli.onboard_machines import onboard_machines
from nfvbed.cli.onboarded import show_vnfs
from nfvbed.cli.support import require_site, variant_name
from nfvbed.cli.vnf_options import choice_of, of_site, plan_of, vnf_options
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError, UsageError
from nfvbed.host.generator import destination_macs
from nfvbed.records import Deployment, PortKind, VnfKind
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.site import Site
from nfvbed.spec.choices import explicit_label
from nfvbed.spec.commands import next_commands, on_site
from nfvbed.spec.gateway import GATEWAYS
from nfvbed.spec.layout import VEPC
from nfvbed.spec.loader import Project
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.units import NS_PER_S
from nfvbed.vnfs import offload
from nfvbed.vnfs.descriptors.epa import require_fit
from nfvbed.vnfs.epc.checksums import probe_downlink
from nfvbed.vnfs.epc.driver import bearers_of

_PVP = "pvp"
_PROBE_MACS = ("02:4e:46:56:00:00", "02:4e:46:56:00:01")


@click.command(name="onboard")
@click.argument("vnf", type=VNF_OR_FILE, metavar="VNF|FILE")
@click.option("--variant", type=VARIANT, help="Data plane: a name in deploy/variants. Default: the deployed one.")
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option("--topology", type=TOPOLOGY, help=f"Topology. Default: {_PVP}; of a mobile core {VEPC}.")
@vnf_options
@given_options
@machine_options
@click.option("--offload-price", is_flag=True, help="Also measure what its ports' offloads are worth (TCP), and end.")
@click.option("--check", is_flag=True, help="Only compare VNF, flavor, variant and host; 10 where they do not fit.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing that stays.")
@click.option("--json", "as_json", is_flag=True, help="Print the deployment's record as JSON.")
def command(vnf: str, variant: str | None, site: str, topology: str | None, as_json: bool, **options: Any) -> None:
    """Start VNF (a name in vnfd) on a data plane, and leave both running until `nfvbed destroy`.

    FILE: the VNF of a given descriptor, a package (CSAR) or a legacy template, on a site that is an OpenStack; it is
    read and compared first, onboarded when its instances are ACTIVE, and `nfvbed offboard NAME` removes it. So is a VNF
    of several machines; machines in a row, as those of vpair, are on the path unless a descriptor's option is given.

    It counts as onboarded when frames have come through it in both directions, not when it says that it is up. A data
    plane that is deployed without VNFs is set up again with the ports that they need.
    """
    project = open_project()
    given = {**options, "site": site, "variant": variant, "topology": topology is not None, "as_json": as_json}
    project, vnf = _by_descriptor(project, vnf, given)
    site_spec = project.load_site(site)
    refuse_given(options)
    refuse_machine_options(options)
    topology = topology or _usual_topology(project, vnf)
    if not plan_of(topology):
        raise UsageError(f"topology {topology} has no VNF", fix="choose pvp, pvvp, pv3p, ... with --topology")
    _require_onboarding(site_spec)
    variant = variant or site_spec.only_variant
    if options.pop("check"):
        told = check_fit(project, site_spec, topology, (vnf, variant, options), as_json=as_json)
        click.get_current_context().exit(told)
    place = open_site(site_spec, project.root)
    existing = place.find_deployed()
    wanted = project.load_variant(variant_name(variant, existing, site_spec, place), site_spec)
    wanted = wanted if existing is None else existing.adapted(wanted)
    choice = choice_of(project, wanted, topology, vnf, of_site(site_spec, options))
    if choice is None:
        raise UsageError(f"topology {topology} has no VNF")
    require_fit(place.fit(wanted, topology, choice))
    if options["dry_run"]:
        _foresee(place, existing, (wanted, topology, choice))
        click.echo(f"{vnf} ({explicit_label(choice)}) would be onboarded on {wanted.name} ({topology})")
        return
    try:
        require_site(place, wanted)
        # Before a data plane that is deployed is set up again with ports for VNFs that would then not come.
        place.prepare(topology, choice)
        if options["offload_price"]:
            measure_price(place, wanted, topology, choice, as_json)
            return
        deployment, existed = place.onboard(wanted, topology, choice, lambda line: click.echo(line, err=True))
        trap = _checksums(place, deployment)
    finally:
        place.close()
    if as_json:
        extra = {"checksum_offload": trap.model_dump(mode="json") if trap else None}
        click.echo(json.dumps(deployment.model_dump(mode="json") | extra, indent=2))
    else:
        _print(site, deployment, existed, trap)


def _usual_topology(project: Project, vnf: str) -> str:
    is_core = vnf in project.vnf_names and project.load_vnf(vnf).forwarding[0] in GATEWAYS
    return VEPC if is_core else _PVP


def _foresee(place: Site, existing: DeploymentRecord | None, asked: tuple[Variant, str, VnfChoice]) -> None:
    """Refuse what could not be onboarded, and report what would be set up again; nothing is changed."""
    wanted, topology, choice = asked
    if existing is None:
        place.require(wanted)
    else:
        again = place.foresee_onboard(existing, wanted, topology, choice)
        if again:
            click.echo(again)
    place.check(topology, choice)


def _by_descriptor(project: Project, vnf: str, options: dict[str, Any]) -> tuple[Project, str]:
    """Onboard what has only a descriptor (a file, or several machines on an OpenStack) and exit; else return the VNF.

    Args:
        vnf: the file's path, or the VNF's name.
        options: those of the command line, with `site`, `variant`, `topology` (whether one is named) and `as_json`.

    Returns:
        The project, with the VNF of a `vnf.yml` that is checked; and the VNF's name.
    """
    context = click.get_current_context()
    if is_file(vnf, project.vnf_names):
        own = vnf_of_file(project, vnf, options)
        if own is None:
            context.exit(onboard_file(project, vnf, options))
        project, vnf = own
    site = project.load_site(options["site"])
    machines = several_machines(project, vnf) if site.has_nova else None
    if machines is not None and not (machines.row and not is_by_itself(options)):
        context.exit(onboard_machines(project, machines, site, options))
    return project, vnf


def _require_onboarding(site: SiteSpec) -> None:
    """Refuse a site on which nothing is onboarded, as what is measured there runs already."""
    if site.only_vnf_kind is VnfKind.EXISTING:
        raise UnsupportedError(
            f"nothing is onboarded on site {site.name}",
            where=f"deploy/sites/{site.name}.yml",
            observed="onboarding: none",
            fix=f"nfvbed deploy {site.only_variant} --site {site.name} takes what runs there; onboarding: sol or legacy"
            " lets Tacker onboard VNFs",
        )


def _checksums(site: Site, deployment: Deployment) -> offload.OffloadReport | None:
    """Look for the checksum trap where kernel ports of this host allow it."""
    ports = site.generator_ports(deployment)
    kernel = len(ports) == 2 and all(port.kind is PortKind.VETH for port in ports)
    host = site.host_view(deployment) if kernel else None
    if host is None:
        return None
    host.close_generators()
    if deployment.topology == VEPC:
        return probe_downlink(deployment, bearers_of(deployment.vnfs[0]))
    wanted = destination_macs(deployment)
    return offload.probe_checksums(deployment, (_PROBE_MACS[0], wanted[0] if wanted else _PROBE_MACS[1]))


def _print(site: str, deployment: Deployment, existed: bool, trap: offload.OffloadReport | None) -> None:
    state = "was deployed already" if existed else "deployed"
    click.echo(f"{deployment.variant} ({deployment.topology}) with {len(deployment.vnfs)} VNFs {state}")
    show_vnfs(deployment)
    steps = dict(deployment.steps)
    if not existed and "onboard.first-frame" in steps:
        click.echo(f"  first frame after {steps['onboard.first-frame'] / NS_PER_S:.2f} s")
    if trap is not None:
        click.echo(f"  frames with a checksum left to hardware: {trap.result} ({trap.observed})")
        for line in _advice(site, trap, deployment):
            click.echo(f"  {line}")
    if deployment.run_directory:
        click.echo(f"  logs and sockets: {deployment.run_directory}")
    click.echo(f"  next: {next_commands(deployment.variant, site)}, nfvbed offboard{on_site(site)}")


def _advice(site: str, trap: offload.OffloadReport, deployment: Deployment) -> list[str]:
    if trap.result is offload.ChecksumPath.NOT_SEEN:
        command = f"nfvbed trace {deployment.variant}{on_site(site)}"
        return [f"What becomes of ordinary traffic is not known: see whether frames come through ({command})."]
    if not trap.trap:
        return []
    vnf, ordinary = ("vepc", "nextepc") if deployment.topology == VEPC else ("vloop", "bridge")
    price = f"nfvbed onboard {vnf} --variant {deployment.variant} --topology {deployment.topology}"
    return [
        f"WARNING: ordinary traffic would be lost in silence. Remedy: {trap.remedy}",
        f"What that costs an ordinary VNF: nfvbed destroy; {price} --forwarding {ordinary} --offload-price",
    ]
