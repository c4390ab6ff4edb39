"""Options of Open vSwitch on DPDK."""

from typing import Literal

from pydantic import Field

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.dataplanes.options import refuse_existing
from nfvbed.spec.dataplanes.ovs import OvsOptions
from nfvbed.spec.vnf import KERNEL_FORWARDING, VnfChoice, vnic_of


class OvsDpdkOptions(OvsOptions):
    """Open vSwitch with the DPDK datapath."""

    dataplane: Literal["ovs-dpdk"]
    pmd_cores: int = Field(1, ge=1, le=64)
    n_rxq: int = Field(1, ge=1, le=64)
    rx_queue_size: int = Field(1024, ge=64, le=4096)
    emc: bool = True
    """Exact match cache (emc-insert-inv-prob 100, as by default) or none."""
    smc: bool = False
    socket_memory_mib: int = Field(256, ge=64, le=65536)

    @property
    def switch_cores(self) -> int:
        """Its PMD threads'."""
        return self.pmd_cores

    @property
    def ring_size(self) -> int:
        """That of its ports."""
        return self.rx_queue_size

    @property
    def ring_memory_mib(self) -> int:
        """Its own."""
        return self.socket_memory_mib

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """All of its ports are vhost-user sockets."""
        vnic = vnic_of(choice)
        if choice.kind is VnfKind.EXISTING:
            raise refuse_existing()
        if choice.kind is not VnfKind.VM and choice.forwarding in KERNEL_FORWARDING:
            raise UnsupportedError(
                f"a VNF that forwards with {choice.forwarding!r} needs kernel ports",
                where="ovs-dpdk",
                observed="its ports to VNFs are vhost-user sockets, which a DPDK process or a virtual machine opens",
                fix="forwarding io, mac, macswap or 5tswap; or kind: vm, whose image can; or variant linux-bridge",
            )
        if vnic not in ("any", "vhost-user"):
            raise UnsupportedError(
                f"a network card of kind {vnic!r} needs a kernel port",
                where="ovs-dpdk",
                observed="its ports to VNFs are vhost-user sockets, which take virtio-net alone",
                fix="vnic: any or vhost-user; or variant linux-bridge",
            )
        return PortKind.VHOST_USER
