"""The rates of a host's newest runs, kept while nothing is added to them, and what they say since an answer."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, Generic, TypeVar

from nfvbed.compare.differences.descriptions import differences
from nfvbed.compare.differences.differences import Difference, judge_rows
from nfvbed.compare.differences.scope import find_scope
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.verdict import Judgement, Verdict
from nfvbed.dashboard.results.hostgrid import HostGrid, RatedRun, default_baseline, grid_of
from nfvbed.dashboard.results.source import MOST_TRIALS, Source
from nfvbed.errors import NfvbedError
from nfvbed.records import Record, RunRecord
from nfvbed.report import wording
from nfvbed.report.newest import newest_of
from nfvbed.store.summaries import Extent
from nfvbed.units import FrameSize

LOOKED_AT: Final = 8
"""Newest runs of a host whose rates are shown."""
KEPT_RUNS: Final = 48
KEPT_GRIDS: Final = 16

Value = TypeVar("Value")


class RateChange(Record):
    """A rate of a run that is newer than the last answer, against the same variant's in the answer's run."""

    run: str
    cell: str
    variant: str
    point: str
    words: str
    """The verdict with its sign; rounds of two runs are never paired."""
    verdict: Verdict
    times: str


class AnswerChanges(Record):
    """What is different since the last decided answer."""

    host: tuple[str, ...]
    """What of the host's description changed, `key: before -> after`."""
    rates: tuple[RateChange, ...]
    """That moved, of the newest run that has each."""
    compared: int
    """Rates that both have."""


class _Cache(Generic[Value]):
    """The values that were asked for last; may be asked from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Value] = OrderedDict()
        self._one_at_a_time = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        with self._one_at_a_time:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._one_at_a_time:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


class HostRates:
    """Reads the rates of hosts; may be called from several threads."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._rated: _Cache[RatedRun | None] = _Cache(KEPT_RUNS)
        self._judged: _Cache[dict[str, Difference]] = _Cache(4 * KEPT_RUNS)
        self._grids: _Cache[HostGrid] = _Cache(KEPT_GRIDS)

    def rated(self, host: str, runs: Iterable[RunRecord]) -> tuple[RatedRun, ...]:
        """Return the rates of a host's newest runs that have ended; what cannot be compared is left out.

        Args:
            host: its hash.
            runs: the newest, of all hosts.
        """
        found: list[RatedRun] = []
        trials = 0
        for run in newest_of(runs, host, LOOKED_AT):
            extent = self._source.store.extent(run.id)
            trials += extent.trials
            if found and trials > MOST_TRIALS:
                break
            if (entry := self._of_run(run, extent)) is not None:
                found.append(entry)
        return tuple(found)

    def grid(self, rated: Sequence[RatedRun], baseline: str = "", frame_size: FrameSize | None = None) -> HostGrid:
        """Return a host's rates as a grid.

        Args:
            rated: of one host, the newest first.
            baseline: a variant; empty, or one without a rate: that of most rates.
        """
        against = default_baseline(rated, baseline)
        runs = tuple((entry.run.id, entry.extent) for entry in rated)

        def made() -> HostGrid:
            judged = {entry.run.id: self._against(entry, against) for entry in rated}
            return grid_of(rated, judged, against, frame_size)

        return self._grids.get((runs, against, frame_size), made)

    def since(self, answered: RunRecord, rated: Sequence[RatedRun], newest: RunRecord) -> AnswerChanges:
        """Return what is different since the last decided answer.

        Args:
            answered: the run with that answer.
            rated: runs of its host, the newest first.
            newest: the newest run of the store.
        """
        before, after = (self._source.described(run.host_hash) for run in (answered, newest))
        host = differences(before, after) if answered.host_hash != newest.host_hash else ()
        own = next((entry for entry in rated if entry.run.id == answered.id), None)
        newer = [entry for entry in rated if entry.run.started_at > answered.started_at]
        changes, compared = _moved(own, newer) if own is not None else ([], 0)
        return AnswerChanges(host=host, rates=tuple(changes), compared=compared)

    def _against(self, entry: RatedRun, baseline: str) -> dict[str, Difference]:
        return self._judged.get((entry.run.id, entry.extent, baseline), lambda: entry.against(baseline))

    def _of_run(self, run: RunRecord, extent: Extent) -> RatedRun | None:
        def made() -> RatedRun | None:
            try:
                return RatedRun.of(run, extent, self._source.run_alone(run).comparison)
            except NfvbedError:
                return None  # Its own page, and the list of what could not be compared, say why.

        return self._rated.get((run.id, extent), made)


def _moved(own: RatedRun, newer: Sequence[RatedRun]) -> tuple[list[RateChange], int]:
    """Return the rates that newer runs found higher or lower than the answer's run, and how many both have."""
    known = {(row.variant, row.point): row for row in own.rows if row.mrr is not None and not row.unranked}
    seen: set[object] = set()
    changes = []
    for entry in newer:
        rigs = own.rigs | entry.rigs
        for row in entry.rows:
            key = row.variant, row.point
            before = known.get(key)
            if row.mrr is None or row.unranked or before is None or key in seen:
                continue
            seen.add(key)
            scope = find_scope(row, before, rigs)
            (judgement,) = judge_rows([(row, before)], [scope], entry.rules)
            if judgement.verdict in (Verdict.HIGHER, Verdict.LOWER):
                changes.append((judgement, row))
    changes.sort(key=lambda found: -abs((found[0].ratio or 1.0) - 1.0))
    return [_change(judgement, row) for judgement, row in changes], len(seen)


def _change(judgement: Judgement, row: CellSummary) -> RateChange:
    return RateChange(
        run=row.run,
        cell=row.cell,
        variant=row.variant,
        point=wording.row_point(row),
        words=wording.short_verdict(judgement),
        verdict=judgement.verdict,
        times=wording.times(judgement),
    )
