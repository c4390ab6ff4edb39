"""The frame loss rate at several loads."""

from typing import Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import LOAD_REFERENCE, MRR, Fraction, NamedTest


class LossCurveTest(NamedTest):
    """The frame loss rate at several loads (RFC 2544 section 26.3)."""

    kind: Literal["loss-curve"]
    fractions: tuple[Fraction, ...] = Field((1.1, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1), min_length=2)
    """Of the load of `of`, in the order in which they are tried."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """`mrr`, or a goal of a search that comes before: `NDR`, `PDR`. Virtual ports have no line rate."""
    duration_s: float = Field(1, ge=0.05, le=86_400)
    """Of each load's trial."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        loads = len(self.fractions)
        return loads * self.duration_s, loads

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes parts of."""
        return (self.of,)
