"""A gate's run as the gate judges it, and its verdict in words: for a terminal, JUnit and Markdown."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.limits import bounds_of
from nfvbed.compare.differences.scope import find_scope
from nfvbed.compare.gating import (
    BASELINE,
    CANDIDATE,
    REFERENCE,
    Estimand,
    GatePoint,
    GateResult,
    GateVerdict,
    PointVerdict,
    pairs_of_figures,
)
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.visits import pair
from nfvbed.compare.verdict import Bounds, Pair
from nfvbed.errors import HostMovedError, NfvbedError, NotComparableError, SlowerError, UndecidedError
from nfvbed.records import Status
from nfvbed.records.results import ResultKind, ResultRecord
from nfvbed.report import wording
from nfvbed.report.junit import Outcome, TestCase
from nfvbed.report.load import LoadedRuns
from nfvbed.report.markdown import escaped, table
from nfvbed.report.wording import NOTHING

GOAL: Final = "PDR"
WORDS: Final = {
    GateVerdict.NOT_SLOWER: "not slower",
    GateVerdict.SLOWER: "slower",
    GateVerdict.UNDECIDED: "undecided",
    GateVerdict.HOST_MOVED: "the host moved",
}
ESTIMANDS: Final[Mapping[Estimand, str]] = {
    "mrr": "MRR: the forwarded rate at maximum load",
    "pdr": "PDR: the throughput at a loss of 0.5 %, of regular searches alone",
}
ERRORS: Final[Mapping[GateVerdict, type[NfvbedError]]] = {
    GateVerdict.SLOWER: SlowerError,
    GateVerdict.UNDECIDED: UndecidedError,
    GateVerdict.HOST_MOVED: HostMovedError,
}
FIXES: Final = {
    GateVerdict.SLOWER: "nfvbed explain shows its trials; nfvbed bisect finds the step",
    GateVerdict.UNDECIDED: "a longer --budget, a wider --margin, or a quieter host",
    GateVerdict.HOST_MOVED: "nfvbed doctor looks for what else uses the cores; repeat the gate",
}
_OUTCOMES: Final = {
    GateVerdict.NOT_SLOWER: Outcome.PASSED,
    GateVerdict.SLOWER: Outcome.FAILED,
    GateVerdict.UNDECIDED: Outcome.SKIPPED,
    GateVerdict.HOST_MOVED: Outcome.ERROR,
}
HEADING: Final = ("traffic point", "ratio", "lower bound", "upper bound", "rounds", "reference", "verdict")


def estimand_of(loaded: LoadedRuns) -> Estimand:
    """Return what a gate's run was measured for, by its tests."""
    return "pdr" if any(result.kind is ResultKind.SEARCH for result in loaded.data[0].results) else "mrr"


def points_of(loaded: LoadedRuns, comparison: Comparison, estimand: Estimand) -> tuple[GatePoint, ...]:
    """Return the traffic points of a gate's run with their rounds.

    Raises:
        NotComparableError: it is no gate's run: it lacks baseline, candidate or reference.
    """
    rows = {(row.variant, row.cell.partition("/")[2]): row for row in comparison.rows}
    names = [name for variant, name in rows if variant == BASELINE]
    lacking = [side for side in (CANDIDATE, REFERENCE) if not names or (side, names[0]) not in rows]
    if lacking:
        raise NotComparableError(
            f"run {comparison.runs[0]} is no gate's",
            observed=f"variants: {', '.join(dict.fromkeys(row.variant for row in comparison.rows)) or 'none'}",
            fix="nfvbed diff RUN:VARIANT RUN:VARIANT judges others",
        )
    results = loaded.data[0].results
    found = []
    for name in names:
        sides = {side: rows[side, name] for side in (BASELINE, CANDIDATE, REFERENCE)}
        found.append(_of_rates(name, sides, comparison) if estimand == "mrr" else _of_searches(name, sides, results))
    return tuple(found)


def _of_rates(name: str, sides: Mapping[str, CellSummary], comparison: Comparison) -> GatePoint:
    baseline, candidate = sides[BASELINE], sides[CANDIDATE]
    pairs: dict[str, tuple[Pair, ...]] = {}
    for side in (CANDIDATE, REFERENCE):
        own, other = sides[side].mrr, baseline.mrr
        pairs[side] = pair(own.visits, other.visits) if own and other else ()
    scope = find_scope(candidate, baseline, comparison.rigs)
    bounds = bounds_of(candidate, baseline, scope.scope) if candidate.mrr and baseline.mrr else Bounds()
    return _point(name, sides, pairs, bounds)


