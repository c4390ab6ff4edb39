"""What a run that goes on has found so far: rates and verdicts after its whole rounds, read once a round."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from nfvbed.compare.rows.visits import Visit
from nfvbed.compare.sofar import judgements, visits_by_cell
from nfvbed.compare.verdict import MANY_COMPARISONS, Judgement
from nfvbed.dashboard.results.source import Source
from nfvbed.plan.cells import CellPlan
from nfvbed.plan.plan import Plan
from nfvbed.records import CellRole, RunRecord, Status
from nfvbed.report import wording
from nfvbed.report.page.values import Cell, Table
from nfvbed.report.wording import SIMULATED_MARK

MOST_TRIALS: Final = 5_000
"""Trials of a run whose rates are shown while it goes on: all are read after each round, beside what measures."""
KEPT: Final = 4
"""Runs whose tables are kept."""
RATES: Final = ("Cell", "Rate so far, Mpps", "Rounds")
VERDICTS: Final = ("Verdict", "Ratio so far", "Against")
"""Further columns for an experiment that compares."""


class RoundTables:
    """Tables of the runs that go on; each is made anew when a further round is whole."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[int, Table | None]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, source: Source, run: RunRecord, plan: Plan) -> Table | None:
        """Return the rates and verdicts of a run's whole rounds; None before the first, and of a run of many trials."""
        extent = source.store.extent(run.id)
        if not extent.trials or extent.trials > MOST_TRIALS:
            return None
        with self._lock:
            whole = max((visit.round for visit in source.store.visit_rates(run.id)), default=1) - 1
            known = self._kept.get(run.id)
            if known is None or known[0] != whole:
                known = self._kept[run.id] = whole, rates_after(source, run, plan, whole) if whole else None
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return known[1]


def rates_after(source: Source, run: RunRecord, plan: Plan, whole: int) -> Table:
    """Return the table of so many rounds; the next one has begun, so that these are whole."""
    trials = [
        trial
        for trial in source.store.trials(run.id, latency_of=())
        if trial.round <= whole and trial.status is Status.OK
    ]
    visits = visits_by_cell(trials)
    against: dict[str, tuple[str, Judgement]] = {}
    many = set()
    for ids in plan.compared.values():
        variants = {cell: plan.cell_by_id[cell].variant for cell in ids}
        baseline, judged = judgements(plan.experiment, variants, visits)
        against |= {cell: (baseline, judgement) for cell, judgement in judged.items()}
        many |= set(judged) if len(judged) > MANY_COMPARISONS else set()
    baselines = {baseline for baseline, _ in against.values()}
    rows = [
        _row(cell, visits, against.get(cell.id), is_baseline=cell.id in baselines, judged_last=cell.id in many)
        for cell in plan.cells
        if cell.role is CellRole.SUBJECT and visits.get(cell.id)
    ]
    rounds = f"{whole} whole round{'s' if whole > 1 else ''}"
    looks = " Verdicts are those of the run's own looks;" if plan.compared else " A survey, without verdicts;"
    caption = (
        f"After {rounds}: medians at maximum load.{looks} what limits a rate is judged when the run has ended, and may "
        "make one a bound."
    )
    mark = SIMULATED_MARK if any(trial.simulated for trial in trials) else ""
    names = (*RATES, *VERDICTS) if plan.compared else RATES
    headings = tuple(Cell(name, "n" if name in RATES[1:] else "") for name in names)
    shown = tuple(row[: len(names)] for row in rows)
    return Table(caption, headings, shown, label="Rates so far", mark=mark)


def _row(
    cell: CellPlan,
    visits: Mapping[str, Sequence[Visit]],
    against: tuple[str, Judgement] | None,
    *,
    is_baseline: bool,
    judged_last: bool,
) -> tuple[Cell, ...]:
    own = visits[cell.id]
    first = (
        Cell(cell.id, "whole"),
        Cell(wording.mpps(median(visit.rate_pps for visit in own)), "n"),
        Cell(str(len(own)), "n"),
    )
    if against is None:
        nothing = Cell(wording.NOTHING)
        return (*first, Cell("baseline" if is_baseline else wording.NOTHING), nothing, nothing)
    baseline, judged = against
    verdict = "at the last round, of all together" if judged_last else wording.short_verdict(judged)
    ratio = Cell(wording.times(judged), "n", below=wording.ratio_interval(judged) or None)
    return (*first, Cell(verdict, "verdict", tone=judged.verdict.value), ratio, Cell(baseline, "whole"))
