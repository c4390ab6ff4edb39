"""Options of VPP."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.options import AF_PACKET, DataPlaneOptions, refuse_existing
from nfvbed.spec.rings import RingSize
from nfvbed.spec.vnf import KERNEL_FORWARDING, VnfChoice, vnic_of

CYCLES_FROM = "VPP runtime"
"""What its graph's counters of cycles are of."""
_TAP_VNICS = frozenset({"any", "tap", "e1000", "rtl8139"})


class VppOptions(DataPlaneOptions):
    """fd.io's Vector Packet Processor, which the user brings."""

    dataplane: Literal["vpp"]
    colour = 2
    cycle_sources = (CYCLES_FROM,)
    workers: int = Field(1, ge=1, le=64)
    """Threads that forward, each on a core of its own; the main thread is on the control core."""
    forwarding: Literal["l2-cross-connect", "bridge-domain"] = "l2-cross-connect"
    """Joining of a cable's ports: whatever enters one leaves the other, or a domain that learns addresses."""
    mac_table_size: int | None = Field(None, ge=10, le=1_000_000)
    """Addresses that each bridge domain may learn; None: VPP's default."""
    vnf_ports: Literal["vhost-user", "kernel"] = "vhost-user"
    """Ports for VNFs: vhost-user sockets, or network devices (veth, tap) that VPP opens with packet sockets."""
    port_type: Literal["vhost-user", "memif", "pci"] | None = Field(None, exclude_if=lambda kind: kind is None)
    """Kind of the generator's ports, where `vnf_ports` is vhost-user. None: vhost-user, if the site asks for no other;
    `pci`: the NICs of the site's `cables`."""
    rx_mode: Literal["polling", "interrupt", "adaptive"] = "polling"
    """Mode in which workers wait for frames of network devices (`host-interface`); the other kinds of ports are
    polled."""
    main_heap_mib: int = Field(1024, ge=128, le=65536)
    """Memory of VPP's tables at most, in 4 KiB pages that are taken when they are used; a quarter as much again is for
    its counters."""
    buffers: int = Field(16384, ge=2048, le=1_048_576)
    """Packet buffers of a NUMA node, about 2.5 KiB each, in hugepages."""
    rx_queue_size: RingSize = 1024
    """Descriptors of the ring of a vhost-user port, memif or NIC; a power of two."""
    rx_queues: int = Field(1, ge=1, le=64)
    """Receive queues of a NIC's port (`port_type: pci`); they are spread over the workers."""

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """Network devices with `vnf_ports: kernel`, else sockets or NICs."""
        if self.vnf_ports == "kernel":
            return (PortKind.VETH,)
        return (PortKind(self.port_type),) if self.port_type else (PortKind.VHOST_USER, PortKind.MEMIF, PortKind.PCI)

    @model_validator(mode="after")
    def kernel_ports_are_of_one_kind(self) -> Self:
        if self.vnf_ports == "kernel" and self.port_type is not None:
            raise ValueError("with vnf_ports: kernel the generator's ports are veth, and port_type says nothing")
        return self

    def io_path(self, kind: PortKind) -> str:
        """Return the path by packet sockets for network devices."""
        return AF_PACKET if kind is PortKind.VETH else super().io_path(kind)

    @property
    def switch_cores(self) -> int:
        """The cores of its workers."""
        return self.workers

    @property
    def ring_size(self) -> int:
        """`rx_queue_size`."""
        return self.rx_queue_size

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return vhost-user or memif for VNFs that open sockets, network devices with `vnf_ports: kernel`."""
        if choice.kind is VnfKind.EXISTING:
            raise refuse_existing()
        return self._kernel_kind(choice) if self.vnf_ports == "kernel" else self._socket_kind(choice)

    def _socket_kind(self, choice: VnfChoice) -> PortKind:
        vnic = vnic_of(choice)
        if choice.kind is not VnfKind.VM and choice.forwarding in KERNEL_FORWARDING:
            raise UnsupportedError(
                f"a VNF that forwards with {choice.forwarding!r} needs kernel ports",
                where="vpp, vnf_ports: vhost-user",
                observed="its ports to VNFs are vhost-user sockets, which a DPDK process or a virtual machine opens",
                fix="forwarding io, mac, macswap or 5tswap, of a mobile core dpdk-gateway; or kind: vm; or variant "
                "vpp-af-packet",
            )
        if vnic not in ("any", "vhost-user"):
            raise UnsupportedError(
                f"a NIC of kind {vnic!r} needs a kernel port",
                where="vpp, vnf_ports: vhost-user",
                observed="its ports to VNFs are vhost-user sockets, which take virtio-net alone",
                fix="vnic: any or vhost-user; or variant vpp-af-packet",
            )
        return PortKind.VHOST_USER

    def _kernel_kind(self, choice: VnfChoice) -> PortKind:
        vnic = vnic_of(choice)
        is_vm = choice.kind is VnfKind.VM
        if vnic not in (_TAP_VNICS if is_vm else ("any",)):
            raise UnsupportedError(
                f"a NIC of kind {vnic!r} cannot be attached to a packet socket of VPP",
                where="vpp, vnf_ports: kernel",
                observed="a process gets the end of a veth pair, a virtual machine a tap",
                fix="vnic: any; or variant vpp, whose ports are vhost-user",
            )
        return PortKind.TAP if is_vm else PortKind.VETH
