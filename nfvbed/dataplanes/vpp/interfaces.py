"""VPP's interfaces and how they are joined, over its API: vhost-user, memif, NICs' and kernel ports; cables.

The same list of interfaces in the same order gives the same numbers, so a VPP that was restarted is as the first.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Literal

from nfvbed.dataplanes.vpp.api import VppApi
from nfvbed.errors import DeployError
from nfvbed.patience import patient
from nfvbed.records import PortKind, Record

_ADMIN_UP, _LINK_UP = 1, 2
"""vl_api_if_status_flags_t."""
_LINK_WAIT_S = patient(15.0)
_RX_MODES = {"polling": 1, "interrupt": 2, "adaptive": 3}
"""vl_api_rx_mode_t."""
_ETHERNET = 1
"""vl_api_af_packet_mode_t."""
_LEARN = 1
"""L2_LEARN of vnet/l2/l2_input.h, as `l2_flags` takes it."""
_KERNEL_FRAME_BYTES = 4096
_KERNEL_FRAMES_PER_BLOCK = 32
_MEMIF_MASTER = 0
MEMIF_BUFFER_BYTES = 2048
FIRST_DOMAIN = 1

Forwarding = Literal["l2-cross-connect", "bridge-domain"]


class Interface(Record):
    """One interface to be made."""

    name: str
    """nfvbed's: `p0`, `v1a`."""
    kind: PortKind
    address: str
    """Of vhost-user: the other side's socket; of memif: the socket that VPP serves; of a NIC: its PCI address;
    else the network device."""
    ring_size: int = 1024
    """Of memif; a vhost-user ring is as long as the virtio side makes it."""


class Graph(Record):
    """What a VPP is configured with; in a deployment's record as JSON, for whoever resets it."""

    interfaces: tuple[Interface, ...]
    cables: tuple[tuple[str, str], ...]
    """Names of interfaces that frames go between, in both directions."""
    forwarding: Forwarding
    rx_mode: Literal["polling", "interrupt", "adaptive"]
    mac_table_size: int | None = None
    """Addresses that a bridge domain may learn; None: VPP's default."""


def configure(api: VppApi, graph: Graph) -> dict[str, int]:
    """Make the interfaces, join them, and bring them up.

    Returns:
        VPP's number (`sw_if_index`) of each interface by its name.

    Raises:
        DeployError: VPP refuses one of them.
    """
    numbers = {interface.name: _create(api, interface, place) for place, interface in enumerate(graph.interfaces, 1)}
    if graph.forwarding == "l2-cross-connect":
        for first, second in graph.cables:
            _cross_connect(api, numbers[first], numbers[second])
    else:
        for domain, ends in enumerate(graph.cables, FIRST_DOMAIN):
            _bridge(api, domain, [numbers[name] for name in ends])
            if graph.mac_table_size is not None:
                api.call("bridge_domain_set_learn_limit", bd_id=domain, learn_limit=graph.mac_table_size)
    for interface in graph.interfaces:
        number = numbers[interface.name]
        if interface.kind in (PortKind.VETH, PortKind.TAP):
            # The others poll by themselves.
            api.call("sw_interface_set_rx_mode", sw_if_index=number, mode=_RX_MODES[graph.rx_mode])
        api.call("sw_interface_set_flags", sw_if_index=number, flags=_ADMIN_UP)
    return numbers


def _create(api: VppApi, interface: Interface, place: int) -> int:
    if interface.kind is PortKind.VHOST_USER:
        return _vhost_user(api, interface)
    if interface.kind is PortKind.MEMIF:
        return _memif(api, interface, place)
    if interface.kind is PortKind.PCI:
        return _nic(api, interface)
    return _kernel_port(api, interface)


def _vhost_user(api: VppApi, interface: Interface) -> int:
    """Be the client of a socket: VPP looks every three seconds whether somebody serves one that it is not joined to."""
    reply = api.call("create_vhost_user_if_v2", is_server=False, sock_filename=interface.address, tag=interface.name)
    return int(reply.sw_if_index)


