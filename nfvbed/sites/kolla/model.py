"""The input of rendering, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass

from nfvbed.cloud.kolla.agent import SwitchAgent
from nfvbed.cloud.kolla.machine import KollaCompute, KollaMachine
from nfvbed.cloud.kolla.placement import Placement
from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.cloud.kolla.release import ReleaseSupport
from nfvbed.cloud.kolla.uplinks import Uplink
from nfvbed.errors import InternalError
from nfvbed.sites.kolla.pinning import Pinning, plane_of
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.rack import RackHostSpec
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant

NO_PLANE = KollaPlane(name="")
"""The plane of a machine that is no compute."""


@dataclass(frozen=True)
class Order:
    """Variants on a site with a release, checked and found to fit together."""

    pinning: Pinning
    """Which compute has which variant; most orders have one for all."""
    site: KollaSiteSpec
    release: KollaReleaseSpec
    placements: Mapping[str, Placement]
    """Placements of all computes."""

    @property
    def planes(self) -> tuple[KollaPlane, ...]:
        """The data planes, each once."""
        return self.pinning.planes

    def variant_on(self, name: str) -> Variant:
        """Return the variant of a compute."""
        return self.pinning.on(name)

    def plane_on(self, name: str) -> KollaPlane:
        """Return the data plane of a machine."""
        return plane_of(self.variant_on(name)) if name in self.pinning.variants else NO_PLANE

    def support_on(self, name: str) -> ReleaseSupport:
        """Return the release's support for a compute's data plane.

        Raises:
            InternalError: it is not said, which is found out before there is an order.
        """
        return _known(self.plane_on(name), self.release)

    @property
    def roles(self) -> tuple[str, ...]:
        """Names of nfvbed's roles that the data planes need."""
        return roles_of(self.pinning, self.release)

    @property
    def agent(self) -> SwitchAgent:
        """Neutron's agent of all machines' switches."""
        return self.planes[0].neutron.agent

    @property
    def hosts(self) -> dict[str, RackHostSpec]:
        """Those that Kolla deploys something on."""
        return {name: host for name, host in self.site.hosts.items() if "generator" not in host.roles}

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names of the controllers, in the file's order: Kolla has services of which there is one on the first."""
        return tuple(self.site.hosts_with("controller"))

    @property
    def network_types(self) -> str:
        """Types of networks that tenants make."""
        have_tunnels = all(plane.neutron.has_tunnels for plane in self.planes)
        return f"vlan,{self.agent.tunnels}" if have_tunnels else "vlan"

    def uplinks(self, name: str) -> tuple[Uplink, ...]:
        """Return the NICs of a machine's switch, in the file's order.

        A controller has all of its NICs there: DHCP and routers of networks whose ports on computes are on no switch
        are attached to its switch.
        """
        host = self.site.hosts[name]
        nics = host.nics_of(*self.plane_on(name).nics.uplinks) if host.is_compute else host.network_nics
        return tuple(Uplink(nic, nic.network) for nic in nics if nic.network is not None)

    def machine(self, name: str) -> KollaMachine:
        """Return a machine in the form that data planes' records take."""
        planes = tuple(plane.name for plane in self.planes)
        return KollaMachine(
            self.site.hosts[name], self.uplinks(name), self.site.networks, self.plane_on(name).name, planes
        )

    def compute(self, name: str) -> KollaCompute:
        """Return a compute in the form that data planes' records take."""
        machine = self.machine(name)
        return KollaCompute(
            **vars(machine),
            variant=self.variant_on(name),
            placement=self.placements[name],
            support=self.support_on(name),
            shares_cores=self.site.machines == "box",
        )


def roles_of(pinning: Pinning, release: KollaReleaseSpec) -> tuple[str, ...]:
    """Return the names of nfvbed's roles that data planes need with a release, each once."""
    return tuple(dict.fromkeys(role for plane in pinning.planes for role in _known(plane, release).roles))


def _known(plane: KollaPlane, release: KollaReleaseSpec) -> ReleaseSupport:
    support = plane.on(release)
    if support is None:
        raise InternalError(f"nothing is known of {plane.name} with {release.title}")
    return support


@dataclass(frozen=True)
class Rendering:
    """The rendered files, and what they leave out."""

    files: Mapping[str, str]
    """Contents by path, relative to the folder that Kolla is given (`--configdir`)."""
    roles: tuple[str, ...]
    """Roles of nfvbed's that the variant needs beside or in place of Kolla's."""
