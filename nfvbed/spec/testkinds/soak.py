"""One load for long."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.base import LOAD_REFERENCE, Fraction, NamedTest, check_one_load


class SoakTest(NamedTest):
    """One load for long, in intervals, to see what comes rarely or only after a while."""

    kind: Literal["soak"]
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
