"""VPP's interfaces and their cables, over its API: vhost-user, memif, NICs' and kernel ports.

The same list of interfaces in the same order gives the same numbers, so a restarted VPP is like the first one.
"""

import time
from collections.abc import Mapping
from typing import Literal

from nfvbed.dataplanes.vpp import calls
from nfvbed.dataplanes.vpp.api import VppApi
from nfvbed.errors import DeployError
from nfvbed.patience import patient
from nfvbed.records import PortKind, Record

_LINK_WAIT_S = patient(15.0)
_LEARN = 1
"""L2_LEARN of vnet/l2/l2_input.h, as `l2_flags` takes it."""
FIRST_DOMAIN = 1

Forwarding = Literal["l2-cross-connect", "bridge-domain"]


class Interface(Record):
    """One interface to be made."""

    name: str
    """nfvbed's: `p0`, `v1a`."""
    kind: PortKind
    address: str
    """For vhost-user the other side's socket, for memif the socket that VPP serves, for a NIC its PCI address, else the
    network device.
    """
    ring_size: int = 1024
    """Ring size of memif; a vhost-user ring is as long as the virtio side makes it."""


class Graph(Record):
    """The interfaces and cables of a VPP; recorded as JSON with a deployment, for a later reset."""

    interfaces: tuple[Interface, ...]
    cables: tuple[tuple[str, str], ...]
    """Names of interfaces that frames go between, in both directions."""
    forwarding: Forwarding
    rx_mode: Literal["polling", "interrupt", "adaptive"]
    mac_table_size: int | None = None
    """Addresses that a bridge domain may learn; None: VPP's default."""


def configure(api: VppApi, graph: Graph) -> dict[str, int]:
    """Make the interfaces, join them, and set them up.

    Returns:
        VPP's number (`sw_if_index`) of each interface by its name.

    Raises:
        DeployError: VPP refuses one of them.
    """
    numbers = {interface.name: _create(api, interface, place) for place, interface in enumerate(graph.interfaces, 1)}
    if graph.forwarding == "l2-cross-connect":
        for first, second in graph.cables:
            calls.cross_connect(api, numbers[first], numbers[second])
    else:
        for domain, ends in enumerate(graph.cables, FIRST_DOMAIN):
            calls.make_domain(api, domain, [numbers[name] for name in ends])
            if graph.mac_table_size is not None:
                api.call("bridge_domain_set_learn_limit", bd_id=domain, learn_limit=graph.mac_table_size)
    for interface in graph.interfaces:
        number = numbers[interface.name]
        if interface.kind in (PortKind.VETH, PortKind.TAP):
            # The others poll by themselves.
            calls.set_rx_mode(api, number, graph.rx_mode)
        calls.bring_up(api, number)
    return numbers


def _create(api: VppApi, interface: Interface, place: int) -> int:
    if interface.kind is PortKind.VHOST_USER:
        return calls.create_vhost_user(api, interface.address, interface.name)
    if interface.kind is PortKind.MEMIF:
        return calls.create_memif(api, interface.address, place, interface.ring_size)
    if interface.kind is PortKind.PCI:
        return _nic(api, interface)
    return calls.open_device(api, interface.address)


def _nic(api: VppApi, interface: Interface) -> int:
    """Return the number of a NIC's port, which VPP has made by itself as its configuration says."""
    for found in api.call("sw_interface_dump"):
        if str(found.interface_name) == interface.name:
            return int(found.sw_if_index)
    raise DeployError(
        "VPP has not opened a port of a NIC",
        where=f"{interface.name}, {interface.address}",
        observed="it has no interface of that name",
        fix="see VPP's log in the run directory: DPDK may have no driver for this NIC",
    )


def wait_for_links(api: VppApi, wanted: Mapping[int, str]) -> None:
    """Wait until interfaces, named by number, have a link.

    Raises:
        DeployError: some get none.
    """
    deadline = time.monotonic() + _LINK_WAIT_S
    while True:
        details = api.call("sw_interface_dump") if wanted else ()
        up = {int(found.sw_if_index) for found in details if int(found.flags) & calls.LINK_UP}
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
    """Add a network device to a bridge domain, up; frames that enter by it are not learnt from.

    Raises:
        DeployError: VPP refuses it.
    """
    number = calls.open_device(api, interface.address)
    calls.join(api, domain, number)
    api.call("l2_flags", sw_if_index=number, is_set=False, feature_bitmap=_LEARN)
    calls.bring_up(api, number)
    return number


def remove_kernel_port(api: VppApi, device: str) -> None:
    """Remove a network device from VPP."""
    api.call("af_packet_delete", host_if_name=device)
