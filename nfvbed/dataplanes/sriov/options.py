"""Options of SR-IOV: virtual functions of a NIC, joined by the switch in the NIC."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.mac import UnicastMac
from nfvbed.spec.model import SpecModel
from nfvbed.spec.options import DataPlaneOptions, PortName, refuse_existing
from nfvbed.spec.pci import PciAddress
from nfvbed.spec.vnf import VnfChoice, vnic_of

MAX_FUNCTIONS = 256
_ADDRESSING = frozenset({"mac", "router", "source", "sink"})
"""What a VNF may do with frames: the NIC's switch goes by destination addresses, so it has to write the next one."""


class VfSettings(SpecModel):
    """What the physical function lays down for a virtual function; None: as its driver has it."""

    mac: UnicastMac | None = None
    """MAC address; None: nfvbed's own, the same in every deployment."""
    vlan: int | None = Field(None, ge=1, le=4094)
    """VLAN whose tag the NIC adds and removes; the function's user sees none."""
    trust: bool | None = None
    """Permission of its user to ask for promiscuous mode and further addresses."""
    spoof_check: bool | None = None
    """Dropping of frames with another source address."""
    min_rate_mbps: int | None = Field(None, ge=0)
    """Least transmit rate, Mbit/s."""
    max_rate_mbps: int | None = Field(None, ge=0)
    """Greatest transmit rate, Mbit/s; 0: no limit."""

    @model_validator(mode="after")
    def rates_are_in_order(self) -> Self:
        low, high = self.min_rate_mbps, self.max_rate_mbps
        if low and high and low > high:
            raise ValueError(f"min_rate_mbps {low} is above max_rate_mbps {high}")
        return self

    def over(self, general: "VfSettings") -> "VfSettings":
        """Return these settings, and the general ones where these are not given."""
        return VfSettings.model_validate(general.model_dump() | self.model_dump(exclude_none=True))


class SriovOptions(DataPlaneOptions):
    """Virtual functions of one port of a NIC, joined by its embedded switch."""

    dataplane: Literal["sriov"]
    colour = 6
    pf_address: PciAddress | None = None
    """PCI address of the physical function; without any of the three: the only NIC that can have functions."""
    pf_interface: str | None = Field(None, min_length=1, max_length=15)
    """Network device of the physical function; with two ports at one PCI address (ConnectX-3) this or `pf_mac` says
    which port."""
    pf_mac: UnicastMac | None = None
    """MAC address of the physical function."""
    functions: int | None = Field(None, ge=1, le=MAX_FUNCTIONS)
    """Virtual functions to create; None: as many as the topology has ports."""
    attach: Literal["kernel", "dpdk"] = "kernel"
    """Attachment of a function to generator and process VNFs: as a network device (AF_PACKET), or by DPDK's own driver,
    over vfio-pci, or on Mellanox NICs beside the kernel's driver. A virtual machine is always given the PCI device."""
    settings: VfSettings = VfSettings()
    """Settings of every function."""
    ports: dict[PortName, VfSettings] = Field(default_factory=dict)
    """Settings of single functions, by the port that they are: p0 and p1 outside, v1a and v1b at the first VNF."""
    vlan_per_cable: int | None = Field(None, ge=1, le=4000)
    """First of as many VLANs as there are cables, one for the two functions at each; None: no VLANs."""
    embedded_switch: Literal["legacy", "switchdev"] = "legacy"
    """Mode of the NIC's switch. `legacy`: it forwards by addresses; `switchdev` (ConnectX-4 Lx or later): every
    function has a representor in the kernel, and a bridge of these tells the NIC where to forward."""
    local_numa_only: bool = False
    """Refusal of a NIC on another NUMA node than the generator's core; otherwise every trial carries the warning."""

    @model_validator(mode="after")
    def vlans_are_given_once(self) -> Self:
        given = [self.settings, *self.ports.values()]
        if self.vlan_per_cable is not None and any(one.vlan is not None for one in given):
            raise ValueError("vlan_per_cable and a vlan of one's own contradict each other")
        if self.settings.mac is not None:
            raise ValueError("settings.mac would give every function the same address: use ports")
        return self

    @property
    def port_kinds(self) -> tuple[PortKind, ...]:
        """Virtual functions alone."""
        return (PortKind.VF,)

    def settings_of(self, port: str) -> VfSettings:
        """Return the settings of a port's function."""
        return self.ports.get(port, VfSettings()).over(self.settings)

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return virtual functions for every VNF that itself writes destination addresses."""
        vnic = vnic_of(choice)
        if choice.kind is VnfKind.EXISTING:
            raise refuse_existing()
        if vnic not in ("any", "vf"):
            raise UnsupportedError(
                f"a NIC of kind {vnic!r} is no virtual function",
                where="sriov",
                observed="its ports to VNFs are virtual functions of the NIC",
                fix="vnic: any or vf; or another variant",
            )
        if choice.forwarding not in _ADDRESSING:
            raise UnsupportedError(
                f"a VNF that forwards with {choice.forwarding!r} cannot be behind a NIC's switch",
                where="sriov",
                observed="the NIC forwards by destination address: a frame whose address is not that of the next "
                "function leaves through the wire or goes back",
                fix="forwarding: mac or router",
            )
        if choice.forwarding == "router" and choice.kind is not VnfKind.VM and self.attach == "dpdk":
            raise UnsupportedError(
                "a router of the kernel needs network devices",
                where="attach: dpdk",
                observed="its functions are PCI devices without one",
                fix="attach: kernel, or forwarding: mac",
            )
        return PortKind.VF
