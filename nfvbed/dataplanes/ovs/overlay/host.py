"""One host of the overlay: an Open vSwitch with br-int, whose ports are the path's, and br-phy, which is the underlay.

The tunnel is Open vSwitch's own (userspace tunnelling). br-phy's internal port holds the host's address. The switch
finds the way to the other host in the routes of its network namespace. It learns that host's MAC address from the
answer to an ARP request of the kernel.
"""

import contextlib
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.dataplanes.ovs import openflow, unixctl
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import PortRequest, SwitchDatabase
from nfvbed.dataplanes.ovs.instance import OvsInstance
from nfvbed.dataplanes.ovs.overlay.hostoptions import OverlayHostOptions
from nfvbed.dataplanes.ovs.overlay.hostplan import TUNNEL_PORT, HostPlan
from nfvbed.dataplanes.ovs.overlay.options import OvsOverlayOptions
from nfvbed.dataplanes.ovs.overlay.pipeline import direct_rules, pipeline_rules
from nfvbed.dataplanes.ovs.tablerules import TableRule, flow_mod
from nfvbed.errors import DeployError
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside

INTEGRATION, PHYSICAL = "br-int", "br-phy"
UNDERLAY_PORT, WIRE = "phy0", "wire0"
"""The underlay's port on br-phy; the kernel's device behind it, where there is one."""
UNDERLAY_NUMBER = 1
ADDRESSES = ("192.0.2.1", "192.0.2.2")
"""The hosts' (TEST-NET-1, RFC 5737)."""
PREFIX = 24
UDP_PORTS = {"geneve": 6081, "vxlan": 4789}
_DISCARD = 9
_MEMIF_RING = 11
"""2,048 frames, as the logarithm that memif wants."""
_MEMIF_QUEUES = 2
"""The switch sends with a queue for its poll-mode thread and one for all others; a memif has as many on both sides."""
_PATIENCE_S = 10.0
_LOOK_AROUND_S = 0.005
_LOOKS = 10
"""For an answer, before it is asked for again."""


@dataclass(frozen=True)
class OverlayHost(ABC):
    """One host as it was set up."""

    plan: HostPlan
    instance: OvsInstance
    netns: str
    options: OverlayHostOptions
    wire: Path
    """Socket of the shared memory between two hosts; the first host serves it."""

    @property
    def name(self) -> str:
        """`h1`, `h2`."""
        return self.plan.name

    @property
    def tunnelled(self) -> bool:
        """Whether there is another host."""
        return self.options.hosts > 1

    @property
    def tenant_rules(self) -> int:
        """How many rules beside the path's it may have."""
        return 0

    @abstractmethod
    def add_integration(self, database: SwitchDatabase) -> None:
        """Make br-int without a port that is polled: so there is no poll-mode thread yet."""

    @abstractmethod
    def add_rules(self, tenants: tuple[bytes, ...]) -> int:
        """Write the rules into br-int, all at once; return how many rules it then holds.

        Args:
            tenants: FLOW_MODs of the rules beside the path's; only as many are used as the options ask for.
        """

    def add_physical(self, database: SwitchDatabase) -> None:
        """Make br-phy with the underlay's port."""
        database.add_bridge(PHYSICAL, [self._underlay()])

    def add_ports(self, database: SwitchDatabase, sockets: Mapping[str, Path]) -> None:
        """Add the path's ports to br-int."""
        requests = [
            PortRequest(name, "dpdkvhostuserclient", number, {"vhost-server-path": str(sockets[name])})
            for name, number in self.plan.ports.items()
        ]
        database.add_ports(INTEGRATION, requests)

    def join_underlay(self) -> None:
        """Give the host its address, and let its br-phy forward."""
        with BridgeController(self.instance.management_socket(PHYSICAL)) as bridge:
            bridge.add_rules([openflow.Rule(output=openflow.PORT_NORMAL)])

        def work() -> None:
            links.silence_ipv6(("all", "default", PHYSICAL))
            with IPRoute() as route:
                index = route.link_lookup(ifname=PHYSICAL)[0]
                route.link("set", index=index, state="up")
                route.addr("add", index=index, address=ADDRESSES[self.plan.index], prefixlen=PREFIX)

        inside(self.netns, work)

    def find_other(self) -> None:
        """Let the switch learn the other host's MAC address, where it has a tunnel to it already."""
        find_other(self.plan, self.netns, self.instance.control_socket)

    def _underlay(self) -> PortRequest:
        if self.options.underlay == "veth":
            # Of the kernel, as DPDK's af_packet takes no frames beyond 1,518 bytes; its MTU is the link's.
            return PortRequest(WIRE, "system", UNDERLAY_NUMBER)
        role = "server" if self.plan.index == 0 else "client"
        device = f"net_memif0,role={role},socket={self.wire},socket-abstract=no,id=0,rsize={_MEMIF_RING}"
        options = {"dpdk-devargs": device, "n_rxq": str(_MEMIF_QUEUES)}
        return PortRequest(UNDERLAY_PORT, "dpdk", UNDERLAY_NUMBER, options, mtu=self.options.underlay_mtu)


