"""Interleaved pairs of nfvgen and testpmd, the core distance around every trial, and their ratios.

There are two answers. Within a placement class undisturbed trials of both sides are compared; a busy host has few of
them. The paired answer takes every round: its sides are measured one after the other, so that what disturbs the host
disturbs both, and who begins changes; its interval is as wide as the disturbance makes it.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from pressure import wait_until_quiet

from nfvbed.compare.rows.placement import MIXED, analyse
from nfvbed.compare.samples.ranks import signed_rank
from nfvbed.compare.samples.statistics import ratio_interval
from nfvbed.errors import GeneratorError
from nfvbed.host.cores import coredistance
from nfvbed.records import CoreDistance

PRESSURE_LIMIT = 0.05
"""More than the wake-ups of the main lcores and of this script cause; a compiler beside it causes 0.3 and more."""

CORES = (0, 1)
"""The peer's core, and the generator's."""

NFVGEN = "nfvgen"
TESTPMD = "testpmd"
VARIANT = ", bursts of "
"""In a side's name: what follows says which variant of it."""

ALPHA = 0.05
LEAST_ROUNDS = 6
"""Fewer give no exact interval at 95 %."""

CHOICE_ROUNDS = 1
"""After so many, a loop that is short of time measures only the better variant of each side."""

MOST_FAILURES = 4
"""Trials in a row that may fail before a loop is given up: on a busy host a program may not come up in time."""

Measure = Callable[[], tuple[float, float]]
"""Returns frames/s over both directions, and the share of the time in which others wanted a CPU."""


@dataclass(frozen=True)
class Trial:
    """One trial of one side."""

    pair: int
    side: str
    """nfvgen or testpmd, in one of their variants."""
    rate_mpps: float
    distance_ns: tuple[float, float]
    pressure: float
    """Share of the trial in which others wanted a CPU."""


@dataclass(frozen=True)
class ClassResult:
    """What the trials of one placement class show."""

    placement: str
    own: str
    """The variant of nfvgen with the highest median."""
    rival: str
    """The variant of testpmd with the highest median."""
    nfvgen_mpps: list[float]
    testpmd_mpps: list[float]
    others_mpps: dict[str, list[float]]
    """The other variants of both."""
    nfvgen_median_mpps: float
    testpmd_median_mpps: float
    ratio: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class PairedResult:
    """What all rounds show of nfvgen and one rival, each in the variant with the highest median."""

    own: str
    rival: str
    ratios: list[float]
    """Ratio of each round in which both moved frames."""
    ratio: float
    """Hodges and Lehmann's estimate; 0: there is no such round."""
    interval: tuple[float, float] | None
    """Exact, by signed ranks; None: too few rounds."""
    disturbed: int
    """Rounds in which others wanted the CPUs in a trial of either."""
    silent: int
    """Rounds that count for nothing, as one of them moved no frame."""


@dataclass
class LoopResult:
    """One loop: nfvgen against testpmd."""

    name: str
    aim: float
    aim_rival: str = TESTPMD
    """Whom the aim is about, where there are several rivals; the ratio to the others is shown beside it."""
    pressure_limit: float = PRESSURE_LIMIT
    """Higher where the loop's own threads share a core: then they wait for each other."""
    trials: list[Trial] = field(default_factory=list)
    classes: list[ClassResult] = field(default_factory=list)
    paired: list[PairedResult] = field(default_factory=list)
    beside_mpps: dict[str, float] = field(default_factory=dict)
    """Rates that are no contest: testpmd txonly and rxonly."""
    failures: list[str] = field(default_factory=list)
    """Trials of which there is no rate: the side, and what failed."""
    failed_in_a_row: int = 0
    """How many of them were the last ones."""
    out_of_time: bool = False
    """Whether the loop ended because its time was over."""

    def problems(self, wanted: int) -> list[str]:
        """Say in which class the aim is missed; where no class can say, that the rounds show it, or cannot say either.

        Args:
            wanted: trials of each side that a class needs; the aim is a ratio to a peer in the same run and class.
        """
        aimed = [row for row in self.classes if group_of(row.rival) == self.aim_rival]
        enough = [row for row in aimed if min(len(row.nfvgen_mpps), len(row.testpmd_mpps)) >= wanted]
        if not enough:
            return self._problems_of_rounds(wanted)
        return [
            f"{self.name}: {row.ratio:.2f} of {group_of(row.rival)} in class {row.placement}, the aim is {self.aim:g}"
            for row in enough
            if row.ratio < self.aim
        ]

    def _problems_of_rounds(self, wanted: int) -> list[str]:
        aimed = [row for row in self.paired if group_of(row.rival) == self.aim_rival]
        answers = [(row, row.interval) for row in aimed if row.interval is not None]
        if not answers:
            return [
                f"{self.name}: no class has {wanted} undisturbed trials of both, and fewer than {LEAST_ROUNDS} rounds"
                f" moved frames: measure again with more {'--within' if self.out_of_time else '--at-most'}, or on a"
                " quiet machine"
            ]
        return [
            f"{self.name}: {row.ratio:.2f} ({interval[0]:.2f}-{interval[1]:.2f}) of {group_of(row.rival)} in"
            f" {len(row.ratios)} rounds, the aim is {self.aim:g}"
            for row, interval in answers
            if interval[1] < self.aim
        ]

    def silent(self) -> list[str]:
        """Name the sides of which no trial moved a frame, whatever disturbed it."""
        moved = {trial.side for trial in self.trials if trial.rate_mpps > 0}
        found = [f"{self.name}: {trial.side} moved no frame" for trial in self.trials if trial.side not in moved]
        return list(dict.fromkeys(found)) or ([] if self.trials else [f"{self.name}: nothing was measured"])

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Limits:
    """When to stop."""

    wanted: int
    """Trials of each side in one class."""
    at_most: int
    """Pairs; then it ends with what there is."""
    patience_s: float
    """How long one loop waits in all for others to leave the CPUs alone."""
    within_s: float = math.inf
    """How long one loop takes: no round begins that would not end within it, going by the longest so far."""


