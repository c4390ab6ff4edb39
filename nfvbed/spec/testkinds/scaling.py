"""What a file may say of tests that scale something: flows, table entries."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from nfvbed.spec.testkinds.base import LOAD_REFERENCE, MRR, Fraction, NamedTest


def _rising(counts: tuple[int, ...]) -> tuple[int, ...]:
    if list(counts) != sorted(set(counts)):
        raise ValueError(f"counts must rise, none twice: {list(counts)}")
    return counts


Counts = Annotated[tuple[Annotated[int, Field(ge=1, le=1_000_000)], ...], Field(min_length=1), AfterValidator(_rising)]


class ScalingTest(NamedTest):
    """One row for each count: at maximum load the rate received, at a given load the loss and the latency."""

    counts: Counts
    load_pps: int | None = Field(None, ge=2)
    """Intended load, frames/s over all directions; None without `fraction`: maximum load."""
    fraction: Fraction | None = None
    """Intended load as a part of that of `of`."""
    of: str = Field(MRR, pattern=LOAD_REFERENCE)
    """Reference of `fraction`: `mrr`, or a goal of a search that comes before: `NDR`, `PDR`."""
    duration_s: float = Field(1, ge=0.05, le=3_600)
    """Length of each trial, s."""
    warmup_s: float = Field(0.5, ge=0, le=600)
    """Length of maximum load before the trials of each row, s, not counted: caches and tables fill with what they will
    hold."""
    trials: int = Field(3, ge=1, le=100)
    """Trials of each row; it shows the median one, and the least and greatest of all."""

    @model_validator(mode="after")
    def one_load_at_most_is_given(self) -> Self:
        if self.load_pps is not None and self.fraction is not None:
            raise ValueError("give either load_pps or fraction, or neither for maximum load")
        return self

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        rows = len(self.counts)
        return rows * (self.warmup_s + self.trials * self.duration_s), rows * self.trials

    @property
    def builds_on(self) -> tuple[str, ...]:
        """The load that it takes a part of."""
        return () if self.fraction is None else (self.of,)


class FlowScalingTest(ScalingTest):
    """The rate (or loss and latency at a load) by the number of flows, which differ in address and UDP port."""

    kind: Literal["flow-scaling"]
    counts: Counts = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
    """Flows per direction, one row each."""


class TableScalingTest(ScalingTest):
    """The rate (or loss and latency at a load) by the number of OpenFlow entries, or of routes of a router.

    Frames hit entries that are spread over the table. A count beyond what frames can distinguish is refused.
    """

    kind: Literal["table-scaling"]
    counts: Counts = (1, 10, 100, 1_000, 10_000, 100_000)
    """Entries in the table, one row each; the directions share them."""
    warmup_s: float = Field(2, ge=0, le=600)
    """Length of maximum load before the trials of each row, s, not counted, in which every entry should be looked up
    once."""
