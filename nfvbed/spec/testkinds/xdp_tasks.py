"""What an XDP program costs by what it does with a frame."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from nfvbed.spec.testkinds.base import NamedTest

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
    duration_s: float = Field(1, ge=0.05, le=600)
    """Of each trial at maximum load, from port 0 alone."""
    trials: int = Field(5, ge=1, le=100)
    """Of each task: on frames that a port receives, and as many times of repeated runs on one frame."""
    repeat: int = Field(5_000_000, ge=1_000, le=100_000_000)
    """Runs on one frame at a time (BPF_PROG_TEST_RUN)."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        count = len(self.tasks) * self.trials
        return count * self.duration_s, count
