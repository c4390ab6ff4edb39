"""The first page: the last answer, the newest runs with their largest differences, and what is covered."""

from collections.abc import Iterable
from datetime import datetime
from math import log
from typing import Final

from nfvbed.compare.agreement import supports_of
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.differences import Difference
from nfvbed.compare.verdict import Verdict
from nfvbed.dashboard.results.coverage import Coverage, age_days, coverage_of
from nfvbed.dashboard.results.source import Source
from nfvbed.errors import NfvbedError
from nfvbed.records import Record, RunRecord
from nfvbed.records.annotations import Marks
from nfvbed.records.selection import MEASURED, OmittedRuns
from nfvbed.report import wording
from nfvbed.report.landing import LandingRun
from nfvbed.store.store import UnreadableRow
from nfvbed.store.summaries import Part

NEWEST: Final = 8
"""Runs that are listed."""
COMPARED: Final = 3
"""Listed runs that are compared, the newest ones."""
TOP: Final = 8
"""Changes that are shown."""


class RunState(Record):
    """A run, how it is, and how old."""

    run: RunRecord
    state: str
    """Its status; `running`, or `crashed` where no process writes to the store."""
    age_days: float
    label: str = ""
    note: str = ""
    hidden: bool = False
    """Whether people have hidden it."""
    simulated: bool = False


class Change(Record):
    """A difference that was decided."""

    run: str
    cell: str
    variant: str
    baseline: str
    baseline_cell: str
    point: str
    verdict: Verdict
    words: str
    """The verdict with its sign."""
    ratio: float
    times: str
    """The ratio as it is written, with its bound."""
    interval: str
    scope: str


class LastAnswer(Record):
    """The newest run with an answer, of those that were measured; without any, the newest run."""

    run: RunState
    decided: bool
    headline: str
    """Empty where it cannot be compared."""
    notes: tuple[str, ...]
    """What is newer, and why it has no answer."""


class Overview(Record):
    """All of the page."""

    answer: LastAnswer | None
    """None: no run was measured."""
    newest: tuple[RunState, ...]
    """Newest measured runs, none of them hidden."""
    runs: int
    """Number of measured runs in the store, none of them hidden."""
    left_out: OmittedRuns
    """Runs that are not shown unless they are asked for."""
    changes: tuple[Change, ...]
    decided: dict[str, int]
    """Differences that were decided, all of them counted, by the run; of the newest runs that were compared."""
    not_compared: tuple[str, ...]
    """Newest runs that could not be compared, and why."""
    coverage: Coverage
    unreadable: tuple[UnreadableRow, ...]
    """Rows that cannot be read, of whatever run, as far as something was read; they are left out."""


def overview(source: Source, now: datetime) -> Overview:
    """Read what the first page shows."""
    runs, number = source.store.runs_page(Part(limit=NEWEST), MEASURED)
    landing = source.landing()
    changes: list[Change] = []
    decided: dict[str, int] = {}
    refused = []
    compared = list(runs[:COMPARED])
    if landing is not None and landing.run not in compared:
        compared.append(landing.run)
    for run in compared:
        try:
            found = tuple(_changes(source.run_alone(run).comparison))
            decided[run.id] = len(found)
            changes += found
        except NfvbedError as error:
            refused.append(f"run {run.id}: {error.what}{f' ({error.observed})' if error.observed else ''}")
    changes.sort(key=lambda change: -abs(log(change.ratio)))
    doctors = (source.described(run.doctor_hash) for run in runs if run.doctor_hash)
    supports = supports_of(next(doctors, {}))
    return Overview(
        answer=_answer(source, landing, now) if landing else None,
        newest=run_states(source, runs, now),
        runs=number,
        left_out=source.store.left_out(),
        changes=tuple(changes[:TOP]),
        decided=decided,
        not_compared=tuple(refused),
        coverage=coverage_of(source.store.coverage(MEASURED), supports, now),
        unreadable=source.store.unreadable,
    )


def run_states(source: Source, runs: Iterable[RunRecord], now: datetime) -> tuple[RunState, ...]:
    """Return the states of runs; one without an end runs as long as a process writes it."""

    def state(run: RunRecord) -> str:
        if run.status:
            return run.status.value
        return "running" if source.store.writer(run.id) else "crashed"

    marks, simulated = source.store.marks(), source.store.simulated_runs()
    return tuple(
        RunState(
            run=run,
            state=state(run),
            age_days=age_days(run.started_at, now),
            simulated=run.id in simulated,
            **marks.get(run.id, Marks()).model_dump(),
        )
        for run in runs
    )


def _answer(source: Source, landing: LandingRun, now: datetime) -> LastAnswer:
    headline = source.run_alone(landing.run).headline if landing.decided else ""
    (state,) = run_states(source, (landing.run,), now)
    return LastAnswer(run=state, decided=landing.decided, headline=headline, notes=landing.notes)


def _changes(comparison: Comparison) -> Iterable[Change]:
    for found in comparison.differences:
        judged = found.judgement
        if judged.verdict in (Verdict.HIGHER, Verdict.LOWER) and judged.ratio:
            yield _change(found, judged.ratio)


def _change(found: Difference, ratio: float) -> Change:
    return Change(
        run=found.run,
        cell=found.cell,
        variant=found.variant,
        baseline=found.baseline_variant,
        baseline_cell=found.baseline_cell,
        point=wording.point(found.topology, found.vnf, found.frame_size),
        verdict=found.judgement.verdict,
        words=wording.short_verdict(found.judgement),
        ratio=ratio,
        times=wording.times(found.judgement),
        interval=wording.ratio_interval(found.judgement),
        scope=wording.scope(found),
    )
