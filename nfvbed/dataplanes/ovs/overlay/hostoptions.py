"""Options of Open vSwitch hosts that a tunnel joins, with rules of any writer."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.dataplanes.ovs.packagesets import PackageSetOptions, VersionNeed
from nfvbed.dataplanes.ovs.userspace import refuse_unless_vhost_user
from nfvbed.records import PortKind
from nfvbed.spec.framelimits import FrameLimit
from nfvbed.spec.layout import Layout
from nfvbed.spec.rings import RingSize
from nfvbed.spec.vnf import VnfChoice
from nfvbed.units import USUAL_FRAME_BYTES


class OverlayHostOptions(PackageSetOptions):
    """One or two hosts, each an Open vSwitch of its own on the userspace datapath with DPDK."""

    hosts: Literal[1, 2] = 2
    """Number of hosts. With two, the first half of the path is on the first host, and cables between the halves go
    through the tunnel; with one there is no tunnel."""
    underlay: Literal["memif", "veth"] = "memif"
    """Link between two hosts: shared memory, or a veth pair, which can be captured and is slow."""
    underlay_mtu: int = Field(1600, ge=576, le=2000)
    """MTU of that link, in bytes of an outer frame's IP packet: the tunnel adds 50 bytes to a frame."""
    pmd_cores: int = Field(1, ge=1, le=2)
    """Cores of poll-mode threads. 1: those of two hosts share one core and yield it to each other; 2: each host has its
    own."""
    rx_queue_size: RingSize = 1024
    """Descriptors of each ring of its ports; a power of two."""
    socket_memory_mib: int = Field(256, ge=64, le=65536)
    """DPDK's memory on each host."""

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """vhost-user sockets alone."""
        return (PortKind.VHOST_USER,)

    @property
    def switch_cores(self) -> int:
        """The cores of its PMD threads."""
        return self.pmd_cores

    @property
    def ring_size(self) -> int:
        """`rx_queue_size`."""
        return self.rx_queue_size

    @property
    def ring_memory_mib(self) -> int:
        """The memory of one host."""
        return self.socket_memory_mib

    @property
    def shares_core(self) -> bool:
        """Whether two hosts poll on one core."""
        return self.hosts > self.pmd_cores

    def frame_limits(self, kind: PortKind, plan: Layout) -> tuple[FrameLimit, ...]:
        """Return the limit of the tunnel's underlay."""
        why = "a tunnel's headers take what its underlay's MTU has more, and nfvbed asks no other MTU of br-int's ports"
        return (FrameLimit(USUAL_FRAME_BYTES, f"{self.dataplane}'s ports", why, "ovs-dpdk"),)

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return vhost-user for every VNF."""
        refuse_unless_vhost_user(choice, self.dataplane)
        return PortKind.VHOST_USER

    @property
    def sleeps(self) -> bool:
        """Whether poll-mode threads on a shared core sleep where they find nothing.

        After polling a port of DPDK they could yield.
        """
        return self.shares_core and self.underlay == "veth"

    @property
    def version_needs(self) -> tuple[VersionNeed, ...]:
        """Sleeping threads, where hosts share a core."""
        instead = "pmd_cores: 2, or hosts: 1"
        return (VersionNeed("underlay: veth", "pmd-maxsleep", (3, 1), instead=instead),) if self.sleeps else ()

    @model_validator(mode="after")
    def cores_have_hosts(self) -> Self:
        if self.pmd_cores > self.hosts:
            raise ValueError(f"pmd_cores ({self.pmd_cores}) must be at most hosts ({self.hosts})")
        return self

    @model_validator(mode="after")
    def yields_by_its_own_dpdk(self) -> Self:
        if not self.is_usual and self.shares_core and self.underlay == "memif":
            raise ValueError(
                "two hosts on one core yield it by a library for the DPDK of make setup: "
                "beside release or program write pmd_cores: 2, underlay: veth, or hosts: 1"
            )
        return self
