"""What deployments are set up on: the OpenStack that nfvbed runs itself, or one that is there already."""

from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Any

from openstack.connection import Connection

from nfvbed.findings import Finding, State
from nfvbed.records import Accelerator, VnfHandle
from nfvbed.sites.openstack import access, enable
from nfvbed.sites.openstack.cloud import DevCloud
from nfvbed.sites.openstack.computes.catalogue import COMPUTES, compute_of
from nfvbed.sites.openstack.computes.compute import Compute
from nfvbed.sites.openstack.lines import StageLines
from nfvbed.sites.openstack.paths import OWN, PathNetworks
from nfvbed.sites.openstack.rest import CloudApi
from nfvbed.sites.openstack.services.settings import Secrets
from nfvbed.sites.openstack.status import look
from nfvbed.sites.openstack.tacker.connection import connect
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice


class Target(ABC):
    """An OpenStack."""

    ours = True
    """Whether nfvbed runs it, and takes it down."""

    @property
    def networks(self) -> PathNetworks:
        """Networks that paths lie on."""
        return OWN

    @property
    def accelerator(self) -> Accelerator:
        """Of its instances; none: it is not known."""
        return Accelerator.TCG

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
        """To its APIs; while it runs."""

    @abstractmethod
    def runs(self) -> bool:
        """Whether anything can be deployed on it now."""

    @abstractmethod
    def bring_up(self) -> None:
        """Let it run.

        Raises:
            PrerequisiteError, DeployError: it does not come up.
        """

    @abstractmethod
    def compute(self, variant: Variant) -> Compute:
        """Return where instances of a variant run.

        Raises:
            UnsupportedError: it has no such data plane.
        """

    @abstractmethod
    def choose(self, compute: Compute) -> None:
        """Let instances come to this compute alone."""

    @abstractmethod
    def stop(self) -> bool:
        """Take it down, where it is ours; return whether it was there."""

    def require_room(self, choice: VnfChoice, vnfs: int) -> None:
        """Make sure that so many VNFs can be onboarded, as far as that is known before.

        Raises:
            OnboardError: what is lacking.
        """
        return

    def witnessed(self, handles: tuple[VnfHandle, ...]) -> tuple[VnfHandle, ...]:
        """Return VNFs with what the cloud shows of how they are attached, where that is not known anyhow."""
        return handles

    def described(self, handles: tuple[VnfHandle, ...]) -> dict[str, Any]:
        """Return what it adds to the rig."""
        return {}

    @abstractmethod
    def topics(self) -> tuple[Finding, ...]:
        """Say of it what there is to know; nothing is changed."""


class OwnCloud(Target):
    """The devcloud of a project."""

    def __init__(self, cloud: DevCloud) -> None:
        self._cloud = cloud

    @property
    def folder(self) -> Path:
        """Gone with the cloud."""
        return self._cloud.places.run

    @cached_property
    def connection(self) -> Connection:
        """As the administrator."""
        return connect(access.NAME, self._cloud.places.clouds)

    def runs(self) -> bool:
        """Whether its controller runs."""
        return self._cloud.find_node() is not None

    def bring_up(self) -> None:
        """Start it, where not every process of it runs."""
        if not look(self._cloud).complete:
            self._cloud.start(StageLines())

    def compute(self, variant: Variant) -> Compute:
        """The one of the variant's data plane."""
        return compute_of(variant, self._cloud)

    def choose(self, compute: Compute) -> None:
        """Disable Nova's compute services of all others."""
        password = Secrets.open(self._cloud.places.secrets)("admin")
        enable.only(CloudApi(password), compute.host)

    def stop(self) -> bool:
        """Take all of it down."""
        return self._cloud.stop()

    def topics(self) -> tuple[Finding, ...]:
        """Whether it runs, what it takes, and which data planes have a compute."""
        found = look(self._cloud)
        state = State.PRESENT if found.complete else State.LIMITED if found.running else State.ABSENT
        runs = f"runs: {len(found.services)} processes, {found.memory_mib} MiB" if found.running else "does not run"
        if found.running and found.missing:
            runs += f"; missing: {', '.join(found.missing)}"
        root = f"{len(found.differences)} are not of the tested set" if self._cloud.root.ready() else "not unpacked yet"
        return (
            Finding(topic="cloud", state=state, summary=runs, probed="asked it", fix="make devcloud"),
            Finding(topic="packages", state=State.PRESENT, summary=root, probed="read"),
            Finding(topic="computes", state=State.PRESENT, summary=", ".join(COMPUTES), probed="read"),
        )
