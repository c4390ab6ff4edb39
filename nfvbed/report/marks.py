"""Marks beside numbers: words and letters for warnings, numbers for reasons, each explained once with what has it.

Every number that a screen shows has the marks of all that calls it into question; those of tests as those of rows.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from string import ascii_letters, ascii_uppercase
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.limits import LIMITING
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records import Status
from nfvbed.records.quality import QualityWarning
from nfvbed.report import throughput, wording
from nfvbed.report.measured import measured_tables

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
    QualityWarning.CORE_SLOWED: "a core was slower than it can be, perhaps by a neighbour on its sibling hyperthread",
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
PERHAPS: Final = "the interval reaches this ceiling, and does not lie at it"
IN_PART: Final = "in a part of the trials, too few to bound the median"
SPELT_OUT: Final = {QualityWarning.EMULATED_ACCELERATOR: "emulated", QualityWarning.SIMULATED: "simulated"}
"""What makes a number none at all is a word of its own beside it, and not a letter."""
FIGURES: Final = re.compile(r"(?<=interval) [\d.e+-]+ to [\d.e+-]+")
"""They are in the row, and would make a reason of its own of every row's."""
MOST_NAMES: Final = 3
"""More rows, paths or variants than that are counted."""

Key = tuple[str, ...]


@dataclass(frozen=True)
class MarkedLine:
    """What has marks: a row, or a line of a test."""

    key: Key
    variant: str
    path: str
    name: str
    """In full, with its traffic point."""
    is_row: bool
    texts: tuple[str, ...]
    """What calls it into question: `cpu-stolen: measuring threads had to wait for their cores`."""
    reasons: tuple[str, ...] = ()
    """Why a verdict, or a figure, is not what one would take it for."""


@dataclass(frozen=True)
class ExplainedMark:
    """A mark of the first screen, with its explanation."""

    mark: str
    text: str
    of: tuple[MarkedLine, ...] = field(default=())


def key_of(row: CellSummary) -> Key:
    """Return what a row is known by."""
    return row.run, row.cell


def key_of_search(row: throughput.ThroughputRow) -> Key:
    """Return what a line of a search is known by."""
    return row.run, row.cell, row.test, row.goal.name if row.goal else ""


def key_of_load(test: MeasuredTest, place: int) -> Key:
    """Return what a load of a test is known by: its place among the test's loads."""
    return test.run, test.cell, test.result.test, str(test.result.round), str(place)


class Marks:
    """The marks of what a comparison shows."""

    def __init__(self, comparison: Comparison) -> None:
        self._marked = (*_rows(comparison), *_searches(comparison), *_loads(comparison), *_tables(comparison))
        # A screen of nothing but simulations has that over all of it.
        whole = bool(self._marked) and all(_SIMULATED in entry.texts for entry in self._marked)
        texts = dict.fromkeys(text for entry in self._marked for text in entry.texts)
        self.explained: list[ExplainedMark] = []
        letters = iter((*ascii_letters[26:], *ascii_letters[:26], *(f"{letter}2" for letter in ascii_uppercase)))
        for text in sorted(texts, key=_order):
            if text != _SIMULATED or not whole:
                mark = _SPELT.get(text) or next(letters)
                self.explained.append(ExplainedMark(mark, text, tuple(m for m in self._marked if text in m.texts)))
        reasons = dict.fromkeys(reason for entry in self._marked for reason in entry.reasons)
        for number, reason in enumerate(reasons, start=1):
            self.explained.append(
                ExplainedMark(str(number), reason, tuple(m for m in self._marked if reason in m.reasons))
            )
        self._by_key: dict[Key, list[str]] = {}
        for entry in self.explained:
            for marked in entry.of:
                self._by_key.setdefault(marked.key, []).append(entry.mark)

    def of(self, key: Key) -> str:
        """Return the marks of a row or line: words, then letters together, then numbers, each on its own."""
        own = list(dict.fromkeys(self._by_key.get(key, ())))
        words = [mark for mark in own if mark in SPELT_OUT.values()]
        numbers = [mark for mark in own if mark.isdigit()]
        letters = "".join(mark for mark in own if mark not in (*words, *numbers))
        return " ".join([*words, *([letters] if letters else []), *numbers])

    def legend(self) -> list[str]:
        """Explain each mark, with what has it."""
        return [f"{_introduced(entry)} ({named(entry.of, self._marked)})" for entry in self.explained]


def _introduced(entry: ExplainedMark) -> str:
    """Return a mark and what it means: `A cpu-stolen: ...`, `emulated (emulated-accelerator): ...`."""
    if entry.text not in _SPELT:
        return f"{entry.mark} {entry.text}"
    kind, _, meaning = entry.text.partition(": ")
    return f"{entry.mark}: {meaning}" if kind == entry.mark else f"{entry.mark} ({kind}): {meaning}"


def _said(kind: QualityWarning) -> str:
    return f"{kind.value}: {SHORT[kind]}"


