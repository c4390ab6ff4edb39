"""A VNF's network devices: up, silent, their receive work on the VNF's core."""

from nfvbed.host.network import links, napi, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Hop, HopKind, PortKind, Role, VnfHandle, WorkThread
from nfvbed.records.state import VnfState
from nfvbed.spec.layout import End
from nfvbed.vnfs.process.life import kernel_ports
from nfvbed.vnfs.vnf import VnfSeat


class DeviceState(VnfState):
    """The record of a VNF on network devices."""

    netns: str
    """The namespace that they are in."""


def prepare(seat: VnfSeat) -> tuple[WorkThread, ...]:
    """Bring the devices up and put their receive work into threads on the VNF's first core.

    Where that core is shared, these threads run before the generator's sender, as an interrupt would: a sender that
    never sleeps would let the rings before them overflow. They sleep when there is nothing to receive.

    A device on a lower link has no receive work of its own: it is done where that link's is, by the switch.
    """
    netns, names = kernel_ports(seat)
    _end_threads(netns, names)
    with napi.threads_told_apart() as before:
        veth.prepare(netns, names, seat.choice.offloads and all(port.offloads for port in seat.ports))
        if any(port.kind is PortKind.MACVTAP for port in seat.ports):
            return ()
        napi.make_threaded(netns, names)
        found = tuple(thread for name in names for thread in napi.pin_threads(name, before, seat.cores[0], Role.VNF))
    if seat.shares_core:
        napi.put_first(found)
    return found


def _end_threads(netns: str, names: tuple[str, ...]) -> None:
    """End the receive threads of an earlier VNF: threads that appear afterwards belong to this one."""
    left = napi.threaded(netns, names)
    if left:
        inside(netns, lambda: links.set_down(left))


def hops(handle: VnfHandle) -> tuple[Hop, ...]:
    """Return the kernel's counters of the devices.

    Raises:
        SwitchDiedError: the devices or their namespace are gone, as they are when the switch was taken down.
    """
    names = tuple(port.address for port in handle.ports)
    counted = veth.read(DeviceState.of(handle).netns, names)
    return tuple(
        veth.hop(
            f"{handle.name} port {port.port} ({port.address})",
            counted[port.address],
            HopKind.VNF_PORT,
            End(port.vnf, port.port),
        )
        for port in handle.ports
    )
