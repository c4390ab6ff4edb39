"""Letters for warnings and numbers for the reasons of verdicts: each explained once, with the rows that have it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.limits import LIMITING
from nfvbed.compare.summary import CellSummary
from nfvbed.records import QualityWarning
from nfvbed.report import wording

SHORT: Final = {
    QualityWarning.GENERATOR_LIMITED: "the generator set the rate: a lower bound",
    QualityWarning.PORT_LIMITED: "the ports set the rate (as fast as testpmd on them): a lower bound",
    QualityWarning.VNF_LIMITED: "the VNF set the rate (as fast as it is alone): a lower bound",
    QualityWarning.WIRE_LIMITED: "the link is full",
    QualityWarning.EMULATED_ACCELERATOR: "a guest was emulated: frame counts hold, rates mean nothing",
    QualityWarning.PLACEMENT_CHANGED: "cores moved nearer or farther within trials",
    QualityWarning.REORDERED: "frames arrived in another order",
    QualityWarning.DUPLICATED: "frames arrived twice",
    QualityWarning.LOSS_AT_LEAST: "more frames came back than were sent: loss at least, rate at most as given",
    QualityWarning.CORRUPTED: "payloads were changed: do not trust the row",
    QualityWarning.UNSENT: "frames could not be sent at their due time",
    QualityWarning.CPU_STOLEN: "measuring threads had to wait for their cores",
    QualityWarning.FREQUENCY_CHANGED: "the clock of a working core changed by more than 3 %",
    QualityWarning.THERMAL_THROTTLING: "a working core was slowed by heat",
    QualityWarning.WRONG_NUMA_NODE: "frames cross between NUMA nodes",
    QualityWarning.HUGEPAGES_SHORT: "fewer hugepages than asked for",
    QualityWarning.OFFLOADS_ON: "checksum offload is on for a raw-Ethernet VNF",
    QualityWarning.UNSTABLE: "rates scatter by more than the experiment's bound",
    QualityWarning.TOO_FEW_REPETITIONS: "fewer repetitions than asked for",
    QualityWarning.CORES_SHARED: "several roles shared a core",
    QualityWarning.SINGLE_FLOW: "one flow, which one of several polling threads served",
    QualityWarning.RECONNECTED: "the connection to the generator was lost and came back",
    QualityWarning.FRAMES_UNCHECKED: "the generator counts frames and does not look at them",
    QualityWarning.SINK_MISSED: "the generator's own port dropped frames that had come back",
    QualityWarning.SIMULATED: "not a measurement",
}
"""What a warning means, on one line; what can be done about it is with the details."""
FIGURES: Final = re.compile(r"(?<=interval) [\d.e+-]+ to [\d.e+-]+")
"""They are in the row, and would make a reason of its own of every row's."""
MOST_NAMES: Final = 3
"""More rows, paths or variants than that are counted."""


@dataclass(frozen=True)
class Explained:
    """One mark."""

    mark: str
    text: str
    rows: tuple[CellSummary, ...]


class Marks:
    """The marks of the rows that the screen shows."""

    def __init__(self, comparison: Comparison) -> None:
        """Assign marks to all warnings and reasons, warnings first, in alphabetical order."""
        self._rows = tuple(row for row in comparison.rows if row.mrr is not None)
        self.explained: list[Explained] = []
        reported = all(row.simulated for row in self._rows)
        of_kind = {kind: tuple(row for row in self._rows if _carries(row, kind)) for kind in QualityWarning}
        kinds = [kind for kind in wording.warnings(self._rows) if of_kind[kind]]
        kinds = [kind for kind in kinds if not (reported and kind is QualityWarning.SIMULATED)]
        for mark, kind in zip(ascii_uppercase, kinds, strict=False):
            self.explained.append(Explained(mark, f"{kind.value}: {SHORT[kind]}", of_kind[kind]))
        for number, (reason, rows) in enumerate(_reasons(comparison, self._rows).items(), start=1):
            self.explained.append(Explained(str(number), reason, tuple(rows)))

    def of(self, row: CellSummary) -> str:
        """Return a row's marks; numbers are kept apart from each other."""
        key = (row.run, row.cell)
        own = [entry.mark for entry in self.explained if key in {(one.run, one.cell) for one in entry.rows}]
        letters = "".join(mark for mark in own if mark.isalpha())
        return " ".join([*([letters] if letters else []), *(mark for mark in own if mark.isdigit())])

    def legend(self) -> list[str]:
        """Explain each mark, with the rows that have it."""
        return [f"{entry.mark} {entry.text} ({named(entry.rows, self._rows)})" for entry in self.explained]


def _carries(row: CellSummary, kind: QualityWarning) -> bool:
    """Return whether a row has a warning; what limited a few trials alone is on the page only."""
    if kind in LIMITING:
        return any(limit.kind is kind for limit in row.limits)
    return any(warning.kind is kind for warning in row.warnings)


def _reasons(comparison: Comparison, rows: Sequence[CellSummary]) -> dict[str, list[CellSummary]]:
    """Return the reasons of verdicts that have one, each with its rows."""
    found: dict[str, list[CellSummary]] = {}
    if comparison.purpose == "survey":
        return found
    for row in rows:
        difference = comparison.difference(row)
        if difference is not None and difference.judgement.reason and not row.emulated:
            judged = difference.judgement
            reason = f"{judged.verdict.value.replace('-', ' ')}: {FIGURES.sub('', judged.reason)}"
            found.setdefault(reason, []).append(row)
    return found


def named(carrying: Sequence[CellSummary], rows: Sequence[CellSummary]) -> str:
    """Name rows as shortly as is clear: all, variants, paths, single rows, or how many."""
    own = {(row.run, row.cell) for row in carrying}
    if own == {(row.run, row.cell) for row in rows}:
        return "all rows" if len(rows) > 1 else "the row"
    variants = _whole(own, rows, [row.variant for row in rows])
    if variants:
        return variants
    paths = _whole(own, rows, [wording.path(row.topology, row.vnf) for row in rows])
    if paths:
        return paths
    single = [f"{row.variant} {wording.row_point(row)}" for row in carrying]
    return "; ".join(single) if len(single) < MOST_NAMES else f"{len(own)} of {len(rows)} rows"


def _whole(own: Iterable[tuple[str, str]], rows: Sequence[CellSummary], names: Sequence[str]) -> str:
    """Name the groups that the rows are made of; nothing where they are parts of groups, or many."""
    keys = set(own)
    groups: dict[str, set[tuple[str, str]]] = {}
    for row, name in zip(rows, names, strict=True):
        groups.setdefault(name, set()).add((row.run, row.cell))
    whole = [name for name, members in groups.items() if members <= keys]
    covered = set().union(*(groups[name] for name in whole)) if whole else set()
    return ", ".join(whole) if covered == keys and len(whole) <= MOST_NAMES else ""
