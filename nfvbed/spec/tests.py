"""The tests that an experiment puts each of its cells through, as files declare them; `kind` says which."""

from collections.abc import Sequence
from math import log2
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.model import SpecModel
from nfvbed.spec.search import Search, SearchSpec

MRR = "mrr"
"""The kind and label of the test that every experiment has where its file names none, and what fractions may be of."""
TEST_NAME = r"^[a-z0-9][a-z0-9-]{0,40}$"
LOAD_REFERENCE = r"^(mrr|[A-Za-z0-9][A-Za-z0-9._-]{0,20})$"
EXPECTED_FINAL_LOADS = 2.5
"""Loads that a search classifies with its whole duration sum, as an estimate: two bounds, and a doubtful one."""
EXPECTED_COARSE_STEP = 1.5
"""Trials for each halving of the range of loads, as an estimate."""
RANGE = 100
"""Largest over smallest load worth trying, for that estimate."""

Fraction = Annotated[float, Field(gt=0, le=2)]


class MrrTest(SpecModel):
    """The maximum receive rate, then loss and latency at a fraction of it; `trials` says how long."""

    kind: Literal["mrr"]


class SearchTest(SearchSpec):
    """A throughput search: NDR and PDR together, or other goals (RFC 2544 section 26.1, RFC 9971)."""

    kind: Literal["search"]
    name: str | None = Field(None, pattern=TEST_NAME)
    """Label of its results; None: `search`."""

    @model_validator(mode="after")
    def its_quick_form_is_possible(self) -> Self:
        self.resolved(quick=True)
        return self


class ContinuousTest(SpecModel):
    """One trial at a given load."""

    kind: Literal["continuous"]
    name: str | None = Field(None, pattern=TEST_NAME)
    """Label of its results; None: `continuous`."""
    load_pps: int | None = Field(None, ge=2)
    """Intended load, frames/s over all directions; or give `fraction`."""
    fraction: Fraction | None = None
    """Intended load as a part of that of `of`."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """`mrr`, or a goal of a search that comes before: `NDR`, `PDR`."""
    duration_s: float = Field(10, ge=0.05, le=86_400)

    @model_validator(mode="after")
    def one_load_is_given(self) -> Self:
        _one_of(self.load_pps, self.fraction)
        return self


class LossCurveTest(SpecModel):
    """The frame loss rate at several loads (RFC 2544 section 26.3)."""

    kind: Literal["loss-curve"]
    name: str | None = Field(None, pattern=TEST_NAME)
    """Label of its results; None: `loss-curve`."""
    fractions: tuple[Fraction, ...] = Field((1.1, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1), min_length=2)
    """Of the load of `of`, in the order in which they are tried."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """`mrr`, or a goal of a search that comes before: `NDR`, `PDR`. Virtual ports have no line rate."""
    duration_s: float = Field(1, ge=0.05, le=86_400)
    """Of each load's trial."""


class LatencyTest(SpecModel):
    """Latency in both directions at several loads; every trial keeps its histograms."""

    kind: Literal["latency"]
    name: str | None = Field(None, pattern=TEST_NAME)
    """Label of its results; None: `latency`."""
    fractions: tuple[Fraction, ...] = (0.01, 0.1, 0.5, 0.9)
    """Of the load of `of`."""
    of: str = Field("PDR", pattern=LOAD_REFERENCE)
    """A goal of a search that comes before, or `mrr`."""
    fixed_load_pps: int | None = Field(100_000, ge=2)
    """A further load that is the same for all variants, frames/s over all directions; None: none."""
    duration_s: float = Field(5, ge=0.05, le=86_400)
    """Of each load's trial."""


