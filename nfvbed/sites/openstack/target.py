"""The OpenStack on which deployments are set up: nfvbed's own, or an existing one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from openstack.connection import Connection

from nfvbed.cloud.compute import Compute
from nfvbed.records import Accelerator, GeneratorPlace, PortKind, VnfHandle
from nfvbed.records.findings import Finding
from nfvbed.sites.openstack.paths import OWN, PathNetworks
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.descriptors.naming import CloudNames


class Target(ABC):
    """An OpenStack."""

    ours = True
    """Whether nfvbed runs it, and takes it down."""

    @property
    def networks(self) -> PathNetworks:
        """Networks that paths lie on."""
        return OWN

    def networks_for(self, variant: Variant) -> PathNetworks:
        """Return the networks of a variant's paths: as many as `networks` has."""
        return self.networks

    def computes_of(self, variant: Variant) -> tuple[str, ...]:
        """Return the computes on which instances of a variant can be, by Nova's names; none: they are not known."""
        return ()

    def computes_apart(self, variant: Variant) -> tuple[str, ...]:
        """Return the computes on which machines of one VNF can be apart: also one that takes no others' instances."""
        return self.computes_of(variant)

    def zones(self, variant: Variant) -> Mapping[str, str]:
        """Return an availability zone of each compute on which machines of a variant can be apart, by its name.

        Those that are missing are made.

        None: it has no such zones, and Nova alone decides.

        Raises:
            OnboardError, UnsupportedError: the cloud refuses them.
        """
        return {}

    def provide_tunnels(self, variant: Variant, names: Collection[str]) -> None:
        """Make tunnels of a variant's paths that are missing; idempotent."""
        return

    def provide_flavor(self, flavor: Flavor) -> None:
        """Make a flavor of an experiment that is missing, where the OpenStack is nfvbed's; idempotent.

        Raises:
            OnboardError: there is another of that name, or the cloud refuses it.
        """
        return

    def no_made_networks(self, variant: Variant) -> str:
        """Return why ports of networks that are made with a VNF are not bound for a variant; empty: they are."""
        return ""

    @property
    def accelerator(self) -> Accelerator:
        """The accelerator of its instances; None where it is not known."""
        return Accelerator.TCG

    @property
    def generator_place(self) -> GeneratorPlace:
        """Where the generator is, seen from its instances: of our own cloud on the same machine."""
        return GeneratorPlace.SAME_HOST

    def engine(self, kind: PortKind, built_here: Callable[[], str]) -> dict[str, str]:
        """Return name and version of the generator's engine, as a rig has them: of our own cloud this machine's nfvgen.

        Args:
            kind: kind of the generator's ports.
            built_here: returns the version of this machine's nfvgen.
        """
        return {"engine": f"nfvgen-{'xdp' if kind.is_kernel else 'dpdk'}", "version": built_here()}

    @property
    def inherits_port_security(self) -> bool:
        """Whether ports on these networks are without port security by themselves, and ours say nothing of it."""
        return False

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Where what is deployed on it is written down."""

    @property
    @abstractmethod
    def connection(self) -> Connection:
        """A connection to its APIs, while it runs."""

    @property
    def contents(self) -> CloudNames | None:
        """What it has when it is started, where that is known while it does not run; None: it has to be asked."""
        return None

    @property
    def flavor_specs(self) -> Mapping[str, Mapping[str, str]]:
        """Extra specs of flavors that are known without asking it, by Nova's names."""
        return {}

    @abstractmethod
    def runs(self) -> bool:
        """Return whether anything can be deployed on it now."""

    @abstractmethod
    def bring_up(self) -> None:
        """Start the OpenStack, where it is ours, and make sure that it runs.

        Raises:
            PrerequisiteError, DeployError: it does not come up.
        """

    @abstractmethod
    def compute(self, variant: Variant) -> Compute:
        """Return the compute on which instances of a variant run.

        Raises:
            UnsupportedError: it has no such data plane.
        """

    @abstractmethod
    def choose(self, compute: Compute) -> None:
        """Let instances come to this compute alone."""

    @abstractmethod
    def stop(self) -> bool:
        """Take the OpenStack down, where it is ours; return whether it was there."""

    def require_room(self, choice: VnfChoice, vnfs: int) -> None:
        """Make sure that so many VNFs can be onboarded, as far as that is known before.

        Raises:
            OnboardError: what is lacking.
        """
        return

    def witnessed(self, handles: tuple[VnfHandle, ...]) -> tuple[VnfHandle, ...]:
        """Return VNFs with how the cloud has attached them, where that is not known otherwise."""
        return handles

    def described(self, handles: tuple[VnfHandle, ...]) -> dict[str, Any]:
        """Return the OpenStack's part of the rig."""
        return {}

    @abstractmethod
    def topics(self) -> tuple[Finding, ...]:
        """Return the findings on the OpenStack; nothing is changed."""
