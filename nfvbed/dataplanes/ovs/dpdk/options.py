"""Options of Open vSwitch on DPDK."""

from typing import Literal

from pydantic import Field

from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions, refuse_unless_vhost_user
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.vnf import VnfChoice, vnic_of


class OvsDpdkOptions(OvsUserspaceOptions):
    """Open vSwitch with the DPDK datapath."""

    dataplane: Literal["ovs-dpdk"]
    colour = 1
    port_type: Literal["vhost-user", "memif", "pci"] = "vhost-user"
    """Kind of the generator's ports, and of VNFs that are processes; a virtual machine has vhost-user. `pci`: the NICs
    of the site's `cables`; VNFs of every kind have vhost-user."""

    userspace_tso: bool = Field(default=False, exclude_if=lambda value: not value)
    """Segmentation offload in userspace (`userspace-tso-enable`): ports pass on what a sender's kernel left undone, in
    frames of up to 64 KiB. It is of the whole switch, which reads it once, at its start."""

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """The kind that `port_type` names."""
        return (PortKind(self.port_type),)

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return the kind of socket of a VNF: vhost-user for a virtual machine, and for each VNF that asks for it."""
        refuse_unless_vhost_user(choice, "ovs-dpdk")
        by_memif = self.port_type == "memif" and choice.kind is not VnfKind.VM and vnic_of(choice) == "any"
        return PortKind.MEMIF if by_memif else PortKind.VHOST_USER
