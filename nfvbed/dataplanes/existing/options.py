"""Options of the data plane of a cloud that exists already: none that is set, one that states it."""

from typing import Literal

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.options import DataPlaneOptions
from nfvbed.spec.vnf import VnfChoice


class ExistingOptions(DataPlaneOptions):
    """What a cloud runs, as its operator set it up. nfvbed changes nothing of it."""

    dataplane: Literal["existing"]
    stated: str = ""
    """Data plane as you state it (`Open vSwitch 3.3 with DPDK, two PMD cores`). It is stored with each result and never
    verified; empty: unknown."""

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """Devices of this machine that reach the cloud: the kernel's, or NICs for DPDK."""
        return (PortKind.NETDEV, PortKind.PCI)

    @property
    def has_vnf_ceiling(self) -> bool:
        """No: instances are in the cloud, and nothing of them is looped back here."""
        return False

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return the kind of a port that Neutron chooses.

        Raises:
            UnsupportedError: the VNF is no instance of a cloud.
        """
        if choice.kind not in (VnfKind.VM, VnfKind.EXISTING):
            raise UnsupportedError(
                f"a VNF of kind {choice.kind.value} is no instance of a cloud",
                where="existing",
                observed="a cloud that exists runs virtual machines",
                fix="kind: vm where Tacker onboards them, existing where they run already",
            )
        return PortKind.NEUTRON
