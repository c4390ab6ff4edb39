"""The cloud of a deployed rack, as deployments are set up on it: an existing one, with the variants that it has."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from openstack.connection import Connection

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.tacker import ownflavors, zones
from nfvbed.cloud.tacker.connection import asking, connect
from nfvbed.cloud.verify.commands import Hypervisor
from nfvbed.dataplanes.computes.refusals import require_chain
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.fitness import Fitness
from nfvbed.records import Accelerator, PortKind, VnfHandle
from nfvbed.records.state import ON_COMPUTE
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured import accelerators, aggregates, contents, twins
from nfvbed.sites.kolla.measured.computes import RackHypervisor
from nfvbed.sites.kolla.measured.described import OF_FUNCTIONS, path_networks
from nfvbed.sites.kolla.model import Order
from nfvbed.sites.kolla.pinning import Pinning, plane_of
from nfvbed.sites.kolla.render import order_pinned
from nfvbed.sites.kolla.verify.origin import origin_of
from nfvbed.sites.openstack.existing.cloud import ExistingCloud
from nfvbed.sites.openstack.existing.compute import ExistingCompute
from nfvbed.sites.openstack.paths import PathNetworks
from nfvbed.sites.openstack.vnfs import CloudVnfState
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.layout import Layout
from nfvbed.spec.site import CloudSiteSpec, KollaSiteSpec
from nfvbed.spec.variant import Variant


@dataclass(frozen=True)
class DeployedRack:
    """A deployed rack, and what is on its machines.

    Args:
        flavors: flavors that VNFs are made from.
        release: release that it was deployed with.
    """

    site: KollaSiteSpec
    places: RackPlaces
    pinning: Pinning
    flavors: Sequence[Flavor]
    release: KollaReleaseSpec

    @property
    def order(self) -> Order:
        """What is expected of the machines."""
        return order_pinned(self.pinning, self.site, self.release)


class RackCompute(ExistingCompute):
    """The computes of a rack that have one variant: all of them, or those that are pinned to it."""

    hidden = "the rack's switches, cores and guests are not read from here"

    def __init__(self, spec: CloudSiteSpec, cloud: "RackCloud", variant: Variant) -> None:
        self._deployed = cloud.rack
        self._cloud = cloud
        self.variant = variant.name
        self.vnf_port_kind = plane_of(variant).port_kind
        super().__init__(spec, cloud.ends, variant, lambda: None)

    def _check_variant(self, variant: Variant) -> None:
        require_variant(self._deployed, variant)

    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse chains where the next VNF is not reached."""
        why = plane_of(variant).no_chain
        if why:
            require_chain(plan, 1, why)

    def probe(self, variant: Variant) -> Fitness:
        """Look for the generator on its host."""
        self._ends.require()
        return Fitness()

    def versions(self) -> dict[str, str]:
        """Return the versions of what was deployed; nothing is asked of the machines."""
        origin = origin_of(self._deployed.site, self._deployed.release)
        return {"deployed, not read": f"{self.variant} by {origin}"}

    def hypervisor(self, host: str) -> Hypervisor | None:
        """Return the libvirt in the compute's container, where the site's file says how that is reached."""
        site = self._deployed.site
        return RackHypervisor(site, host) if site.reached(host) is not None else None

    def adopt(self, variant: Variant, instances: Sequence[PlacedInstance]) -> None:
        """Check that instances are on computes of the variant, and still where they were onboarded; nothing is set.

        Raises:
            DeployError: one is on a compute of another variant, or was moved.
            OnboardError, UnsupportedError: Nova does not say.
        """
        computes = self._deployed.pinning.computes_of(variant.name)
        for one in instances:
            now = self._cloud.host_of(one)
            if now not in ("", one.host):
                raise DeployError(
                    f"{one.name} is on another compute than when it was onboarded",
                    where=f"instance {one.id}",
                    observed=f"it was on {one.host}, and is on {now}",
                    fix=f"nfvbed offboard --site {self._deployed.site.name}, and onboard it again",
                )
            if one.host not in computes:
                raise DeployError(
                    f"{one.name} is not on a compute that has {variant.name}",
                    where=f"instance {one.id}",
                    observed=f"it is on {one.host}; {variant.name} is on {', '.join(computes)}",
                    fix="Nova's scheduler has to have AggregateInstanceExtraSpecsFilter (nova-scheduler.conf), and the"
                    " flavor its property (openstack flavor show)",
                )


