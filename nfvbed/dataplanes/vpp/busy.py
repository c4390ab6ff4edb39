"""What the workers of a VPP spent on packets.

A node that polls counts also the clocks of polls that found nothing, and VPP does not distinguish them: on an idle port
there are no others. They are subtracted here, at what such a poll costs while nothing is sent.
"""

from collections.abc import Sequence

from nfvbed.dataplanes.vpp.runtime import NodeRuntime, Runtime, between

INPUT_NODES = frozenset({"vhost-user-input", "memif-input", "af-packet-input", "dpdk-input"})
FIRST_NODE = "ethernet-input"
"""The node that is called once for every batch that an input node has found."""
NO_PACKETS = frozenset({"unix-epoll-input"})
"""Nodes of a worker that never see packets: the loop's look at file descriptors."""


class BusyMeter:
    """Adds the spent clocks up over readings; thread 0 is the main thread, which forwards nothing."""

    def __init__(self) -> None:
        self.busy_cycles = 0
        """Since the first reading."""
        self._last: Runtime | None = None
        self._idle: dict[tuple[int, str], float] = {}
        """Clocks of a poll that finds nothing, by thread and node; of the last time without packets."""

    def add(self, now: Runtime) -> None:
        """Take a reading."""
        last, self._last = self._last, now
        if last is None:
            return
        nodes = [node for node in between(last, now) if node.thread and node.node not in NO_PACKETS]
        for node in nodes:
            if node.node not in INPUT_NODES:
                self.busy_cycles += node.clocks
            elif node.vectors:
                self.busy_cycles += self._spent(node, nodes)
            else:
                self._idle[node.thread, node.node] = node.clocks / node.calls

    def _spent(self, node: NodeRuntime, nodes: Sequence[NodeRuntime]) -> int:
        """Return an input node's clocks without those of empty polls."""
        batches = sum(other.calls for other in nodes if (other.thread, other.node) == (node.thread, FIRST_NODE))
        empty = max(0, node.calls - batches)
        return max(0, round(node.clocks - empty * self._idle.get((node.thread, node.node), 0.0)))
