"""The outage when the switch is restarted."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.base import LOAD_REFERENCE, MRR, Fraction, NamedTest, check_one_load
from nfvbed.spec.testkinds.system_recovery import check_bins


class ResetTest(NamedTest):
    """The switch is broken off and started again under traffic: the outage (RFC 2544 section 26.6, RFC 6201).

    What a reset is differs by variant; the result names it.
    """

    kind: Literal["reset"]
    load_pps: int | None = Field(None, ge=2)
    """Intended load, frames/s over all directions; or give `fraction`."""
    fraction: Fraction | None = None
    """Intended load as a part of that of `of`."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """`mrr`, or a goal of a search that comes before."""
    before_s: float = Field(1, ge=0.1, le=600)
    """How long frames flow before the reset."""
    duration_s: float = Field(15, ge=0.5, le=3_600)
    """Of the whole trial; a switch that takes longer has not come back."""
    resolution_s: float = Field(0.001, ge=0.000_01, le=1)
    """Width of the bins in which frames are counted; time stamps are exact."""
    repetitions: int = Field(3, ge=1, le=100)

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
