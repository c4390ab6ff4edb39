"""Trend and steps in the runs of one setting, one figure a run.

**Steps** are found by cutting the series where that pays: the sum of distances to each part's own median, in units of
the series' scatter, and a penalty for every cut (optimal partitioning; Jackson and others, IEEE Signal Processing
Letters 12, 2005). Distances in place of squares, of which none counts more than that of a run that lies apart, make it
robust. A part has at least two runs. So a step is reported when a second run confirms it, and one run that lies apart
never makes a step, wherever it is: alone it cannot be a part, and with a neighbour it costs as much as before. Two such
runs are a step while they are the newest, and none any more once a third is back where the others were. The newest run,
if it lies apart, is *suspected*.

Scatter is that of neighbouring runs (the median of their differences), which a few steps do not widen. `PENALTY` is set
by simulation: of series of 6 to 30 runs without a step 3 % have one reported, and 6 % where one run in twelve lies far
apart. A step of five times the scatter is found in two thirds by its second run, and in all by its fifth.

**A trend** is reported in place of steps where a straight line (Theil, 1950; Sen, 1968) describes the series better
than its parts do, and Kendall's test (Mann, 1945) finds that it is one.

Runs are compared with each other here, not rounds: nothing cancels how the host was on a day. A step says that
something changed, and where; what changed is asked of the runs' configurations and hosts.
"""

from bisect import insort
from collections.abc import Sequence
from itertools import combinations, pairwise
from math import exp, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nfvbed.compare.samples.ranks import rank_shift
from nfvbed.compare.samples.statistics import median
from nfvbed.distributions import trend
from nfvbed.records import Record
from nfvbed.records.acknowledgements import Acknowledgement

FEWEST: Final = 6
"""Runs below which nothing is said: their scatter is not known."""
NEWEST: Final = 100
"""So many runs are looked at; what was before is past."""
SHORTEST: Final = 2
"""Runs in a part: a second one confirms a step."""
PENALTY: Final = 6.0
"""What a cut has to save, in units of the scatter."""
APART: Final = 5.0
"""A run so many times the scatter from its part's median lies apart."""
LEAST_SCATTER: Final = 0.002
"""Part of the figure: runs that agree better by chance are not taken for that exact."""
TREND_LEVEL: Final = 0.01
MARGIN: Final = 0.05
"""Steps of less than this part are marked as such: they count as the same elsewhere."""


class RunFigure(Record):
    """The figure of one run in a series."""

    run: str
    at: str
    """When it began; UTC, ISO 8601."""
    value: float
    """Positive: a rate, a latency; of rates the median over the visits."""


class Part(Record):
    """Neighbouring runs between which nothing changed."""

    first: int
    """Place of its first run in the series, from 0."""
    runs: int
    value: float
    """Median."""


class Step(Record):
    """A change from one run to the next that a second run confirmed."""

    run: str
    """The first run after it."""
    at: str
    place: int
    """Place of that run in the series, from 0."""
    confirmed_by: str
    """The run after that."""
    before: float
    """Median of the part before it."""
    after: float
    ratio: float
    within_margin: bool
    """So small that it counts as the same elsewhere."""
    p_value: float
    """P-value of the Mann-Whitney test between the parts beside it: how sure it is by ranks alone. Too few runs have no
    small one, and it takes no part in finding the step.
    """


class OutlyingRun(Record):
    """A run that lies apart from those around it."""

    run: str
    place: int
    ratio: float
    """To the median of its part; of a suspected step to that of the part before."""


class Drift(Record):
    """A steady change over a series: a trend in place of steps."""

    per_run: float
    """Factor from one run to the next."""
    whole: float
    """Factor over the series."""
    p_value: float
    """Kendall's test of the figures against their order."""


class SeriesFinding(Record):
    """What the runs of one setting did over time."""

    figures: tuple[RunFigure, ...]
    parts: tuple[Part, ...] = ()
    steps: tuple[Step, ...] = ()
    suspected: OutlyingRun | None = None
    """The newest run lies apart: one more run of the setting would confirm a step, or show a single run."""
    apart: tuple[OutlyingRun, ...] = ()
    """Single runs that lie apart from those before and after them; no steps."""
    drift: Drift | None = None
    scatter: float | None = None
    """Scatter of neighbouring runs, as a part of the figure; None: too few."""
    reason: str = ""
    """Why nothing is said."""


def acknowledgement_of(
    setting: str, step: Step, acknowledged: Sequence[Acknowledgement], now: str
) -> Acknowledgement | None:
    """Return the newest word on a step, where it holds; None: the step is reported.

    Args:
        setting: name of the setting of the step's series.
        acknowledged: in the order in which it was said; a later word on a step takes the place of an earlier one.
        now: UTC, ISO 8601, in the form of the store's times.
    """
    said = [entry for entry in acknowledged if (entry.setting, entry.run) == (setting, step.run)]
    return said[-1] if said and said[-1].holds(now) else None


def open_steps(
    setting: str, finding: SeriesFinding, acknowledged: Sequence[Acknowledgement], now: str
) -> tuple[Step, ...]:
    """Return the steps of a series without an acknowledgement, or whose acknowledgement has expired."""
    return tuple(step for step in finding.steps if acknowledgement_of(setting, step, acknowledged, now) is None)


