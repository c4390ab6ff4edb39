"""sysbench in a guest: events of the CPU test, and bytes of the memory test."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from nfvbed.records import Record
from nfvbed.vnfs.guest.machines import Machine

Operation = Literal["read", "write"]
_MORE_S = 120.0
"""Beside the time asked for: start and end of many threads on an emulated CPU."""


class SysbenchRun(Record):
    """sysbench's counts; times are by the guest's clock."""

    threads: int
    cpus: tuple[int, ...]
    """The guest's, on which its threads were put in turn."""
    elapsed_s: float
    events: float
    events_per_s: float
    event_avg_ms: float
    event_max_ms: float
    events_per_thread_stddev: float = Field(ge=0)
    """How unevenly the threads got on, in events."""
    mib_per_s: float | None = None
    """Throughput of the memory test."""


@dataclass(frozen=True)
class CpuLoad:
    """The CPU test: prime numbers up to a limit, an event each time all are found."""

    threads: int
    duration_s: int
    max_prime: int = 10_000

    @property
    def keys(self) -> dict[str, Any]:
        """The request's keys."""
        return {
            "test": "cpu",
            "threads": self.threads,
            "duration_s": self.duration_s,
            "max_prime": self.max_prime,
        }


@dataclass(frozen=True)
class MemoryLoad:
    """The memory test: a block is read or written again and again; an event is a block."""

    operation: Operation
    threads: int
    duration_s: int
    block_kib: int = 1

    @property
    def keys(self) -> dict[str, Any]:
        """The request's keys."""
        return {
            "test": "memory",
            "operation": self.operation,
            "threads": self.threads,
            "duration_s": self.duration_s,
            "block_kib": self.block_kib,
        }


def sysbench(guest: Machine, load: CpuLoad | MemoryLoad) -> SysbenchRun:
    """Run sysbench once in a guest and wait for it.

    Raises:
        AgentRefused: it failed there, or the image is too old to have it.
        OnboardError: the agent does not answer.
    """
    return SysbenchRun.model_validate(guest.agent.ask("sysbench", load.keys, timeout_s=load.duration_s + _MORE_S))
