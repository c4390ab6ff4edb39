"""What a host's newest runs measured of each variant on each path, every rate judged against one baseline.

A verdict is of one run: rounds of different runs were never interleaved, so rates of different runs stand beside each
other and are called not paired.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_letters
from typing import Any, Final, Self

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.differences import Difference, find_differences
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.verdict import Rules, Verdict
from nfvbed.dashboard.results.coverage import by_length
from nfvbed.records import Record, RunRecord
from nfvbed.report import wording
from nfvbed.report.landing import DECIDED
from nfvbed.report.marks import texts_of
from nfvbed.store.summaries import Extent
from nfvbed.units import FrameSize

NOT_PAIRED: Final = "not paired"

Path = tuple[str, str, int, bool]
"""Path of a traffic point, without its frame size: topology, VNF, flows, whether both ways."""


@dataclass(frozen=True)
class RatedRun:
    """The rates of one run that has ended; its trials are not kept."""

    run: RunRecord
    extent: Extent
    """How much of it was stored when it was read."""
    rows: tuple[CellSummary, ...]
    rigs: dict[str, dict[str, Any]]
    rules: Rules

    @classmethod
    def of(cls, run: RunRecord, extent: Extent, comparison: Comparison) -> Self:
        """Return the rates out of a run's comparison."""
        return cls(run, extent, comparison.rows, comparison.rigs, comparison.rules)

    def against(self, baseline: str) -> dict[str, Difference]:
        """Return the differences to a variant, by cell; none where this run did not measure it."""
        found = find_differences(self.rows, baseline, self.rigs, self.rules)
        return {entry.cell: entry for entry in found}


class RateState(StrEnum):
    """How a rate stands to the baseline's."""

    BASELINE = "baseline"
    JUDGED = "judged"
    NOT_PAIRED = "not-paired"
    NONE = "none"
    """There is no rate."""


class RateCell(Record):
    """A variant on a path."""

    state: RateState
    rate_pps: float | None = None
    """Median; None: there is none."""
    rate: str = ""
    """The same in Mpps, with the sign of a bound."""
    words: str = ""
    """The verdict, or why there is no rate."""
    verdict: Verdict | None = None
    about: str = ""
    """Interval, rounds, ratio, date and run, or the whole reason: what is read at hover."""
    letters: str = ""
    """Letters of what calls the rate into question."""
    run: str = ""
    cell: str = ""


class RateRow(Record):
    """A variant on all paths."""

    variant: str
    cells: tuple[RateCell, ...]


class HostGrid(Record):
    """Variants by paths at one frame size."""

    host_hash: str
    baseline: str
    """A variant; empty: no rate was measured."""
    frame_size: FrameSize
    frame_sizes: tuple[FrameSize, ...]
    """That there are rates of."""
    paths: tuple[str, ...]
    rows: tuple[RateRow, ...]
    """The highest rate of the first path first."""
    marks: tuple[str, ...]
    """What the letters mean."""
    runs: tuple[str, ...]
    """That were looked at, the newest first."""


@dataclass(frozen=True)
class _Rate:
    """A row with the run that it is of."""

    rated: RatedRun
    row: CellSummary


def grid_of(
    rated: Sequence[RatedRun],
    judged: Mapping[str, Mapping[str, Difference]],
    baseline: str,
    frame_size: FrameSize | None = None,
) -> HostGrid:
    """Return the grid of a host's runs.

    A rate is that of the newest run that decides it against the baseline, else of the newest that pairs it with the
    baseline, else of the newest that has one.

    Args:
        rated: runs of one host, the newest first.
        judged: by run, its differences to the baseline.
        baseline: a variant that one of them measured; empty where none has a rate.
        frame_size: None, or one without a rate: that of most rates.
    """
    rates = [_Rate(entry, row) for entry in rated for row in entry.rows]
    sizes = Counter(one.row.frame_size for one in rates if one.row.mrr is not None)
    usual: FrameSize = max(sizes, key=lambda size: sizes[size], default=64)
    shown = frame_size if frame_size is not None and frame_size in sizes else usual
    at_size = [one for one in rates if one.row.frame_size == shown]
    paths = sorted({_path(one.row) for one in at_size if one.row.mrr is not None}, key=_by_path)
    variants = dict.fromkeys(one.row.variant for one in at_size if one.row.mrr is not None)
    places: dict[tuple[str, Path], list[_Rate]] = {}
    for one in at_size:
        places.setdefault((one.row.variant, _path(one.row)), []).append(one)
    texts = dict.fromkeys(text for one in at_size if one.row.mrr is not None for text in texts_of(one.row))
    letters = dict(zip(sorted(texts), _letters(), strict=False))
    cells = {
        (variant, path): _cell(places.get((variant, path), []), judged, baseline, letters)
        for variant in variants
        for path in paths
    }
    used = {letter for cell in cells.values() for letter in cell.letters.split()}
    order = sorted(variants, key=lambda name: _by_rate(name, [cells[name, path] for path in paths]))
    return HostGrid(
        host_hash=rated[0].run.host_hash if rated else "",
        baseline=baseline,
        frame_size=shown,
        frame_sizes=tuple(sorted(sizes, key=_by_size)),
        paths=tuple(_path_name(path) for path in paths),
        rows=tuple(RateRow(variant=name, cells=tuple(cells[name, path] for path in paths)) for name in order),
        marks=tuple(f"{letter} {text}" for text, letter in letters.items() if letter in used),
        runs=tuple(entry.run.id for entry in rated),
    )


