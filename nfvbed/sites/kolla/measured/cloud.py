"""The cloud of a deployed rack, as deployments are set up on it: an existing one, with the variant that it has."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from openstack.connection import Connection

from nfvbed.errors import UnsupportedError
from nfvbed.host.fitness import Fitness
from nfvbed.records import Accelerator
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured import contents
from nfvbed.sites.openstack.compute import Compute
from nfvbed.sites.openstack.existing.cloud import ExistingCloud
from nfvbed.sites.openstack.existing.compute import ExistingCompute
from nfvbed.sites.openstack.tacker.connection import connect
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.site import CloudSiteSpec, KollaSiteSpec
from nfvbed.spec.variant import Variant

_DIRECT = ("macvtap", "sriov")


@dataclass(frozen=True)
class DeployedRack:
    """What is on the machines.

    Args:
        site: the rack.
        places: its files.
        variant: name of the variant that was deployed.
        flavors: that VNFs are made of.
    """

    site: KollaSiteSpec
    places: RackPlaces
    variant: str
    flavors: Sequence[Flavor]


class RackCompute(ExistingCompute):
    """The computes of a rack, which all have one variant."""

    hidden = "the rack's switches, cores and guests are not read from here"

    def __init__(self, spec: CloudSiteSpec, cloud: "RackCloud", variant: Variant) -> None:
        self._deployed = cloud.rack
        super().__init__(spec, cloud.ends, variant, lambda: None)

    def _check_variant(self, variant: Variant) -> None:
        require_variant(self._deployed, variant)

    def probe(self, variant: Variant) -> Fitness:
        """Look for the generator on its host."""
        self._ends.require()
        return Fitness()

    def versions(self) -> dict[str, str]:
        """Return what was deployed; nothing is asked of the machines."""
        return {"deployed, not read": self._deployed.variant}


class RackCloud(ExistingCloud):
    """The cloud that kolla-ansible deployed for a rack; nfvbed is its administrator.

    Args:
        spec: the rack's cloud, as a site of kind cloud describes one.
        root: of the project.
        rack: what is on the machines.
    """

    def __init__(self, spec: CloudSiteSpec, root: Path, rack: DeployedRack) -> None:
        super().__init__(spec, root)
        self.rack = rack

    @property
    def folder(self) -> Path:
        """Of the rack."""
        return self.rack.places.cloud

    @cached_property
    def connection(self) -> Connection:
        """With the access that Kolla wrote."""
        return connect(self.rack.site.name, self.rack.places.clouds)

    @property
    def accelerator(self) -> Accelerator:
        """Kolla's Nova takes KVM; its prechecks want it of computes."""
        return Accelerator.KVM

    def bring_up(self) -> None:
        """Make networks and flavors that are not there, and look at all that a path needs."""
        contents.provide(self.connection, self.rack.site, self.rack.flavors)
        super().bring_up()

    def compute(self, variant: Variant) -> Compute:
        """The rack's computes, where they have the variant."""
        return RackCompute(self._spec, self, variant)


def require_variant(rack: DeployedRack, variant: Variant) -> None:
    """Make sure that a rack has a variant, and that VNFs' ports of its kind are asked for.

    Raises:
        UnsupportedError: it has another; or its VNFs would need ports that nfvbed's descriptors do not ask for.
    """
    if variant.name != rack.variant:
        raise UnsupportedError(
            f"site {rack.site.name} does not have variant {variant.name}",
            where=str(rack.places.journal),
            observed=f"{rack.variant} is deployed",
            fix=f"nfvbed deploy {variant.name} --site {rack.site.name} --redeploy",
        )
    if variant.options.dataplane in _DIRECT:
        raise UnsupportedError(
            f"{variant.name} is not measured on a rack yet",
            where=f"deploy/variants/{variant.name}.yml",
            observed="its VNFs need ports of vnic_type direct or macvtap, which nfvbed's descriptors do not have",
            fix="onboard a descriptor of your own: nfvbed onboard FILE; or measure it on site lab",
        )
