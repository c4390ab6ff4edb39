"""A data plane's record for Kolla: all that rendering, checks and measurements need to know of it.

Each room has a record in its module `kolla`, as `KOLLA`; `nfvbed/dataplanes/catalogue.py` finds it there. What a record
leaves out is as for Open vSwitch of the kernel, Kolla's default.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nfvbed.cloud.kolla.agent import OPEN_VSWITCH, ServiceOptions, SwitchAgent
from nfvbed.cloud.kolla.machine import KollaCompute, KollaMachine
from nfvbed.cloud.kolla.placement import Polling
from nfvbed.cloud.kolla.release import ReleaseSupport
from nfvbed.records import PortKind
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.rack import NicRole, RackHostSpec
from nfvbed.spec.variant import Variant


def _none_passed_through(_: RackHostSpec) -> tuple[str, ...]:
    return ()


def _does_not_poll(_: Variant) -> Polling | None:
    return None


def _fits(_variant: Variant, _name: str, _host: RackHostSpec) -> None:
    pass


def _no_variables(_: KollaMachine) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, kw_only=True)
class NicUse:
    """The NICs of a compute, by use."""

    role: NicRole | None = None
    """Role of the NIC without which a compute cannot have the data plane."""
    by_address: str = ""
    """Reason why such a NIC is described by its PCI address; empty: its MAC address will do."""
    uplinks: tuple[NicRole, ...] = ("external", "dpdk")
    """Roles of the NICs that are on bridges of Neutron's."""
    no_external: str = ""
    """Reason why a compute has no NIC for external networks of its own; empty: it may have one."""
    instances: tuple[NicRole, ...] = ("dpdk", "external")
    """Roles of the NICs by which instances reach physical networks."""
    has_vlan_devices: bool = False
    """Whether a network's VLAN is a device of the kernel's on such a NIC, which Nova or the agent makes."""
    ports_are_named: bool = False
    """Whether Kolla is given names of DPDK's ports, where it takes names of devices of all others."""
    functions_made_by: str = ""
    """Role of nfvbed's that makes the virtual functions that instances get; empty: they get none."""
    passed_through: Callable[[RackHostSpec], tuple[str, ...]] = _none_passed_through
    """Nova's descriptions of the devices that instances may be given."""


@dataclass(frozen=True, kw_only=True)
class NeutronParts:
    """What Neutron runs for it."""

    agent: SwitchAgent = OPEN_VSWITCH
    """Agent of all machines' switches."""
    of_compute: tuple[str, ...] = (OPEN_VSWITCH.name,)
    """Names of a compute's agents in Neutron's API."""
    settings: ServiceOptions = field(default_factory=dict)
    """Settings of a compute's agent that Kolla has otherwise."""
    mechanisms: tuple[str, ...] = ("openvswitch", "l2population")
    """Mechanism drivers of ML2, in their order; those of several data planes are brought into one order."""
    packages: tuple[str, ...] = ()
    """Packages of nfvbed's that Neutron's server has beside its own."""
    roles: tuple[str, ...] = ()
    """Names of nfvbed's roles that a controller needs."""
    has_tunnels: bool = True
    """Whether networks that tenants make may be tunnels; else they are VLANs."""
    overlay_address: Literal["of-machine", "of-bridge", "unused"] = "of-machine"
    """Owner of a compute's address in the network of tunnels: the machine, which has it before; a bridge, which gets
    it; or none: it is not needed."""


@dataclass(frozen=True, kw_only=True)
class SwitchParts:
    """The switch on a compute."""

    datapath: Literal["system", "netdev"] = "system"
    """Type of Open vSwitch's datapath."""
    container: str = "openvswitch_vswitchd"
    """Kolla's container that has its daemon."""
    is_on_dpdk: bool = False
    """Whether it takes NICs of role dpdk from the kernel and hugepages from guests, with which it shares memory."""
    polling: Callable[[Variant], Polling | None] = _does_not_poll
    """What a variant's polling threads ask of a machine; None: it has none."""
    check: Callable[[Variant, str, RackHostSpec], None] = _fits
    """Refuse a variant whose options do not fit a machine, by its name, with UnsupportedError."""


@dataclass(frozen=True, kw_only=True)
class Variables:
    """Variables of Ansible's, in the order of a machine's file."""

    enabled_by: str = ""
    """Kolla's key that is true on computes with it, and false on all other machines."""
    everywhere: Mapping[str, Any] = field(default_factory=dict)
    """Keys of all machines, where all computes have it."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Kolla's keys of a compute, whatever the machine."""
    of_rack: Callable[[KollaMachine], dict[str, Any]] = _no_variables
    """Kolla's keys of every machine, where some compute has it."""
    of_compute: Callable[[KollaCompute], dict[str, Any]] = _no_variables
    """Kolla's keys of a compute."""
    of_preparation: Callable[[KollaCompute], dict[str, Any]] = _no_variables
    """Variables of nfvbed's roles that prepare a compute."""
    of_roles: Callable[[KollaCompute], dict[str, Any]] = _no_variables
    """Variables of nfvbed's roles beside Kolla's on a compute."""


@dataclass(frozen=True, kw_only=True)
class KollaPlane:
    """A data plane in a cloud that kolla-ansible deploys."""

    name: str
    """Name that variants have in `options.dataplane`."""
    releases: Mapping[str, ReleaseSupport] = field(default_factory=dict)
    """What becomes of it with each release, by the release's name; with others it is unsupported."""
    options: frozenset[str] = frozenset()
    """Options of a variant that are rendered; of others any value but the default is refused."""
    nics: NicUse = NicUse()
    neutron: NeutronParts = field(default_factory=NeutronParts)
    switch: SwitchParts = SwitchParts()
    variables: Variables = field(default_factory=Variables)
    port_kind: PortKind = PortKind.NEUTRON
    """Kind of the instances' ports, where it is another than Neutron's own."""
    no_chain: str = ""
    """Reason why there is no chain of VNFs; empty: there is."""
    not_built: str = ""
    """Reason why the images that nfvbed builds for a box do not do; empty: they do."""

    def on(self, release: KollaReleaseSpec) -> ReleaseSupport | None:
        """Return its support by a release; None: nothing is said."""
        return self.releases.get(release.name) or self.releases.get(release.planes_as or "")

    @property
    def has_open_vswitch(self) -> bool:
        """Whether Open vSwitch is the switch of its computes."""
        return self.neutron.agent.is_open_vswitch and self.neutron.agent.name in self.neutron.of_compute

    @property
    def has_functions(self) -> bool:
        """Whether its instances have virtual functions."""
        return bool(self.nics.functions_made_by)
