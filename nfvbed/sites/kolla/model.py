"""What rendering starts from, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from nfvbed.cloud.kolla.placement import Placement
from nfvbed.sites.kolla.pinning import Pinning
from nfvbed.spec.kollarelease import DataPlaneSupportSpec, KollaReleaseSpec
from nfvbed.spec.rack import RackHostSpec
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant

_VLANS_ALONE = {"sriov", "macvtap", "vpp"}

Options = Mapping[str, Mapping[str, str | tuple[str, ...]]]
"""Of an INI file: section -> option -> value; several values of an option that may be given several times."""


@dataclass(frozen=True)
class Order:
    """Variants on a site with a release, all checked, and found to fit together."""

    pinning: Pinning
    """Which compute has which variant; most orders have one for all."""
    site: KollaSiteSpec
    release: KollaReleaseSpec
    placements: Mapping[str, Placement]
    """Of all computes."""

    @property
    def planes(self) -> tuple[str, ...]:
        """The data planes, each once."""
        return self.pinning.planes

    def variant_on(self, name: str) -> Variant:
        """Return the variant of a compute."""
        return self.pinning.on(name)

    def plane_on(self, name: str) -> str:
        """Return the data plane of a compute; empty: the machine is none."""
        return self.variant_on(name).options.dataplane if name in self.pinning.variants else ""

    def support_on(self, name: str) -> DataPlaneSupportSpec:
        """Return what becomes of a compute's data plane with this release."""
        return self.release.dataplanes[self.plane_on(name)]

    def is_everywhere(self, plane: str) -> bool:
        """Whether all computes have a data plane."""
        return self.planes == (plane,)

    @property
    def roles(self) -> tuple[str, ...]:
        """Names of nfvbed's roles that the data planes need."""
        return tuple(dict.fromkeys(role for plane in self.planes for role in self.release.dataplanes[plane].roles))

    @property
    def hosts(self) -> dict[str, RackHostSpec]:
        """Those that Kolla deploys something on."""
        return {name: host for name, host in self.site.hosts.items() if "generator" not in host.roles}

    @property
    def controller(self) -> str:
        """The controller's name."""
        return next(iter(self.site.hosts_with("controller")))

    @property
    def network_types(self) -> str:
        """Types of networks that tenants make; functions, macvtap devices and VPP's ports know no tunnels."""
        return "vlan" if _VLANS_ALONE & set(self.planes) else "vlan,vxlan"

    def is_netdev(self, name: str) -> bool:
        """Whether a machine's switch is Open vSwitch with its userspace datapath."""
        return self.plane_on(name) in ("ovs-dpdk", "ovs-afxdp")

    def polls(self, name: str) -> bool:
        """Whether a machine's switch is Open vSwitch on DPDK."""
        return self.plane_on(name) == "ovs-dpdk"


@dataclass(frozen=True)
class Rendering:
    """Files, and what they do not do."""

    files: Mapping[str, str]
    """Contents by path, relative to the folder that Kolla is given (`--configdir`)."""
    roles: tuple[str, ...]
    """Roles of nfvbed's that the variant needs beside or in place of Kolla's."""