def _memif(api: VppApi, interface: Interface, place: int) -> int:
    """Serve a socket as the master of one memif."""
    api.call("memif_socket_filename_add_del_v2", is_add=True, socket_id=place, socket_filename=interface.address)
    reply = api.call(
        "memif_create_v2",
        role=_MEMIF_MASTER,
        id=0,
        socket_id=place,
        ring_size=interface.ring_size,
        buffer_size=MEMIF_BUFFER_BYTES,
        rx_queues=1,
        tx_queues=1,
    )
    return int(reply.sw_if_index)


def _nic(api: VppApi, interface: Interface) -> int:
    """Find the port of a NIC, which VPP has made by itself as its configuration says."""
    for found in api.call("sw_interface_dump"):
        if str(found.interface_name) == interface.name:
            return int(found.sw_if_index)
    raise DeployError(
        "VPP has not opened a port of a NIC",
        where=f"{interface.name}, {interface.address}",
        observed="it has no interface of that name",
        fix="see VPP's log in the run directory: DPDK may have no driver for this NIC",
    )


def _kernel_port(api: VppApi, interface: Interface) -> int:
    """Open a packet socket on a network device of VPP's namespace, without offloads.

    The device's queue is not gone round (`flags`): when the other end of a veth pair has no room for a moment, what
    goes round it is thrown away and counted nowhere (Linux 6.18).
    """
    reply = api.call(
        "af_packet_create_v3",
        mode=_ETHERNET,
        use_random_hw_addr=True,
        host_if_name=interface.address,
        rx_frame_size=_KERNEL_FRAME_BYTES,
        tx_frame_size=_KERNEL_FRAME_BYTES,
        rx_frames_per_block=_KERNEL_FRAMES_PER_BLOCK,
        tx_frames_per_block=_KERNEL_FRAMES_PER_BLOCK,
        flags=0,
        num_rx_queues=1,
        num_tx_queues=1,
    )
    return int(reply.sw_if_index)


def wait_for_links(api: VppApi, wanted: Mapping[int, str]) -> None:
    """Wait until interfaces (their names by their numbers) have a link.

    Raises:
        DeployError: some get none.
    """
    deadline = time.monotonic() + _LINK_WAIT_S
    while True:
        details = api.call("sw_interface_dump") if wanted else ()
        up = {int(found.sw_if_index) for found in details if int(found.flags) & _LINK_UP}
        down = [name for number, name in wanted.items() if number not in up]
        if not down:
            return
        if time.monotonic() > deadline:
            raise DeployError(
                "VPP's ports have no link",
                where=str(down),
                observed=f"without a link after {_LINK_WAIT_S:g} s",
                fix="see the logs of VPP and of the VNFs; of NICs, their cables",
            )
        time.sleep(0.05)


def add_listener(api: VppApi, interface: Interface, domain: int) -> int:
    """Add a network device to a bridge domain, in which nothing is learnt of what enters by it; it is up then.

    Raises:
        DeployError: VPP refuses it.
    """
    number = _kernel_port(api, interface)
    api.call("sw_interface_set_l2_bridge", rx_sw_if_index=number, bd_id=domain, port_type=0, shg=0, enable=True)
    api.call("l2_flags", sw_if_index=number, is_set=False, feature_bitmap=_LEARN)
    api.call("sw_interface_set_flags", sw_if_index=number, flags=_ADMIN_UP)
    return number


def remove_kernel_port(api: VppApi, device: str) -> None:
    """Let go of a network device."""
    api.call("af_packet_delete", host_if_name=device)


def _cross_connect(api: VppApi, first: int, second: int) -> None:
    for receives, sends in ((first, second), (second, first)):
        api.call("sw_interface_set_l2_xconnect", rx_sw_if_index=receives, tx_sw_if_index=sends, enable=True)


def _bridge(api: VppApi, domain: int, members: Sequence[int]) -> None:
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
        is_add=True,
    )
    for member in members:
        api.call("sw_interface_set_l2_bridge", rx_sw_if_index=member, bd_id=domain, port_type=0, shg=0, enable=True)
