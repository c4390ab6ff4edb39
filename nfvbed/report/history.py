"""Figures of all runs in a store, for series of them: of each run read once, and no trial of it whole."""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from nfvbed.compare.rows.rundata import neighbour_line
from nfvbed.compare.samples.statistics import median
from nfvbed.compare.series import (
    CAME_TO_ITS_END,
    MRR,
    ExcludedRun,
    Series,
    Setting,
    SettingFigure,
    by_setting,
    machine_of,
    series_of,
)
from nfvbed.errors import DamagedError
from nfvbed.records import SESSIONS, CellRecord, CellRole, QualityWarning, RunRecord, Sessions, Status
from nfvbed.records.results import ResultKind, ResultRecord, TablePayload
from nfvbed.records.selection import MEASURED, Selection
from nfvbed.report.load import described, of_runs
from nfvbed.report.relative import relative_throughputs
from nfvbed.search.result import SearchResult

if TYPE_CHECKING:
    from nfvbed.store import Store

NEWEST_RUNS: Final = 500
"""So many runs are looked at: a series has the newest hundred of its own."""

EMULATED: Final = QualityWarning.EMULATED_ACCELERATOR

Key = tuple[str, str | None]
"""A run and when it ended: an ended run is read again only after it was resumed."""


class History:
    """Reads the figures of runs; may be called from several threads."""

    def __init__(self, store: "Store", selection: Selection = MEASURED) -> None:
        self._store = store
        self._selection = selection
        self._kept: dict[Key, tuple[SettingFigure | ExcludedRun, ...]] = {}
        self._found: dict[str, Series] = {}
        self._described: dict[str, dict[str, Any]] = {}
        self._one_at_a_time = threading.Lock()

    def series(self) -> tuple[Series, ...]:
        """Return the settings that several of the newest ended runs measured, with those runs that are no samples."""
        with self._one_at_a_time:
            every = self._every(NEWEST_RUNS)
            settings = by_setting(entry for entry in every if isinstance(entry, SettingFigure))
            others: dict[str, list[ExcludedRun]] = {}
            for entry in every:
                if isinstance(entry, ExcludedRun):
                    others.setdefault(entry.setting.name, []).append(entry)
            several = {name: members for name, members in settings.items() if len(members) > 1}
            self._found = {name: self._series(name, members, others.get(name, ())) for name, members in several.items()}
            return tuple(self._found.values())

    def measured(self, most: int | None = NEWEST_RUNS) -> tuple[SettingFigure, ...]:
        """Return the figures of the newest ended runs, also of settings that one run alone measured.

        Args:
            most: the most runs; None: all of them.
        """
        with self._one_at_a_time:
            return tuple(entry for entry in self._every(most) if isinstance(entry, SettingFigure))

    def _every(self, most: int | None) -> list[SettingFigure | ExcludedRun]:
        runs = [run for run in self._store.runs(self._selection) if run.status is not None][:most]
        self._kept = {(run.id, run.ended_at): self._of(run) for run in runs}
        return [entry for figures in self._kept.values() for entry in figures]

    def _series(self, name: str, members: tuple[SettingFigure, ...], others: Sequence[ExcludedRun]) -> Series:
        known = self._found.get(name)
        since = [entry for entry in others if entry.at >= members[0].at]
        if known is not None and known.measured == members and set(known.left_out) == set(since):
            return known
        return series_of(members, since)

    def descriptions(self, series: Series) -> Mapping[str, Mapping[str, Any]]:
        """Return the descriptions of hosts, rigs and configurations of a series, by hash."""
        digests = {
            digest for entry in series.measured for digest in (entry.host_hash, entry.rig_hash, entry.config_hash)
        }
        return {digest: described(self._store, digest) for digest in digests}

    def _of(self, run: RunRecord) -> tuple[SettingFigure | ExcludedRun, ...]:
        known = self._kept.get((run.id, run.ended_at))
        if known is not None:
            return known
        try:
            with of_runs((run,)):
                return tuple(self._read(run))
        except DamagedError as error:
            self._store.leave_out(run.id, error)
            return ()

    def _surroundings(self, machine: str, rig_hash: str) -> "Surroundings":
        """Return what is around the cells of a rig; one from before there was a choice of sessions names none."""
        if rig_hash not in self._described:
            self._described[rig_hash] = described(self._store, rig_hash)
        rig = self._described[rig_hash]
        return Surroundings(machine, Sessions(rig.get(SESSIONS, Sessions.UNREPLIED)), neighbour_line(rig))

    def _read(self, run: RunRecord) -> Iterable[SettingFigure | ExcludedRun]:
        """Yield the figures of a run that are samples; of what failed, or of a run that did, the state alone."""
        ended = {cell.id: cell for cell in self._store.cells(run.id) if cell.role is CellRole.SUBJECT}
        seen = set()
        for entry in self._figures(run, ended):
            seen.add((entry.cell, entry.setting.test))
            status, reason = _state(run, ended[entry.cell])
            yield entry if status in CAME_TO_ITS_END else _left_out(entry.setting, run, entry.cell, (status, reason))
        for cell in ended.values():
            state = _state(run, cell)
            # A setting whose rate is not known: that it was to be measured is known of the rate alone.
            if (cell.id, MRR) not in seen and state[0] in NO_SAMPLE:
                around = self._surroundings(self._machine(run), cell.rig_hash)
                yield _left_out(_setting(run, cell, around, MRR), run, cell.id, state)

    def _machine(self, run: RunRecord) -> str:
        if run.host_hash not in self._described:
            self._described[run.host_hash] = described(self._store, run.host_hash)
        return machine_of(self._described[run.host_hash], run.host_hash)

    def _figures(self, run: RunRecord, subjects: Mapping[str, CellRecord]) -> Iterable[SettingFigure]:
        machine = self._machine(run)
        around = {cell.id: self._surroundings(machine, cell.rig_hash) for cell in subjects.values()}
        rates: dict[str, list[float]] = {}
        emulated, at_most = set(), Counter[str]()
        for visit in self._store.visit_rates(run.id):
            rates.setdefault(visit.cell, []).append(visit.rate_pps)
            emulated |= {visit.cell} if visit.emulated else set()
            at_most[visit.cell] += visit.at_most
        warnings = self._store.mrr_warnings(run.id) if rates else {}
        for cell in subjects.values():
            # What came back beyond what was sent makes a rate an upper bound: the median of most such visits is none.
            if cell.id in rates and cell.id not in emulated and 2 * at_most[cell.id] <= len(rates[cell.id]):
                figure = MRR, median(rates[cell.id]), "frames/s"
                yield _measured(run, cell, around[cell.id], figure, warnings.get(cell.id, ()))
        results = [entry for entry in self._store.results(run.id) if entry.cell in subjects]
        of_tests: dict[tuple[str, str], list[QualityWarning]] = {}
        for entry in results:
            of_tests.setdefault((entry.cell, entry.test), []).extend(entry.warnings)
        for cell_id, figure in (*_of_tests(results), *_relative(self._store.results(run.id))):
            if cell_id not in emulated:
                carried = of_tests.get((cell_id, figure[0].partition(":")[0]), ())
                yield _measured(run, subjects[cell_id], around[cell_id], figure, tuple(dict.fromkeys(carried)))


