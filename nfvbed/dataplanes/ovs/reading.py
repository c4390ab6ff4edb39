"""What a running switch reports of itself, as nfvbed's records."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.dataplanes.ovs import pmd, unixctl
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.openflow import PortCounters
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.wiring import end_of
from nfvbed.host.network import napi
from nfvbed.records import CounterSource, Hop, HopKind, Role, SwitchCounters, WorkThread
from nfvbed.records.drops import DEFAULT_MEANINGS, with_remainder
from nfvbed.spec.layout import End

_VERSION = re.compile(r"\d+\.\d+[.\d]*")
PMD_NAME = re.compile(r"^pmd-c(?P<core>\d+)/")

_COVERAGE = re.compile(r"^(?P<name>[a-z][a-z0-9_]*) .*total: (?P<count>\d+)$", re.MULTILINE)
"""A line of `coverage/show`, which leaves out what is 0."""
_DATAPATH_DROP = re.compile(r"^(datapath_drop|drop_action)_|_drops?$")
"""Coverage counters of frames that the datapath, or what is behind its ports, dropped; releases differ in them."""


@dataclass(frozen=True)
class BridgeView:
    """How a bridge is read."""

    name: str
    unixctl: Path
    """Control socket of its ovs-vswitchd."""
    openflow: Path
    """Management socket."""

    @classmethod
    def of(cls, state: OvsState) -> "BridgeView":
        """Return the view of a deployment's bridge."""
        return cls(state.bridge, Path(state.unixctl), Path(state.openflow))


def counters(view: BridgeView, ports: Mapping[str, int]) -> SwitchCounters:
    """Read the counters of the ports and of the PMD threads.

    Args:
        ports: OpenFlow numbers of the measured ports, by name.
    """
    with BridgeController(view.openflow) as bridge:
        counted = bridge.ports()
    threads = pmd.read_statistics(view.unixctl)
    return SwitchCounters(
        packets=sum(counted[number].rx_packets or 0 for number in ports.values()),
        busy_cycles=sum(thread.busy_cycles for thread in threads),
        rounding_cycles=pmd.rounding_of(threads),
        source=pmd.source_of(threads),
        raw={
            "pmd": [dataclasses.asdict(thread) for thread in threads],
            "ports": {name: port_totals(counted[number]) for name, number in ports.items()},
        },
    )


def version(control_socket: Path) -> str:
    """Return the switch's version ("3.1.0")."""
    text = unixctl.command(control_socket, "version")
    match = _VERSION.search(text)
    return match.group() if match else text.strip()


def hops(view: BridgeView, ports: Mapping[str, int]) -> tuple[Hop, ...]:
    """Read the counters along the path: the first port, the datapath, the other ports.

    Args:
        ports: OpenFlow numbers by name, in the order of the path.
    """
    with BridgeController(view.openflow) as bridge:
        counted = bridge.ports()
    threads = pmd.read_statistics(view.unixctl)
    drops = datapath_drops(unixctl.command(view.unixctl, "coverage/show"))
    drops["failed_upcalls"] = sum(thread.failed_upcalls for thread in threads)
    first, *others = (
        port_hop(f"{view.name} port {name}", counted[number], end_of(number)) for name, number in ports.items()
    )
    return first, Hop(name=f"{view.name} datapath", drops=drops, counted_by=CounterSource.OVS), *others


def datapath_drops(coverage: str) -> dict[str, int]:
    """Return the counters of dropped frames in the output of `coverage/show`, which leaves out those that are 0."""
    counted = {match["name"]: int(match["count"]) for match in _COVERAGE.finditer(coverage)}
    return {name: count for name, count in counted.items() if _DATAPATH_DROP.search(name)}


def pmd_threads(pid: int) -> tuple[WorkThread, ...]:
    """Find the poll-mode threads of a switch by their names, which carry the core."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            name = (task / "comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        if match := PMD_NAME.match(name):
            thread = WorkThread(
                role=Role.SWITCH, pid=pid, tid=int(task.name), core=int(match["core"]), name=name, polling=True
            )
            found.append(thread)
    return tuple(sorted(found, key=lambda thread: (thread.core, thread.tid)))


def main_thread(pid: int, cores: Sequence[int]) -> WorkThread:
    """Return the switch's main thread, which serves what no poll-mode thread does.

    Args:
        cores: those that it may run on; several are no core of its own.
    """
    core = cores[0] if len(cores) == 1 else None
    return WorkThread(role=Role.SWITCH, pid=pid, tid=pid, core=core, name=napi.thread_name(pid))


def port_hop(name: str, port: PortCounters, end: End | None = None) -> Hop:
    """Return one port's counters as a hop; a port at no end of the path is within the switch."""
    return Hop(
        name=name,
        kind=HopKind.INSIDE if end is None else HopKind.SWITCH_PORT,
        vnf=None if end is None else end.vnf,
        port=None if end is None else end.port,
        # A port without a peer has no counters yet, and has moved nothing.
        rx_packets=port.rx_packets or 0,
        tx_packets=port.tx_packets or 0,
        drops=_drops(port),
        counted_by=CounterSource.OVS,
    )


def _drops(port: PortCounters) -> dict[str, int]:
    """Return a port's drops: each reason that the switch names, and the part of the totals that none explains."""
    named = {name: count for name, count in port.reasons.items() if DEFAULT_MEANINGS.is_drop(name)}
    totals = {key: getattr(port, key) or 0 for key in ("rx_dropped", "tx_dropped", "rx_errors", "tx_errors")}
    found = {name: count for name, count in named.items() if name not in totals}
    for total, side in (("rx_dropped", "ovs_rx_"), ("tx_dropped", "ovs_tx_")):
        reasons = {name: count for name, count in named.items() if name.startswith(side)}
        found |= with_remainder(total, totals, reasons)
    return {"rx_errors": totals["rx_errors"], "tx_errors": totals["tx_errors"]} | found


def port_totals(port: PortCounters) -> dict[str, int | None]:
    """Return one port's counters as they are kept with a trial."""
    totals = {"rx_packets": port.rx_packets, "tx_packets": port.tx_packets, "tx_dropped": port.tx_dropped}
    totals["rx_dropped"] = port.rx_dropped
    own = {name: count for name, count in port.reasons.items() if name.startswith("ovs_")}
    return _drops(port) | own | totals