class RackCloud(ExistingCloud):
    """The cloud that kolla-ansible deployed for a rack; nfvbed is its administrator.

    Args:
        root: folder of the project.
        rack: what is on the machines.
    """

    def __init__(self, spec: CloudSiteSpec, root: Path, rack: DeployedRack) -> None:
        super().__init__(spec, root)
        self.rack = rack

    @property
    def folder(self) -> Path:
        """The folder with what is written down of the rack."""
        return self.rack.places.cloud

    @cached_property
    def connection(self) -> Connection:
        """The connection with the access that Kolla wrote."""
        return connect(self.rack.site.name, self.rack.places.clouds)

    @cached_property
    def accelerator(self) -> Accelerator:
        """The one that Nova is configured for on the computes; none: they differ."""
        return accelerators.of_nova(self.rack.site, self.rack.pinning.variants)

    def bring_up(self) -> None:
        """Make the networks and flavors that are missing, and check what a path needs."""
        contents.provide(self.connection, self.rack.site, self.rack.pinning, self.rack.flavors, self._placing)
        if self.rack.pinning.is_mixed:
            aggregates.provide(self.connection, self.rack.pinning)
        super().bring_up()

    def provide_flavor(self, flavor: Flavor) -> None:
        """Make a flavor of an experiment that is missing, for the same computes as those of files."""
        ownflavors.provide(self.connection, flavor, self._placing)

    @property
    def _placing(self) -> Mapping[str, str] | None:
        """Extra specs of all flavors, which say on which computes their instances are; None: on any."""
        return aggregates.ASKED_FOR if self.rack.pinning.is_mixed else None

    def networks_for(self, variant: Variant) -> PathNetworks:
        """Return the networks on the physical network of the variant's ports, and tunnels where all computes have any.

        Tunnels are between all computes.
        """
        found = path_networks(plane_of(variant))
        have = all(plane.neutron.has_tunnels for plane in self.rack.pinning.planes)
        return found if have else replace(found, tunnels=())

    def provide_tunnels(self, variant: Variant, names: Collection[str]) -> None:
        """Make tunnels that are missing."""
        contents.provide_tunnels(self.connection, names, self.rack.order.agent.tunnels)

    def computes_of(self, variant: Variant) -> tuple[str, ...]:
        """Return the computes that have the variant, in the site file's order."""
        return self.rack.pinning.computes_of(variant.name)

    def zones(self, variant: Variant) -> Mapping[str, str]:
        """Return a zone of each compute that has the variant, after making those that are missing."""
        return zones.provide_zones(self.connection, self.computes_of(variant))

    def host_of(self, one: PlacedInstance) -> str:
        """Return the compute that an instance is on now; empty: Nova has no such instance.

        Raises:
            OnboardError, UnsupportedError: Nova does not say.
        """
        with asking(f"instance {one.name}"):
            found = self.connection.compute.find_server(one.id)
        return "" if found is None else str(found.compute_host or found.hypervisor_hostname or "")

    def choose(self, compute: Compute) -> None:
        """Send nfvbed's instances to the computes of the variant; where all computes have one, to any."""
        if self.rack.pinning.is_mixed and isinstance(compute, RackCompute):
            aggregates.choose(self.connection, self.rack.pinning, compute.variant)

    @cached_property
    def computes(self) -> dict[str, str]:
        """Host hashes of the computes, by their names."""
        found = twins.describe(self.rack.site, self.rack.pinning.variants)
        return {name: twins.hash_of(one) for name, one in found.items()}

    def witnessed(self, handles: tuple[VnfHandle, ...]) -> tuple[VnfHandle, ...]:
        """Return the VNFs with the binding of their ports, the compute that each is on, and how it runs there."""
        return tuple(self._on_compute(one) for one in super().witnessed(handles))

    def _on_compute(self, handle: VnfHandle) -> VnfHandle:
        state = CloudVnfState.of(handle)
        found = {accelerators.of_guest(self.rack.site, one.host, one.id) for one in state.placed(handle.name)}
        accelerator = found.pop() if len(found) == 1 else Accelerator.NONE
        facts = {**handle.facts, ON_COMPUTE: ", ".join(state.hosts)}
        return handle.model_copy(update={"facts": facts, "accelerator": accelerator})

    def described(self, handles: tuple[VnfHandle, ...]) -> dict[str, Any]:
        """Return the rack's part of the rig; computes of pinned variants are described without their names.

        Computes that are alike have one hash: then nothing but the variant differs between two of them.
        """
        found = super().described(handles)
        if any(port.kind is PortKind.VF for one in handles for port in one.ports):
            found["networks"] = [*OF_FUNCTIONS.outside, *OF_FUNCTIONS.links]
        if self.rack.pinning.is_mixed:
            hosts = [host for one in handles for host in CloudVnfState.of(one).hosts]
            # Cores of this machine say nothing of the rack's.
            found |= {"arrangement": None, "computes": [self.computes.get(name, name) for name in hosts]}
        return found

    def compute(self, variant: Variant) -> Compute:
        """Return the rack's computes that have the variant."""
        return RackCompute(self._spec, self, variant)


def require_variant(rack: DeployedRack, variant: Variant) -> None:
    """Make sure that a rack has a variant.

    Raises:
        UnsupportedError: it has another.
    """
    if variant.name not in {one.name for one in rack.pinning.each}:
        raise UnsupportedError(
            f"site {rack.site.name} does not have variant {variant.name}",
            where=str(rack.places.journal),
            observed=f"{rack.pinning.name} is deployed",
            fix=f"nfvbed deploy {variant.name} --site {rack.site.name} --redeploy",
        )
