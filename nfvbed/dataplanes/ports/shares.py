"""Shares of the flows on kernel bridges: VNFs side by side, each reached by its own destination address.

A bridge cannot match flows. So the generator sends its flows in turn to as many addresses as there are VNFs
(`destination_mac_count`). One bridge at either outside end has a static entry for each: address i leads to VNF i. All
that VNFs send leads to the outside, whether they leave addresses as they are, swap them, or address frames to the
generator's port as a router does. Nothing is learnt and nothing flooded, and the VNFs' ports are isolated from each
other. A frame of no known address goes nowhere, and no loop can arise.
"""

from collections.abc import Iterable, Mapping

from nfvbed.host.network.veth import GENERATOR_LINKS, MACS
from nfvbed.spec.layout import End, Layout

_FIRST = 0x20
"""Byte 4 of the addresses of shares; those of VNFs' ports begin at 0x10, the bridge's side of them at 0x30."""


def share_mac(outside: int, share: int) -> str:
    """Return the destination of a share's frames, by the number of the generator's port that they are sent from."""
    return f"02:4e:46:56:{_FIRST + outside:02x}:{share:02x}"


def first_macs(plan: Layout) -> tuple[str, str] | None:
    """Return the destinations of share 0 of frames from port 0 and port 1; None where there are no shares."""
    return (share_mac(0, 0), share_mac(1, 0)) if plan.ways > 1 else None


def entries(plan: Layout, ends: Iterable[End]) -> Mapping[End, tuple[str, ...]]:
    """Return the addresses behind each port of a bridge: a VNF's own share, and outside all that VNFs may send to.

    Args:
        plan: a layout with shares.
        ends: ends that the bridge joins; one of them is outside.
    """
    joined = tuple(ends)
    (outside,) = (end.port for end in joined if end.vnf is None)
    passed_on = [share_mac(1 - outside, share) for share in range(plan.ways)]
    generator = [MACS[name] for name in GENERATOR_LINKS]
    return {end: (*passed_on, *generator) if end.vnf is None else (share_mac(outside, end.vnf),) for end in joined}
