"""Frames that did not arrive, by the place where they were lost, as far as trials tell."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from nfvbed.records import Record, TrialRecord
from nfvbed.records.drops import Cause, CounterMeanings

OUTSIDE: Final = re.compile(r"(?:port |[ps])([01])")
"""Ports of a switch that lead to the generator; `v1a` and `v1b` lead to the first VNF."""
OF_A_VNF: Final = re.compile(r"v([1-9][0-9]*)[ab]")
RECEIVING: Final = ("rx_dropped", "rx_errors", "rx_error", "rx_miss", "rx_no_buf", "imissed", "ierrors", "rx_nombuf")
"""Counters of frames that came to a port and went no further."""
SENDING: Final = ("tx_dropped", "tx_errors", "tx_error", "oerrors")
"""Counters of frames that what is at a port did not take."""
SWITCH: Final = "lost: at the switch's port"
VNF: Final = "lost: on the way into a VNF"
IN_VNF: Final = "lost: in a VNF"
RECEIVER: Final = "lost: on the way to the receiver"
ELSEWHERE: Final = "lost: not counted there"
NOBODY: Final = "lost: no counter says where"
SURPLUS: Final = "counted beyond what was lost"
MEANINGS: Final = {
    SWITCH: "came to it and went no further",
    VNF: "the VNF's port did not take them",
    IN_VNF: "the switch gave them to it, and did not get them back",
    RECEIVER: "the generator's port did not take them",
}
"""Meanings of the places that counters tell, in the order of the path; why frames were lost, counters' names tell
(`records/drops.py`).
"""

Counts = Mapping[str, Any]
"""Counters of a port."""


class LostFrames(Record):
    """Frames of one place, over all directions of some trials."""

    place: str
    frames: int
    meaning: str


def lost_frames(trials: Sequence[TrialRecord], meanings: CounterMeanings) -> tuple[LostFrames, ...]:
    """Return what was intended, sent and received, and where the rest was lost.

    Args:
        trials: those of one cell.
    """
    late = _total(trials, "late")
    first = (
        ("intended", _total(trials, "intended"), "asked of the generator"),
        ("not sent: late", late, "the generator was kept from its core; they count on neither side"),
        ("not sent: refused", _total(trials, "unsent") - late, "the switch's port took no frame at its due time"),
        ("sent", _total(trials, "sent"), "taken by the switch's port"),
        ("lost after sending", _total(trials, "lost"), "sent, never received; where, as the switch counted:"),
    )
    last = (
        ("received", _total(trials, "received"), "distinct frames, those of the drain included"),
        ("corrupted", _total(trials, "corrupted"), "arrived with other contents"),
        ("duplicated", _total(trials, "duplicated"), "arrived more than once"),
        ("reordered", _total(trials, "reordered"), "arrived after a later one"),
    )
    found = [LostFrames(place=place, frames=frames, meaning=meaning) for place, frames, meaning in (*first, *last)]
    return (*found[: len(first)], *_places(trials, meanings), *found[len(first) :])


def _places(trials: Sequence[TrialRecord], meanings: CounterMeanings) -> Iterable[LostFrames]:
    """Divide what was lost by the counters of the switch's ports; of trials without them it is said."""
    counted: dict[str, Counter[str]] = {place: Counter() for place in MEANINGS}
    causes: dict[tuple[str, str], dict[str, None]] = {}
    elsewhere = surplus = nobody = 0
    for trial in trials:
        ports, lost = dict(_ports(trial.switch_counters.get("raw", {}))), _total([trial], "lost")
        if not ports:
            nobody += lost
            continue
        found = _counted(trial, ports)
        found += _in_vnfs(ports, lost - sum(frames for _, _, frames in found))
        for place, name, frames in found:
            counted[place][name] += frames
            if frames and name in ports:
                causes.setdefault((place, name), {}).update(dict.fromkeys(_causes(place, ports[name], meanings)))
        rest = lost - sum(frames for _, _, frames in found)
        elsewhere, surplus = elsewhere + max(0, rest), surplus + max(0, -rest)
    for place, by_port in counted.items():
        for name, frames in sorted(by_port.items()):
            if frames:
                why = "".join(f": {text}" for text in ["; ".join(causes.get((place, name), {}))] if text)
                text = f"{MEANINGS[place]}{why}; by the switch's counters, read around the trial, so of any frames"
                yield LostFrames(place=f"{place} {name}", frames=frames, meaning=text)
    if elsewhere or any(sum(by_port.values()) for by_port in counted.values()):
        text = "in the receiver, under way when counters were read, or where the switch does not count by port"
        yield LostFrames(place=ELSEWHERE, frames=elsewhere, meaning=text)
    if surplus:
        text = "so many more are in the counters above: frames of others, or one frame in two of them"
        yield LostFrames(place=SURPLUS, frames=surplus, meaning=text)
    if nobody:
        text = "in trials in which no counter of the switch's ports was read: as those of searches"
        yield LostFrames(place=NOBODY, frames=nobody, meaning=text)


