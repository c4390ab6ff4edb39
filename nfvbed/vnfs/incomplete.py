"""Whether ordinary traffic would reach a raw-Ethernet VNF with incomplete checksums: read from the links.

What becomes of such frames is in `offload.py`: the VNF passes them on with a wrong checksum, and the receiver drops
them in silence. The generator's frames are complete, so a rate shows nothing of it.
"""

from collections.abc import Iterable

from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Deployment, PortKind, VnfHandle, VnfPort
from nfvbed.records.state import PlaneState
from nfvbed.spec.vnf import VnfChoice


def leave_checksums_out(deployment: Deployment, handles: Iterable[VnfHandle], choice: VnfChoice) -> bool:
    """Return whether the kernel leaves checksums to a link that leads to a raw-Ethernet VNF."""
    if not choice.is_raw:
        return False
    return any(_is_incomplete(deployment, port) for handle in handles for port in handle.ports)


def _is_incomplete(deployment: Deployment, port: VnfPort) -> bool:
    if port.netns is None:
        return False  # vhost-user: no kernel is on the way
    if port.kind is PortKind.TAP:
        # QEMU tells the tap what the guest takes.
        return inside(port.netns, lambda: links.has_feature(port.address, links.CHECKSUM))
    if port.kind is not PortKind.VETH:
        return False
    pair = inside(port.netns, lambda: links.veth_pair(port.address))
    state = PlaneState.of(deployment)
    spaces = dict.fromkeys(netns for netns in (state.switch_netns, state.generator_netns) if netns is not None)
    return pair is not None and any(_end_leaves_out(netns, pair) for netns in spaces)


def _end_leaves_out(netns: str, pair: tuple[int, int]) -> bool:
    def ask() -> bool:
        name = links.other_end(pair)
        return name is not None and links.has_feature(name, links.CHECKSUM)

    return inside(netns, ask)