def _of_searches(name: str, sides: Mapping[str, CellSummary], results: Iterable[ResultRecord]) -> GatePoint:
    by_cell: dict[str, dict[int, float]] = {}
    for result in results:
        if result.kind is ResultKind.SEARCH and (value := _throughput(result)):
            by_cell.setdefault(result.cell, {})[result.round] = value
    figures = {side: by_cell.get(row.cell, {}) for side, row in sides.items()}
    pairs = {side: pairs_of_figures(figures[side], figures[BASELINE]) for side in (CANDIDATE, REFERENCE)}
    return _point(name, sides, pairs, Bounds())


def _throughput(result: ResultRecord) -> float | None:
    """Return the throughput of a regular search for the goal; None of any other."""
    goals: Iterable[dict[str, Any]] = result.payload.get("goals", ())
    own = next((entry for entry in goals if entry["goal"]["name"] == GOAL), None)
    if result.status is not Status.OK or own is None or own.get("irregularity"):
        return None
    value = own.get("conditional_throughput_pps")
    return float(value) if value else None


def _point(
    name: str, sides: Mapping[str, CellSummary], pairs: Mapping[str, tuple[Pair, ...]], bounds: Bounds
) -> GatePoint:
    ended = [f"{row.cell} is {row.status.value}" for row in sides.values() if row.status is not Status.OK]
    baseline = sides[BASELINE]
    return GatePoint(
        name=name,
        topology=baseline.topology,
        vnf=baseline.vnf,
        frame_size=baseline.frame_size,
        pairs=pairs[CANDIDATE],
        reference=pairs[REFERENCE],
        bounds=bounds,
        lacking="; ".join(ended) if not pairs[CANDIDATE] else "",
    )


def error_of(result: GateResult, run: str) -> NfvbedError | None:
    """Return the error by which a gate ends; None where the candidate passed."""
    kind = ERRORS.get(result.verdict)
    if kind is None:
        return None
    what = {
        GateVerdict.SLOWER: "the candidate is slower",
        GateVerdict.UNDECIDED: "the gate is undecided",
        GateVerdict.HOST_MOVED: "the host moved",
    }[result.verdict]
    return kind(what, where=f"run {run}", observed=result.reason, fix=FIXES[result.verdict])


def row_of(entry: PointVerdict) -> tuple[str, ...]:
    """Return a point's line, as `HEADING` names it."""
    reference = NOTHING if entry.reference_ratio is None else f"×{entry.reference_ratio:.3f}"
    return (
        entry.name,
        NOTHING if entry.ratio is None else f"×{entry.ratio:.3f}",
        NOTHING if entry.lower is None else f"{entry.lower:.3f}",
        NOTHING if entry.upper is None else f"{entry.upper:.3f}",
        f"{entry.rounds} of {entry.measured}" if entry.rounds != entry.measured else str(entry.rounds),
        reference,
        WORDS[entry.verdict] + (", by less than the margin slower" if entry.certain_loss else ""),
    )


def head(result: GateResult, title: str) -> str:
    """Return the verdict in one sentence, with what it is of."""
    return f"{title}: {WORDS[result.verdict]} (margin {result.rules.margin:.1%}, {ESTIMANDS[result.estimand]})"


def levels(result: GateResult) -> str:
    """Return what the bounds mean."""
    looks = ", ".join(map(str, result.rules.looks))
    return (
        f"Each bound is one-sided; each test is wrong in at most {result.rules.alpha:.0%}, over the looks at {looks} "
        "rounds together. The reference is the baseline, installed once more."
    )


def markdown(result: GateResult, title: str, run: str) -> str:
    """Return a gate as Markdown."""
    parts = [f"**{escaped(head(result, title))}**", table(HEADING, [row_of(entry) for entry in result.points])]
    return "\n".join([parts[0], "", parts[1], escaped(f"{result.reason}. {levels(result)} Run {run}."), ""])


def cases_of(result: GateResult) -> tuple[TestCase, ...]:
    """Return a case for each traffic point; what is undecided is skipped, and the exit code says so."""
    return tuple(
        TestCase(
            name=entry.name,
            outcome=_OUTCOMES[entry.verdict],
            message=entry.reason,
            detail="\n".join(f"{key}: {value}" for key, value in zip(HEADING[1:], row_of(entry)[1:], strict=True)),
        )
        for entry in result.points
    )


def title_of(loaded: LoadedRuns) -> str:
    """Return the title of a gate's run."""
    return loaded.title or f"Gate, run {wording.short_run(loaded.data[0].run.id)}"
