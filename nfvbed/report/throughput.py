"""What searches found, a line for each goal of a cell; the word throughput only where the result is regular."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median

from nfvbed.compare.advice.advice import Advice
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records import QualityWarning, Status
from nfvbed.records.results import ResultKind
from nfvbed.report import wording
from nfvbed.report.labels import labels_of
from nfvbed.report.relative import Key, RelativeThroughput, relative_throughputs
from nfvbed.search.result import Bound, GoalResult, SearchResult
from nfvbed.search.stop import Irregularity
from nfvbed.spec.conformance import Conformance, applicable, conformance
from nfvbed.spec.searchpresets import Goal

JUDGED_BY_SEARCHES = (QualityWarning.UNSENT, QualityWarning.GENERATOR_LIMITED)
"""Warnings of trials above what the system forwards; where they decide a bound the result is irregular, and says so."""
SEARCHES_AS_DELIVERED = 5
"""Fewer show nothing of what a host does to a result."""
SENTENCE = (
    "Conditional throughput (RFC 9971): forwarded at the relevant lower bound; frames/s, all directions together. "
    "Medians where a search was repeated. Without a regular result there is no throughput: the bounds and the reason "
    "are in its place."
)


@dataclass(frozen=True)
class ThroughputRow:
    """One goal of one search of one cell, over its repetitions in the class that is shown. Rates in frames/s."""

    variant: str
    point: str
    test: str
    preset: str
    """The search's name: the preset, and what was changed."""
    goal: Goal | None
    """None: there is no result at all."""
    placement_class: str
    directions: int
    repetitions: int
    regular: int
    throughput_pps: float | None
    """Median of the regular results; None without one."""
    spread_pps: tuple[int, int] | None
    """Least and greatest of them; None with fewer than two."""
    lower_pps: float | None
    upper_pps: float | None
    irregular: tuple[tuple[Irregularity, str], ...]
    """Reason and explanation of each irregular result."""
    warnings: tuple[QualityWarning, ...] = ()
    """Warnings of any trial of the searches."""
    status: str = ""
    """Why there is no result at all, or none yet."""
    relative: RelativeThroughput | None = None
    """To testpmd in the switch's place, where the search asks for it."""
    as_delivered: bool = False
    """Nothing is excluded: the result is the range over at least `SEARCHES_AS_DELIVERED` searches."""
    excludes: tuple[str, ...] = ()
    """What does not count."""
    conformance: tuple[Conformance, ...] = ()
    """What a regular result may claim of each standard."""
    deviations: tuple[str, ...] = ()
    """What set-up and trials did otherwise than the standards describe it."""
    run: str = ""
    cell: str = ""


def throughput_rows(comparison: Comparison) -> tuple[ThroughputRow, ...]:
    """Return the rows in the order in which cells and tests were declared."""
    several = len(comparison.runs) > 1
    groups: dict[tuple[str, str, str], list[MeasuredTest]] = {}
    for test in comparison.tests:
        if test.result.kind is ResultKind.SEARCH:
            groups.setdefault((test.run, test.cell, test.result.test), []).append(test)
    order = {(row.run, row.cell): place for place, row in enumerate(comparison.rows)}
    relative = _relative(comparison)
    ordered = sorted(groups.items(), key=lambda entry: order.get(entry[0][:2], len(order)))
    return tuple(
        row if row.goal is None else replace(row, relative=relative.get((run, (cell, test, row.goal.name))))
        for (run, cell, test), tests in ordered
        for row in _rows(tests, several)
    )


def _relative(comparison: Comparison) -> dict[tuple[str, Key], RelativeThroughput]:
    """Return the relative throughputs of all runs, by run and what they are of."""
    runs = dict.fromkeys(test.run for test in comparison.tests)
    return {
        (run, key): found
        for run in runs
        for key, found in relative_throughputs(test.result for test in comparison.tests if test.run == run).items()
    }


