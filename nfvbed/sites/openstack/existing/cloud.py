"""An existing cloud, used with a project's own credentials; nothing of it is set up."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from openstack.connection import Connection

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.novaflavor import PREFIX, extra_specs
from nfvbed.cloud.tacker.connection import connect_as_named, tacker_client
from nfvbed.cloud.tacker.legacy import require_admin
from nfvbed.cloud.tacker.served import ServedApis, probe
from nfvbed.errors import NfvbedError, OnboardError, UnsupportedError
from nfvbed.records import Accelerator, GeneratorPlace, PortKind, VnfHandle
from nfvbed.records.findings import Finding, State
from nfvbed.sites.openstack.existing.compute import ExistingCompute
from nfvbed.sites.openstack.existing.ends import GeneratorEnds, ends_of
from nfvbed.sites.openstack.existing.path import ExistingPath
from nfvbed.sites.openstack.existing.survey import ADMIN, Survey
from nfvbed.sites.openstack.paths import PathNetworks
from nfvbed.sites.openstack.target import Target
from nfvbed.sites.openstack.vnfs import CloudVnfState
from nfvbed.spec.site import CloudSiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice

_PRIVATE_DIRECTORY = Path(".nfvbed") / "clouds"
_NOT_SHOWN = f"not shown to these credentials: it takes the role {ADMIN}"


class ExistingCloud(Target):
    """The cloud that a site's file names."""

    ours = False

    def __init__(self, spec: CloudSiteSpec, root: Path) -> None:
        self._spec = spec
        self._root = root

    @property
    def folder(self) -> Path:
        """The site's own folder: another site's file may name the same cloud."""
        return (self._root / _PRIVATE_DIRECTORY / self._spec.name).resolve()

    @cached_property
    def connection(self) -> Connection:
        """The connection with the credentials of the user's `clouds.yaml`."""
        return connect_as_named(self._spec.os_cloud, self._spec.region)

    @property
    def generator_place(self) -> GeneratorPlace:
        """On a host of its own where the site names one; else on this machine, and what else is there is not said."""
        return GeneratorPlace.NOT_KNOWN if self._spec.generator is None else GeneratorPlace.OTHER_HOST

    def engine(self, kind: PortKind, built_here: Callable[[], str]) -> dict[str, str]:
        """Return the engine where the generator is."""
        return self.ends.engine(built_here)

    @cached_property
    def ends(self) -> GeneratorEnds:
        """The generator's."""
        return ends_of(self._spec)

    @cached_property
    def survey(self) -> Survey:
        """What is looked at."""
        return Survey(self._spec, self.connection)

    @cached_property
    def path(self) -> ExistingPath:
        """The path through what runs already."""
        return ExistingPath(self._spec, self.survey)

    @property
    def networks(self) -> PathNetworks:
        """The networks that the file names."""
        return PathNetworks(self._spec.networks, self._spec.links)

    @property
    def accelerator(self) -> Accelerator:
        """The accelerator that the file states."""
        return self._spec.accelerator or Accelerator.NONE

    @property
    def inherits_port_security(self) -> bool:
        """Whether ports on the networks are without port security by themselves."""
        return self.survey.require_ports_without_security()

    @cached_property
    def apis(self) -> ServedApis:
        """The APIs that its Tacker has; asked once."""
        return probe(tacker_client(self.connection))

    def runs(self) -> bool:
        """True: the cloud is not nfvbed's to start or stop."""
        return True

    def bring_up(self) -> None:
        """Make sure that the cloud answers, and has what the path needs.

        Raises:
            PrerequisiteError, UnsupportedError: it has not; with the role where one is missing.
        """
        self.survey.require_services()
        if self._spec.onboarding == "none":
            self.survey.networks()
            self.path.require()
            return
        self.apis.require(self._spec.onboarding)
        if self._spec.onboarding == "legacy":
            require_admin(self.connection)
        self.survey.require_ports_without_security()

    def compute(self, variant: Variant) -> Compute:
        """Return the cloud's data plane, as it is."""
        return ExistingCompute(self._spec, self.ends, variant, lambda: self.path.end_macs())

    def choose(self, compute: Compute) -> None:
        """Do nothing: the cloud decides where instances run."""

    def stop(self) -> bool:
        """Leave the cloud running: it is not nfvbed's."""
        return False

    def require_room(self, choice: VnfChoice, vnfs: int) -> None:
        """Make sure that so many VNFs can be onboarded: their flavor, and the project's quota.

        Raises:
            OnboardError: there is no such flavor, or the quota is too small.
        """
        flavor = choice.flavor
        name = PREFIX + flavor.name
        if self.survey.flavor(name) is None:
            properties = " ".join(f"--property {key}={value}" for key, value in extra_specs(flavor).items())
            raise OnboardError(
                f"cloud {self._spec.os_cloud} has no flavor {name} that this project sees",
                where="flavors of the experiment" if choice.own_flavor else f"flavors/{flavor.name}.yml",
                observed="Tacker makes instances of a flavor that is there",
                fix=f"openstack flavor create {name} --vcpus {flavor.vcpus} --ram {flavor.memory_mib} --disk"
                f" {flavor.disk_gib} {properties} (takes the role {ADMIN}), or another --flavor",
            )
        needed = {"instances": vnfs, "total_cores": vnfs * flavor.vcpus, "total_ram": vnfs * flavor.memory_mib}
        lacking = list(self.survey.lacking_quota(needed))
        if lacking:
            raise OnboardError(
                f"the quota of project {self.survey.identity.project_name} is too small",
                where=f"{vnfs} VNFs of flavor {name}",
                observed="; ".join(lacking),
                fix=f"remove instances of yours, or a larger quota (openstack quota set, which takes the role {ADMIN})",
            )

    def witnessed(self, handles: tuple[VnfHandle, ...]) -> tuple[VnfHandle, ...]:
        """Return the VNFs with what Neutron shows of their ports; administrators see how each was bound."""
        return tuple(self._witnessed(one) for one in handles)

    def _witnessed(self, handle: VnfHandle) -> VnfHandle:
        ports: list[Any] = []
        for instance, on_path in CloudVnfState.of(handle).path_ports:
            listed = {str(one.id): one for one in self.survey.ports(device_id=instance)}
            ports += [listed.get(one.id) for one in on_path]
        kinds = [str(getattr(one, "binding_vif_type", None) or _NOT_SHOWN) for one in ports]
        return handle.model_copy(update={"facts": {**handle.facts, "vif_types": kinds}})

    def described(self, handles: tuple[VnfHandle, ...]) -> dict[str, Any]:
        """Return the cloud's part of the rig: which cloud and networks, and how ports were bound, if shown.

        A generator that is not nfvgen is named in its place.
        """
        host = self._spec.generator
        other: dict[str, Any] = {}
        if host is not None and host.trex:
            who_counts = {"software": True} if host.trex.software else {}
            other = {"generator": {"engine": "trex", "version": "see trials", **who_counts}}
        return {
            **other,
            "cloud": self._spec.os_cloud,
            "region": self._spec.region,
            "networks": [*self._spec.networks, *self._spec.links],
            "devices": self.ends.named,
            "destination_macs": self._spec.destination_macs,
            "vif_types": [handle.facts.get("vif_types", []) for handle in handles],
        }

    def topics(self) -> tuple[Finding, ...]:
        """Return whether the cloud answers, who the credentials are, and whether path and devices are there."""
        return tuple(self._topic(*one) for one in self._topics())

    def _topics(self) -> tuple[tuple[str, Any], ...]:
        def path() -> str:
            if self._spec.onboarding == "none":
                return self.path.shown()
            self.apis.require(self._spec.onboarding)
            inherited = "none" if self.inherits_port_security else "turned off for each port"
            return f"VNFs through Tacker ({self._spec.onboarding}); port security: {inherited}"

        def ports() -> str:
            self.ends.require()
            return ", ".join(self.ends.named)

        return (
            ("cloud", lambda: f"{self._spec.os_cloud} answers: {', '.join(self.survey.require_services())}"),
            ("project", lambda: f"{self.survey.identity.project_name}, roles {', '.join(self.survey.identity.roles)}"),
            ("networks", lambda: ", ".join(str(one.name) for one in self.survey.networks())),
            ("path", path),
            ("generator's devices", ports),
        )

    def _topic(self, name: str, look: Any) -> Finding:
        try:
            return Finding(topic=name, state=State.PRESENT, summary=look(), probed="asked it")
        except NfvbedError as failure:
            observed = f"{failure.what}: {failure.observed}" if failure.observed else failure.what
            return Finding(topic=name, state=State.ABSENT, summary=observed, probed="asked it", fix=failure.fix)


def refuse_onboarded(site: str, what: str) -> UnsupportedError:
    """Return the error for changing VNFs that run already: they are not nfvbed's."""
    return UnsupportedError(
        f"instances of site {site} are not nfvbed's to {what}",
        where="onboarding: none",
        observed="they run already, and are measured as they are",
        fix="do it with the tools that made them; nfvbed destroy forgets the path",
    )
