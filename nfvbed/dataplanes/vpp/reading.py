"""What a running VPP reports of itself, as nfvbed's records."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

from nfvbed.dataplanes.vpp.drops import SOURCE
from nfvbed.dataplanes.vpp.options import CYCLES_FROM
from nfvbed.dataplanes.vpp.runtime import runtime_of
from nfvbed.dataplanes.vpp.statistics import Entries, InterfaceCounters, errors_of, interface_counters
from nfvbed.records import Hop, HopKind, Role, SwitchCounters, WorkThread
from nfvbed.spec.layout import End, Layout

DROP_NODE = "error-drop"
"""Where every frame ends that the graph drops."""
_WORKER = "vpp_wk_"


def counters(entries: Entries, numbers: Mapping[str, int], busy_cycles: int) -> SwitchCounters:
    """Return the frames that all interfaces received, and the cycles of the workers.

    Args:
        numbers: numbers of the measured interfaces, by name, in the order of the path.
        busy_cycles: cycles of the workers, added up by `BusyMeter`.
    """
    counted = {name: interface_counters(entries, number) for name, number in numbers.items()}
    nodes = runtime_of(entries).values()
    return SwitchCounters(
        packets=sum(interface.rx_packets for interface in counted.values()),
        busy_cycles=busy_cycles,
        source=CYCLES_FROM,
        raw={
            "nodes": [dataclasses.asdict(node) for node in nodes if node.vectors],
            "ports": {name: _port(interface) for name, interface in counted.items()},
        },
    )


def hops(entries: Entries, numbers: Mapping[str, int], plan: Layout) -> tuple[Hop, ...]:
    """Return the counters along the path: the first interface, the graph with what it dropped, the other interfaces."""
    first, *others = (_hop(end, interface_counters(entries, numbers[end.name])) for end in plan.switch_ends)
    dropped = sum(node.vectors for node in runtime_of(entries).values() if node.node == DROP_NODE)
    drops = {DROP_NODE: dropped, **errors_of(entries)}
    return first, Hop(name="vpp graph", drops=drops, counted_by=SOURCE), *others


def workers(pid: int, *, polling: bool) -> tuple[WorkThread, ...]:
    """Find the workers by their names; each is bound to one core.

    Args:
        polling: whether they never sleep.
    """
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            name = (task / "comm").read_text().strip()
            cores = os.sched_getaffinity(int(task.name))
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        if name.startswith(_WORKER):
            core = next(iter(cores)) if len(cores) == 1 else None
            found.append(
                WorkThread(role=Role.SWITCH, pid=pid, tid=int(task.name), core=core, name=name, polling=polling)
            )
    return tuple(sorted(found, key=lambda thread: thread.name))


def _hop(end: End, counted: InterfaceCounters) -> Hop:
    return Hop(
        name=f"vpp port {end.name}",
        kind=HopKind.SWITCH_PORT,
        vnf=end.vnf,
        port=end.port,
        rx_packets=counted.rx_packets,
        tx_packets=counted.tx_packets,
        drops=dict(counted.drops),
        counted_by=SOURCE,
    )


def _port(counted: InterfaceCounters) -> dict[str, int]:
    return {"rx_packets": counted.rx_packets, "tx_packets": counted.tx_packets, **counted.drops}