def _rows(tests: list[MeasuredTest], several: bool) -> Iterable[ThroughputRow]:
    shown = [test for test in tests if test.shown and test.result.payload]
    found = [SearchResult.model_validate(test.result.payload) for test in shown]
    if not found:
        yield _without_result(tests, several)
        return
    for goal in found[0].search.goals:
        results = [result.of(goal.name) for result in found]
        regular = [result.conditional_throughput_pps for result in results if result.regular]
        rates = [rate for rate in regular if rate is not None]
        of = [result for result in results if result.regular] or results
        delivered = found[0].search.is_as_delivered
        enough = len(rates) >= SEARCHES_AS_DELIVERED or not delivered
        yield ThroughputRow(
            **labels_of(tests[0], several=several),
            preset=_label(found),
            goal=goal,
            placement_class=shown[0].placement_class,
            directions=found[0].directions,
            repetitions=len(results),
            regular=len(rates),
            throughput_pps=median(rates) if rates and enough else None,
            spread_pps=(min(rates), max(rates)) if len(rates) > 1 else None,
            lower_pps=_bound(result.lower_bound for result in of),
            upper_pps=_bound(result.upper_bound for result in of),
            irregular=tuple(_reason(result) for result in results if result.irregularity is not None),
            warnings=warnings_of(shown),
            status="" if enough else f"{len(rates)} of at least {SEARCHES_AS_DELIVERED} searches as delivered",
            as_delivered=delivered,
            excludes=found[0].left_out,
            conformance=conformance(found[0].search, goal),
            deviations=found[0].deviations,
            run=tests[0].run,
            cell=tests[0].cell,
        )


def _label(found: list[SearchResult]) -> str:
    """Return the name of searches that were made alike, with the void shares of all."""
    shares = [result.void.share for result in found if result.void is not None]
    if not shares:
        return found[0].label
    low, high = (f"{share * 100:.0f}" for share in (min(shares), max(shares)))
    return found[0].search.labelled(f"{low} % void" if low == high else f"{low} to {high} % void")


def _without_result(tests: list[MeasuredTest], several: bool) -> ThroughputRow:
    reasons = [
        f"{test.result.status.value}: {test.result.reason}" for test in tests if test.result.status is not Status.OK
    ]
    apart = [test.placement_class for test in tests if not test.shown]
    reasons += [f"placement: results in class {', '.join(sorted(set(apart)))} only"] if apart else []
    return ThroughputRow(
        **labels_of(tests[0], several=several),
        preset=wording.NOTHING,
        goal=None,
        placement_class=wording.NOTHING,
        directions=0,
        repetitions=0,
        regular=0,
        throughput_pps=None,
        spread_pps=None,
        lower_pps=None,
        upper_pps=None,
        irregular=(),
        status="; ".join(dict.fromkeys(reasons)),
    )


def _reason(result: GoalResult) -> tuple[Irregularity, str]:
    if result.irregularity is None:
        raise ValueError("a regular result has no reason")
    return result.irregularity, result.explanation


def _bound(bounds: Iterable[Bound | None]) -> float | None:
    loads = [bound.load_pps for bound in bounds if bound is not None]
    return median(loads) if loads else None


def warnings_of(tests: Iterable[MeasuredTest]) -> tuple[QualityWarning, ...]:
    """Return the warnings about results, each once, without those that a search itself judges its trials by."""
    found: dict[QualityWarning, None] = {}
    for test in tests:
        judged = JUDGED_BY_SEARCHES if test.result.kind is ResultKind.SEARCH else ()
        found |= dict.fromkeys(warning for warning in test.warnings if warning not in judged)
    return tuple(found)


def warnings_in_a_line(warnings: Iterable[QualityWarning]) -> str:
    """Return warnings in one line."""
    return ", ".join(warning.value for warning in warnings) or "none"


def further_advice(comparison: Comparison) -> tuple[tuple[QualityWarning, Advice], ...]:
    """Return the warnings about tests that no row at maximum load has, with their advice: it is nowhere else."""
    known = set(wording.warnings(comparison.rows))
    found = [kind for kind in warnings_of(test for test in comparison.tests if test.shown) if kind not in known]
    return tuple((kind, comparison.advice_on(kind)) for kind in found)