@dataclass(frozen=True)
class Surroundings:
    """What is around a cell: runs of a series share it."""

    machine: str
    sessions: Sessions
    neighbour: str
    """The noisy neighbour; empty: none."""


Figure = tuple[str, float, str]
"""Test and what of it, its value, its unit."""


NO_SAMPLE: Final = (Status.FAILED, Status.INTERRUPTED)
"""What is in a series with its state: it was begun, and did not come to its end."""


def _state(run: RunRecord, cell: CellRecord) -> tuple[Status, str]:
    """Return how a cell ended, with the reason: as its run did where nothing else is known of it."""
    if cell.status not in CAME_TO_ITS_END:
        return cell.status, cell.reason
    return run.status or Status.INTERRUPTED, run.reason


def _left_out(setting: Setting, run: RunRecord, cell: str, state: tuple[Status, str]) -> ExcludedRun:
    status, reason = state
    return ExcludedRun(setting=setting, run=run.id, at=run.started_at, cell=cell, status=status, reason=reason)


def _setting(run: RunRecord, cell: CellRecord, around: Surroundings, test: str) -> Setting:
    return Setting(
        variant=cell.variant,
        topology=cell.topology,
        vnf=cell.vnf,
        frame_size=cell.frame_size,
        flows=cell.flows,
        bidirectional=cell.bidirectional,
        test=test,
        site=run.site,
        machine=around.machine,
        simulated=cell.simulated,
        sessions=around.sessions,
        neighbour=around.neighbour,
    )


def _measured(
    run: RunRecord,
    cell: CellRecord,
    around: Surroundings,
    figure: Figure,
    warnings: tuple[QualityWarning, ...],
) -> SettingFigure:
    test, value, unit = figure
    return SettingFigure(
        setting=_setting(run, cell, around, test),
        run=run.id,
        at=run.started_at,
        cell=cell.id,
        value=value,
        unit=unit,
        host_hash=run.host_hash,
        config_hash=cell.config_hash,
        rig_hash=cell.rig_hash,
        status=run.status or Status.OK,
        warnings=warnings,
    )


def _of_tests(results: Iterable[ResultRecord]) -> Iterable[tuple[str, Figure]]:
    """Yield the figures of tests that ended well, each the median of its rounds; loads and soaks have none.

    Of a search it is the lower bound of each goal that was reached, of a table each quantity of each row.
    """
    found: dict[tuple[str, str, str], list[float]] = {}
    for entry in results:
        if entry.status is Status.OK and entry.payload and not _is_doubtful(entry):
            for what, value, unit in _figures(entry):
                found.setdefault((entry.cell, f"{entry.test}: {what}", unit), []).append(value)
    for (cell, test, unit), values in found.items():
        yield cell, (test, median(values), unit)


def _is_doubtful(entry: ResultRecord) -> bool:
    """Return whether figures mean nothing, or are bounds; a search says itself which of its goals are irregular."""
    doubtful = EMULATED in entry.warnings
    return doubtful or (entry.kind is not ResultKind.SEARCH and QualityWarning.LOSS_AT_LEAST in entry.warnings)


def _relative(results: Iterable[ResultRecord]) -> Iterable[tuple[str, Figure]]:
    """Yield the relative throughputs, which machines' moods move least."""
    for (cell, test, goal), found in relative_throughputs(results).items():
        if found.ratio is not None:
            yield cell, (f"{test}: {goal}, {found.search}, relative", found.ratio, "")


def _figures(entry: ResultRecord) -> Iterable[Figure]:
    if entry.kind is ResultKind.SEARCH:
        search = SearchResult.model_validate(entry.payload)
        for goal in search.goals:
            if goal.irregularity is None and goal.lower_bound is not None:
                # Searches that ask something else are another setting, whatever the experiment calls them.
                yield f"{goal.goal.name}, {search.search.label}", float(goal.lower_bound.load_pps), "frames/s"
    elif entry.kind.is_table:
        for row in TablePayload.model_validate(entry.payload).rows:
            for figure in row.quantities:
                if figure.value is not None and row.status is Status.OK:
                    yield f"{row.label}, {figure.name}" if row.label else figure.name, figure.value, figure.unit
