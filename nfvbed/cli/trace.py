"""`nfvbed trace`: zero packets, where? The first hop that loses them."""

import json
from typing import Any

import click
from rich.table import Table

from nfvbed.cli.completion import SITE, TOPOLOGY, VARIANT, VNF, FrameSizes
from nfvbed.cli.console import Console
from nfvbed.cli.entering import open_site
from nfvbed.cli.support import require_site
from nfvbed.cli.vnf_options import DEFAULT_VNF, of_site, path_of, vnf_of_site, vnf_options
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.measure.trace import DirectionTrace, TraceReport, run_trace
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import VnfChoice
from nfvbed.units import MAX_FRAME_SIZE_BYTES, MIN_FRAME_SIZE_BYTES, mtu_for


@click.command(name="trace")
@click.argument("variant", metavar="VARIANT", type=VARIANT)
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option(
    "--topology",
    type=TOPOLOGY,
    help="Topology. Default: what is deployed of VARIANT, else p2p; where it has none, its first.",
)
@click.option(
    "--vnf", type=VNF, default=DEFAULT_VNF, show_default=True, help="In topologies with VNFs: a name in vnfd."
)
@vnf_options
@click.option(
    "--frame-size",
    type=FrameSizes(MIN_FRAME_SIZE_BYTES, MAX_FRAME_SIZE_BYTES),
    default=64,
    show_default=True,
    help="Bytes, FCS included.",
)
@click.option(
    "--frames",
    type=click.IntRange(1, 1_000_000),
    default=1000,
    show_default=True,
    help="Frames to send in each direction, at 10,000 a second.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of tables.")
def command(
    variant: str, site: str, topology: str | None, frame_size: int, frames: int, vnf: str, as_json: bool, **options: Any
) -> None:
    """Send frames through VARIANT and show, hop by hop, where they get to.

    What is deployed is used as it is, otherwise one is set up and taken down again. Lost frames are an answer,
    not a failure: the exit status is 0 then too, and `complete` in the JSON says whether all arrived. It is 24 when
    nothing could be sent at all.
    """
    project = open_project()
    site_spec = project.load_site(site)
    wanted = project.load_variant(variant, site_spec)
    if wanted.options.is_simulated:
        raise UsageError(
            "the simulated system has no hops to trace", observed=variant, fix="choose a variant that forwards frames"
        )
    place = open_site(site_spec, project.root)
    existing = place.find_deployed()
    if existing is not None and existing.adapted(wanted) != existing.variant:
        existing = None
    if existing is not None and topology is None:
        topology = existing.deployment.topology
    choice = None if topology is None else _existing_choice(existing, topology)
    if topology is None or choice is None:
        topology, choice = path_of(project, wanted, topology, vnf_of_site(site_spec, vnf), of_site(site_spec, options))
    if choice is not None and layout(topology).one_way:
        raise UsageError("frames are traced between two ports of the generator", observed=topology, fix="choose pvp")
    if not wanted.lacks(topology):
        wanted.require_frames(frame_size, topology, choice)
    wanted = wanted.carrying(mtu_for(frame_size)) if existing is None else existing.variant
    too_small = mtu_for(frame_size) > wanted.mtu
    try:
        require_site(place, wanted)
        deployment = place.deploy(wanted, topology, vnf=choice)
        try:
            generator = place.open_generator(deployment)
            try:
                report = run_trace(place, deployment, generator, frame_size, frames)
            finally:
                generator.close()
        finally:
            place.destroy(deployment)
    finally:
        place.close()
    if as_json:
        click.echo(json.dumps(_document(report), indent=2))
    else:
        _print(report)
        if too_small and not report.complete:
            Console().print(
                f"What is deployed has ports of MTU {wanted.mtu}. For ports that take these frames: nfvbed destroy,"
                f" then nfvbed deploy {variant} --site {site} --topology {topology} --frame-size {frame_size}",
                highlight=False,
                soft_wrap=True,
            )


def _existing_choice(existing: DeploymentRecord | None, topology: str) -> VnfChoice | None:
    """Return the VNF that is deployed on that path: what is deployed is traced as it is."""
    if existing is None or existing.deployment.topology != topology:
        return None
    return existing.vnf


def _document(report: TraceReport) -> dict[str, Any]:
    directions = [d.model_dump(mode="json") | {"complete": d.complete} for d in report.directions]
    return report.model_dump(mode="json") | {"complete": report.complete, "directions": directions}


def _print(report: TraceReport) -> None:
    console = Console()
    for direction in report.directions:
        console.print(_table(report, direction))
        for share in direction.shares:
            console.print(
                f"{share.vnf}: its share is {share.expected} frames; {_count(share.entered)} went in, "
                f"{_count(share.left)} came out",
                highlight=False,
            )
        if direction.complete:
            console.print(f"All {direction.sent} frames arrived.", style="green")
        else:
            console.print(f"{_lost(direction)} First lack: {direction.lost_at}.", style="red")
            console.print(direction.hint, highlight=False)
        console.print(f"{direction.note}\n" if direction.note else "", highlight=False)


def _lost(direction: DirectionTrace) -> str:
    """Return how many frames are lost of those that were sent, and apart from them how many were not sent."""
    lost = f"{direction.lost} of {direction.sent} sent frames are lost." if direction.sent else "Nothing was sent."
    unsent = direction.frames - direction.sent
    # Those that were late are told by the note.
    return f"{lost} {unsent} of {direction.frames} were not sent." if unsent > 0 and not direction.note else lost


def _table(report: TraceReport, direction: DirectionTrace) -> Table:
    title = f"{report.variant}, {report.topology}, {report.frame_size} B, {direction.name}"
    table = Table(title=title, title_justify="left")
    table.add_column("hop")
    table.add_column("frames", justify="right")
    table.add_column("drops that rose")
    for point in direction.points:
        style = "red" if point.name == direction.lost_at else ""
        packets = _count(point.packets)
        drops = ", ".join(f"{key} {value}" for key, value in point.drops.items())
        table.add_row(point.name, packets, drops, style=style)
    return table


def _count(packets: int | None) -> str:
    return "-" if packets is None else str(packets)