def default_baseline(rated: Iterable[RatedRun], wanted: str = "") -> str:
    """Return the variant to judge against: the wanted one where it has rates, else that of most rates.

    Returns:
        Of several with as many the one that was measured last; empty where nothing has a rate.
    """
    rates = Counter(row.variant for entry in rated for row in entry.rows if row.mrr is not None)
    return wanted if wanted in rates else max(rates, key=lambda name: rates[name], default="")


def _cell(
    found: Sequence[_Rate], judged: Mapping[str, Mapping[str, Difference]], baseline: str, letters: Mapping[str, str]
) -> RateCell:
    measured = [one for one in found if one.row.mrr is not None]
    if not measured:
        return _no_rate(found)
    if measured[0].row.variant == baseline:
        return _rate(measured[0], letters, RateState.BASELINE, "baseline")
    paired = [
        (one, difference)
        for one in measured
        if (difference := judged.get(one.rated.run.id, {}).get(one.row.cell)) is not None
        and not difference.judgement.unpaired
        and not one.row.unranked
    ]
    decided = (pair for pair in paired if pair[1].judgement.verdict in DECIDED)
    best = next(decided, paired[0] if paired else None)
    if best is not None:
        return _judged(*best, letters)
    return _rate(measured[0], letters, RateState.NOT_PAIRED, NOT_PAIRED)


def _no_rate(found: Sequence[_Rate]) -> RateCell:
    if not found:
        return RateCell(state=RateState.NONE, words=wording.NOTHING, about="no run that was looked at has it")
    row = found[0].row
    return RateCell(
        state=RateState.NONE,
        words=row.status.value,
        about=wording.status(row) or "no maximum receive rate was asked for",
        run=row.run,
        cell=row.cell,
    )


def _judged(one: _Rate, difference: Difference, letters: Mapping[str, str]) -> RateCell:
    judgement = difference.judgement
    interval = f", {wording.ratio_interval(judgement)}" if judgement.interval else ""
    ratio = f"{wording.times(judgement)}{interval} of {difference.baseline_variant}" if judgement.ratio else ""
    why = judgement.reason if judgement.verdict not in (Verdict.HIGHER, Verdict.LOWER) else ""
    said = "; ".join(part for part in (ratio, wording.scope(difference), why) if part)
    found = _rate(one, letters, RateState.JUDGED, wording.short_verdict(judgement), said)
    return found.model_copy(update={"verdict": judgement.verdict})


def _rate(one: _Rate, letters: Mapping[str, str], state: RateState, words: str, said: str = "") -> RateCell:
    row, mrr = one.row, one.row.mrr
    assert mrr is not None
    interval = f"{wording.level(mrr.interval)} {wording.mpps_span(mrr.interval)} Mpps" if mrr.interval else ""
    rounds = f"{mrr.rounds} round{'' if mrr.rounds == 1 else 's'}"
    measured = f"run {wording.short_run(row.run)} of {one.rated.run.started_at[:10]}"
    return RateCell(
        state=state,
        rate_pps=mrr.median_pps,
        rate=wording.bound(row) + wording.mpps(mrr.median_pps),
        words="emulated" if row.emulated else words,
        about="; ".join(part for part in (interval, rounds, said, row.unranked, measured) if part),
        letters=" ".join(letters[text] for text in dict.fromkeys(texts_of(row)) if text in letters),
        run=row.run,
        cell=row.cell,
    )


def _path(row: CellSummary) -> Path:
    topology, vnf, _, flows, both = row.point
    return topology, vnf, flows, both


def _path_name(path: Path) -> str:
    topology, vnf, flows, both = path
    several = f"{flows:,} flows" if flows != 1 else ""
    return ", ".join(part for part in (wording.path(topology, vnf), several, "" if both else "one way") if part)


def _by_rate(variant: str, cells: Sequence[RateCell]) -> tuple[list[float], str]:
    """Return a key that orders variants: the highest rate first, on the first path where they have one."""
    return [-(cell.rate_pps or 0.0) for cell in cells], variant


def _by_path(path: Path) -> tuple[tuple[bool, int, str], str, int, bool]:
    topology, vnf, flows, both = path
    return by_length(topology), vnf, flows, both


def _by_size(size: FrameSize) -> tuple[bool, int]:
    return (True, 0) if size == "imix" else (False, size)


def _letters() -> Iterable[str]:
    yield from ascii_letters[26:]
    yield from ascii_letters[:26]
