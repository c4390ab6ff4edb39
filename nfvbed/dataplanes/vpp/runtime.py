"""VPP's counters of its graph nodes, from its statistics segment.

`/sys/node/names` has one name a node, `/sys/node/{calls,vectors,clocks}` for each thread one count a node; VPP makes
`show runtime` of the same counters. Nothing here talks to VPP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfvbed.errors import InternalError

NAMES, CALLS, VECTORS, CLOCKS = "/sys/node/names", "/sys/node/calls", "/sys/node/vectors", "/sys/node/clocks"


@dataclass(frozen=True)
class NodeRuntime:
    """One graph node on one thread, since counting began or between two readings."""

    thread: int
    node: str
    calls: int
    vectors: int
    """Packets."""
    clocks: int
    """TSC cycles."""

    @property
    def cycles_per_packet(self) -> float | None:
        """Clocks for each packet; None without packets."""
        return self.clocks / self.vectors if self.vectors else None


Runtime = Mapping[tuple[int, str], NodeRuntime]
"""By thread and node."""


def runtime_of(statistics: Mapping[str, Sequence[object]]) -> Runtime:
    """Parse the counters of all threads.

    Raises:
        InternalError: an entry is missing, or they are not of one length.
    """
    missing = [name for name in (NAMES, CALLS, VECTORS, CLOCKS) if name not in statistics]
    if missing:
        raise InternalError("VPP's statistics segment lacks entries", observed=", ".join(missing))
    names = [str(name) for name in statistics[NAMES]]
    found: dict[tuple[int, str], NodeRuntime] = {}
    threads = zip(*(_threads(statistics, name, len(names)) for name in (CALLS, VECTORS, CLOCKS)), strict=True)
    for thread, counts in enumerate(threads):
        for node, calls, vectors, clocks in zip(names, *counts, strict=True):
            found[thread, node] = NodeRuntime(thread, node, calls, vectors, clocks)
    return found


def between(before: Runtime, after: Runtime) -> tuple[NodeRuntime, ...]:
    """Return the difference of two readings; nodes that were not called in between are left out."""
    found = []
    for key, last in after.items():
        first = before.get(key, NodeRuntime(last.thread, last.node, 0, 0, 0))
        calls = last.calls - first.calls
        if calls:
            vectors, clocks = last.vectors - first.vectors, last.clocks - first.clocks
            found.append(NodeRuntime(last.thread, last.node, calls, vectors, clocks))
    return tuple(found)


def _threads(statistics: Mapping[str, Sequence[object]], name: str, nodes: int) -> list[list[int]]:
    threads = [[int(str(count)) for count in counts] for counts in statistics[name] if isinstance(counts, Sequence)]
    if any(len(counts) != nodes for counts in threads):
        raise InternalError("VPP's statistics segment is not of one length", where=name, observed=f"{nodes} nodes")
    return threads