def run_pairs(result: LoopResult, nfvgen: dict[str, Measure], rivals: dict[str, Measure], limits: Limits) -> None:
    """Measure pairs (rounds, with several variants) until one placement class holds enough trials of all sides.

    Where none does, the rounds themselves answer: there are `at_most` of them then, or as many as there is time for.
    A loop in whose time there are not `at_most` rounds of all variants chooses: from then on only the better variant of
    each side is measured, by the rounds before.

    Args:
        result: receives trials and classes.
        nfvgen: measures nfvgen, in each of its variants; their names begin with `nfvgen`.
        rivals: the same for testpmd in its place.
        limits: when it ends.

    Raises:
        GeneratorError: one trial after the other fails.
    """
    patience_s, began, longest_s = limits.patience_s, time.monotonic(), 0.0
    sides = {**nfvgen, **rivals}
    for pair in range(limits.at_most):
        left_s = began + limits.within_s - time.monotonic()
        if pair >= CHOICE_ROUNDS and longest_s * (limits.at_most - pair) > left_s:
            better = _better_variants(result.trials)
            if len(better) < len(sides):
                sides = {side: measure for side, measure in sides.items() if side in better} or sides
                longest_s *= len(better) / len({*nfvgen, *rivals})
        if longest_s > left_s:
            result.out_of_time = True
            break
        round_began = time.monotonic()
        # Who begins changes, so that a drift favours neither.
        for side, measure in list(sides.items())[:: 1 if pair % 2 == 0 else -1]:
            if time.monotonic() > began + limits.within_s:
                result.out_of_time = True
                break
            patience_s = wait_until_quiet(PRESSURE_LIMIT, patience_s)
            before = coredistance.measure(CORES).one_way_ns
            taken = _taken(result, side, measure)
            if taken is not None:
                after = coredistance.measure(CORES).one_way_ns
                result.trials.append(Trial(pair, side, taken[0] / 1e6, (before, after), taken[1]))
        longest_s = max(longest_s, time.monotonic() - round_began)
        counted = trials_of_classes(result.trials, result.pressure_limit)
        result.classes = [row for name, sides_of in counted.items() for row in _rows(name, sides_of)]
        result.paired = paired_of(result.trials, result.pressure_limit)
        if any(min(len(found.get(name, ())) for name in sides) >= limits.wanted for found in counted.values()):
            return


def _taken(result: LoopResult, side: str, measure: Measure) -> tuple[float, float] | None:
    """Measure once; None: it failed, which the result then tells."""
    try:
        found = measure()
    except GeneratorError as failure:
        result.failures.append(f"{side}: {failure.what}")
        result.failed_in_a_row += 1
        if result.failed_in_a_row >= MOST_FAILURES:
            raise
        return None
    result.failed_in_a_row = 0
    return found


def _better_variants(trials: list[Trial]) -> set[str]:
    """Return the variant of each side with the highest median."""
    sides = _by_side(trials)
    return {_best(sides, group) for group in dict.fromkeys(map(group_of, sides))}


