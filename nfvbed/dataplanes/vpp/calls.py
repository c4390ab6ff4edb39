"""Single steps over VPP's API: interfaces made, brought up and joined at layer 2.

Imports nothing of nfvbed but the API: Neutron's agent for VPP has these on the Python of another machine.
"""

from collections.abc import Sequence
from typing import Any, Protocol

ADMIN_UP, LINK_UP = 1, 2
"""vl_api_if_status_flags_t."""
RX_MODES = {"polling": 1, "interrupt": 2, "adaptive": 3}
"""vl_api_rx_mode_t."""
MEMIF_BUFFER_BYTES = 2048
_ETHERNET = 1
"""vl_api_af_packet_mode_t."""
_KERNEL_FRAME_BYTES = 4096
_KERNEL_FRAMES_PER_BLOCK = 32
_MEMIF_MASTER = 0


class Api(Protocol):
    """The methods that are needed of a connection to VPP."""

    def call(self, message: str, **arguments: Any) -> Any:
        """Send a message and return its answer."""


def create_vhost_user(api: Api, socket: str, tag: str) -> int:
    """Connect to a socket as the client: every three seconds VPP looks whether it is served."""
    return int(api.call("create_vhost_user_if_v2", is_server=False, sock_filename=socket, tag=tag).sw_if_index)


def create_memif(api: Api, socket: str, number: int, ring_size: int) -> int:
    """Serve a socket as the master of one memif.

    Args:
        socket: path of the socket.
        ring_size: size of each ring, in descriptors.
    """
    api.call("memif_socket_filename_add_del_v2", is_add=True, socket_id=number, socket_filename=socket)
    reply = api.call(
        "memif_create_v2",
        role=_MEMIF_MASTER,
        id=0,
        socket_id=number,
        ring_size=ring_size,
        buffer_size=MEMIF_BUFFER_BYTES,
        rx_queues=1,
        tx_queues=1,
    )
    return int(reply.sw_if_index)


def open_device(api: Api, device: str) -> int:
    """Open a packet socket on a network device of VPP's namespace, without offloads.

    The device's queue is not bypassed (`flags`). When the other end of a veth pair has no room for a moment, frames
    that bypass the queue are dropped and counted nowhere (Linux 6.18).
    """
    reply = api.call(
        "af_packet_create_v3",
        mode=_ETHERNET,
        use_random_hw_addr=True,
        host_if_name=device,
        rx_frame_size=_KERNEL_FRAME_BYTES,
        tx_frame_size=_KERNEL_FRAME_BYTES,
        rx_frames_per_block=_KERNEL_FRAMES_PER_BLOCK,
        tx_frames_per_block=_KERNEL_FRAMES_PER_BLOCK,
        flags=0,
        num_rx_queues=1,
        num_tx_queues=1,
    )
    return int(reply.sw_if_index)


def find_interface(api: Api, name: str) -> int:
    """Return the number of an interface that VPP has made by itself.

    Raises:
        ValueError: it has none of that name.
    """
    found = [one for one in api.call("sw_interface_dump") if str(one.interface_name) == name]
    if not found:
        raise ValueError(f"VPP has no interface {name}: the NIC that it was to open under that name is not there")
    return int(found[0].sw_if_index)


def bring_up(api: Api, number: int) -> None:
    """Set an interface up."""
    api.call("sw_interface_set_flags", sw_if_index=number, flags=ADMIN_UP)


def set_rx_mode(api: Api, number: int, mode: str) -> None:
    """Set how workers wait for an interface's frames: `polling`, `interrupt` or `adaptive`."""
    api.call("sw_interface_set_rx_mode", sw_if_index=number, mode=RX_MODES[mode])


def cross_connect(api: Api, first: int, second: int, *, enable: bool = True) -> None:
    """Let whatever enters one of two interfaces leave the other; or end that (`enable`)."""
    for receives, sends in ((first, second), (second, first)):
        api.call("sw_interface_set_l2_xconnect", rx_sw_if_index=receives, tx_sw_if_index=sends, enable=enable)


def make_domain(api: Api, domain: int, members: Sequence[int], tag: str = "") -> None:
    """Make a bridge domain of these interfaces, which learns addresses and forgets none."""
    api.call(
        "bridge_domain_add_del_v2",
        bd_id=domain,
        flood=True,
        uu_flood=True,
        forward=True,
        learn=True,
        arp_term=False,
        arp_ufwd=False,
        mac_age=0,
        bd_tag=tag,
        is_add=True,
    )
    for member in members:
        join(api, domain, member)


def join(api: Api, domain: int, member: int, *, enable: bool = True) -> None:
    """Put an interface into a bridge domain, or take it out."""
    api.call("sw_interface_set_l2_bridge", rx_sw_if_index=member, bd_id=domain, port_type=0, shg=0, enable=enable)
