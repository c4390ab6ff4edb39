"""Latency under load."""

from typing import Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import LOAD_REFERENCE, Fraction, NamedTest


class LatencyTest(NamedTest):
    """Latency in both directions at several loads; every trial keeps its histograms."""

    kind: Literal["latency"]
    fractions: tuple[Fraction, ...] = (0.01, 0.1, 0.5, 0.9)
    """Of the load of `of`."""
    of: str = Field("PDR", pattern=LOAD_REFERENCE)
    """A goal of a search that comes before, or `mrr`."""
    fixed_load_pps: int | None = Field(100_000, ge=2)
    """A further load that is the same for all variants, frames/s over all directions; None: none."""
    duration_s: float = Field(5, ge=0.05, le=86_400)
    """Of each load's trial."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        loads = len(self.fractions) + (self.fixed_load_pps is not None)
        return loads * self.duration_s, loads

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes parts of."""
        return (self.of,) if self.fractions else ()
