"""What a site's file says of a cloud that exists already: this machine's ports to it, and the path that is measured."""

from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, StringConstraints, model_validator

from nfvbed.records import PortKind
from nfvbed.spec.layout import chain_length
from nfvbed.spec.mac import UnicastMac
from nfvbed.spec.model import SpecModel
from nfvbed.spec.pci import PciAddress

Named = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^\S(.*\S)?$")]
"""A name or an id in a cloud."""
DestinationMacs = Literal["neutron", "any"] | tuple[UnicastMac, UnicastMac]

NETNS_DIRECTORY = PurePosixPath("/run/netns")
"""Where `ip netns` keeps namespaces."""


class CloudPortSpec(SpecModel):
    """A device of this machine that reaches a network of the cloud."""

    device: Annotated[str, StringConstraints(pattern=r"^[^/\s]{1,15}$")] | None = None
    """Name of a network device of the kernel's, which stays the kernel's; it is up and carries no address."""
    mac: UnicastMac | None = None
    """MAC address of such a device, in place of its name; of a generator on another host."""
    netns: Annotated[str, StringConstraints(pattern=r"^(/.+|[^/\s]+)$")] | None = None
    """Network namespace of the device: a name of `ip netns`, or a path; none: this machine's own."""
    pci: PciAddress | None = None
    """PCI address of a NIC that is given to DPDK while something is deployed, in place of a device."""

    @model_validator(mode="after")
    def one_device(self) -> Self:
        if sum(one is not None for one in (self.device, self.mac, self.pci)) != 1:
            raise ValueError("a port is a device, a mac or a pci address, one of them")
        if self.netns is not None and self.pci is not None:
            raise ValueError("netns is of a device: what DPDK takes is in no namespace")
        return self

    @property
    def kind(self) -> PortKind:
        """How the generator is attached to it."""
        return PortKind.NETDEV if self.pci is None else PortKind.PCI

    @property
    def named(self) -> str:
        """Name in messages."""
        if self.pci is not None:
            return f"PCI device {self.pci}"
        return (self.device or f"the device with MAC address {self.mac}") + (
            f" in network namespace {self.netns}" if self.netns else ""
        )

    @property
    def netns_path(self) -> str | None:
        """Path of its network namespace; None: this machine's own."""
        return None if self.netns is None else str(NETNS_DIRECTORY / self.netns)


def _fit_together(ports: tuple[CloudPortSpec, CloudPortSpec]) -> tuple[CloudPortSpec, CloudPortSpec]:
    first, second = ports
    if (first.device, first.mac, first.pci) == (second.device, second.mac, second.pci):
        raise ValueError(f"{first.named} is named twice: the generator has two ports")
    if first.kind is not second.kind or first.netns_path != second.netns_path:
        raise ValueError("one generator has both ports: both are devices in one network namespace, or both are NICs")
    return ports


TwoPorts = Annotated[tuple[CloudPortSpec, CloudPortSpec], AfterValidator(_fit_together)]
"""The generator's."""


class ExistingPathSpec(SpecModel):
    """A path that is there already: through instances, from one network to the other."""

    topology: str = "pvp"
    """Topology of the path: `pvp`, `pvvp` or another chain."""
    instances: tuple[Named, ...] = ()
    """Names or ids of the instances, in the order of the path; none: they are not known to this project, and nothing is
    read of them."""
    ports: tuple[Named, Named] | None = None
    """Names or ids of Neutron's ports at both ends of the path, whose addresses frames are to have, where no instance
    is named."""

    @property
    def length(self) -> int:
        """VNFs on the path."""
        return chain_length(self.topology) or 0

    @model_validator(mode="after")
    def instances_are_those_of_the_path(self) -> Self:
        if not self.length:
            raise ValueError(f"topology {self.topology} is no chain between two ports: write pvp, pvvp, pv3p, ...")
        if self.instances and len(self.instances) != self.length:
            raise ValueError(
                f"topology {self.topology} has {self.length} VNFs, and instances names {len(self.instances)}"
            )
        if len(set(self.instances)) != len(self.instances):
            raise ValueError("instances names one twice")
        if self.instances and self.ports:
            raise ValueError("ports is for paths whose instances are not named: Neutron says which ports those have")
        return self
