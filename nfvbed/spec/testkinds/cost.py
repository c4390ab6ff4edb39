"""What a file may say of tests of cost: of forwarding a packet, and of what an XDP program does with one."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

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
    """Reference of `fraction`: `mrr`, or a goal of a search that comes before: `NDR`, `PDR`."""
    duration_s: float = Field(10, ge=0.05, le=600)
    """Length of each trial, s. The kernel separates user from system by clock ticks: in less than 10 s there are few of
    them."""
    trace: bool = True
    """Tracing of softirqs in a second trial; without it there is only the first one, and softirq time is not
    reported."""

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


Task = Literal["drop", "parse", "lookup", "rewrite"]


def _once(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    if len(set(tasks)) != len(tasks):
        raise ValueError(f"no task twice: {list(tasks)}")
    return tasks


class XdpTasksTest(NamedTest):
    """Four tasks in the place of the switch's program, each on one core: what a packet costs.

    A, `drop`; B, `parse`: Ethernet and IPv4, then drop; C, `lookup`: parse, find the destination in a table, drop;
    D, `rewrite`: parse, swap the MAC addresses, transmit by the port that the frame came in at. After Tu et al.,
    "Revisiting the Open vSwitch Dataplane Ten Years Later" (SIGCOMM 2021), section 5.4.
    """

    kind: Literal["xdp-tasks"]
    tasks: Annotated[tuple[Task, ...], Field(min_length=1), AfterValidator(_once)] = (
        "drop",
        "parse",
        "lookup",
        "rewrite",
    )
    """Tasks to measure."""
    duration_s: float = Field(1, ge=0.05, le=600)
    """Length of each trial at maximum load, from port 0 alone, s."""
    trials: int = Field(5, ge=1, le=100)
    """Trials of each task on frames that a port receives, and as many of repeated runs on one frame."""
    repeat: int = Field(5_000_000, ge=1_000, le=100_000_000)
    """Runs on one frame at a time (BPF_PROG_TEST_RUN)."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        count = len(self.tasks) * self.trials
        return count * self.duration_s, count
