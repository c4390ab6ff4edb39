"""`nfvbed onboard`: start a VNF on a variant and leave it standing, once frames come through it."""

import json
from typing import Any

import click

from nfvbed.cli.offload_price import measure_price
from nfvbed.cli.support import require_host, require_same
from nfvbed.cli.vnf_options import choice_of, plan_of, vnf_options
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.host.generator import destination_macs
from nfvbed.records import Deployment, PortKind
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.lab.onboarding import OnboardingSite
from nfvbed.sites.lab.standing import Standing, find_standing
from nfvbed.spec.choices import explicit_label
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.state import shown
from nfvbed.units import NS_PER_S
from nfvbed.vnfs import offload

_PROBE_MACS = ("02:4e:46:56:00:00", "02:4e:46:56:00:01")


@click.command(name="onboard")
@click.argument("vnf", metavar="VNF")
@click.option("--variant", help="Data plane: a name in deploy/variants. Default: the one that stands.")
@click.option("--site", default="lab", show_default=True, help="Where: a name in deploy/sites.")
@click.option("--topology", default="pvp", show_default=True, help="What is connected to what.")
@vnf_options
@click.option("--offload-price", is_flag=True, help="Also measure what its ports' offloads are worth (TCP), and end.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing that stays.")
@click.option("--json", "as_json", is_flag=True, help="Print the deployment's record as JSON.")
def command(vnf: str, variant: str | None, site: str, topology: str, as_json: bool, **options: Any) -> None:
    """Start VNF (a name in vnfd) on a data plane, and leave both standing until `nfvbed destroy`.

    It counts as onboarded when frames have come through it in both directions, not when it says that it is up. A data
    plane that stands without VNFs is set up anew with the ports that they need.
    """
    project = open_project()
    if not plan_of(topology):
        raise UsageError(f"topology {topology} has no VNF", fix="choose pvp, pvvp, pv3p, ... with --topology")
    standing = find_standing()
    wanted = project.load_variant(_variant_name(variant, standing))
    choice = choice_of(project, wanted, topology, vnf, options)
    if choice is None:
        raise UsageError(f"topology {topology} has no VNF")
    lab = open_site(project.load_site(site), project.root)
    if options["dry_run"]:
        _refuse_other(standing, wanted, topology)
        if standing is None:
            lab.require(wanted)
        elif standing.deployment.topology == topology:
            require_same(standing, wanted, topology, choice)
        lab.require_vnf(topology, choice)
        click.echo(f"{vnf} ({explicit_label(choice)}) would be onboarded on {wanted.name} ({topology})")
        return
    try:
        require_host(lab, wanted)
        # Before a data plane that stands is set up anew with ports for VNFs that would then not come.
        lab.require_files(topology, choice)
        if options["offload_price"]:
            measure_price(lab, wanted, topology, choice, as_json)
            return
        _make_room(lab, standing, wanted, topology)
        deployment, stood = lab.deploy_to_stay(wanted, topology, choice)
        trap = _checksums(lab, deployment, choice)
    finally:
        lab.close()
    if as_json:
        extra = {"checksum_offload": trap.model_dump(mode="json") if trap else None}
        click.echo(json.dumps(deployment.model_dump(mode="json") | extra, indent=2))
    else:
        _print(deployment, stood, trap)


def _variant_name(given: str | None, standing: Standing | None) -> str:
    if given is not None:
        return given
    if standing is None:
        raise UsageError(
            "no data plane stands to onboard on", fix="nfvbed deploy VARIANT first, or give --variant VARIANT"
        )
    return standing.variant.name


def _refuse_other(standing: Standing | None, wanted: Variant, topology: str) -> None:
    if standing is None or (standing.variant == wanted and standing.deployment.topology == topology):
        return
    if standing.variant != wanted or standing.deployment.vnf_ports:
        raise standing.in_the_way(f"{wanted.name} ({topology})")


def _make_room(lab: OnboardingSite, standing: Standing | None, wanted: Variant, topology: str) -> None:
    """Take a data plane of the same variant down that stands without VNFs: it has no ports for them."""
    _refuse_other(standing, wanted, topology)
    if standing is None or standing.deployment.topology == topology:
        return
    click.echo(f"{wanted.name} ({standing.deployment.topology}) is set up anew with ports for VNFs", err=True)
    standing.workspace.close()


def _checksums(lab: OnboardingSite, deployment: Deployment, choice: VnfChoice) -> offload.OffloadReport | None:
    """Look for the checksum trap where kernel ports allow it."""
    if len(deployment.ports) != 2 or any(port.kind is not PortKind.VETH for port in deployment.ports):
        return None
    lab.close_generators(deployment)
    wanted = destination_macs(deployment)
    return offload.probe_checksums(deployment, (_PROBE_MACS[0], wanted[0] if wanted else _PROBE_MACS[1]))


def _print(deployment: Deployment, stood: bool, trap: offload.OffloadReport | None) -> None:
    state = "stood already" if stood else "stands"
    click.echo(f"{deployment.variant} ({deployment.topology}) with {len(deployment.vnfs)} VNFs {state}")
    for handle in deployment.vnfs:
        accelerator = f", {handle.accelerator}" if handle.accelerator != "none" else ""
        shared = ", a core shared with others" if handle.shares_core else ""
        cores = ", ".join(map(str, handle.cores))
        click.echo(f"  {handle.name}: {handle.kind}, {handle.forwarding}{accelerator}; cores {cores}{shared}")
        for name, address in shown(handle.control):
            click.echo(f"    {name}: {address}")
    steps = dict(deployment.steps)
    if not stood and "onboard.first-frame" in steps:
        click.echo(f"  first frame after {steps['onboard.first-frame'] / NS_PER_S:.2f} s")
    if trap is not None:
        click.echo(f"  frames with a checksum left to hardware: {trap.result} ({trap.observed})")
        for line in _advice(trap, deployment):
            click.echo(f"  {line}")
    click.echo(f"  logs and sockets: {deployment.run_directory}")
    click.echo("  next: nfvbed trace, nfvbed run, nfvbed destroy")


def _advice(trap: offload.OffloadReport, deployment: Deployment) -> list[str]:
    if trap.result is offload.ChecksumPath.NOT_SEEN:
        return ["What becomes of ordinary traffic is not known: see whether frames come through (nfvbed trace)."]
    if not trap.trap:
        return []
    price = f"nfvbed onboard vloop --variant {deployment.variant} --topology {deployment.topology}"
    return [
        f"WARNING: ordinary traffic would be lost in silence. Remedy: {trap.remedy}",
        f"What that costs an ordinary VNF: nfvbed destroy; {price} --forwarding bridge --offload-price",
    ]