def reasons(rows: Iterable[ThroughputRow]) -> tuple[Irregularity, ...]:
    """Return every reason that occurs, once."""
    return tuple(dict.fromkeys(reason for row in rows for reason, _ in row.irregular))


def goal_lines(rows: Iterable[ThroughputRow]) -> tuple[str, ...]:
    """Return what the goals of every search ask, as RFC 9971 requires; each once."""
    goals = {(row.preset, row.goal.name): row.goal for row in rows if row.goal is not None}
    return tuple(f"{name} of {preset}: {attributes(goal)}." for (preset, name), goal in sorted(goals.items()))


def exclusions(rows: Iterable[ThroughputRow]) -> tuple[str, ...]:
    """Return what every search leaves out, as RFC 9971 requires; each once."""
    return tuple(dict.fromkeys(exclusion(row.preset, row.excludes) for row in rows if row.goal is not None))


def exclusion(label: str, excludes: Iterable[str]) -> str:
    """Return what the results of searches of one name leave out."""
    return f"{label} leaves out: {'; '.join(excludes) or 'nothing'}."


def conformity(rows: Iterable[ThroughputRow], *, reasons: bool = True) -> tuple[str, ...]:
    """Return what the searches may claim of the standards, and how they deviate from them; each once.

    Args:
        reasons: whether it is said why a claim is not higher.
    """
    shown = [row for row in rows if row.goal is not None]
    claims = (claim(row.preset, row.goal.name, row.conformance, reasons=reasons) for row in shown if row.goal)
    return tuple(dict.fromkeys((*claims, *(deviating(row.preset, row.deviations) for row in shown))))


def claim(label: str, goal: str, found: Iterable[Conformance], *, reasons: bool = True) -> str:
    """Return what regular results of a goal may claim, of searches of one name."""
    own = applicable(found, label)
    said = (str(one) if reasons else f"{one.standard.value}: {one.level.value}" for one in own)
    return f"{goal} of {label}, where regular: {'; '.join(said) or 'conforms to no standard'}."


def deviating(label: str, found: Iterable[str]) -> str:
    """Return what searches of one name do otherwise than the standards describe it."""
    return f"{label} deviates: {'; '.join(found) or 'in nothing'}."


def headline(row: ThroughputRow) -> str:
    """Return the result: relative to testpmd where that was asked for, a throughput, or the reason for none."""
    if row.relative is not None and row.relative.ratio is not None:
        return f"{_ratio(row.relative)} of testpmd" + (
            "" if row.throughput_pps is None else f" ({wording.mpps(row.throughput_pps)})"
        )
    if row.throughput_pps is not None and row.as_delivered and row.spread_pps is not None:
        return " .. ".join(wording.mpps(rate) for rate in row.spread_pps)
    if row.throughput_pps is not None:
        return wording.mpps(row.throughput_pps)
    return ", ".join(dict.fromkeys(reason.value for reason, _ in row.irregular)) or row.status or "no result"


def _ratio(relative: RelativeThroughput) -> str:
    """Return a ratio with its interval: `0.742 [0.738, 0.749]`."""
    interval = relative.interval
    around = "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
    return f"{relative.ratio:.3f}{around}"


def bounds(row: ThroughputRow) -> str:
    """Return the bounds; one that is missing is a dash."""
    low, high = (wording.NOTHING if value is None else wording.mpps(value) for value in (row.lower_pps, row.upper_pps))
    return f"{low} .. {high}"


def attributes(goal: Goal) -> str:
    """Return all attributes of a goal, as RFC 9971 requires."""
    return (
        f"loss ratio {goal.loss_ratio:g}, exceed ratio {goal.exceed_ratio:g}, width {goal.relative_width:g}, trials of"
        f" {goal.initial_trial_duration_s:g} to {goal.final_trial_duration_s:g} s, sum {goal.duration_sum_s:g} s"
    )
