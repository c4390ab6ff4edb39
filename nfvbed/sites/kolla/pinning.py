"""Which compute of a rack has which variant: one variant on all of them, or pinned ones side by side."""

from collections.abc import Mapping
from dataclasses import dataclass

from nfvbed.cloud.kolla.agent import OPEN_VSWITCH
from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.dataplanes.catalogue import CATALOGUE, kolla_plane
from nfvbed.errors import ConfigurationError, UsageError
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant


@dataclass(frozen=True)
class Pinning:
    """The variant of each compute.

    Args:
        variants: variants by the names of their computes; all computes are there.
    """

    variants: Mapping[str, Variant]

    @classmethod
    def everywhere(cls, variant: Variant, site: KollaSiteSpec) -> "Pinning":
        """Return the pinning of one variant to all computes."""
        return cls(dict.fromkeys(site.hosts_with("compute"), variant))

    @property
    def each(self) -> tuple[Variant, ...]:
        """The variants, each once."""
        return tuple({one.name: one for one in self.variants.values()}.values())

    @property
    def planes(self) -> tuple[KollaPlane, ...]:
        """Their data planes, each once."""
        return tuple({one.options.dataplane: plane_of(one) for one in self.variants.values()}.values())

    @property
    def is_mixed(self) -> bool:
        """Whether computes have different variants."""
        return len(self.each) > 1

    @property
    def name(self) -> str:
        """Name in messages and in the journal: one variant, or all (`NAME on compute1, OTHER on compute2`)."""
        if not self.is_mixed:
            return self.each[0].name
        return ", ".join(f"{one.name} on {host}" for host, one in self.variants.items())

    def on(self, compute: str) -> Variant:
        """Return the variant of a compute."""
        return self.variants[compute]

    def computes_of(self, variant: str) -> tuple[str, ...]:
        """Return the computes that have a variant, by its name."""
        return tuple(host for host, one in self.variants.items() if one.name == variant)


def plane_of(variant: Variant) -> KollaPlane:
    """Return the record of a variant's data plane."""
    return kolla_plane(variant.options.dataplane)


def pinning_of(project: Project, site: KollaSiteSpec, variant: str) -> Pinning:
    """Return the pinning of a deployment of a variant: the site's file may pin others beside it.

    Raises:
        UsageError: the site's file pins computes to others, or there is no such variant.
    """
    if not site.pinned:
        return Pinning.everywhere(project.load_variant(variant), site)
    if variant not in site.pinned.values():
        raise UsageError(
            f"no compute of site {site.name} is pinned to {variant}",
            where=f"deploy/sites/{site.name}.yml computes",
            observed=", ".join(f"{name}: {one}" for name, one in site.pinned.items()),
            fix=f"one of these, which are deployed together; or pin a compute to {variant}",
        )
    return pinned_by(project, site)


def pinned_by(project: Project, site: KollaSiteSpec) -> Pinning:
    """Return the pinning that a site's file declares."""
    return Pinning({host: project.load_variant(name) for host, name in site.pinned.items()})


def check_together(pinning: Pinning, site: KollaSiteSpec) -> None:
    """Make sure that variants can be on one rack at the same time.

    Raises:
        ConfigurationError: Neutron has one agent of its switches for all machines, controllers too.
    """
    planes = pinning.planes
    if all(plane.neutron.agent == planes[0].neutron.agent for plane in planes):
        return
    alone = next(plane for plane in planes if plane.neutron.agent != OPEN_VSWITCH)
    others = ", ".join(plane.name for plane in planes if plane is not alone)
    able = sorted(plane.name for plane in CATALOGUE.kolla.values() if plane.neutron.agent == OPEN_VSWITCH)
    raise ConfigurationError(
        f"{alone.name} and {others} cannot be on one rack at the same time",
        where=f"deploy/sites/{site.name}.yml computes",
        observed="kolla-ansible has one agent of switches for all machines (neutron_plugin_agent), the controller's"
        " DHCP and routers too",
        fix=f"pin computes to variants of {', '.join(able)}; deploy {alone.name} alone",
    )
