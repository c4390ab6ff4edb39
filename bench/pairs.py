"""Interleaved pairs of nfvgen and testpmd, the core distance around every trial, and the ratio within one class."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from pressure import wait_until_quiet

from nfvbed.compare.placement import MIXED, analyse
from nfvbed.compare.statistics import ratio_interval
from nfvbed.deploy.lab import coredistance
from nfvbed.records import CoreDistance

PRESSURE_LIMIT = 0.05
"""More than the wake-ups of the main lcores and of this script cause; a compiler beside it causes 0.3 and more."""

CORES = (0, 1)
"""The peer's core, and the generator's."""


Measure = Callable[[], tuple[float, float]]
"""Gives frames/s over both directions, and the share of the time in which others wanted a CPU."""


@dataclass(frozen=True)
class Trial:
    """One trial of one side."""

    pair: int
    side: str
    rate_mpps: float
    distance_ns: tuple[float, float]
    pressure: float
    """Share of the trial in which others wanted a CPU."""


@dataclass(frozen=True)
class ClassResult:
    """What the trials of one placement class show."""

    placement: str
    nfvgen_mpps: list[float]
    testpmd_mpps: list[float]
    nfvgen_median_mpps: float
    testpmd_median_mpps: float
    ratio: float
    interval: tuple[float, float] | None


@dataclass
class LoopResult:
    """One loop: nfvgen against testpmd."""

    name: str
    aim: float
    pressure_limit: float = PRESSURE_LIMIT
    """Higher where the loop's own threads share a core: then they wait for each other."""
    trials: list[Trial] = field(default_factory=list)
    classes: list[ClassResult] = field(default_factory=list)
    beside_mpps: dict[str, float] = field(default_factory=dict)
    """Rates that are no contest: testpmd txonly and rxonly."""

    def document(self) -> dict[str, Any]:
        """Give it as JSON values."""
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


def run_pairs(result: LoopResult, nfvgen: Measure, testpmd: Measure, limits: Limits) -> None:
    """Measure pairs until one placement class holds enough trials of both sides.

    Args:
        result: receives trials and classes.
        nfvgen: measures nfvgen.
        testpmd: the same for testpmd in its place.
        limits: when it ends.
    """
    patience_s = limits.patience_s
    for pair in range(limits.at_most):
        # Who begins changes, so that a drift favours neither.
        sides = [("nfvgen", nfvgen), ("testpmd", testpmd)]
        for side, measure in sides if pair % 2 == 0 else sides[::-1]:
            patience_s = wait_until_quiet(PRESSURE_LIMIT, patience_s)
            before = coredistance.measure(CORES).one_way_ns
            rate, pressure = measure()
            after = coredistance.measure(CORES).one_way_ns
            result.trials.append(Trial(pair, side, rate / 1e6, (before, after), pressure))
        result.classes = classes_of(result.trials, result.pressure_limit)
        if any(min(len(c.nfvgen_mpps), len(c.testpmd_mpps)) >= limits.wanted for c in result.classes):
            return


def classes_of(trials: list[Trial], pressure_limit: float = PRESSURE_LIMIT) -> list[ClassResult]:
    """Put the trials of each placement class together; one that changed its class or was disturbed is left out."""
    placement = analyse([CoreDistance(before=t.distance_ns[0], after=t.distance_ns[1]) for t in trials])
    results = []
    for name in placement.classes:
        sides: dict[str, list[float]] = {"nfvgen": [], "testpmd": []}
        for trial, label in zip(trials, placement.labels, strict=True):
            if label == name and label != MIXED and trial.pressure <= pressure_limit:
                sides[trial.side].append(trial.rate_mpps)
        ours, theirs = sides["nfvgen"], sides["testpmd"]
        if not ours or not theirs or not median(theirs):
            continue
        interval = ratio_interval(ours, theirs)
        results.append(
            ClassResult(
                placement=name,
                nfvgen_mpps=ours,
                testpmd_mpps=theirs,
                nfvgen_median_mpps=median(ours),
                testpmd_median_mpps=median(theirs),
                ratio=median(ours) / median(theirs),
                interval=(interval.low, interval.high) if interval else None,
            )
        )
    return results
