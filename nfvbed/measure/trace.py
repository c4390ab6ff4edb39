"""Zero packets, where? Counters hop by hop around a known number of frames, and the first hop that lacks some.

Counters may show more than was sent (learning frames, neighbour discovery), never fewer: only a lack is a finding.
What was lost is counted by the generator, exactly; the hops tell where, and drop counters that rose there why: each in
its own words (`nfvbed/records/drops.py`), as frames are dropped for many reasons, of which a full ring is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.errors import GeneratorError
from nfvbed.measure.trial import Measurement
from nfvbed.records import Deployment, DirectionCounts, Hop, HopKind, Record
from nfvbed.records.drops import Cause, CounterSource, Side
from nfvbed.records.readings import Part, Unavailable
from nfvbed.sites.site import Site
from nfvbed.spec.layout import layout
from nfvbed.traffic.generator import Generator, TrafficRequest, TrafficResult
from nfvbed.units import NS_PER_S, FrameSize

TRACE_RATE_PPS = 10_000
"""Slow enough that no ring of 64 frames fills on a switch that works at all."""


Step = tuple[Hop, Side]
"""A hop and which of its counters lies on the path: `rx`, `tx`, or an empty text where it has none."""


ATTEMPTS = 5
"""A frame that is 100 us late is never sent: where others use the generator's core, some attempts send too few."""


class LossKind(StrEnum):
    """What kind of place it is at which frames are missing."""

    GENERATOR_TX = "generator-tx"
    SWITCH_RX = "switch-rx"
    NO_FLOW = "no-flow"
    WRONG_PORT = "wrong-port"
    DROPPED = "dropped"
    """A drop counter rose there: its cause is in `dropped`."""
    INSIDE = "inside"
    GENERATOR_RX = "generator-rx"
    WRONG_SHARE = "wrong-share"


HINTS = {
    LossKind.GENERATOR_TX: "the port did not take the frames: see whether the data plane has opened its other side",
    LossKind.SWITCH_RX: "the frames left the generator and the switch did not read them: see the port's link, its "
    "receive queues and which thread polls them",
    LossKind.NO_FLOW: "the switch read the frames and sent none on: see its rules or bridge membership, and "
    "port states",
    LossKind.WRONG_PORT: "the switch sent the frames out of another port: see its rules and learnt addresses",
    LossKind.DROPPED: "frames were dropped here",
    LossKind.INSIDE: "frames are missing without a drop counter that says so: see the switch's log and its own "
    "statistics",
    LossKind.GENERATOR_RX: "the switch sent the frames and the generator did not get them: see the ring between the "
    "two",
    LossKind.WRONG_SHARE: "frames took the way of another VNF than theirs: see the rules or addresses by which flows "
    "are shared out",
}


class TracePoint(Record):
    """A counter on the path; `packets` is None where the hop does not count."""

    name: str
    packets: int | None
    side: Side = ""
    """Which side of a hop it is; empty: neither."""
    drops: dict[str, int] = {}
    """Drop counters of this side that rose during the trace."""
    counted_by: str | None = None
    """Source of these counters, whose words their names are."""
    expected: int | None = None
    """Frames that must have passed here at least, where that is only a share of all."""


class HopDrops(Record):
    """A drop counter that rose between the last place that had all frames and the first that lacked some."""

    counter: str
    place: str
    frames: int
    cause: Cause
    says: str
    """What the counter means, in a sentence."""


class ShareTrace(Record):
    """What a VNF got that is side by side with others."""

    vnf: str
    expected: int
    """Frames of its flows."""
    entered: int | None
    """What the first counter on the way to it shows; None where nothing counts."""
    left: int | None
    """What the last counter on the way from it shows."""


class DirectionTrace(Record):
    """One direction: its points in the order of the path, and the first that lacks frames."""

    name: str
    frames: int
    """Asked for."""
    sent: int
    received: int
    points: tuple[TracePoint, ...]
    shares: tuple[ShareTrace, ...] = ()
    """One for each VNF where VNFs are side by side."""
    lost_at: str | None = None
    kind: LossKind | None = None
    dropped: tuple[HopDrops, ...] = ()
    """Why, as counters tell; none where none rose."""
    hint: str = ""
    note: str = ""
    """What is to be known of the trace itself."""

    @property
    def complete(self) -> bool:
        """Whether every frame that was sent arrived on its way, and the port took all of them."""
        return self.kind is None

    @property
    def lost(self) -> int:
        """Frames that were sent and did not arrive; those that were not sent are not lost."""
        return max(0, self.sent - self.received)


