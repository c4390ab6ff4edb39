"""What a switch on the kernel's datapath reports of itself, as nfvbed's records."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.kernel.datapath import DatapathCounters, read_datapath
from nfvbed.dataplanes.ovs.reading import port_hop, port_totals
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.ports import kernel_checks
from nfvbed.dataplanes.ports.link_state import LinkState
from nfvbed.dataplanes.wiring import end_of
from nfvbed.errors import SwitchDiedError
from nfvbed.host.network.namespaces import inside
from nfvbed.records import NOT_SEPARABLE, CounterSource, Deployment, Hop, SwitchCounters

DATAPATH = "ovs-system"
"""The kernel's one datapath of an ovs-vswitchd, in its network namespace."""


def counters(deployment: Deployment, ports: Mapping[str, int], taps: bool) -> SwitchCounters:
    """Read the counters of ports, threads and datapath.

    Args:
        ports: OpenFlow numbers of the measured ports, by name.
        taps: whether guests write into some of them.
    """
    links = LinkState.of(deployment)
    with BridgeController(Path(OvsState.of(deployment).openflow)) as bridge:
        counted = bridge.ports()
    packets = sum(counted[number].rx_packets or 0 for number in ports.values())
    raw = {
        "datapath": dataclasses.asdict(datapath(links.switch_netns)),
        "ports": {name: port_totals(counted[number]) for name, number in ports.items()},
    }
    busy_ns = kernel_checks.busy_ns(deployment.threads)
    if taps or busy_ns is None:
        work = "a guest's writes to its tap" if taps else "the sender's softirq"
        source = f"the datapath's work is part of {work} ({links.core_use})"
        return SwitchCounters(packets=packets, busy_cycles=NOT_SEPARABLE, source=source, raw=raw)
    return SwitchCounters(
        packets=packets,
        busy_cycles=kernel_checks.busy_cycles(busy_ns, links.tsc_hz),
        source=kernel_checks.BUSY_SOURCE,
        raw=raw | {"napi_run_time_ns": busy_ns},
    )


def hops(deployment: Deployment, ports: Mapping[str, int]) -> tuple[Hop, ...]:
    """Read the counters along the path: the first port, the datapath, the other ports.

    Args:
        ports: OpenFlow numbers by name, in the order of the path.
    """
    state = OvsState.of(deployment)
    with BridgeController(Path(state.openflow)) as bridge:
        counted = bridge.ports()
    drops = {"lost_upcalls": datapath(LinkState.of(deployment).switch_netns).lost}
    first, *others = (
        port_hop(f"{state.bridge} port {name}", counted[number], end_of(number)) for name, number in ports.items()
    )
    return first, Hop(name=f"{state.bridge} datapath", drops=drops, counted_by=CounterSource.OVS), *others


def datapath(netns: str) -> DatapathCounters:
    """Read the kernel's counters.

    Args:
        netns: path of the switch's network namespace.

    Raises:
        SwitchDiedError: the datapath, or its namespace, is gone.
    """
    observed = "no such datapath"
    try:
        found = inside(netns, lambda: read_datapath(DATAPATH))
        if found is not None:
            return found
    except OSError as failure:
        observed = str(failure)
    raise SwitchDiedError("the kernel's datapath is gone", where=netns, observed=observed, fix="deploy again")
