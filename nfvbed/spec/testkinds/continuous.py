"""One trial at a given load."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.base import LOAD_REFERENCE, MRR, Fraction, NamedTest, check_one_load


class ContinuousTest(NamedTest):
    """One trial at a given load."""

    kind: Literal["continuous"]
    load_pps: int | None = Field(None, ge=2)
    """Intended load, frames/s over all directions; or give `fraction`."""
    fraction: Fraction | None = None
    """Intended load as a part of that of `of`."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """`mrr`, or a goal of a search that comes before: `NDR`, `PDR`."""
    duration_s: float = Field(10, ge=0.05, le=86_400)

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