class TraceReport(Record):
    """The answer of a trace."""

    variant: str
    topology: str
    frame_size: FrameSize
    directions: tuple[DirectionTrace, ...]

    @property
    def complete(self) -> bool:
        """Whether every frame arrived in every direction."""
        return all(d.complete for d in self.directions)


def run_trace(
    site: Site, deployment: Deployment, generator: Generator, frame_size: FrameSize, frames: int
) -> TraceReport:
    """Send a known number of frames in each direction and follow them; with as many flows as VNFs are side by side.

    Raises:
        GeneratorError: the generator failed, or its ports have no link: then nothing can be traced.
        SwitchDiedError: the switch ended.
    """
    duration_ns = frames * NS_PER_S // TRACE_RATE_PPS + NS_PER_S
    ways = layout(deployment.topology).ways
    warm_up = TrafficRequest(duration_ns=NS_PER_S // 10, frame_size=frame_size, rate_pps=1000, flows=ways)
    request = replace(warm_up, duration_ns=duration_ns, rate_pps=TRACE_RATE_PPS, frames=frames, learning_frames=0)
    Measurement(site, deployment, generator).warm_up(warm_up)
    reports = []
    for _ in range(ATTEMPTS):
        before = site.look(deployment, Part.HOPS).hops
        result = generator.run(request)
        after = site.look(deployment, Part.HOPS).hops
        site.verify(deployment)
        report = TraceReport(
            variant=deployment.variant,
            topology=deployment.topology,
            frame_size=frame_size,
            directions=_followed(frames, result, before, after, ways),
        )
        refused = any(direction.kind is LossKind.GENERATOR_TX for direction in report.directions)
        if not refused and not any(_is_preempted(d) for d in result.directions):
            return report
        reports.append(report)
    # A generator that is kept off its core also reads too late, and a ring fills while the switch is kept off its own:
    # an attempt in which all arrived refutes the others.
    return next((r for r in reports if r.complete), reports[-1])


def _followed(
    frames: int,
    result: TrafficResult,
    before: tuple[Hop, ...] | Unavailable,
    after: tuple[Hop, ...] | Unavailable,
    ways: int,
) -> tuple[DirectionTrace, ...]:
    if isinstance(before, Unavailable) or isinstance(after, Unavailable):
        reason = next(hops.reason for hops in (before, after) if isinstance(hops, Unavailable))
        hint = f"no hop between the generator's ports is counted: {reason}"
        traces = follow(frames, result, (), (), ways)
        return tuple(t.model_copy(update={"hint": hint}) if t.kind is LossKind.GENERATOR_RX else t for t in traces)
    return follow(frames, result, before, after, ways)


def follow(
    frames: int, result: TrafficResult, before: Sequence[Hop], after: Sequence[Hop], ways: int = 1
) -> tuple[DirectionTrace, ...]:
    """Return one trace for each direction, of the generator's and the hops' counts.

    Args:
        frames: the number that was asked for in each direction.
        result: what the generator counted; the first direction is from port 0 to port 1, the second back.
        before: the hops before the first frame, in the order of the path from port 0 to port 1.
        after: the same hops after the last.
        ways: how many VNFs are side by side; each must have got its share of the flows.

    Raises:
        GeneratorError: no frame was sent in any direction, and none refused: there is nothing to follow.
    """
    if not any(d.intended or d.refused for d in result.directions):
        raise GeneratorError("the generator sent nothing", observed=f"0 of {frames} frames in every direction")
    risen = _risen(before, after)
    traces = []
    for number, counts in enumerate(result.directions):
        path = risen if number == 0 else risen[::-1]
        traces.append(_follow_direction(number, frames, counts, _DirectionHops(path, ways)))
    return tuple(traces)


@dataclass(frozen=True)
class _DirectionHops:
    """The hops of one direction, in its order."""

    path: Sequence[Hop]
    ways: int

    def share(self, hop: Hop, frames: int) -> int | None:
        """Return how many of the frames must pass a hop; None where all must. Flows go in turn, so shares are equal."""
        return frames // self.ways if self.ways > 1 and hop.vnf is not None else None


def _follow_direction(number: int, frames: int, counts: DirectionCounts, way: _DirectionHops) -> DirectionTrace:
    source, sink = (number, 1 - number)
    # What was not sent for want of CPU time was not lost: the path is judged by what was.
    expected = counts.sent if _is_preempted(counts) else frames
    steps = _steps(way.path)
    points = [TracePoint(name=f"sent on port {source}", packets=counts.sent, drops=_refused(counts, frames))]
    for hop, side in steps:
        packets = {"rx": hop.rx_packets, "tx": hop.tx_packets, "": None}[side]
        share = way.share(hop, expected)
        points.append(
            TracePoint(
                name=f"{hop.name} {side}".strip(),
                packets=packets,
                side=side,
                drops=_of_side(hop, side),
                counted_by=hop.counted_by,
                expected=share,
            )
        )
    arrived = f"received on port {sink}"
    by = CounterSource.GENERATOR
    points.append(TracePoint(name=arrived, packets=counts.received, drops=_damaged(counts), counted_by=by))
    trace = DirectionTrace(
        name=f"port {source} to port {sink}",
        frames=frames,
        sent=counts.sent,
        received=counts.received,
        points=tuple(points),
        shares=_shares(steps, points, expected // way.ways) if way.ways > 1 else (),
        note=_note(counts),
    )
    if counts.received < expected:
        return _broken(trace, next(place for place, point in enumerate(points) if _lacks(point, expected)), steps)
    astray = next((point for point in points if point.expected is not None and _lacks(point, expected)), None)
    if astray is None:
        return trace
    found = {"lost_at": astray.name, "kind": LossKind.WRONG_SHARE, "hint": HINTS[LossKind.WRONG_SHARE]}
    return trace.model_copy(update=found)


def _broken(trace: DirectionTrace, place: int, steps: Sequence[Step]) -> DirectionTrace:
    """Return the trace with the kind of place at which frames are missing."""
    points = trace.points
    dropped = _dropped_before(points, place) if place else ()
    kind, stray = _classify(place, points, steps, dropped)
    hint = HINTS[kind] + (f" ({stray})" if stray else "")
    if dropped and kind is not LossKind.GENERATOR_TX:
        hint += f": {_why(dropped)}"
    found = {"lost_at": points[place].name, "kind": kind, "hint": hint, "dropped": dropped}
    return trace.model_copy(update=found)


def _dropped_before(points: Sequence[TracePoint], place: int) -> tuple[HopDrops, ...]:
    """Return the drop counters that rose since the last place that counted, most frames first."""
    counted = (at for at in range(place - 1, 0, -1) if points[at].packets is not None)
    found = []
    for point in points[next(counted, 1) : place + 1]:
        for name, frames in point.drops.items():
            known = CATALOGUE.drop_counters.of(name, point.counted_by)
            found.append(HopDrops(counter=name, place=point.name, frames=frames, cause=known.cause, says=known.says))
    return tuple(sorted(found, key=lambda drop: -drop.frames))


def _why(dropped: Sequence[HopDrops]) -> str:
    """Return why frames were dropped; counters of several causes are left out where others name theirs."""
    certain = [drop for drop in dropped if drop.cause is not Cause.SEVERAL] or dropped
    return "; ".join(f"{drop.says} ({drop.counter} {drop.frames} at {drop.place})" for drop in certain)


def _of_side(hop: Hop, side: Side) -> dict[str, int]:
    """Return the drops of a hop that concern frames on one side of it; a port counts those of both directions."""
    sides = {name: CATALOGUE.drop_counters.of(name, hop.counted_by).side for name in hop.drops}
    return {name: count for name, count in hop.drops.items() if not side or sides[name] in (side, "")}


def _lacks(point: TracePoint, expected: int) -> bool:
    return point.packets is not None and point.packets < (expected if point.expected is None else point.expected)


def _shares(steps: Sequence[Step], points: Sequence[TracePoint], expected: int) -> tuple[ShareTrace, ...]:
    """Return what went into every VNF and came out of it, by the first and the last counter on its way."""
    counted: dict[int, list[int]] = {hop.vnf: [] for hop, _ in steps if hop.vnf is not None}
    for (hop, _), point in zip(steps, points[1:-1], strict=True):
        if hop.vnf is not None and point.packets is not None:
            counted[hop.vnf].append(point.packets)
    return tuple(
        ShareTrace(
            vnf=f"vnf{vnf + 1}",
            expected=expected,
            entered=seen[0] if seen else None,
            left=seen[-1] if seen else None,
        )
        for vnf, seen in sorted(counted.items())
    )


def _is_preempted(counts: DirectionCounts) -> bool:
    """Return whether frames were late, and not refused by the port."""
    return counts.unsent > 0 and not counts.refused and counts.sent > 0


def _steps(path: Sequence[Hop]) -> list[Step]:
    """Return which counter of each hop lies on the path.

    Frames leave the generator's first port (tx) and enter its last (rx); between them they enter a port of a switch or
    VNF (rx) and leave it by the next one (tx). A hop with one counter has no choice, one without has none.
    """
    ports = [h for h in path if not _is_generators(h) and h.rx_packets is not None and h.tx_packets is not None]
    steps: list[Step] = []
    entering = True
    for place, hop in enumerate(path):
        if hop.rx_packets is None or hop.tx_packets is None:
            side: Side = "rx" if hop.rx_packets is not None else "tx" if hop.tx_packets is not None else ""
        elif _is_generators(hop):
            side = "tx" if place == 0 else "rx"
        else:
            # The last port is always left, also where a path shows an odd number of them.
            side = "rx" if entering and (hop is not ports[-1] or len(ports) == 1) else "tx"
            entering = not entering
        steps.append((hop, side))
    return steps


def _is_generators(hop: Hop) -> bool:
    return hop.kind is HopKind.GENERATOR_PORT


def _classify(
    place: int, points: Sequence[TracePoint], steps: Sequence[Step], dropped: Sequence[HopDrops]
) -> tuple[LossKind, str]:
    """Return the kind of the break and, for a wrong port, which one."""
    if place == 0:
        return LossKind.GENERATOR_TX, ""
    if place == len(points) - 1:
        return LossKind.GENERATOR_RX, ""
    hop, side = steps[place - 1]
    if _is_generators(hop):
        return (LossKind.GENERATOR_TX if side == "tx" else LossKind.GENERATOR_RX), ""
    if dropped:
        return LossKind.DROPPED, ""
    share = points[place].expected
    within = [h for h, _ in steps if not _is_generators(h) and (share is None or h.vnf is not None)]
    if side == "rx" and share is None and hop is within[0]:
        return LossKind.SWITCH_RX, ""
    came = (points[0].packets or 0) if share is None else share
    here = points[place].packets or 0
    for other in within:
        # A port of the path carries the other direction's frames too: only what exceeds them went astray.
        if other is not hop and (other.tx_packets or 0) >= came + (came - here) // 2 + 1:
            return LossKind.WRONG_PORT, f"{other.name} sent {other.tx_packets}"
    return (LossKind.NO_FLOW if not here else LossKind.INSIDE), ""


def _risen(before: Sequence[Hop], after: Sequence[Hop]) -> list[Hop]:
    first = {hop.name: hop for hop in before}
    risen = []
    for hop in after:
        old = first.get(hop.name, Hop(name=hop.name, rx_packets=0, tx_packets=0))
        drops = {key: value - old.drops.get(key, 0) for key, value in hop.drops.items()}
        risen.append(
            hop.model_copy(
                update={
                    "rx_packets": _minus(hop.rx_packets, old.rx_packets),
                    "tx_packets": _minus(hop.tx_packets, old.tx_packets),
                    "drops": {key: value for key, value in drops.items() if value},
                }
            )
        )
    return risen


def _minus(now: int | None, then: int | None) -> int | None:
    return None if now is None else now - (then or 0)


def _refused(counts: DirectionCounts, frames: int) -> dict[str, int]:
    seen = {"unsent": counts.unsent, "refused": counts.refused if counts.sent < frames else 0}
    return {key: value for key, value in seen.items() if value}


def _note(counts: DirectionCounts) -> str:
    """Return what has to be known of the counts of a direction; empty: nothing."""
    said = []
    if _is_preempted(counts):
        said.append(f"{counts.unsent} frames were not sent in time: others use the generator's core")
    if counts.surplus:
        said.append(
            f"{counts.surplus} frames were counted back beyond those sent: some came twice, so that as many may be lost"
        )
    return "; ".join(said)


def _damaged(counts: DirectionCounts) -> dict[str, int]:
    found = {"corrupted": counts.corrupted, "duplicated": counts.duplicated}
    return {name: frames for name, frames in found.items() if frames}
