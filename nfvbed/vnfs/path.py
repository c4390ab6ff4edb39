"""The hops of a whole path: VNFs' hops between the switch's ports that lead to them."""

from collections.abc import Sequence

from nfvbed.records import Hop, HopKind


def woven(switch: Sequence[Hop], vnfs: Sequence[Sequence[Hop]]) -> tuple[Hop, ...]:
    """Insert every VNF's hops behind the switch's port towards it, or at the end where there is no such port.

    Every hop of a VNF is given that VNF's number.

    Args:
        switch: the switch's hops, in the order of the path.
        vnfs: the hops of every VNF, in the order of the path.
    """
    left = {vnf: [hop.model_copy(update={"vnf": vnf}) for hop in hops] for vnf, hops in enumerate(vnfs)}
    path: list[Hop] = []
    for hop in switch:
        path.append(hop)
        if hop.kind is HopKind.SWITCH_PORT and hop.vnf is not None and hop.port == 0:
            path += left.pop(hop.vnf, [])
    for hops in left.values():
        path += hops
    return tuple(path)
