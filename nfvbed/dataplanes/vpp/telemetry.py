"""VPP's own counters around a trial: what its graph nodes took on each thread."""

from collections.abc import Sequence
from pathlib import Path

from nfvbed.dataplanes.vpp.options import CYCLES_FROM
from nfvbed.dataplanes.vpp.runtime import NodeRuntime, Runtime, between, runtime_of
from nfvbed.dataplanes.vpp.statistics import Statistics
from nfvbed.records.results import MeasuredRow, Quantity


class VppReader:
    """Reads a VPP's nodes before and after a trial."""

    def __init__(self, socket: Path) -> None:
        self._statistics = Statistics(socket)
        self._looks: list[Runtime] = []

    def start(self) -> None:
        """Read the nodes."""
        self._looks = [runtime_of(self._statistics.read())]

    def stop(self) -> None:
        """Read them again."""
        self._looks.append(runtime_of(self._statistics.read()))
        self._statistics.close()

    def rows(self) -> tuple[MeasuredRow, ...]:
        """Return a row for each node that had packets."""
        before, after = self._looks
        return node_rows(between(before, after))


def node_rows(nodes: Sequence[NodeRuntime]) -> tuple[MeasuredRow, ...]:
    """Return a row for each node that had packets."""
    return tuple(
        MeasuredRow(
            label=f"{node.node} on thread {node.thread}",
            parameters={
                "thread": node.thread,
                "node": node.node,
                "calls": node.calls,
                "vectors": node.vectors,
                "clocks": node.clocks,
                "source": CYCLES_FROM,
            },
            quantities=(Quantity(name="cycles", value=node.cycles_per_packet, unit="cycles/packet"),),
        )
        for node in nodes
        if node.vectors
    )
