"""A gateway between two Linux bridges on veths, and an eNB and a server at its far ends."""

import contextlib
import select
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pyroute2 import IPRoute

from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.spec.bearers import Bearer, BearerTable
from nfvbed.vnfs.gateway.process import Gateway, GatewaySpec
from tests import gtpu_frames as frames
from tests.functional.disturbed import PATIENCE_S, wait_until
from tests.gtpu_frames import Ip

ENB, SGW, SGI, SERVER = "10.11.0.1", "10.11.0.2", "198.19.0.254", "198.19.0.1"
BRIDGE = {"br_stp_state": 0, "br_forward_delay": 0, "br_mcast_snooping": 0}
ENDS = {"s1u": "e0", "sgi": "n0"}
"""Links at the tests' own ends, by the gateway's port."""
GATEWAY_PORTS = {"s1u": "u0", "sgi": "u1"}
MACS = {name: f"02:4e:46:47:00:{at:02x}" for at, name in enumerate(("e0", "b0", "b1", "u0", "u1", "b2", "b3", "n0"))}
QUIET_S = 0.2
ALL = 3  # ETH_P_ALL
IGNORE_OUTGOING = (263, 23, 1)


def bearer(number: int) -> Bearer:
    """One of many, each different from all others in all that it has."""
    return Bearer(
        imsi=f"00101{number:010d}",
        ue=f"45.45.{number >> 8}.{number & 255}",
        uplink_teid=0x1000_0000 + number,
        downlink_teid=0xE000_0000 + 7 * number,
    )


def table(count: int) -> BearerTable:
    """Return so many bearers between the eNB and the server."""
    return BearerTable(
        enb=ENB, sgw=SGW, server=SERVER, bearers=tuple(bearer(number) for number in range(1, count + 1)), synthetic=True
    )


def uplink(of: Bearer, payload: bytes, ttl: int = 64) -> tuple[bytes, bytes]:
    """A frame of the eNB's, and what the server must get."""
    ip = Ip(str(of.ue), SERVER, ttl=ttl, identification=0x1234)
    outer = frames.udp(Ip(ENB, SGW), (2152, 2152), frames.gtpu(of.uplink_teid, frames.udp(ip, (4000, 5000), payload)))
    inner = frames.udp(ip.hop(), (4000, 5000), payload)
    return (
        frames.ethernet(MACS["u0"], MACS["e0"], frames.IPV4, outer),
        frames.ethernet(MACS["n0"], MACS["u1"], frames.IPV4, inner),
    )


def downlink(of: Bearer, payload: bytes, ttl: int = 64, *, summed: bool = True) -> tuple[bytes, bytes]:
    """A frame of the server's, and what the eNB must get: a packet of a kernel's socket, as nextepc's are."""
    ip = Ip(SERVER, str(of.ue), ttl=ttl, identification=0x4321)
    message = frames.gtpu(of.downlink_teid, frames.udp(ip.hop(), (5000, 4000), payload))
    outer = frames.udp(Ip(SGW, ENB, flags=0x4000), (2152, 2152), message, summed=summed)
    return (
        frames.ethernet(MACS["u1"], MACS["n0"], frames.IPV4, frames.udp(ip, (5000, 4000), payload)),
        frames.ethernet(MACS["e0"], MACS["u0"], frames.IPV4, outer),
    )


