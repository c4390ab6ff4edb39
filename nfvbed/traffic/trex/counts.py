"""What a trial counted, in the words of the protocol; what TRex cannot tell is not counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nfvbed.traffic.trex.frames import Part

PORTS = (0, 1)


@dataclass(frozen=True)
class Sent:
    """How sending went.

    TRex sends every frame: where it cannot keep its pace its clock goes slower, until it is stopped.
    """

    took_ns: int
    """From the start of sending to its end, by this host's clock: a few milliseconds may be wrong."""
    nominal_ns: int
    """What it takes where TRex keeps its pace."""
    was_stopped: bool
    """Whether somebody asked for the end."""


def trial(planned: Sequence[Part], by_id: dict[Any, Any], at_ports: dict[Any, Any], sent: Sent) -> dict[str, Any]:
    """Return a trial's result.

    Args:
        planned: its streams.
        by_id: the client's `flow_stats`.
        at_ports: the client's statistics of ports.
        sent: how long they were sent.
    """
    was_full = bool(at_ports["global"].get("queue_full", 0))
    received = dict.fromkeys(PORTS, 0)
    directions = []
    for tx, rx in dict.fromkeys((part.tx, part.rx) for part in planned):
        of_it = [part for part in planned if (part.tx, part.rx) == (tx, rx)]
        found = _direction(of_it, by_id, was_full=was_full, was_stopped=sent.was_stopped)
        received[rx] += found["received"]
        directions.append({"tx": tx, "rx": rx, **found})
    whole = all(_counted(part, by_id, "tx_pkts", part.tx) >= part.due for part in planned)
    return {
        "duration_ns": sent.nominal_ns if whole else sent.took_ns,
        # TRex says how busy it was as an average over seconds, whatever the trial was.
        "busy_ns": 0,
        "gaps": None,
        "directions": directions,
        "foreign": [max(0, int(at_ports[port]["ipackets"]) - received[port]) for port in PORTS],
        "missed": [max(0, int(at_ports[port]["ierrors"])) for port in PORTS],
        "clock": "tsc",
    }


def _counted(part: Part, by_id: dict[Any, Any], key: str, port: int) -> int:
    return int(by_id.get(part.id, {}).get(key, {}).get(port, 0))


def _direction(planned: Sequence[Part], by_id: dict[Any, Any], *, was_full: bool, was_stopped: bool) -> dict[str, Any]:
    """Return the counts of one direction; what TRex does not count is 0, and its results say that it did not."""
    sent = received = sent_bytes = received_bytes = intended = 0
    for part in planned:
        out, back = _counted(part, by_id, "tx_pkts", part.tx), _counted(part, by_id, "rx_pkts", part.rx)
        sent, received = sent + out, received + back
        sent_bytes, received_bytes = sent_bytes + out * part.size_bytes, received_bytes + back * part.size_bytes
        # At maximum load as many are intended as the port takes; how many were due when it was stopped, nobody knows.
        intended += out if part.is_full or was_stopped else part.due
    unsent = intended - sent
    return {
        "intended": intended,
        "sent": sent,
        "received": received,
        "lost": sent - received,
        "unsent": unsent,
        # TRex counts how often a port's queue was full, not the frames.
        "late": 0 if was_full else unsent,
        "refused": unsent if was_full else 0,
        "reordered": 0,
        "duplicated": 0,
        "corrupted": 0,
        "sent_bytes": sent_bytes,
        "received_bytes": received_bytes,
    }
