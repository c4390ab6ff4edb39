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

NFVGEN = "nfvgen"

Measure = Callable[[], tuple[float, float]]
"""Gives frames/s over both directions, and the share of the time in which others wanted a CPU."""


@dataclass(frozen=True)
class Trial:
    """One trial of one side."""

    pair: int
    side: str
    """`nfvgen`, or testpmd in one of its variants."""
    rate_mpps: float
    distance_ns: tuple[float, float]
    pressure: float
    """Share of the trial in which others wanted a CPU."""


@dataclass(frozen=True)
class ClassResult:
    """What the trials of one placement class show."""

    placement: str
    rival: str
    """The variant of testpmd with the highest median."""
    nfvgen_mpps: list[float]
    testpmd_mpps: list[float]
    others_mpps: dict[str, list[float]]
    """testpmd's other variants."""
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


def run_pairs(result: LoopResult, nfvgen: Measure, rivals: dict[str, Measure], limits: Limits) -> None:
    """Measure pairs (rounds, with several rivals) until one placement class holds enough trials of all sides.

    Args:
        result: receives trials and classes.
        nfvgen: measures nfvgen.
        rivals: the same for testpmd in its place, in each of its variants.
        limits: when it ends.
    """
    patience_s = limits.patience_s
    for pair in range(limits.at_most):
        # Who begins changes, so that a drift favours neither.
        sides = [(NFVGEN, nfvgen), *rivals.items()]
        for side, measure in sides if pair % 2 == 0 else sides[::-1]:
            patience_s = wait_until_quiet(PRESSURE_LIMIT, patience_s)
            before = coredistance.measure(CORES).one_way_ns
            rate, pressure = measure()
            after = coredistance.measure(CORES).one_way_ns
            result.trials.append(Trial(pair, side, rate / 1e6, (before, after), pressure))
        result.classes = classes_of(result.trials, result.pressure_limit)
        if any(_fewest(c, len(rivals)) >= limits.wanted for c in result.classes):
            return


def _fewest(row: ClassResult, rivals: int) -> int:
    """Trials of the side that has the fewest; 0 while a variant has none."""
    theirs = [row.testpmd_mpps, *row.others_mpps.values()]
    return min(map(len, [row.nfvgen_mpps, *theirs])) if len(theirs) == rivals else 0


def classes_of(trials: list[Trial], pressure_limit: float = PRESSURE_LIMIT) -> list[ClassResult]:
    """Put the trials of each placement class together; one that changed its class or was disturbed is left out."""
    placement = analyse([CoreDistance(before=t.distance_ns[0], after=t.distance_ns[1]) for t in trials])
    results = []
    for name in placement.classes:
        sides: dict[str, list[float]] = {}
        for trial, label in zip(trials, placement.labels, strict=True):
            if label == name and label != MIXED and trial.pressure <= pressure_limit:
                sides.setdefault(trial.side, []).append(trial.rate_mpps)
        ours = sides.pop(NFVGEN, [])
        rival = max(sides, key=lambda side: median(sides[side]), default="")
        theirs = sides.pop(rival, [])
        if not ours or not theirs or not median(theirs):
            continue
        interval = ratio_interval(ours, theirs)
        results.append(
            ClassResult(
                placement=name,
                rival=rival,
                nfvgen_mpps=ours,
                testpmd_mpps=theirs,
                others_mpps=sides,
                nfvgen_median_mpps=median(ours),
                testpmd_median_mpps=median(theirs),
                ratio=median(ours) / median(theirs),
                interval=(interval.low, interval.high) if interval else None,
            )
        )
    return results