@dataclass
class Bed:
    """The links, the ends and the gateway."""

    workspace: Workspace
    netns: str = ""
    mtu: ClassVar[int] = links.PORT_MTU
    """MTU of the gateway's ports."""
    kept_away: ClassVar[tuple[str, ...]] = ()
    """Causes that never reach the gateway here."""
    sockets: dict[str, socket.socket] = field(default_factory=dict)

    def build(self) -> None:
        """Make the links, silent and up."""
        self.netns = self.workspace.network_namespace("gateway")
        inside(self.netns, self._links)
        for port, name in ENDS.items():
            self.sockets[port] = inside(self.netns, lambda name=name: _socket(name))

    def _links(self) -> None:
        links.silence_ipv6()
        for protocol in ("ip", "ip6"):
            # Where the kernel has it, a bridge drops malformed packets before the gateway sees them.
            setting = Path(f"/proc/sys/net/bridge/bridge-nf-call-{protocol}tables")
            if setting.exists():
                setting.write_text("0")
        for one, other in (("e0", "b0"), ("b1", "u0"), ("u1", "b2"), ("b3", "n0")):
            links.add_veth(one, other, (MACS[one], MACS[other]))
        for name, ports in (("br0", ("b0", "b1")), ("br1", ("b2", "b3"))):
            links.add_bridge(name, ports, BRIDGE, learning=True)
            links.set_up((name,))
        links.set_up(MACS)
        for name in MACS:
            # A veth takes redirected frames with GRO or an XDP program alone.
            links.set_features(name, {links.GRO: True} | dict.fromkeys(links.TRANSMIT_OFFLOADS, False))

    def gateway(self, **changes: object) -> Gateway:
        """Describe a gateway here; both neighbours are given, unless the changes say otherwise."""
        values = {"enb_mac": MACS["e0"], "next_hop_mac": MACS["n0"], **self.ports(), **changes}
        return Gateway(self.workspace, GatewaySpec(sgi_address=SGI, netns=self.netns, core=0, **values))

    def ports(self) -> dict[str, object]:
        """Return the kind of gateway and its ports."""
        return {"kind": "xdp", **GATEWAY_PORTS}

    def started(self, bearers: int = 2, **changes: object) -> Gateway:
        """Start one with so many bearers."""
        gateway = self.gateway(**changes)
        gateway.start(table(bearers))
        return gateway

    def send(self, port: str, *sent: bytes) -> None:
        """Send frames towards one of the gateway's ports."""
        for frame in sent:
            self.sockets[port].send(frame)

    def take(self, port: str, count: int, patience_s: float = PATIENCE_S) -> list[bytes]:
        """Take so many frames that come out at a port, or those that come in time."""
        deadline, found = time.monotonic() + patience_s, []
        while len(found) < count and (left := deadline - time.monotonic()) > 0:
            if select.select([self.sockets[port]], [], [], left)[0]:
                found.append(self.sockets[port].recv(16384))
        return found

    def nothing_comes(self) -> bool:
        """Whether nothing comes out at either port for a moment."""
        return not any(self.take(port, 1, QUIET_S) for port in ENDS)

    def close(self) -> None:
        """Take all of it down."""
        for opened in self.sockets.values():
            opened.close()
        self.workspace.close()


class PollingBed(Bed):
    """The same with DPDK, whose ports are packet sockets on the same devices; ordinary memory will do for them."""

    mtu: ClassVar[int] = 1500
    kept_away: ClassVar[tuple[str, ...]] = ("fragments",)
    """DPDK's packet sockets have the kernel put fragments together (PACKET_FANOUT_FLAG_DEFRAG)."""

    def ports(self) -> dict[str, object]:
        """Return the kind of gateway and its ports."""
        ports = {port: f"net_af_packet{at},iface={name}" for at, (port, name) in enumerate(GATEWAY_PORTS.items())}
        return {"kind": "dpdk", "hugepages": False, "mtu": self.mtu, "yield_when_idle": True, **ports}


def _socket(name: str) -> socket.socket:
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
    made.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    made.setsockopt(*IGNORE_OUTGOING)
    made.bind((name, ALL))
    return made


@contextlib.contextmanager
def bed_of(kind: type[Bed]):
    """Make a bed, and take it down."""
    bed = kind(Workspace.create())
    try:
        bed.build()
        yield bed
    finally:
        bed.close()


def counted(gateway: Gateway, port: str, **wanted: int) -> None:
    """Wait until a port has counted this, and nothing else but what it received."""
    expected = {"received": sum(wanted.values()), **wanted}

    def seen() -> dict[str, int]:
        values = getattr(gateway.client.counters(), port).model_dump()
        return {name: value for name, value in values.items() if isinstance(value, int) and value}

    wait_until(lambda: seen() == expected)
    found = seen()
    assert found == expected, f"{port}: {found} in place of {expected}"


def datagram_of_a_socket(netns: str, message: bytes) -> bytes:
    """Return the IPv4 packet that the kernel makes of a message from the serving gateway's address to the eNB's."""

    def work() -> bytes:
        links.add_veth("x0", "x1", ("02:4e:46:47:00:20", "02:4e:46:47:00:21"))
        links.set_up(("x0", "x1"))
        links.set_features("x0", dict.fromkeys(links.TRANSMIT_OFFLOADS, False))
        with IPRoute() as route:
            index = route.link_lookup(ifname="x0")[0]
            route.addr("add", index=index, address=SGW, prefixlen=24)
            route.neigh("add", dst=ENB, lladdr=MACS["e0"], ifindex=index, state="permanent")
        with contextlib.closing(_socket("x1")) as seen, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.bind((SGW, frames.GTPU_PORT))
            seen.settimeout(PATIENCE_S)
            out.sendto(message, (ENB, frames.GTPU_PORT))
            while (frame := seen.recv(16384))[12:14] != frames.IPV4.to_bytes(2):
                continue
            return frame[14:]

    return inside(netns, work)
