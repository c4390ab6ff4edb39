"""Options of Open vSwitch's DPDK datapath, with rules of any writer."""

from typing import Literal

from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions, refuse_unless_vhost_user
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.vnf import VnfChoice, vnic_of


class DpdkDatapathOptions(OvsUserspaceOptions):
    """The DPDK datapath of Open vSwitch, with rules of any writer."""

    port_type: Literal["vhost-user", "memif", "pci"] = "vhost-user"
    """Kind of the generator's ports, and of VNFs that are processes; a virtual machine has vhost-user. `pci`: the NICs
    of the site's `cables`; VNFs of every kind have vhost-user."""

    @property
    def generator_queues(self) -> int:
        """`n_rxq`; a NIC deals its frames out to its queues by itself."""
        return 1 if self.port_type == "pci" else self.n_rxq

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """The kind that `port_type` names."""
        return (PortKind(self.port_type),)

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return the kind of socket of a VNF: vhost-user for a virtual machine, and for each VNF that asks for it."""
        refuse_unless_vhost_user(choice, self.dataplane)
        by_memif = self.port_type == "memif" and choice.kind is not VnfKind.VM and vnic_of(choice) == "any"
        return PortKind.MEMIF if by_memif else PortKind.VHOST_USER
