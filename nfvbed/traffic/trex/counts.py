"""A trial's counts in the words of the protocol; what TRex cannot count is not counted.

Frames are counted by stream (TRex's `pg_id`), at both ends. What ports count beside them is background, and no
traffic; it only tells a path that lost all from a NIC that counts no streams.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nfvbed.conservation import balance
from nfvbed.traffic.trex.frames import NS_PER_S, Part

PORTS = (0, 1)
TX, RX = "tx_pkts", "rx_pkts"
"""Counters of a stream, by port."""
PORT_TX, PORT_RX, MISSED = "opackets", "ipackets", "ierrors"
"""Counters of a port."""
QUEUE_FULL = "queue_full"
"""Counter of all ports together."""
BACKGROUND_PPS: Final = 100
"""Most frames/s that neighbours and switches send by themselves; a port that counted more had streams to count."""
BACKGROUND_LEAST: Final = 20


class UncountedFramesError(Exception):
    """An error: TRex did not count the frames of streams, so it is not known what was sent or lost."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


@dataclass(frozen=True)
class SendingCounts:
    """The course of sending.

    TRex sends every frame: where it cannot keep its pace its clock goes slower, until it is stopped.
    """

    took_ns: int
    """From the start of sending to its end, by this host's clock: a few milliseconds may be wrong."""
    nominal_ns: int
    """What it takes where TRex keeps its pace."""
    was_stopped: bool
    """Whether the end was asked for."""


@dataclass(frozen=True)
class _Flow:
    """One stream, as it was counted."""

    part: Part
    sent: int
    back: int


def trial(
    planned: Sequence[Part],
    by_id: Mapping[Any, Any],
    at_ports: Mapping[Any, Any],
    sent: SendingCounts,
    *,
    software: bool = False,
) -> dict[str, Any]:
    """Return a trial's result.

    Args:
        by_id: the client's `flow_stats`.
        at_ports: the client's statistics of ports.
        sent: for how long they were sent.
        software: whether TRex counts streams by itself, and not its NIC.

    Raises:
        UncountedFramesError: the counters of streams are not there, or do not count.
    """
    flows = [_flow(part, by_id, software) for part in planned]
    _require_counting(flows, at_ports, sent, software)
    was_full = bool(at_ports["global"].get(QUEUE_FULL, 0))
    back = {port: sum(flow.back for flow in flows if flow.part.rx == port) for port in PORTS}
    directions = []
    for tx, rx in dict.fromkeys((part.tx, part.rx) for part in planned):
        of_it = [flow for flow in flows if (flow.part.tx, flow.part.rx) == (tx, rx)]
        found = _direction(of_it, was_full=was_full, was_stopped=sent.was_stopped)
        directions.append({"tx": tx, "rx": rx, **found})
    whole = all(flow.sent >= flow.part.due for flow in flows)
    return {
        "duration_ns": sent.nominal_ns if whole else sent.took_ns,
        # TRex says how busy it was as an average over seconds, whatever the trial was.
        "busy_ns": 0,
        "gaps": None,
        "directions": directions,
        "foreign": [max(0, _at(at_ports, port, PORT_RX) - back[port]) for port in PORTS],
        "missed": [max(0, _at(at_ports, port, MISSED)) for port in PORTS],
        "clock": "tsc",
    }


def _flow(part: Part, by_id: Mapping[Any, Any], software: bool) -> _Flow:
    counted = by_id.get(part.id, {})
    values = [counted.get(name, {}).get(port) for name, port in ((TX, part.tx), (RX, part.rx))]
    # For what it does not have TRex's client gives the text N/A.
    missing = [name for name, value in zip((TX, RX), values, strict=True) if not isinstance(value, int)]
    if missing:
        raise UncountedFramesError(f"TRex does not tell {' and '.join(missing)} of pg_id {part.id}", _fix(software))
    out, back = (max(0, value) for value in values if isinstance(value, int))
    return _Flow(part, out, back)


def _require_counting(flows: Sequence[_Flow], at_ports: Mapping[Any, Any], sent: SendingCounts, software: bool) -> None:
    """Refuse a NIC that counts no streams; its port's counts tell that from a path with total loss.

    Raises:
        UncountedFramesError: a port had traffic, and none of its streams has counted any.
    """
    background = BACKGROUND_LEAST + BACKGROUND_PPS * sent.took_ns // NS_PER_S
    for port in PORTS:
        out = sum(flow.sent for flow in flows if flow.part.tx == port)
        to_it = [flow for flow in flows if flow.part.rx == port and flow.sent]
        sides = [(RX, PORT_RX, bool(to_it), sum(flow.back for flow in to_it))]
        sides.append((TX, PORT_TX, any(flow.part.tx == port for flow in flows), out))
        for of_streams, of_port, expected, counted in sides:
            # A client that does not tell what a port sent does not contradict its streams.
            at_port = _at(at_ports, port, of_port) if of_port in at_ports[port] else 0
            if expected and not counted and at_port > background:
                raise UncountedFramesError(
                    f"TRex's NIC counts no frames by stream: port {port}: {of_streams} 0, {of_port} {at_port}",
                    _fix(software),
                )


def _fix(software: bool) -> str:
    if software:
        return (
            "TRex is in software mode: see whether the path changes the IPv4 identification or the IPv6 flow label, by"
            " which TRex tells its frames; or count with nfvgen (engine: nfvgen)"
        )
    return "set software: true under trex in the site's file (TRex's --software: TRex counts, and not its NIC)"


def _at(at_ports: Mapping[Any, Any], port: int, name: str) -> int:
    """Return a counter of a port.

    Raises:
        UncountedFramesError: it has none.
    """
    value = at_ports[port].get(name)
    if not isinstance(value, int | float):
        raise UncountedFramesError(
            f"TRex does not tell {name} of port {port}: {value}", "see TRex's log, and its version"
        )
    return int(value)


def _direction(flows: Iterable[_Flow], *, was_full: bool, was_stopped: bool) -> dict[str, Any]:
    """Return the counts of one direction; what TRex does not count is 0, and its results say so."""
    total = dict.fromkeys(
        ("intended", "sent", "received", "lost", "unsent", "late", "refused", "reordered", "duplicated", "surplus"), 0
    )
    total |= {"corrupted": 0, "sent_bytes": 0, "received_bytes": 0}
    for flow in flows:
        part, found = flow.part, balance(flow.sent, flow.back)
        # At maximum load as many are intended as the port takes; how many were due when it was stopped is not known.
        unsent = 0 if part.is_full or was_stopped else max(0, part.due - flow.sent)
        counts = {
            "intended": flow.sent + unsent,
            "sent": flow.sent,
            "received": found.received,
            "lost": found.lost,
            "unsent": unsent,
            # TRex counts how often a port's queue was full, not the frames.
            "late": 0 if was_full else unsent,
            "refused": unsent if was_full else 0,
            "duplicated": found.surplus,
            "surplus": found.surplus,
            "sent_bytes": flow.sent * part.size_bytes,
            "received_bytes": found.received * part.size_bytes,
        }
        for name, count in counts.items():
            total[name] += count
    return total