class SoakTest(SpecModel):
    """One load for long, in intervals, to see what comes rarely or only after a while."""

    kind: Literal["soak"]
    name: str | None = Field(None, pattern=TEST_NAME)
    """Label of its results; None: `soak`."""
    load_pps: int | None = Field(None, ge=2)
    """Intended load, frames/s over all directions; or give `fraction`."""
    fraction: Fraction | None = None
    """Intended load as a part of that of `of`."""
    of: str = Field("NDR", pattern=LOAD_REFERENCE)
    """A goal of a search that comes before, or `mrr`."""
    duration_s: float = Field(600, ge=0.1, le=864_000)
    """Of all intervals together."""
    interval_s: float = Field(10, ge=0.05, le=3_600)
    """Each is a trial of its own; between two of them no frames are sent for a moment."""

    @model_validator(mode="after")
    def one_load_is_given(self) -> Self:
        _one_of(self.load_pps, self.fraction)
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


AnyTest = MrrTest | SearchTest | ContinuousTest | LossCurveTest | LatencyTest | SoakTest
TestSpec = Annotated[AnyTest, Field(discriminator="kind")]
MRR_TEST = MrrTest(kind="mrr")


def label_of(test: AnyTest) -> str:
    """Give the name under which a test's results are kept; unique within an experiment."""
    return test.kind if isinstance(test, MrrTest) else test.name or test.kind


def check_together(tests: Sequence[AnyTest], ceilings: bool) -> None:
    """Check that labels differ, and that every load that is a fraction is a fraction of something measured before.

    Args:
        tests: in the order in which they are done.
        ceilings: whether the generator's own ceiling is measured too.

    Raises:
        ValueError: they do not fit.
    """
    known: list[str] = []
    labels: list[str] = []
    for test in tests:
        label = label_of(test)
        if label in labels:
            raise ValueError(f"two tests are named {label}; give one of them a name")
        labels.append(label)
        if isinstance(test, MrrTest):
            known.append(MRR)
        elif isinstance(test, SearchTest):
            known += [goal.name for goal in test.resolved().goals]
            if test.max_load_pps is None and not ceilings:
                raise ValueError(f"without ceilings test {label} needs a max_load_pps")
        elif _fractions(test) and test.of not in known:
            raise ValueError(
                f"test {label} is at parts of {test.of}, which no test before it measures"
                f" ({', '.join(known) or 'nothing'} is)"
            )


def expected_s(test: AnyTest, search: Search | None = None) -> tuple[float, int]:
    """Estimate the seconds of traffic of a test, and its trials. Of `mrr` the plan knows itself.

    Args:
        test: any but `mrr`.
        search: a search as it is run, with the quick preset where that is asked for.
    """
    if isinstance(test, SearchTest):
        return _expected_search_s(search or test.resolved())
    if isinstance(test, SoakTest):
        return test.intervals * test.interval_s, test.intervals
    if isinstance(test, MrrTest):
        return 0.0, 0
    loads = len(_fractions(test)) or 1
    if isinstance(test, LatencyTest):
        loads = len(test.fractions) + (test.fixed_load_pps is not None)
    return loads * test.duration_s, loads


def _expected_search_s(search: Search) -> tuple[float, int]:
    seconds, trials = search.warmup_s, 1.0
    for goal in search.goals:
        steps = EXPECTED_COARSE_STEP * (log2(RANGE) + log2(1 / goal.relative_width)) / 2
        seconds += EXPECTED_FINAL_LOADS * goal.duration_sum_s + steps * goal.initial_trial_duration_s
        trials += EXPECTED_FINAL_LOADS * goal.duration_sum_s / goal.final_trial_duration_s + steps
    return min(seconds, search.time_limit_s), round(trials)


def _fractions(test: AnyTest) -> tuple[float, ...]:
    if isinstance(test, LossCurveTest | LatencyTest):
        return test.fractions
    if isinstance(test, ContinuousTest | SoakTest) and test.fraction is not None:
        return (test.fraction,)
    return ()


def _one_of(load_pps: int | None, fraction: float | None) -> None:
    if (load_pps is None) == (fraction is None):
        raise ValueError("give either load_pps or fraction")
