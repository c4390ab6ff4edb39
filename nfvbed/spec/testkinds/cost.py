"""What forwarding a packet costs."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.base import LOAD_REFERENCE, MRR, Fraction, NamedTest


class CostTest(NamedTest):
    """CPU time by kind, cycles, context switches and the switch's own counters, for each packet.

    Two trials of the same load: one is only counted, the other one is traced as well.
    """

    kind: Literal["cost"]
    load_pps: int | None = Field(None, ge=2)
    """Intended load, frames/s over all directions; without it and `fraction`: maximum load."""
    fraction: Fraction | None = None
    """Intended load as a part of that of `of`."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """`mrr`, or a goal of a search that comes before: `NDR`, `PDR`."""
    duration_s: float = Field(10, ge=0.05, le=600)
    """Of each trial. The kernel tells user from system by clock ticks: in less than 10 s there are few of them."""
    trace: bool = True
    """Trace softirqs in the second trial; without it there is only the first one, and softirq time is not told."""

    @model_validator(mode="after")
    def one_load_at_most_is_given(self) -> Self:
        if self.load_pps is not None and self.fraction is not None:
            raise ValueError("give load_pps or fraction, or neither for maximum load")
        return self

    @property
    def trials(self) -> int:
        """How many there are."""
        return 2 if self.trace else 1

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        return self.trials * self.duration_s, self.trials

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes a part of."""
        return () if self.fraction is None else (self.of,)