def find_steps(figures: Sequence[RunFigure]) -> SeriesFinding:
    """Return the steps, the single runs that lie apart, or the trend.

    Args:
        figures: those of one setting on one host, in order of time; of more than `NEWEST` the newest are taken.
    """
    taken = tuple(figures[-NEWEST:])
    if any(figure.value <= 0 for figure in taken):
        return SeriesFinding(figures=taken, reason="a run's figure is not positive")
    if len(taken) < FEWEST:
        return SeriesFinding(figures=taken, reason=f"{len(taken)} of {FEWEST} runs")
    logs = np.log([figure.value for figure in taken])
    scatter = scatter_of(logs)
    parts, cost = _partition(logs / scatter)
    drift = _drift(logs, scatter, cost)
    if drift is not None:
        whole = Part(first=0, runs=len(taken), value=exp(median(logs.tolist())))
        return SeriesFinding(figures=taken, parts=(whole,), drift=drift, scatter=scatter)
    bounds = [*parts, len(taken)]
    found = [
        Part(first=first, runs=end - first, value=exp(median(logs[first:end].tolist())))
        for first, end in pairwise(bounds)
    ]
    apart, suspected = _apart(taken, found, scatter)
    return SeriesFinding(
        figures=taken,
        parts=tuple(found),
        steps=tuple(_step(taken, before, after) for before, after in pairwise(found)),
        suspected=suspected,
        apart=apart,
        scatter=scatter,
    )


def scatter_of(logs: NDArray[np.float64]) -> float:
    """Return the scatter of single runs, as a part of the figure, from the differences of neighbours.

    Half of the differences may hold a step or a run that lies apart before it is widened.

    Args:
        logs: logarithms of the figures, in order of time; at least two.
    """
    typical = float(np.median(np.abs(np.diff(logs))))
    # The median of |x - y| of normal x and y is 0.6745 times the square root of two standard deviations.
    return max(typical / (0.6745 * sqrt(2)), LEAST_SCATTER)


def _partition(values: NDArray[np.float64]) -> tuple[list[int], float]:
    """Return where parts begin, and what they cost with a penalty for each beyond the first."""
    count = len(values)
    best = np.full(count + 1, np.inf)
    best[0], last = -PENALTY, np.zeros(count + 1, dtype=int)
    # Begins in order: what a part costs that begins here is asked when all that ends here is known.
    for begin in range(count - SHORTEST + 1):
        if not np.isfinite(best[begin]):
            continue
        ordered = sorted(values[begin : begin + SHORTEST - 1].tolist())
        for end in range(begin + SHORTEST, count + 1):
            insort(ordered, float(values[end - 1]))
            middle = (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2
            cost = best[begin] + PENALTY + _distance(values[begin:end] - middle)
            if cost < best[end]:
                best[end], last[end] = cost, begin
    begins: list[int] = []
    end = count
    while end:
        end = int(last[end])
        begins.append(end)
    return begins[::-1], float(best[count])


def _distance(values: NDArray[np.float64]) -> float:
    """Return what runs at these distances from their part's middle cost; none costs more than one that lies apart."""
    return float(np.minimum(np.abs(values), APART).sum())


def _drift(logs: NDArray[np.float64], scatter: float, cost_of_parts: float) -> Drift | None:
    """Return the trend where a line costs less than the parts do, with the same penalty, and is one by its test."""
    places = np.arange(len(logs))
    slope = float(np.median([(logs[late] - logs[early]) / (late - early) for early, late in combinations(places, 2)]))
    left = logs - slope * places
    cost = _distance((left - np.median(left)) / scatter) + PENALTY
    p_value = trend(logs.tolist())
    if cost >= cost_of_parts or p_value > TREND_LEVEL:
        return None
    return Drift(per_run=exp(slope), whole=exp(slope * (len(logs) - 1)), p_value=p_value)


def _step(figures: Sequence[RunFigure], before: Part, after: Part) -> Step:
    sides = [[log(f.value) for f in figures[part.first : part.first + part.runs]] for part in (after, before)]
    ratio = after.value / before.value
    return Step(
        run=figures[after.first].run,
        at=figures[after.first].at,
        place=after.first,
        confirmed_by=figures[after.first + 1].run,
        before=before.value,
        after=after.value,
        ratio=ratio,
        within_margin=1 / (1 + MARGIN) <= ratio <= 1 + MARGIN,
        p_value=rank_shift(sides[0], sides[1], 1 - TREND_LEVEL).p_value,
    )


def _apart(
    figures: Sequence[RunFigure], parts: Sequence[Part], scatter: float
) -> tuple[tuple[OutlyingRun, ...], OutlyingRun | None]:
    """Return the single runs that lie apart, and the newest one where it does."""
    found = []
    for part in parts:
        for place in range(part.first, part.first + part.runs):
            ratio = figures[place].value / part.value
            if abs(log(ratio)) > APART * scatter:
                found.append(OutlyingRun(run=figures[place].run, place=place, ratio=ratio))
    newest = found.pop() if found and found[-1].place == len(figures) - 1 else None
    return tuple(found), newest