_SIMULATED: Final = _said(QualityWarning.SIMULATED)
_SPELT: Final = {_said(kind): word for kind, word in SPELT_OUT.items()}


def _order(text: str) -> tuple[bool, str]:
    """Return a key that orders what is explained: that which makes a number none first, then by name."""
    return text not in _SPELT, text


def _rows(comparison: Comparison) -> Iterator[MarkedLine]:
    for row in comparison.rows:
        if row.mrr is not None:
            yield MarkedLine(
                key_of(row),
                row.variant,
                wording.path(row.topology, row.vnf),
                f"{row.variant} {wording.row_point(row)}",
                is_row=True,
                texts=tuple(texts_of(row)),
                reasons=tuple(_reasons(comparison, row)),
            )


def texts_of(row: CellSummary) -> Iterator[str]:
    """Yield what calls a row into question: what bounds it, may bound it, or bounds a part of it, and its warnings."""
    bounding = {limit.kind for limit in row.limits}
    for kind in sorted(bounding):
        yield _said(kind)
    for limit in row.possible_limits:
        yield f"perhaps {limit.kind.value}: {PERHAPS}"
    for kind in sorted({warning.kind for warning in row.warnings} - bounding):
        yield f"partly {kind.value}: {IN_PART}" if kind in LIMITING else _said(kind)


def _reasons(comparison: Comparison, row: CellSummary) -> Iterator[str]:
    """Yield why a row is not a plain one: how its cell ended, and the reason of its verdict."""
    if row.reason:
        yield row.reason
    difference = None if comparison.purpose == "survey" or row.emulated else comparison.difference(row)
    if difference is not None and difference.judgement.reason:
        judged = difference.judgement
        yield f"{judged.verdict.value.replace('-', ' ')}: {FIGURES.sub('', judged.reason)}"


def _searches(comparison: Comparison) -> Iterator[MarkedLine]:
    for row in throughput.throughput_rows(comparison):
        if row.goal is not None:
            name = f"{row.variant} {row.point} {row.test}"
            texts = tuple(map(_said, row.warnings))
            yield MarkedLine(key_of_search(row), row.variant, row.point, name, is_row=False, texts=texts)


def _loads(comparison: Comparison) -> Iterator[MarkedLine]:
    for test in comparison.tests:
        if test.result.kind.has_loads and test.shown and test.result.status is Status.OK:
            point = wording.row_point(test)
            for place, load in enumerate(test.loads):
                yield MarkedLine(
                    key_of_load(test, place),
                    test.variant,
                    wording.path(test.topology, test.vnf),
                    f"{test.variant} {point} {test.result.test}",
                    is_row=False,
                    texts=tuple(map(_said, test.warnings_at(load))),
                    reasons=(test.result.reason,) if test.result.reason else (),
                )


def _tables(comparison: Comparison) -> Iterator[MarkedLine]:
    for table in measured_tables(comparison):
        for line in table.lines:
            if line.label:
                name = f"{line.variant} {line.point} {line.test}"
                texts = tuple(map(_said, line.warnings))
                reasons = (line.reason,) if line.reason and line.quantities else ()
                yield MarkedLine(line.key, line.variant, line.point, name, is_row=False, texts=texts, reasons=reasons)


def named(carrying: Sequence[MarkedLine], among: Sequence[MarkedLine]) -> str:
    """Return rows and lines named as shortly as is clear: all, variants, paths, single ones, or how many."""
    parts = []
    for is_row, one, many in ((True, "row", "rows"), (False, "result", "results")):
        own, every = ([entry for entry in found if entry.is_row is is_row] for found in (carrying, among))
        if own:
            parts.append(_named(own, every, (one, many)))
    return "; ".join(parts)


def _named(own: Sequence[MarkedLine], every: Sequence[MarkedLine], words: tuple[str, str]) -> str:
    keys = {entry.key for entry in own}
    if keys == {entry.key for entry in every}:
        return f"all {words[1]}" if len(every) > 1 else f"the {words[0]}"
    for names in ([entry.variant for entry in every], [entry.path for entry in every]):
        whole = _whole(keys, every, names)
        if whole:
            return whole
    single = list(dict.fromkeys(entry.name for entry in own))
    return "; ".join(single) if len(single) < MOST_NAMES else f"{len(keys)} of {len(every)} {words[1]}"


def _whole(keys: set[Key], every: Sequence[MarkedLine], names: Iterable[str]) -> str:
    """Return the names of the groups that these are made of; nothing where they are parts of groups, or many."""
    groups: dict[str, set[Key]] = {}
    for entry, name in zip(every, names, strict=True):
        groups.setdefault(name, set()).add(entry.key)
    whole = [name for name, members in groups.items() if members <= keys]
    covered = set().union(*(groups[name] for name in whole)) if whole else set()
    return ", ".join(whole) if covered == keys and len(whole) <= MOST_NAMES else ""
