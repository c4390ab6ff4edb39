"""Options of Lagopus."""

from typing import Annotated, Literal

from pydantic import Field

from nfvbed.dataplanes.ports.kernel_options import CoreUseOptions
from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.framelimits import FrameLimit
from nfvbed.spec.layout import Layout
from nfvbed.spec.options import AF_PACKET, DataPlaneOptions, refuse_existing, veth_for_processes
from nfvbed.spec.rings import POWER_OF_TWO
from nfvbed.spec.vnf import KERNEL_FORWARDING, VnfChoice, vnic_of
from nfvbed.units import USUAL_FRAME_BYTES

_ORDINARY = FrameLimit(
    USUAL_FRAME_BYTES,
    "Lagopus's ports",
    "nfvbed asks no MTU of Lagopus, whose buffers are for frames of the standard size",
    "ovs-dpdk",
)


class LagopusRawOptions(CoreUseOptions):
    """Lagopus with raw sockets on veth ports, its cables OpenFlow rules."""

    dataplane: Literal["lagopus-raw"]

    def io_path(self, kind: PortKind) -> str:
        """Return the path by packet sockets."""
        return AF_PACKET

    def frame_limits(self, kind: PortKind, plan: Layout) -> tuple[FrameLimit, ...]:
        """Return the limit of Lagopus's own buffers."""
        return (_ORDINARY,)

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return veth for every VNF."""
        why = "its raw sockets complete no checksum that a guest left to its NIC"
        return veth_for_processes(choice, "lagopus-raw", why)


class LagopusOptions(DataPlaneOptions):
    """Lagopus with DPDK on vhost-user ports, its cables OpenFlow rules."""

    dataplane: Literal["lagopus"]
    io_and_worker_cores: int = Field(2, ge=2, le=64)
    """Cores of its pipeline, two at least: threads for input and output, and threads that work."""
    memory_mib: int = Field(512, ge=64, le=65536)
    """Hugepage memory of DPDK."""
    queue_size: Annotated[int, Field(ge=64, le=1024), POWER_OF_TWO] = 256
    """Descriptors of the generator's and the VNFs' rings; a power of two."""

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """vhost-user sockets alone."""
        return (PortKind.VHOST_USER,)

    @property
    def switch_cores(self) -> int:
        """The cores of its pipeline."""
        return self.io_and_worker_cores

    @property
    def ring_size(self) -> int:
        """`queue_size`."""
        return self.queue_size

    def frame_limits(self, kind: PortKind, plan: Layout) -> tuple[FrameLimit, ...]:
        """Return the limit of Lagopus's own buffers."""
        return (_ORDINARY,)

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return vhost-user for every VNF."""
        if choice.kind is VnfKind.EXISTING:
            raise refuse_existing()
        kernel = choice.kind is not VnfKind.VM and choice.forwarding in KERNEL_FORWARDING
        if kernel or vnic_of(choice) not in ("any", "vhost-user"):
            raise UnsupportedError(
                "this VNF needs a kernel port",
                where="lagopus",
                observed="its ports to VNFs are vhost-user sockets, which DPDK processes and virtual machines open",
                fix="forwarding io, mac, macswap or 5tswap with vnic any; or variant lagopus-raw",
            )
        return PortKind.VHOST_USER
