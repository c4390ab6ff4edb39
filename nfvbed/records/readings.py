"""The readings of a deployment at one moment: each part is a value, or the reason why it is not available."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from nfvbed.records.trial import Hop, SwitchCounters, WorkThread

Value = TypeVar("Value")

ThreadId = tuple[int, int]
"""(pid, tid)."""
Distances = Mapping[tuple[int, int], float]
"""One-way cache-line time between two cores, in ns."""
Slowdowns = Mapping[int, float]
"""By core: the time that a fixed piece of work takes now, over the shortest that it was seen to take."""


@dataclass(frozen=True)
class ThreadSample:
    """The CPU time of a thread since its start."""

    user_ns: int
    """In ticks; includes `guest_ns`."""
    system_ns: int
    guest_ns: int
    run_ns: int
    """Exact time on a CPU."""
    wait_ns: int
    """Time in which it could have run and another thread did."""
    turns: int = 0
    """How often it was given a core; 0: not known."""


@dataclass(frozen=True)
class CoreSample:
    """The time of a core since boot."""

    softirq_ns: int
    """In ticks."""
    steal_ns: int
    """Taken by the hypervisor for others, in steps of `CpuSample.steal_step_ns`."""
    exact_steal_ns: int | None = None
    """The same exactly, where the kernel's own account can be read."""


@dataclass(frozen=True)
class CpuSample:
    """A reading of threads and cores; a thread that is gone is missing."""

    at_ns: int
    threads: Mapping[ThreadId, ThreadSample]
    cores: Mapping[int, CoreSample]
    steal_step_ns: int = 0
    """Steps of each core's `steal_ns`; 0: counted exactly, or nothing was stolen since the host started."""


class Part(StrEnum):
    """A part of a reading; each is named as the field that it fills."""

    THREADS = "threads"
    CPU = "cpu"
    DISTANCES = "distances_ns"
    SLOWDOWNS = "slowdowns"
    COUNTERS = "counters"
    HOPS = "hops"


@dataclass(frozen=True)
class Unavailable:
    """A part that cannot be read, with the reason."""

    reason: str


NOT_ASKED = Unavailable("it was not asked for")


@dataclass(frozen=True)
class Reading:
    """The parts that one look at a deployment read, each a value or `Unavailable`."""

    threads: tuple[WorkThread, ...] | Unavailable = NOT_ASKED
    """Those that do the packet work now, kernel threads included; none where it is done in the sender's softirq."""
    cpu: CpuSample | Unavailable = NOT_ASKED
    """CPU time of these threads, or of those that were asked for."""
    distances_ns: Distances | Unavailable = NOT_ASKED
    """Between each of the switch's cores and each other core that shares the work."""
    slowdowns: Slowdowns | Unavailable = NOT_ASKED
    """Of the cores that share the work."""
    counters: SwitchCounters | Unavailable = NOT_ASKED
    """The switch's own."""
    hops: tuple[Hop, ...] | Unavailable = NOT_ASKED
    """Packet counters of every hop, in the order of the path from port 0 to port 1."""

    @classmethod
    def of(cls, parts: Iterable[Part], readers: Mapping[Part, Callable[[], Any]], otherwise: str) -> "Reading":
        """Read parts, in their order.

        Args:
            readers: return a part's value, or `Unavailable`.
            otherwise: why a part that has no reader is not available.
        """
        return cls(**{part.value: readers.get(part, lambda: Unavailable(otherwise))() for part in parts})

    @property
    def core_distance_ns(self) -> float | None:
        """The greatest of the distances; None where there is none."""
        return max((available(self.distances_ns) or {}).values(), default=None)


def available(value: Value | Unavailable) -> Value | None:
    """Return a part's value; None where it is not available."""
    return None if isinstance(value, Unavailable) else value
