"""The hops of a whole path: those of VNFs put between the switch's ports that lead to them."""

import re
from collections.abc import Sequence

from nfvbed.records import Hop


def vnf_port_name(vnf: int, port: int) -> str:
    """Name the switch's port to a VNF (both from 0): `v1a`, `v1b`, `v2a`, ..."""
    return f"v{vnf + 1}{'ab'[port]}"


def woven(switch: Sequence[Hop], vnfs: Sequence[Sequence[Hop]]) -> tuple[Hop, ...]:
    """Put every VNF's hops behind the switch's port towards it; at the end where the switch shows no such port.

    Args:
        switch: the switch's hops, in the order of the path.
        vnfs: the hops of every VNF, in the order of the path.
    """
    left = dict(enumerate(vnfs))
    path: list[Hop] = []
    for hop in switch:
        path.append(hop)
        for vnf in list(left):
            if re.search(rf"\b{vnf_port_name(vnf, 0)}\b", hop.name):
                path += left.pop(vnf)
    for hops in left.values():
        path += hops
    return tuple(path)
