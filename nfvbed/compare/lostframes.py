"""Frames that did not arrive, by the place where they were lost, as far as trials tell."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from nfvbed.records import Record, TrialRecord

OUTSIDE: Final = re.compile(r"(?:port |[ps])[01]")
"""Ports of a switch that lead to the generator; `v1a` and `v1b` lead to the first VNF."""
OF_A_VNF: Final = re.compile(r"v[1-9][0-9]*[ab]")
RECEIVING: Final = ("rx_dropped", "rx_errors", "rx_error", "rx_miss", "rx_no_buf", "imissed", "ierrors", "rx_nombuf")
"""Counters of frames that came to a port and went no further."""
SENDING: Final = ("tx_dropped", "tx_errors", "tx_error", "oerrors")
"""Counters of frames that what is at a port did not take."""
SWITCH: Final = "lost: at the switch's port"
VNF: Final = "lost: on the way into a VNF"
RECEIVER: Final = "lost: on the way to the receiver"
ELSEWHERE: Final = "lost: not counted there"
NOBODY: Final = "lost: nobody counted"


class LostFrames(Record):
    """Frames of one place, over all directions of some trials."""

    place: str
    frames: int
    meaning: str


def lost_frames(trials: Sequence[TrialRecord]) -> tuple[LostFrames, ...]:
    """Return what was intended, sent and received, and where the rest was lost."""

    def total(count: str) -> int:
        return sum(getattr(direction, count) for trial in trials for direction in trial.directions)

    late = total("late")
    first = (
        ("intended", total("intended"), "asked of the generator"),
        ("not sent: late", late, "the generator was kept from its core; they count on neither side"),
        ("not sent: refused", total("unsent") - late, "the switch's port took no frame at its due time"),
        ("sent", total("sent"), "taken by the switch's port"),
        ("lost after sending", total("lost"), "sent, and never received; where, as far as the switch's counters tell:"),
    )
    last = (
        ("received", total("received"), "distinct frames, those of the drain included"),
        ("corrupted", total("corrupted"), "arrived with other contents"),
        ("duplicated", total("duplicated"), "arrived more than once"),
        ("reordered", total("reordered"), "arrived after a later one"),
    )
    found = [LostFrames(place=place, frames=frames, meaning=meaning) for place, frames, meaning in (*first, *last)]
    return (*found[: len(first)], *_places(trials), *found[len(first) :])


def _places(trials: Sequence[TrialRecord]) -> Iterable[LostFrames]:
    """Divide what was lost by the counters of the switch's ports; of trials without them it is said."""
    counted: dict[str, dict[str, int]] = {SWITCH: {}, VNF: {}, RECEIVER: {}}
    lost = {True: 0, False: 0}
    for trial in trials:
        ports = dict(_ports(trial.switch_counters.get("raw", {})))
        lost[bool(ports)] += sum(direction.lost for direction in trial.directions)
        for name, counts in ports.items():
            place = RECEIVER if OUTSIDE.fullmatch(name) else VNF
            for where, frames in ((SWITCH, _sum(counts, RECEIVING)), (place, _sum(counts, SENDING))):
                counted[where][name] = counted[where].get(name, 0) + frames
    meanings = {
        SWITCH: "came to it and went no further",
        VNF: "the VNF's port took no more of them: its ring was full",
        RECEIVER: "the generator's port took no more of them: its ring was full",
    }
    for place, by_port in counted.items():
        for name, frames in sorted(by_port.items()):
            if frames:
                text = f"{meanings[place]}; by the switch's counter, read around the trial, so of any frames"
                yield LostFrames(place=f"{place} {name}", frames=frames, meaning=text)
    dropped = sum(sum(by_port.values()) for by_port in counted.values())
    if lost[True] or dropped:
        text = "in a VNF, in the receiver, or where the switch does not count by port"
        yield LostFrames(place=ELSEWHERE, frames=max(0, lost[True] - dropped), meaning=text)
    if lost[False]:
        text = "in trials in which no counter of the switch's ports was read: as those of searches"
        yield LostFrames(place=NOBODY, frames=lost[False], meaning=text)


def _ports(raw: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Find the counters of the ports of the path, by their names, however deep a data plane keeps them."""
    for name, value in raw.items():
        if not isinstance(value, Mapping):
            continue
        if OUTSIDE.fullmatch(name) or OF_A_VNF.fullmatch(name):
            yield name, value
        else:
            yield from _ports(value)


def _sum(counts: Mapping[str, Any], names: Iterable[str]) -> int:
    found = (counts.get(name) for name in names)
    return sum(value for value in found if isinstance(value, int) and value > 0)