def trials_of_classes(trials: list[Trial], pressure_limit: float = PRESSURE_LIMIT) -> dict[str, dict[str, list[float]]]:
    """Return every side's rates in every placement class; what changed its class or was disturbed is left out."""
    placement = analyse([CoreDistance(before=t.distance_ns[0], after=t.distance_ns[1]) for t in trials])
    found: dict[str, dict[str, list[float]]] = {name: {} for name in placement.classes}
    for trial, label in zip(trials, placement.labels, strict=True):
        if label in found and label != MIXED and trial.pressure <= pressure_limit:
            found[label].setdefault(trial.side, []).append(trial.rate_mpps)
    return found


def classes_of(trials: list[Trial], pressure_limit: float = PRESSURE_LIMIT) -> list[ClassResult]:
    """Compare within each placement class: nfvgen with each rival, the better variant of both."""
    counted = trials_of_classes(trials, pressure_limit)
    return [row for name, sides in counted.items() for row in _rows(name, sides)]


def paired_of(trials: list[Trial], pressure_limit: float = PRESSURE_LIMIT) -> list[PairedResult]:
    """Compare nfvgen with each rival round by round, whatever disturbed them."""
    sides = _by_side(trials)
    groups = dict.fromkeys(group_of(side) for side in sides if group_of(side) != NFVGEN)
    if not any(group_of(side) == NFVGEN for side in sides):
        return []
    own = _best(sides, NFVGEN)
    return [_paired(sides, own, _best(sides, group), pressure_limit) for group in groups]


def _by_side(trials: list[Trial]) -> dict[str, dict[int, Trial]]:
    sides: dict[str, dict[int, Trial]] = {}
    for trial in trials:
        sides.setdefault(trial.side, {})[trial.pair] = trial
    return sides


def _best(sides: Mapping[str, Mapping[int, Trial]], group: str) -> str:
    """Return the variant that was measured on to the end; of several, the one with the highest median."""
    variants = [side for side in sides if group_of(side) == group]
    most = max(len(sides[side]) for side in variants)
    longest = [side for side in variants if len(sides[side]) >= most - 1]
    return max(longest, key=lambda side: median(trial.rate_mpps for trial in sides[side].values()))


def _paired(sides: dict[str, dict[int, Trial]], own: str, rival: str, pressure_limit: float) -> PairedResult:
    rounds = [(trial, sides[rival][pair]) for pair, trial in sides[own].items() if pair in sides[rival]]
    moved = [(mine.rate_mpps, theirs.rate_mpps) for mine, theirs in rounds if mine.rate_mpps and theirs.rate_mpps]
    found = signed_rank([math.log(mine / theirs) for mine, theirs in moved], ALPHA) if moved else None
    bounds = found.interval if found is not None and len(moved) >= LEAST_ROUNDS else None
    return PairedResult(
        own=own,
        rival=rival,
        ratios=[mine / theirs for mine, theirs in moved],
        ratio=math.exp(found.estimate) if found is not None else 0.0,
        interval=(math.exp(bounds.low), math.exp(bounds.high)) if bounds is not None else None,
        disturbed=sum(max(mine.pressure, theirs.pressure) > pressure_limit for mine, theirs in rounds),
        silent=len(rounds) - len(moved),
    )


def group_of(side: str) -> str:
    """Return a side's name without its variant."""
    return side.partition(VARIANT)[0]


def _rows(placement: str, sides: dict[str, list[float]]) -> list[ClassResult]:
    own = {side: rates for side, rates in sides.items() if group_of(side) == NFVGEN}
    groups = dict.fromkeys(group_of(side) for side in sides if group_of(side) != NFVGEN)
    rows = []
    for group in groups:
        theirs = {side: rates for side, rates in sides.items() if group_of(side) == group}
        if own and any(median(rates) for rates in theirs.values()):
            rows.append(_row(placement, own, theirs))
    return rows


def _row(placement: str, own: dict[str, list[float]], theirs: dict[str, list[float]]) -> ClassResult:
    best, rival = (max(sides, key=lambda side: median(sides[side])) for sides in (own, theirs))
    ours, others = own[best], theirs[rival]
    interval = ratio_interval(ours, others)
    return ClassResult(
        placement=placement,
        own=best,
        rival=rival,
        nfvgen_mpps=ours,
        testpmd_mpps=others,
        others_mpps={side: rates for side, rates in (own | theirs).items() if side not in (best, rival)},
        nfvgen_median_mpps=median(ours),
        testpmd_median_mpps=median(others),
        ratio=median(ours) / median(others),
        interval=(interval.low, interval.high) if interval else None,
    )