def _total(trials: Sequence[TrialRecord], count: str) -> int:
    return sum(getattr(direction, count) for trial in trials for direction in trial.directions)


def _counted(trial: TrialRecord, ports: Mapping[str, Counts]) -> list[tuple[str, str, int]]:
    """Return what ports dropped in a trial, as (place, port, frames).

    A link of the kernel counts as dropped what it did not take from the generator. Those frames were never sent, and
    so are not lost: the generator counts them as refused.
    """
    found = []
    for name, counts in ports.items():
        outside = OUTSIDE.fullmatch(name)
        refused = _refused(trial, int(outside[1])) if outside else 0
        found.append((SWITCH, name, max(0, _sum(counts, RECEIVING) - refused)))
        found.append((RECEIVER if outside else VNF, name, _sum(counts, SENDING)))
    return found


def _causes(place: str, counts: Counts, meanings: CounterMeanings) -> list[str]:
    """Return why a port dropped frames, by the counters that rose; those of several causes only where no other did."""
    side = "rx" if place == SWITCH else "tx"
    source = meanings.source_of(counts)
    risen = [name for name, count in counts.items() if isinstance(count, int) and count > 0 and meanings.is_drop(name)]
    known = [found for name in risen if (found := meanings.of(name, source)).side == side]
    certain = [found for found in known if found.cause is not Cause.SEVERAL] or known
    return [found.says for found in certain]


def _refused(trial: TrialRecord, port: int) -> int:
    """Return the frames that the port on this side did not take; direction 0 enters at port 0."""
    return trial.directions[port].refused if port < len(trial.directions) else 0


def _in_vnfs(ports: Mapping[str, Counts], most: int) -> list[tuple[str, str, int]]:
    """Return what VNFs with two ports did not give back, as (place, VNF, frames).

    Args:
        most: frames that no port's counter explains; what is more is left out, such as frames that end at a VNF.
    """
    found = []
    for number in sorted({int(match[1]) for name in ports if (match := OF_A_VNF.fullmatch(name))}):
        both = [ports.get(f"v{number}{side}", {}) for side in "ab"]
        given, returned = (sum(_sum(counts, (key,)) for counts in both) for key in ("tx_packets", "rx_packets"))
        frames = min(max(0, most), max(0, given - returned)) if all(both) else 0
        most -= frames
        found.append((IN_VNF, f"vnf{number}", frames))
    return found


def _ports(raw: Mapping[str, Any]) -> Iterable[tuple[str, Counts]]:
    """Find the counters of the ports of the path, by their names, however deep a data plane keeps them."""
    for name, value in raw.items():
        if not isinstance(value, Mapping):
            continue
        if OUTSIDE.fullmatch(name) or OF_A_VNF.fullmatch(name):
            yield name, value
        else:
            yield from _ports(value)


def _sum(counts: Counts, names: Iterable[str]) -> int:
    found = (counts.get(name) for name in names)
    return sum(value for value in found if isinstance(value, int) and value > 0)
