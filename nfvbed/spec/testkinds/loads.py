"""What a file may say of tests at loads: given ones, and the search for the highest."""

from math import log2
from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.search import Search, SearchSpec
from nfvbed.spec.testkinds.base import LOAD_REFERENCE, MRR, Fraction, NamedTest, check_one_load

EXPECTED_FINAL_LOADS = 2.5
"""Loads that a search classifies with its whole duration sum, as an estimate: two bounds, and an uncertain one."""
EXPECTED_COARSE_STEP = 1.5
"""Trials for each halving of the range of loads, as an estimate."""
RANGE = 100
"""Largest over smallest load worth trying, for that estimate."""


class SearchTest(NamedTest, SearchSpec):
    """A throughput search: NDR and PDR together, or other goals (RFC 2544 section 26.1, RFC 9971)."""

    kind: Literal["search"]
    relative: bool = False
    """Search of testpmd in the switch's place as well, port to port, next to the variant's in each round: the result is
    the ratio, which the host's state moves little."""

    @model_validator(mode="after")
    def its_quick_form_is_possible(self) -> Self:
        self.resolved(quick=True)
        return self

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials, of its ordinary form."""
        return expected_search(self.resolved())


def expected_search(search: Search) -> tuple[float, int]:
    """Estimate the seconds of traffic of a search as it is run, and its trials."""
    seconds, trials = search.warmup_s, 1.0
    for goal in search.goals:
        steps = EXPECTED_COARSE_STEP * (log2(RANGE) + log2(1 / goal.relative_width)) / 2
        seconds += EXPECTED_FINAL_LOADS * goal.duration_sum_s + steps * goal.initial_trial_duration_s
        trials += EXPECTED_FINAL_LOADS * goal.duration_sum_s / goal.final_trial_duration_s + steps
    return min(seconds, search.time_limit_s), round(trials)


class ContinuousTest(NamedTest):
    """One trial at a given load."""

    kind: Literal["continuous"]
    load_pps: int | None = Field(None, ge=2)
    """Intended load, frames/s over all directions; either this or `fraction`."""
    fraction: Fraction | None = None
    """Intended load as a part of that of `of`."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """Reference of `fraction`: `mrr`, or a goal of a search that comes before: `NDR`, `PDR`."""
    duration_s: float = Field(10, ge=0.05, le=86_400)
    """Length of the trial, s."""
    lost_at_most: int | None = Field(None, ge=0, exclude_if=lambda value: value is None)
    """Frames of all directions that may be lost for the path to be accepted; more are said with the result. None:
    nothing is judged."""

    @model_validator(mode="after")
    def one_load_is_given(self) -> Self:
        check_one_load(self.load_pps, self.fraction)
        return self

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        return self.duration_s, 1

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes a part of."""
        return () if self.fraction is None else (self.of,)


class LossCurveTest(NamedTest):
    """The frame loss rate at several loads (RFC 2544 section 26.3)."""

    kind: Literal["loss-curve"]
    fractions: tuple[Fraction, ...] = Field((1.1, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1), min_length=2)
    """Loads as parts of that of `of`, in the order in which they are tried."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """Reference of the loads: `mrr`, or a goal of a search that comes before: `NDR`, `PDR`. Virtual ports have no line
    rate."""
    duration_s: float = Field(1, ge=0.05, le=86_400)
    """Length of each load's trial, s."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        loads = len(self.fractions)
        return loads * self.duration_s, loads

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes parts of."""
        return (self.of,)


class LatencyTest(NamedTest):
    """Latency in both directions at several loads; every trial keeps its histograms."""

    kind: Literal["latency"]
    fractions: tuple[Fraction, ...] = (0.01, 0.1, 0.5, 0.9)
    """Loads as parts of that of `of`."""
    of: str = Field("PDR", pattern=LOAD_REFERENCE)
    """Reference of the loads: a goal of a search that comes before, or `mrr`."""
    fixed_load_pps: int | None = Field(100_000, ge=2)
    """Further load that is the same for all variants, frames/s over all directions; None: none."""
    duration_s: float = Field(5, ge=0.05, le=86_400)
    """Length of each load's trial, s."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        loads = len(self.fractions) + (self.fixed_load_pps is not None)
        return loads * self.duration_s, loads

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes parts of."""
        return (self.of,) if self.fractions else ()


class SoakTest(NamedTest):
    """One load for long, in intervals, to see what comes rarely or only after a while."""

    kind: Literal["soak"]
    load_pps: int | None = Field(None, ge=2)
    """Intended load, frames/s over all directions; either this or `fraction`."""
    fraction: Fraction | None = None
    """Intended load as a part of that of `of`."""
    of: str = Field("NDR", pattern=LOAD_REFERENCE)
    """Reference of `fraction`: a goal of a search that comes before, or `mrr`."""
    duration_s: float = Field(600, ge=0.1, le=864_000)
    """Length of all intervals together, s."""
    interval_s: float = Field(10, ge=0.05, le=3_600)
    """Length of an interval, s. Each is a trial of its own; between two of them no frames are sent for a moment."""

    @model_validator(mode="after")
    def one_load_is_given(self) -> Self:
        check_one_load(self.load_pps, self.fraction)
        return self

    @model_validator(mode="after")
    def intervals_fit(self) -> Self:
        if self.interval_s > self.duration_s:
            raise ValueError(f"interval_s ({self.interval_s:g}) must be at most duration_s ({self.duration_s:g})")
        return self

    @property
    def intervals(self) -> int:
        """How many there are."""
        return round(self.duration_s / self.interval_s)

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        return self.intervals * self.interval_s, self.intervals

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes a part of."""
        return () if self.fraction is None else (self.of,)
