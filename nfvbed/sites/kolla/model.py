"""What rendering starts from, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from nfvbed.sites.kolla.placement import Placement
from nfvbed.spec.kollarelease import DataPlaneSupportSpec, KollaReleaseSpec
from nfvbed.spec.rack import RackHostSpec
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant

Options = Mapping[str, Mapping[str, str | tuple[str, ...]]]
"""Of an INI file: section -> option -> value; several values of an option that may be given several times."""


@dataclass(frozen=True)
class Order:
    """A variant on a site with a release, all three checked, and found to fit together."""

    variant: Variant
    site: KollaSiteSpec
    release: KollaReleaseSpec
    placements: Mapping[str, Placement]
    """Of all computes."""

    @property
    def plane(self) -> str:
        """The data plane."""
        return self.variant.options.dataplane

    @property
    def support(self) -> DataPlaneSupportSpec:
        """What becomes of it with this release."""
        return self.release.dataplanes[self.plane]

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
        return "vlan" if self.plane in ("sriov", "macvtap", "vpp") else "vlan,vxlan"

    def is_netdev(self, host: RackHostSpec) -> bool:
        """Whether a machine's switch is Open vSwitch with its userspace datapath."""
        return self.plane in ("ovs-dpdk", "ovs-afxdp") and host.is_compute

    def polls(self, host: RackHostSpec) -> bool:
        """Whether a machine's switch is Open vSwitch on DPDK."""
        return self.plane == "ovs-dpdk" and host.is_compute


@dataclass(frozen=True)
class Rendering:
    """Files, and what they do not do."""

    files: Mapping[str, str]
    """Contents by path, relative to the folder that Kolla is given (`--configdir`)."""
    roles: tuple[str, ...]
    """Roles of nfvbed's that the variant needs beside or in place of Kolla's."""
