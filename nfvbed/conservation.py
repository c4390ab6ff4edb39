"""The laws of the counts of one direction: no frame is made on the way, so none is received that was not sent.

A count that cannot tell frames apart (a NIC's, a tool's) may lie above what was sent: frames came twice. What is above
is *surplus*, and counts as duplicated. As many frames as came twice below that line may be lost unseen, so with any
surplus the loss is at least what was counted, and the rate at most.

The standard library alone: this module goes to the hosts of generators with the programs that count there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

COUNTS: Final = (
    "intended", "sent", "received", "lost", "unsent", "late", "refused", "reordered", "duplicated", "surplus",
    "corrupted", "sent_bytes", "received_bytes",
)  # fmt: skip
"""Counts of a direction; none is ever negative."""
_values = itemgetter(*COUNTS)
_NONE: Final[Mapping[str, Any]] = dict.fromkeys(COUNTS, 0)


@dataclass(frozen=True)
class Balance:
    """The fate of the frames that were sent: `received + lost` are all of them."""

    received: int
    """At most what was sent."""
    lost: int
    """Frames that were lost; with a surplus at least so many."""
    surplus: int
    """Counted beyond what was sent."""


def balance(sent: int, counted: int) -> Balance:
    """Return the balance of two counts: what was sent, and what was counted back.

    Args:
        sent: frames of one direction.
        counted: what came back of them, counted in any way.

    Raises:
        ValueError: one is negative, and so no count.
    """
    if sent < 0 or counted < 0:
        raise ValueError(f"no count is negative: sent {sent}, counted {counted}")
    received = min(sent, counted)
    return Balance(received=received, lost=sent - received, surplus=counted - received)


def fault_of(counts: Mapping[str, int]) -> str:
    """Return the first law that the counts of a direction break; empty: they keep all.

    Args:
        counts: those of `COUNTS`.
    """
    if min(_values(counts)) < 0:
        negative = (f"{name} {value}" for name, value in zip(COUNTS, _values(counts), strict=True) if value < 0)
        return f"negative: {', '.join(negative)}"
    if counts["received"] + counts["lost"] != counts["sent"]:
        return f"received {counts['received']} and lost {counts['lost']} are not the {counts['sent']} sent"
    if counts["sent"] + counts["unsent"] != counts["intended"]:
        return f"sent {counts['sent']} and unsent {counts['unsent']} are not the {counts['intended']} intended"
    if counts["late"] > counts["unsent"]:
        return f"late {counts['late']} of {counts['unsent']} unsent"
    if counts["surplus"] > counts["duplicated"]:
        return f"a surplus of {counts['surplus']} with {counts['duplicated']} duplicated"
    return ""


def conserved(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored counts of a direction, corrected where they break a law.

    Earlier versions stored what generators counted: losses below zero, and more frames received than sent.
    """
    counts = {**_NONE, **stored}
    if not fault_of(counts):
        return dict(stored)
    whole = {name: max(0, counts[name]) for name in COUNTS}
    found = balance(whole["sent"], whole["received"])
    # What readers took for the intended frames: the larger one of both counts of them.
    intended = max(whole["intended"], whole["sent"] + whole["unsent"])
    unsent = intended - whole["sent"]
    in_time = stored.get("received_in_time")
    whole |= {
        "intended": intended,
        "received": found.received,
        "lost": found.lost,
        "unsent": unsent,
        "late": min(whole["late"], unsent),
        "surplus": max(found.surplus, whole["surplus"]),
    }
    unseen = max(0, found.surplus - max(0, counts["surplus"]))
    whole["duplicated"] = max(whole["duplicated"] + unseen, whole["surplus"])
    if in_time is not None:
        whole["received_in_time"] = max(0, min(in_time, found.received))
    return {**stored, **whole}
