"""`nfvbed deploy`: set up a variant and leave it deployed."""

import json
from typing import Any

import click

from nfvbed.cli.completion import SITE, TOPOLOGY, VARIANT, FrameSizes
from nfvbed.cli.entering import find_site
from nfvbed.cli.rack_options import rack_options, refuse_rack_options
from nfvbed.cli.staged import deploy_staged
from nfvbed.cli.support import require_site
from nfvbed.cli.vnf_options import DEFAULT_VNF, of_site, path_of, vnf_of_site
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.records import Deployment
from nfvbed.records.state import shown
from nfvbed.sites.site import Site
from nfvbed.sites.stages import StagedCloud
from nfvbed.spec.commands import next_commands
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.units import MAX_FRAME_SIZE_BYTES, MIN_FRAME_SIZE_BYTES, NS_PER_S, mtu_for
from nfvbed.vnfs.descriptors.epa import require_fit


@click.command(name="deploy")
@click.argument("variant", metavar="VARIANT", type=VARIANT)
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option(
    "--topology",
    type=TOPOLOGY,
    help="Topology. Default: p2p; where the variant has none, its first, with a VNF.",
)
@click.option(
    "--frame-size",
    type=FrameSizes(MIN_FRAME_SIZE_BYTES, MAX_FRAME_SIZE_BYTES),
    help="Largest frames, bytes with FCS, that its ports are to take. Default: 1518, or what is deployed of VARIANT.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, probe the host, and change nothing that stays.")
@click.option("--json", "as_json", is_flag=True, help="Print the deployment's record as JSON.")
@rack_options
def command(
    variant: str,
    site: str,
    topology: str | None,
    frame_size: int | None,
    dry_run: bool,
    as_json: bool,
    **of_rack: Any,
) -> None:
    """Set up VARIANT and leave it deployed, until `nfvbed destroy`.

    A topology with VNFs is set up with those that `nfvbed onboard vloop` takes when nothing is said of them. `run` and
    `trace` of the same variant and topology then use it as it is; others are refused. To deploy the
    same again changes nothing.

    On a site of kind kolla (a rack) kolla-ansible deploys a cloud with VARIANT: preflight, preparation, Kolla's
    commands, and what Kolla lacks. What stopped is continued by the same command; see docs/howto/kolla.md.
    """
    project = open_project()
    site_spec = project.load_site(site)
    if site_spec.in_stages and not dry_run:
        from nfvbed.cli.rack import ensure_box  # not there where stores are looked at alone

        ensure_box(project, site_spec)
    place = find_site(site_spec, project.root)
    cloud = place.staged_cloud()
    if cloud is not None:
        _in_stages(cloud, (site, variant, topology, frame_size), {**of_rack, "dry_run": dry_run, "as_json": as_json})
        return
    refuse_rack_options(of_rack)
    wanted = project.load_variant(variant, site_spec)
    topology, choice = path_of(project, wanted, topology, vnf_of_site(site_spec, DEFAULT_VNF), of_site(site_spec, {}))
    if frame_size is not None and not wanted.lacks(topology):
        wanted.require_frames(frame_size, topology, choice)
    place.require_open()
    existing = place.find_deployed() if frame_size is None else None
    if frame_size is not None:
        wanted = wanted.carrying(mtu_for(frame_size))
    elif existing is not None:
        wanted = existing.adapted(wanted)
    require_fit(place.fit(wanted, topology, choice))
    if dry_run:
        click.echo(f"{variant} ({topology}) {_foreseen(place, wanted, topology, choice)}")
        return
    try:
        require_site(place, wanted)
        if choice is not None:
            place.prepare(topology, choice)
        deployment, existed = place.deploy_to_stay(wanted, topology, choice)
    finally:
        place.close()
    if as_json:
        click.echo(json.dumps(deployment.model_dump(mode="json"), indent=2))
    else:
        _print(site, deployment, existed)


def _in_stages(cloud: StagedCloud, asked: tuple[str, str, str | None, int | None], options: dict[str, Any]) -> None:
    site, variant, topology, frame_size = asked
    if frame_size is not None:
        raise UsageError("--frame-size: a rack's networks have the MTU of the site's file", fix="networks.<name>.mtu")
    if topology:
        raise UsageError("--topology: a rack is deployed without a path", fix="name it for nfvbed run or onboard")
    deploy_staged(site, cloud, variant, options)


def _foreseen(site: Site, wanted: Variant, topology: str, choice: VnfChoice | None) -> str:
    existing = site.find_deployed()
    if existing is not None:
        existing.require_same(wanted, topology, choice)
        return "deployed already: nothing would be done"
    support = site.require(wanted)
    if choice is not None:
        site.check(topology, choice)
    return f"would be deployed; this host is {support.readiness} for it. {support.reason}".strip()


def _print(site: str, deployment: Deployment, existed: bool) -> None:
    state = "was deployed already" if existed else "deployed"
    vnfs = "".join(f", {handle.name} ({handle.kind}, {handle.forwarding})" for handle in deployment.vnfs)
    click.echo(f"{deployment.variant} ({deployment.topology}{vnfs}) {state}")
    for port in deployment.ports:
        click.echo(f"  port {port.spec} ({port.kind})" + (f" in {port.netns}" if port.netns else ""))
    for name, address in shown(deployment.control):
        click.echo(f"  {name}: {address}")
    click.echo(f"  logs and sockets: {deployment.run_directory}")
    if not existed:
        steps = ", ".join(f"{name.removeprefix('deploy.')} {ns / NS_PER_S:.2f} s" for name, ns in deployment.steps)
        click.echo(f"  took: {steps}")
    click.echo(f"  next: {next_commands(deployment.variant, site)}")
