"""From a seat to a guest: its memory, NICs and kernel parameters as flavor and ports say."""

from pathlib import Path

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfPort
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.vnf import VnfChoice, vnic_of
from nfvbed.vnfs.numa import GuestNode, GuestPlacement
from nfvbed.vnfs.vm.guest import Backend, MemoryNode, Model, Nic
from nfvbed.vnfs.vnf import VnfSeat

FIRST_DESCRIPTOR = 30
"""Number of the first open file that QEMU inherits; below are its own."""
_GUEST_HUGEPAGES_FROM_MIB = 768
_GUEST_HUGEPAGES = 64
_BACKENDS: dict[PortKind, Backend] = {
    PortKind.VHOST_USER: "vhost-user",
    PortKind.TAP: "tap",
    PortKind.MACVTAP: "macvtap",
    PortKind.VF: "vf",
}


def resolved(seat: VnfSeat) -> GuestPlacement:
    """Return the cores of a guest's threads; a seat without any means shared cores.

    Raises:
        UnsupportedError: the flavor wants more than that, and was not resolved.
    """
    if seat.guest is not None:
        return seat.guest
    flavor = seat.choice.flavor
    if flavor.cpu_policy == "dedicated" or flavor.numa:
        raise UnsupportedError(
            f"flavor {flavor.name} wants cores or nodes of its own",
            where=seat.name,
            observed="no cores were resolved for it here",
            fix="flavor: default",
        )
    everything = GuestNode(vcpus=tuple(range(flavor.vcpus)), memory_mib=flavor.memory_mib, host_node=None)
    return GuestPlacement(
        vcpu_cores=(seat.cores,) * flavor.vcpus,
        emulator_cores=tuple(sorted({*seat.cores, *seat.control_cores})),
        nodes=(everything,),
    )


def memory(seat: VnfSeat, guest: GuestPlacement) -> tuple[MemoryNode, ...]:
    """Return the guest's memory, after reserving its hugepages.

    Raises:
        PrerequisiteError: the host has too few hugepages.
    """

    def pages(node: GuestNode) -> Path | None:
        if not seat.choice.flavor.hugepages:
            return None
        return seat.workspace.hugepages(node.memory_mib, node.host_node)

    return tuple(MemoryNode(node.memory_mib, node.vcpus, pages(node), node.host_node) for node in guest.nodes)


def nics(choice: VnfChoice, ports: tuple[VnfPort, ...], *, vhost: bool) -> tuple[Nic, ...]:
    """Return the guest's NICs, in the order of the ports.

    Args:
        vhost: whether the kernel can move the frames of taps, for ports that do not say so themselves.

    Raises:
        UnsupportedError: this NIC cannot be attached to such a port.
    """
    found, descriptor = [], FIRST_DESCRIPTOR
    for port in ports:
        model, backend = _model(choice, port), _BACKENDS[port.kind]
        files: tuple[int, ...] = ()
        if backend == "macvtap":
            files = tuple(range(descriptor, descriptor + port.queues))
            descriptor += port.queues
        nic = Nic(
            model=model,
            backend=backend,
            address=port.address,
            mac=port.mac,
            queues=port.queues,
            queue_size=port.queue_size,
            offloads=choice.offloads and port.offloads,
            merge_buffers=choice.vnf.merge_buffers,
            vhost=(vhost if port.vhost is None else port.vhost) and _may_have_vhost(model, backend),
            descriptors=files,
        )
        found.append(nic)
    return tuple(found)


def _may_have_vhost(model: Model, backend: Backend) -> bool:
    return model == "virtio" and backend in ("tap", "macvtap")


def _model(choice: VnfChoice, port: VnfPort) -> Model:
    # The NIC that the port is for is on a tap, as the two emulated ones that a VNF may ask for are.
    vnic = {"any": vnic_of(choice), "virtio": port.kind.value}.get(port.nic, port.nic)
    if port.kind not in _BACKENDS:
        raise _unfit(vnic, port, "a guest's NIC is attached to vhost-user, tap, macvtap or a virtual function")
    if vnic in ("e1000", "rtl8139"):
        if port.kind not in (PortKind.TAP, PortKind.MACVTAP):
            raise _unfit(vnic, port, "an emulated NIC needs a tap: QEMU itself moves its frames")
        if port.queues > 1:
            raise _unfit(vnic, port, f"an emulated NIC has one queue, and the port has {port.queues}")
        return "e1000" if vnic == "e1000" else "rtl8139"
    if vnic != "any" and vnic != port.kind.value:
        raise _unfit(vnic, port, f"the port is of kind {port.kind}")
    return "vf" if port.kind is PortKind.VF else "virtio"


def _unfit(vnic: str, port: VnfPort, observed: str) -> UnsupportedError:
    return UnsupportedError(
        f"a NIC of kind {vnic!r} does not fit port {port.name}",
        where=f"{port.kind} {port.address}",
        observed=observed,
        fix="vnic: any",
    )


def kernel_parameters(flavor: Flavor) -> str:
    """Return what nfvbed adds to the command line of an image's kernel.

    A panic ends the guest, so that it is seen; forwarding threads get CPUs of their own where there are two or more.
    """
    words = ["panic=-1"]
    if flavor.memory_mib >= _GUEST_HUGEPAGES_FROM_MIB:
        words += ["default_hugepagesz=2M", f"hugepagesz=2M hugepages={_GUEST_HUGEPAGES}"]
    if flavor.vcpus > 1:
        rest = "1" if flavor.vcpus == 2 else f"1-{flavor.vcpus - 1}"
        words.append(f"isolcpus=managed_irq,domain,{rest}")
        if flavor.realtime:
            words += [f"nohz_full={rest}", f"rcu_nocbs={rest}"]
    return " ".join(words)
