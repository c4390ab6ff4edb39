"""The warnings that a trial raises about itself: a closed list, stored with the result."""

from collections.abc import Sequence

from nfvbed.records import (
    Accelerator,
    Deployment,
    DirectionCounts,
    GeneratorPort,
    PortKind,
    QualityWarning,
    Role,
    WorkThread,
)
from nfvbed.spec.searchpresets import LATE_RATIO
from nfvbed.traffic.generator import GeneratorInfo, TrafficRequest, TrafficResult
from nfvbed.units import NS_PER_S, FrameSize, layer1_bits_per_s

GENERATOR_BUSY = 0.95
"""Part of the trial from which on the generator had nothing left."""
FULL_REFUSED = 0.01
"""Part of the frames that a port must refuse at the first try for the switch to count as full."""
FULL_LOSS = 0.001
"""Or the part that is lost: also what a full switch does."""
UNSENT_LIMIT = 0.001
"""Part of the intended frames that may stay unsent: a few go missing in every preemption, and loss counts them."""
ON_NICS = (PortKind.PCI, PortKind.VF)
"""Ports whose speed bounds what passes; virtual ones name a speed that bounds nothing."""
WIRE_FULL = 0.99
"""Part of the line rate from which on the wire is the limit; the rest is clock tolerance and a first burst."""


def traffic_warnings(result: TrafficResult, paced: bool = False) -> tuple[QualityWarning, ...]:
    """Return the warnings about what the frames themselves showed, and whether the generator was the limit.

    Args:
        paced: whether a load was given instead of the maximum one.
    """
    directions = result.directions
    found = list(frame_warnings(directions))
    if sum(d.unsent for d in directions) > UNSENT_LIMIT * sum(d.intended for d in directions):
        found.append(QualityWarning.UNSENT)
    if result.reconnections:
        found.append(QualityWarning.RECONNECTED)
    if result.missed:
        found.append(QualityWarning.SINK_MISSED)
    if not result.checked:
        found.append(QualityWarning.FRAMES_UNCHECKED)
    if is_generator_limited(result, paced):
        found.append(QualityWarning.GENERATOR_LIMITED)
    return tuple(found)


def frame_warnings(directions: Sequence[DirectionCounts]) -> tuple[QualityWarning, ...]:
    """Return the warnings that the counts of frames, or of a tool's messages, showed."""
    shown = {
        QualityWarning.REORDERED: any(d.reordered for d in directions),
        QualityWarning.DUPLICATED: any(d.duplicated for d in directions),
        QualityWarning.LOSS_AT_LEAST: any(d.surplus for d in directions),
        QualityWarning.CORRUPTED: any(d.corrupted for d in directions),
    }
    return tuple(kind for kind, is_so in shown.items() if is_so)


def is_generator_limited(result: TrafficResult, paced: bool = False) -> bool:
    """Return whether the generator's core was busy all the time while the switch still had room.

    A full switch shows itself: its ports refuse frames (back-pressure), or frames are lost. With a given load a
    generator that keeps its pace is not the limit, busy as it may be: the fewer frames there are at a time, the longer
    it takes for each.
    """
    sent = sum(d.sent for d in result.directions)
    intended = sum(d.intended for d in result.directions)
    if paced and sum(d.late for d in result.directions) <= LATE_RATIO * intended:
        return False
    if not sent or result.busy_ns <= GENERATOR_BUSY * result.duration_ns:
        return False
    refused = sum(d.refused for d in result.directions) / sent
    lost = sum(d.lost for d in result.directions) / sent
    return refused <= FULL_REFUSED and lost <= FULL_LOSS


def is_wire_limited(
    result: TrafficResult, size: FrameSize, info: GeneratorInfo, ports: tuple[GeneratorPort, ...]
) -> bool:
    """Return whether a direction ran at line rate. Virtual ports name a speed that bounds nothing: they have none."""
    if not ports or any(port.kind not in ON_NICS for port in ports) or not result.duration_ns:
        return False
    speeds = speeds_mbps(info)
    rates = (d.sent * NS_PER_S / result.duration_ns for d in result.directions)
    return any(
        speed is not None and layer1_bits_per_s(rate, size) >= WIRE_FULL * speed * 1_000_000
        for rate, speed in zip(rates, speeds, strict=False)
    )


def flow_warnings(request: TrafficRequest, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
    """Return the warning about one flow for several of the switch's polling threads: it stays with one of them."""
    pollers = {thread.tid for thread in threads if thread.role is Role.SWITCH and thread.polling}
    # Each direction is a flow of its own.
    alone = request.flows == 1 and len(pollers) > request.directions
    return (QualityWarning.SINGLE_FLOW,) if alone else ()


def vnf_warnings(deployment: Deployment) -> tuple[QualityWarning, ...]:
    """Return the warnings about the VNFs: a guest whose instructions are emulated shows frames, and no rates."""
    emulated = any(handle.accelerator is Accelerator.TCG for handle in deployment.vnfs)
    return (QualityWarning.EMULATED_ACCELERATOR,) if emulated else ()


def speeds_mbps(info: GeneratorInfo) -> list[int | None]:
    """Return the speeds that the generator's ports name; those of virtual ports bound nothing. None: not told."""
    ports = info.raw.get("ports")
    if not isinstance(ports, list):
        return []
    return [port.get("speed_mbps") for port in ports if isinstance(port, dict)]
