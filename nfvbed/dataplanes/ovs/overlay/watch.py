"""What the hosts of a deployed overlay report of themselves."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nfvbed.dataplanes.connections import Connections, ConnectionTracker
from nfvbed.dataplanes.ovs import reading, watching
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.overlay.host import UNDERLAY_NUMBER, UNDERLAY_PORT
from nfvbed.dataplanes.ovs.overlay.hostplan import TUNNEL_PORT
from nfvbed.dataplanes.ovs.reading import BridgeView
from nfvbed.records import NOT_SEPARABLE, Hop, Record, Separable, SwitchCounters, rounding_of
from nfvbed.records.state import PlaneState

SHARED_SOURCE = "not-separable: the hosts' poll-mode threads share a core, and count each other's time"


class HostView(Record):
    """How one host is read."""

    name: str
    process: str
    """Name of its ovs-vswitchd in the workspace."""
    netns: str
    unixctl: str
    integration: str
    """OpenFlow socket of br-int."""
    physical: str
    """OpenFlow socket of br-phy; empty where there is no tunnel."""
    rules: int
    """Number of OpenFlow rules that br-int holds."""
    shares_core: bool
    tracks: bool = False
    """Whether its rules track connections."""
    database: str = ""
    """Socket of ovsdb-server; empty: the nfvbed that deployed the host did not keep it."""
    tunnel: int = TUNNEL_PORT
    """OpenFlow number of the tunnel's port."""

    @property
    def bridge(self) -> BridgeView:
        """How the host's br-int is read."""
        return BridgeView(f"{self.name} br-int", Path(self.unixctl), Path(self.integration))


class OverlayState(PlaneState):
    """The hosts of an overlay."""

    hosts: tuple[HostView, ...]
    """In the order of the path."""


def counters(hosts: Sequence[HostView], ports: Sequence[Mapping[str, int]]) -> SwitchCounters:
    """Read and add up the counters of all hosts.

    Args:
        ports: of each host, the path's ports by name.
    """
    found = [reading.counters(host.bridge, mine) for host, mine in zip(hosts, ports, strict=True)]
    shared = any(host.shares_core for host in hosts)
    cycles: Separable = NOT_SEPARABLE
    if not shared:
        cycles = sum(counted.busy_cycles for counted in found if counted.busy_cycles != NOT_SEPARABLE)
    return SwitchCounters(
        packets=sum(counted.packets for counted in found),
        busy_cycles=cycles,
        rounding_cycles=None if shared else rounding_of(found),
        source=SHARED_SOURCE if shared else found[0].source,
        raw={host.name: counted.raw | _tunnel(host) for host, counted in zip(hosts, found, strict=True)},
    )


class OverlayConnections(ConnectionTracker):
    """The connection tracking of all hosts.

    Args:
        ports: of each host, the path's ports by name.
    """

    def __init__(self, hosts: Sequence[HostView], ports: Sequence[Mapping[str, int]]) -> None:
        self._hosts = tuple(zip(hosts, ports, strict=True))

    def look(self) -> tuple[Connections, ...]:
        """Read each host's connection table and the flows of its datapath."""
        return tuple(watching.connections(host.name, host.bridge, ports) for host, ports in self._hosts)


def hops(hosts: Sequence[HostView], ports: Sequence[Mapping[str, int]]) -> tuple[Hop, ...]:
    """Read the counters along the path.

    Args:
        hosts: in the order of the path.
        ports: of each host, the path's ports by name, in that order.
    """
    path: list[Hop] = []
    for place, (host, mine) in enumerate(zip(hosts, ports, strict=True)):
        # A host without a port of the path would not be on it.
        first, datapath, *others = reading.hops(host.bridge, mine)
        wire = [_underlay(host)] if host.physical else []
        if place == 0:
            path += [first, datapath, *others, *wire] if not wire else [first, *others, datapath, *wire]
        else:
            path += [*wire, datapath, first, *others]
    return tuple(path)


def _underlay(host: HostView) -> Hop:
    with BridgeController(Path(host.physical)) as bridge:
        return reading.port_hop(f"{host.name} br-phy port {UNDERLAY_PORT}", bridge.ports()[UNDERLAY_NUMBER])


def _tunnel(host: HostView) -> dict[str, dict[str, int | None]]:
    """Read the counters of the tunnel and of the underlay."""
    if not host.physical:
        return {}
    with BridgeController(Path(host.integration)) as bridge:
        tunnel = bridge.ports()[host.tunnel]
    wire = _underlay(host)
    return {
        "tunnel": {"rx_packets": tunnel.rx_packets, "tx_packets": tunnel.tx_packets},
        "underlay": {"rx_packets": wire.rx_packets, "tx_packets": wire.tx_packets},
    }
