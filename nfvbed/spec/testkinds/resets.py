"""What a file may say of tests of outages: recovery from overload, and a switch that is restarted."""

from math import ceil
from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.base import LOAD_REFERENCE, MRR, Fraction, NamedTest, check_one_load

MOST_BINS = 130_000
"""The most bins of a generator's timeline."""


class SystemRecoveryTest(NamedTest):
    """Overload, then a part of the load: the time from the change to the last frame lost (RFC 2544 section 26.5)."""

    kind: Literal["system-recovery"]
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """Reference of the loads: `mrr`, or a goal of a search that comes before."""
    overload: Fraction = 1.1
    """Load of the first stretch, as a part of that."""
    relief: Fraction = 0.5
    """Load of the second one."""
    overload_s: float = Field(60, ge=0.05, le=3_600)
    """Length of the overload, s; RFC 2544 asks for at least 60 s."""
    relief_s: float = Field(10, ge=0.05, le=3_600)
    """Length of the second stretch, s; a system that takes longer has not recovered."""
    resolution_s: float = Field(0.001, ge=0.000_01, le=1)
    """Width of the bins in which frames are counted: the time is known as well as this."""
    repetitions: int = Field(1, ge=1, le=100)
    """Number of trials."""

    @model_validator(mode="after")
    def relief_is_less(self) -> Self:
        if self.relief >= self.overload:
            raise ValueError(f"relief ({self.relief:g}) must be below overload ({self.overload:g})")
        return self

    @model_validator(mode="after")
    def bins_fit(self) -> Self:
        check_bins(self.overload_s + self.relief_s, self.resolution_s)
        return self

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        return self.repetitions * (self.overload_s + self.relief_s), self.repetitions

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes parts of."""
        return (self.of,)


def check_bins(duration_s: float, resolution_s: float) -> None:
    """Check that a trial's timeline has room for its bins.

    Raises:
        ValueError: there are too many.
    """
    if ceil(duration_s / resolution_s) > MOST_BINS:
        least = duration_s / MOST_BINS
        raise ValueError(
            f"{duration_s:g} s in bins of {resolution_s:g} s are more than {MOST_BINS} bins; resolution_s: {least:.3g}"
        )


class ResetTest(NamedTest):
    """The switch is killed and restarted under traffic: the outage (RFC 2544 section 26.6, RFC 6201).

    What a reset is differs by variant; the result names it.
    """

    kind: Literal["reset"]
    load_pps: int | None = Field(None, ge=2)
    """Intended load, frames/s over all directions; either this or `fraction`."""
    fraction: Fraction | None = None
    """Intended load as a part of that of `of`."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """Reference of `fraction`: `mrr`, or a goal of a search that comes before."""
    before_s: float = Field(1, ge=0.1, le=600)
    """Seconds of traffic before the reset."""
    duration_s: float = Field(15, ge=0.5, le=3_600)
    """Length of the whole trial, s; a switch that takes longer has not come back."""
    resolution_s: float = Field(0.001, ge=0.000_01, le=1)
    """Width of the bins in which frames are counted; time stamps are exact."""
    repetitions: int = Field(3, ge=1, le=100)
    """Number of trials."""

    @model_validator(mode="after")
    def one_load_is_given(self) -> Self:
        check_one_load(self.load_pps, self.fraction)
        return self

    @model_validator(mode="after")
    def times_fit(self) -> Self:
        if self.before_s >= self.duration_s:
            raise ValueError(f"before_s ({self.before_s:g}) must be below duration_s ({self.duration_s:g})")
        check_bins(self.duration_s, self.resolution_s)
        return self

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        return self.repetitions * self.duration_s, self.repetitions

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes a part of."""
        return () if self.fraction is None else (self.of,)