@dataclass(frozen=True)
class PipelineHost(OverlayHost):
    """A host with rules of nfvbed's."""

    options: OvsOverlayOptions

    @property
    def tenant_rules(self) -> int:
        """`rules`."""
        return self.options.rules

    def add_integration(self, database: SwitchDatabase) -> None:
        """Make br-int with only the tunnel's port: without a port that is polled there is no poll-mode thread yet."""
        tunnel = [PortRequest(self.options.tunnel, self.options.tunnel, TUNNEL_PORT, self._tunnel())]
        database.add_bridge(INTEGRATION, tunnel if self.tunnelled else [])

    def add_rules(self, tenants: tuple[bytes, ...]) -> int:
        """Write the rules into br-int, all at once; return how many rules it then holds.

        Args:
            tenants: FLOW_MODs of the rules beside the path's; only as many are used as the options ask for.

        Raises:
            DeployError: one was refused, or the bridge does not hold as many as were asked for.
        """
        own = self.own_rules()
        more = max(0, self.options.rules - len(own))
        with BridgeController(self.instance.management_socket(INTEGRATION)) as bridge:
            bridge.add_bundle([*(flow_mod(rule) for rule in own), *tenants[:more]])
            count = bridge.rule_count()
        if count != len(own) + more:
            raise DeployError(
                f"{INTEGRATION} of {self.name} does not hold its rules",
                where=str(self.instance.management_socket(INTEGRATION)),
                observed=f"{count} of {len(own) + more}",
                fix="report this: two rules were alike",
            )
        return count

    def own_rules(self) -> list[TableRule]:
        """Return the path's own rules."""
        if not self.options.rules and not self.options.conntrack:
            return direct_rules(self.plan)
        return pipeline_rules(self.plan, self.options.conntrack)

    def _tunnel(self) -> dict[str, str]:
        own, other = ADDRESSES[self.plan.index], ADDRESSES[1 - self.plan.index]
        return {"remote_ip": other, "local_ip": own, "key": "flow", "dst_port": str(UDP_PORTS[self.options.tunnel])}


def find_other(plan: HostPlan, netns: str, control_socket: Path) -> None:
    """Let a host's switch learn the other host's MAC address: the kernel asks for it, and the switch reads the answer.

    A switch without a tunnel reads none.

    Args:
        plan: of the host that looks.
        netns: path of its network namespace.
        control_socket: of its ovs-vswitchd.

    Raises:
        DeployError: no answer came.
    """
    other = ADDRESSES[1 - plan.index]

    def ask() -> None:
        # What the kernel has read from the other host's own question it would not ask for.
        with IPRoute() as route, contextlib.suppress(NetlinkError):
            route.neigh("del", dst=other, ifindex=route.link_lookup(ifname=PHYSICAL)[0])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
            opened.sendto(b"", (other, _DISCARD))

    def is_known() -> bool:
        return other in unixctl.command(control_socket, "tnl/neigh/show")

    deadline = time.monotonic() + _PATIENCE_S
    while not is_known():
        if time.monotonic() > deadline:
            raise DeployError(
                f"{plan.name} does not reach the other host over the underlay",
                where=f"{netns}, {PHYSICAL}",
                observed=f"no answer to ARP for {other} within {_PATIENCE_S:g} s",
                fix="read ovs-vswitchd's logs in the run directory",
            )
        inside(netns, ask)
        for _ in range(_LOOKS):
            if is_known():
                break
            time.sleep(_LOOK_AROUND_S)


def add_wire(netns: tuple[str, str]) -> None:
    """Lay a veth pair between two hosts; it ends with their namespaces."""
    macs = ("02:4e:46:57:00:01", "02:4e:46:57:00:02")

    def lay() -> None:
        links.add_veth(WIRE, WIRE, macs, peer_netns=netns[1])

    inside(netns[0], lay)
    for path in netns:
        inside(path, _bring_up)


def _bring_up() -> None:
    links.silence_ipv6(("all", "default", WIRE))
    # The switch computes no checksum that a kernel left to a NIC, and cuts no segments.
    links.set_features(WIRE, dict.fromkeys(links.TRANSMIT_OFFLOADS, False))
    links.set_up((WIRE,))
