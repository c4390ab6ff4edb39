"""The hops of a whole path: those of VNFs put between the switch's ports that lead to them."""

import re
from collections.abc import Sequence

from nfvbed.records import Hop


def vnf_port_name(vnf: int, port: int) -> str:
    """Name the switch's port to a VNF (both from 0): `v1a`, `v1b`, `v2a`, ..."""
    return f"v{vnf + 1}{'ab'[port]}"


def woven(switch: Sequence[Hop], vnfs: Sequence[Sequence[Hop]]) -> tuple[Hop, ...]:
    """Put every VNF's hops behind the switch's port towards it; at the end where the switch shows no such port.

    Every hop at a VNF, the switch's ports to it among them, is given that VNF's number.

    Args:
        switch: the switch's hops, in the order of the path.
        vnfs: the hops of every VNF, in the order of the path.
    """
    left = {vnf: [hop.model_copy(update={"vnf": vnf}) for hop in hops] for vnf, hops in enumerate(vnfs)}
    path: list[Hop] = []
    for hop in switch:
        of = next((vnf for vnf in range(len(vnfs)) if _leads_to(hop, vnf)), None)
        path.append(hop.model_copy(update={"vnf": of}))
        if of is not None and _leads_to(hop, of, (0,)):
            path += left.pop(of, [])
    for hops in left.values():
        path += hops
    return tuple(path)


def _leads_to(hop: Hop, vnf: int, ports: Sequence[int] = (0, 1)) -> bool:
    return any(re.search(rf"\b{vnf_port_name(vnf, port)}\b", hop.name) for port in ports)
