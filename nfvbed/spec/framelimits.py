"""The longest frame of each part of a path, as far as it is known before anything is deployed.

Frames of up to 1518 bytes pass everything but tunnels. Longer ones want an MTU of every port, which is asked of it
where it can have one; where it cannot, the plan is refused with the reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.gateway import GATEWAYS
from nfvbed.spec.vnf import KERNEL_FORWARDING, VnfChoice
from nfvbed.units import USUAL_FRAME_BYTES

PAGE_FRAME_BYTES = 3412
"""The longest frame of ports of the kernel: XDP programs take a frame within one page of 4 KiB, beside 256 bytes of
headroom and the kernel's own bookkeeping (`skb_shared_info`, 320 bytes with its alignment). The last 18 bytes are
header and FCS.
"""


@dataclass(frozen=True)
class TunnelKind:
    """A kind of tunnels between computes."""

    name: str
    bytes: int
    """What it takes of the MTU of a network of IPv4."""


VXLAN = TunnelKind("VXLAN", 50)
"""The frame's own Ethernet header 14, IPv4 20, UDP 8, VXLAN 8."""
GENEVE = TunnelKind("Geneve", 58)
"""As VXLAN, and 8 of OVN's option (Neutron's `max_header_size` of 38, beside IPv4)."""


@dataclass(frozen=True)
class FrameLimit:
    """The longest frame that a part of a path takes."""

    largest: int
    """Bytes, FCS included."""
    part: str
    """What it is of: `the generator's memif ports`."""
    why: str
    fix: str = ""
    """What would take longer ones."""


_SOCKETS_TAKE_MORE = "a variant on vhost-user ports, as ovs-dpdk"
OF_PORTS: dict[PortKind, tuple[int, str, str]] = {
    PortKind.VETH: (PAGE_FRAME_BYTES, "the generator's XDP programs take a frame in one page", _SOCKETS_TAKE_MORE),
    PortKind.TAP: (PAGE_FRAME_BYTES, "the generator's XDP programs take a frame in one page", _SOCKETS_TAKE_MORE),
    PortKind.MACVTAP: (PAGE_FRAME_BYTES, "the generator's XDP programs take a frame in one page", _SOCKETS_TAKE_MORE),
    PortKind.MEMIF: (USUAL_FRAME_BYTES, "DPDK's driver of memif ports takes no longer ones", _SOCKETS_TAKE_MORE),
    PortKind.VF: (USUAL_FRAME_BYTES, "nfvbed leaves the MTU of a NIC's functions at 1500", _SOCKETS_TAKE_MORE),
    PortKind.PCI: (USUAL_FRAME_BYTES, "nfvbed leaves the MTU of a NIC at 1500", _SOCKETS_TAKE_MORE),
    PortKind.NEUTRON: (USUAL_FRAME_BYTES, "nfvbed asks no cloud for networks of another MTU than 1500", ""),
}
"""By kind: bytes, why, and what takes longer ones. What is not here takes every frame that nfvbed sends."""


def of_ports(kind: PortKind, whose: str) -> FrameLimit | None:
    """Return the frame limit of ports of a kind; None: they take every frame.

    Args:
        whose: whose ports they are, for the message.
    """
    if kind not in OF_PORTS:
        return None
    largest, why, fix = OF_PORTS[kind]
    return FrameLimit(largest, f"{whose} {kind.value} ports", why, fix)


def of_vnf(choice: VnfChoice, kind: PortKind, tunnel: TunnelKind = VXLAN) -> FrameLimit | None:
    """Return the frame limit of a VNF on ports of a kind; None: it takes what the ports take.

    Args:
        tunnel: kind of the tunnels between its machines, where there are any.
    """
    part = f"VNF {choice.vnf.name} ({choice.label or choice.forwarding})"
    if choice.forwarding in GATEWAYS:
        why = "a mobile core's bearers add 36 bytes to a frame, and its UEs have the default MTU"
        return FrameLimit(USUAL_FRAME_BYTES, part, why, "another VNF")
    if choice.row is not None and choice.row.tunnels:
        why = f"a tunnel ({tunnel.name}) between its machines takes {tunnel.bytes} bytes of the networks' MTU of 1500"
        return FrameLimit(USUAL_FRAME_BYTES - tunnel.bytes, part, why, "a VNF whose machines are joined by a VLAN")
    if choice.kind is VnfKind.VM:
        why = "nfvbed leaves the MTU of a guest's NICs at 1500"
        return FrameLimit(USUAL_FRAME_BYTES, part, why, "kind: process")
    if kind.is_kernel and choice.kind is not VnfKind.EXISTING and choice.forwarding not in KERNEL_FORWARDING:
        why = f"testpmd's drivers of {kind.value} ports are given buffers for frames of the standard size"
        return FrameLimit(USUAL_FRAME_BYTES, part, why, "a VNF of the kernel (forwarding: router or xdp)")
    return of_ports(kind, f"{part}:") if choice.kind is not VnfKind.EXISTING else None


def narrowest(limits: Iterable[FrameLimit | None]) -> FrameLimit | None:
    """Return the smallest of some limits; None: there is none."""
    return min((limit for limit in limits if limit is not None), key=lambda limit: limit.largest, default=None)
