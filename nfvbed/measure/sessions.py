"""Opens the sessions of mirrored traffic before a trial, and keeps what connection tracking did in it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nfvbed.dataplanes.connections import Connections, ConnectionTracker
from nfvbed.errors import DeployError
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.units import NS_PER_S

PASSES = 4
"""Frames of each flow and direction of one attempt: a first one is new, its answer establishes the connection, and the
datapath has a flow of its own for what comes after that."""
ATTEMPTS = 5
SLOWEST_PPS = 10_000
LONGEST_S = 5
"""The longest attempt: an entry that is not used ends after 30 s."""
MORE = 2
"""How many times the frames of an attempt those of the next one are: a generator whose core others use leaves frames
out, and begins each time with the first flow, so that as many frames again would reach the same flows."""


def open_sessions(run: Callable[[TrafficRequest], object], tracker: ConnectionTracker, request: TrafficRequest) -> None:
    """Send a few paced frames of each flow both ways, until every connection is established.

    Raises:
        DeployError: some are still not established after several attempts: a trial would measure connections that are
            new.
        GeneratorError: the generator failed.
    """
    seen = tracker.look()
    for attempt in range(ATTEMPTS):
        if not _lacking(seen, request.flows):
            return
        run(opening(request, PASSES * MORE**attempt))
        seen = tracker.look()
    lacking = _lacking(seen, request.flows)
    if lacking:
        raise DeployError(
            "the sessions of mirrored traffic are not established",
            where=", ".join(one.where for one in lacking),
            observed="; ".join(
                f"{one.where}: {one.replied} of {request.flows * one.ports} connections, {one.unreplied} unreplied"
                for one in lacking
            ),
            fix="nfvbed trace shows where frames are lost; a VNF must leave addresses and ports as they are",
        )


def opening(request: TrafficRequest, passes: int = PASSES) -> TrafficRequest:
    """Return the traffic that opens the sessions of a trial, with so many frames of each flow and direction."""
    frames = passes * request.flows
    rate = max(SLOWEST_PPS, frames // LONGEST_S)
    return replace(
        request,
        frames=frames,
        rate_pps=rate,
        duration_ns=2 * frames * NS_PER_S // rate + NS_PER_S // 10,
        bidirectional=True,
        backward=False,
        then=None,
        timeline_ns=None,
    )


def told(before: Sequence[Connections], after: Sequence[Connections]) -> dict[str, Any]:
    """Return what is kept with a trial, by switch: its table after it, and what was looked up within it."""
    return {last.where: _told(first, last) for first, last in zip(before, after, strict=True)}


def _told(first: Connections, last: Connections) -> dict[str, Any]:
    packets = last.packets - first.packets
    recirculations = last.recirculations - first.recirculations
    return {
        "entries": last.entries,
        "replied": last.replied,
        "unreplied": last.unreplied,
        "masks": last.masks,
        "packets": packets,
        "recirculations": recirculations,
        "recirculations_per_packet": round(recirculations / packets, 3) if packets else None,
        "looked_up_established": _risen(first.established, last.established),
        "looked_up_new": _risen(first.not_established, last.not_established),
    }


def _risen(first: dict[str, int], last: dict[str, int]) -> int:
    """Return by how many packets flows have risen; one that the switch has made again since begins at 0."""
    return sum(count - (first.get(flow, 0) if first.get(flow, 0) <= count else 0) for flow, count in last.items())


def _lacking(seen: Sequence[Connections], flows: int) -> list[Connections]:
    return [one for one in seen if one.replied < flows * one.ports]
