"""The sites devcloud and cloud: data planes are computes of an OpenStack, VNFs are instances on them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.tacker import console, journal, others
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.errors import ConfigurationError, DeployError, OnboardError, PrerequisiteError, UnsupportedError
from nfvbed.host.cores import coredistance
from nfvbed.host.cores.cputime import read_cpu
from nfvbed.host.fitness import support_of
from nfvbed.records import (
    Accelerator,
    CellRole,
    Deployment,
    GeneratorPlace,
    Support,
    VnfHandle,
    WorkThread,
)
from nfvbed.records.findings import Finding, PlainReport, SiteReport
from nfvbed.records.readings import Distances, Part, Reading, Unavailable
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.deployedchain import DeployedChain
from nfvbed.sites.disruption import Disruption, DisruptionReport, FlowShares
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.openstack import boots, guests, mobilecore, paths, storeddeployment, vnfs
from nfvbed.sites.openstack.deployment import CloudDeployment, CloudRequest
from nfvbed.sites.openstack.descriptorvnfs import owners_of
from nfvbed.sites.openstack.disruption import CloudControl, disrupt, require_disruptable
from nfvbed.sites.openstack.existing.cloud import ExistingCloud
from nfvbed.sites.openstack.existing.vnfs import ExistingVnfs
from nfvbed.sites.openstack.owncloud import OwnCloud
from nfvbed.sites.openstack.provider import VnfProvider
from nfvbed.sites.openstack.setting_up import CloudSetup
from nfvbed.sites.openstack.sidebyside import SCALING, ScaleControl, SideBySide, require_scalable
from nfvbed.sites.openstack.tackervnfs import TackerVnfs
from nfvbed.sites.openstack.target import Target
from nfvbed.sites.site import NOTHING_DEPLOYED, Site, misfits_of_path
from nfvbed.sites.verify.cloud import verify
from nfvbed.spec.layout import Layout, layout
from nfvbed.spec.site import CloudSiteSpec, DevcloudSiteSpec
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator
from nfvbed.vnfs.descriptors import hostfit
from nfvbed.vnfs.descriptors.descriptorfile import DescriptorVnf
from nfvbed.vnfs.descriptors.descriptorfit import DescriptorFit
from nfvbed.vnfs.descriptors.epa import Mismatch, mismatch_of, require_fit
from nfvbed.vnfs.descriptors.model import Flavour
from nfvbed.vnfs.descriptors.onboardable import OnboardableVnf
from nfvbed.vnfs.guest.machines import PathGuests
from nfvbed.vnfs.numa import Host


def open_site(spec: DevcloudSiteSpec, root: Path) -> "OpenstackSite":
    """Open the site of a file; nothing is changed yet, and no cloud is started."""
    project = open_project(root)
    flavors = [project.load_flavor(name) for name in project.flavor_names]
    target = OwnCloud(open_cloud(root, flavors, spec.hugepages_mib), spec.name, spec.computes)
    provider = TackerVnfs(spec.name, spec.onboarding, target, root)
    return OpenstackSite(spec.name, LabMachine(spec, root), target, provider)


def open_existing(spec: CloudSiteSpec, root: Path) -> "OpenstackSite":
    """Open the site of a cloud that exists already; nothing is asked of it yet."""
    target = ExistingCloud(spec, root)
    provider: VnfProvider
    if spec.existing is None:
        provider = TackerVnfs(spec.name, spec.onboarding, target, root)
    else:
        provider = ExistingVnfs(spec.name, spec.existing, target)
    return OpenstackSite(spec.name, LabMachine(spec, root), target, provider)


class OpenstackSite(Site):
    """An OpenStack on which one data plane at a time is deployed, that is: takes instances.

    Args:
        provider: makes its VNFs.
    """

    has_cloud = True

    def __init__(self, name: str, machine: LabMachine, target: Target, provider: VnfProvider) -> None:
        self.name = name
        self._machine = machine
        self._live: dict[str, CloudDeployment] = {}
        self._sides: dict[str, SideBySide] = {}
        self._reach(target, provider)

    def _reach(self, target: Target, provider: VnfProvider) -> None:
        """Use an OpenStack: the first one, or its successor."""
        self.renews = provider.renews
        self.descriptor_form = provider.form
        self._target = target
        self._provider = provider
        self._setting_up = CloudSetup(self.name, self._machine, target, provider)

    # What it is, and what it can.

    def facts(self) -> dict[str, Any]:
        """Return this machine's description: the generator runs on it, and a cloud of ours too."""
        return self._machine.facts()

    def examine(self, *, read_only: bool = True) -> SiteReport:
        """Return the report on the cloud."""
        return PlainReport(site=self.name, topics=self._target.topics())

    def probe(self, variant: Variant) -> Support:
        """Return whether the cloud has a compute for the variant, with these options."""
        return support_of(variant.name, lambda: self._target.compute(variant).probe(variant))

    def require_possible(
        self, variant: Variant, topology: str, choice: VnfChoice | None = None, role: CellRole = CellRole.SUBJECT
    ) -> None:
        """Check also the cloud's paths and VNFs, and the variant's compute with its options."""
        if role is not CellRole.SUBJECT:
            raise UnsupportedError(
                f"ceilings are not measured on site {self.name}",
                where=f"{role} of {variant.name}",
                observed="instances of the cloud are what bounds a result here",
                fix="ceilings: false; or measure them on site lab",
            )
        super().require_possible(variant, topology, choice)
        plan = layout(topology)
        self._provider.check(plan, choice)
        compute = self._compute_of(variant, plan)
        if choice is not None:
            self._provider.require_ports(compute, variant, choice, plan)

    def _compute_of(self, variant: Variant, plan: Layout) -> Compute:
        """Return the compute of a variant, after checking the variant's options.

        Raises:
            UnsupportedError: there is none, or it does not.
        """
        compute = self._target.compute(variant)
        compute.check(variant, plan)
        return compute

    def fit(self, variant: Variant, topology: str, choice: VnfChoice | None) -> tuple[Mismatch, ...]:
        """Compare also the descriptor with the flavor, and the flavor with what guests can have there."""
        bare = self._fit_bare(variant)
        if bare or (choice is None and topology == paths.BARE):
            return bare if choice is None else (*bare, *misfits_of_path(variant, topology, choice))
        found = super().fit(variant, topology, choice)
        if found or choice is None:
            return found
        return (*self._provider.fit(variant, choice), *self._room(variant, topology, choice))

    def _fit_bare(self, variant: Variant) -> tuple[Mismatch, ...]:
        """Compare a data plane alone, without a path on it."""
        try:
            self._compute_of(variant, layout(paths.BARE))
        except UnsupportedError as failure:
            return (mismatch_of(failure, "site"),)
        return ()

    def _room(self, variant: Variant, topology: str, choice: VnfChoice) -> Sequence[Mismatch]:
        vnfs = layout(topology).vnfs
        try:
            host = self.guest_host(variant, vnfs)
        except (UnsupportedError, ConfigurationError) as failure:
            return (mismatch_of(failure, "cores"),)
        left = self._find_left()
        if host is None or (left is not None and left.choice is not None):
            return ()  # what instances have left is for Nova to say
        machines = {name: hostfit.with_pages(one) for name, one in self._provider.machines(choice).items()}
        if machines:
            return hostfit.check_together(machines, host)
        flavor = hostfit.with_pages(choice.flavor)
        return hostfit.check(flavor, host, vnfs=vnfs, realtime_us=hostfit.realtime_share())

    def guest_host(self, variant: Variant, vnfs: int) -> Host | None:
        """Return this machine, where the variant's compute is on it: all flavors of that cloud have hugepages."""
        free_mib = self._target.compute(variant).guests_mib
        return None if free_mib is None else self._machine.guest_host(variant, vnfs, free_mib)

    def check(self, topology: str, vnf: VnfChoice) -> None:
        """Check the path, and look for the VNF's image."""
        self._provider.check(layout(topology), vnf)
        self.prepare(topology, vnf)

    def prepare(self, topology: str, vnf: VnfChoice) -> None:
        """Look for the VNF's image, and check its digest."""
        self._provider.prepare(vnf)

    def missing(self, topology: str, choice: VnfChoice) -> str:
        """Return which image is not there, and how to get it, before a cloud is started in vain."""
        try:
            self._provider.prepare(choice)
        except (PrerequisiteError, OnboardError) as failure:
            said = f"{failure.what} ({'; '.join(filter(None, (failure.where, failure.observed, failure.fix)))})"
            return f"the VNF cannot run here: {choice.vnf.name} ({choice.label}): {said}"
        except UnsupportedError:
            return ""  # it is refused by what it is, and not for a file
        return ""

    # Its life in a command, and what lasts from one to the next.

    def begin(self, *, many: bool = False) -> None:
        """Take this machine for this nfvbed, and remove what a killed one was onboarding."""
        self._machine.begin()
        self._setting_up.clear_abandoned()

    def close(self) -> None:
        """Take down what does not stay, and release the machine; the cloud runs on."""
        for live in list(self._live.values()):
            self.destroy(live.deployment)
        self._machine.close()

    def find_deployed(self) -> DeploymentRecord | None:
        """Find what an earlier command left on the cloud."""
        found = self._find_left()
        return None if found is None else found.deployed(self._target.folder, vnfs.placed(found.deployment.vnfs))

    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
    ) -> Deployment:
        """Start the cloud if it does not run, onboard the VNFs, and wait until frames come through them."""
        plan = layout(topology)
        self.require_possible(variant, topology, vnf, role)
        self.begin()
        found = self._find_left()
        if found is None or found.choice is None:
            # A data plane without VNFs has no instances that another compute would lack.
            return self._add(self._setting_up.from_nothing(CloudRequest(variant, plan, vnf)))
        deployed = found.deployed(self._target.folder, vnfs.placed(found.deployment.vnfs))
        if not deployed.is_same(variant, topology):
            raise deployed.in_the_way(f"{variant.name} ({topology})")
        deployed.require_same(variant, topology, vnf)
        return self._add(self._setting_up.beside(found))

    def deploy_to_stay(self, variant: Variant, topology: str, vnf: VnfChoice | None = None) -> tuple[Deployment, bool]:
        """Deploy the data plane, with the topology's VNFs; without VNFs there is no path on it yet."""
        plan = layout(topology)
        if topology == paths.BARE:
            self._compute_of(variant, plan)
        else:
            self.require_possible(variant, topology, vnf)
        self.begin()
        existing = self.find_deployed()
        if existing is not None and (existing.vnf is not None or existing.is_same(variant, topology)):
            self.foresee_onboard(existing, variant, topology, vnf)
            return existing.deployment, True
        live = self._setting_up.from_nothing(CloudRequest(variant, plan, vnf if plan.vnfs else None))
        return self._stay(live), False

    def onboard(
        self, variant: Variant, topology: str, vnf: VnfChoice, tell: Callable[[str], None]
    ) -> tuple[Deployment, bool]:
        """Onboard VNFs through Tacker so that they stay; the data plane is deployed where it is not yet."""
        return self.deploy_to_stay(variant, topology, vnf)

    def foresee_onboard(
        self, existing: DeploymentRecord, variant: Variant, topology: str, vnf: VnfChoice | None
    ) -> str:
        """Refuse what is beside VNFs that are onboarded; a data plane without VNFs makes room for another one."""
        if existing.vnf is None:
            return "" if existing.variant == variant else f"{existing.variant.name}, which has no VNFs, would make room"
        if not existing.is_same(variant, topology):
            raise existing.in_the_way(f"{variant.name} ({topology})")
        existing.require_same(variant, topology, vnf)
        return ""

    def fit_networks(self, variant: Variant, name: str, flavour: Flavour) -> tuple[Mismatch, ...]:
        """Ask the variant's compute."""
        return self._setting_up.given.fit_networks(variant, name, flavour)

    def fit_descriptor(self, variant: Variant, found: OnboardableVnf) -> DescriptorFit:
        """Compare a descriptor with the variant, and its names with those of the cloud."""
        bare = self._fit_bare(variant)
        return DescriptorFit(bare) if bare else self._setting_up.given.fit(variant, found)

    def onboard_descriptor(self, variant: Variant, found: OnboardableVnf, tell: Callable[[str], None]) -> DescriptorVnf:
        """Onboard a VNF through the API that takes its descriptor; it is on no path."""
        fit = self.fit_descriptor(variant, found)
        require_fit(fit.mismatches)
        for note in fit.notes:
            tell(note)
        self.begin()
        left = self._find_left()
        if left is None or left.variant != variant:
            self.deploy_to_stay(variant, paths.BARE)
        self._target.bring_up()
        return self._setting_up.given.onboard(found, tell)

    def offboard_descriptor(self, name: str, tell: Callable[[str], None]) -> None:
        """Remove the VNF through Tacker."""
        self.begin()
        self._setting_up.given.offboard(name, tell)

    def scale(self, deployment: Deployment, vnfs: int) -> Deployment:
        """Refuse scaling: two forwarders between the same two networks are a loop."""
        raise paths.refuse_scaling(deployment, vnfs, self.name, self._target.networks.outside)

    def foresee_scale(self, deployment: Deployment, vnfs: int) -> str:
        """Refuse scaling, as `scale`."""
        raise paths.refuse_scaling(deployment, vnfs, self.name, self._target.networks.outside)

    def dead_vnfs(self, deployment: Deployment) -> tuple[str, ...]:
        """Return the names of VNFs whose instances do not run."""
        return vnfs.dead(self._setting_up.status_of_instance, deployment.vnfs)

    def consoles(self, deployment: Deployment, lines: int) -> dict[str, list[str]]:
        """Return what Nova has of the instances' consoles."""
        instances, connection = vnfs.instances(deployment.vnfs), self._target.connection
        return {f"{one.name} on {one.host}": console.last_lines(connection, one.id, lines) for one in instances}

    def heal(self, deployment: Deployment) -> Deployment:
        """Heal, through Tacker, the VNFs whose instances do not run, and send frames through."""
        self.begin()
        found = self._require_left(deployment)
        healed = self._setting_up.heal(found, self.dead_vnfs(deployment))
        return self._stay(healed)

    def offboard(self, deployment: Deployment) -> Deployment:
        """Remove the VNFs through Tacker; the data plane stays deployed, without a path."""
        self.begin()
        found = self._require_left(deployment)
        if deployment.id in self._live:
            self.destroy(deployment)
        bare = self._setting_up.offboard(found)
        storeddeployment.save(self._target.folder, bare)
        return bare.deployment

    def take_down(self, *, everything: bool = False) -> tuple[str, ...]:
        """Take a cloud of ours down with all that is on it; from a foreign cloud remove what was onboarded."""
        self._machine.begin()
        if not self._target.ours:
            return self._setting_up.clear(everything=everything) or (NOTHING_DEPLOYED,)
        self.require_nothing_of_others()
        return ("the cloud is taken down",) if self._target.stop() else (NOTHING_DEPLOYED,)

    def require_nothing_of_others(self) -> None:
        """Refuse to take a cloud down on which others have something, unless that may go with it.

        Raises:
            BusyError: they have, or the cloud cannot be asked.
        """
        folder = self._target.folder
        if self._target.runs() and not self.evicts:
            others.require_none(self.name, lambda: self._target.connection, journal.of(folder), owners_of(folder))

    def foresee_take_down(self) -> tuple[str, ...]:
        """Return whether there is a cloud, or anything of ours on it."""
        if not self._target.ours:
            return self._setting_up.foresee_clear() or (NOTHING_DEPLOYED,)
        self.require_nothing_of_others()
        return ("would take the cloud down",) if self._target.runs() else (NOTHING_DEPLOYED,)

    def destroy(self, deployment: Deployment) -> None:
        """End what this command has beside the cloud, and the VNFs unless they stay; idempotent."""
        live = self._live.pop(deployment.id, None)
        self._sides.pop(deployment.id, None)
        if live is not None:
            self._setting_up.take_down(live)

    def verify(self, deployment: Deployment) -> None:
        """Check that switch and instances live; the switch first."""
        live = self._find(deployment)
        live.compute.verify()
        vnfs.verify(self._setting_up.status_of_instance, live.handles)

    def inspect(self, deployed: DeploymentRecord) -> tuple[Finding, ...]:
        """Ask the cloud's APIs, and the machine of the compute that is deployed."""
        found = self._find_left()
        if found is None:
            raise DeployError("nothing is deployed", where=self.name, fix="nfvbed deploy")
        compute = self._target.compute(found.variant)
        expected, commands = compute.expected(found.variant, found.arrangement), compute.reading()
        reached = {} if commands is None else {compute.host: commands}
        return verify(self._target.connection, (expected,), reached, compute.findings)

    def keep_findings(self, deployed: DeploymentRecord, findings: tuple[Finding, ...]) -> None:
        """Write findings beside the deployment."""
        found = self._find_left()
        if found is not None and found.deployment.id == deployed.deployment.id:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            verified = storeddeployment.Verification(at=now, findings=findings)
            storeddeployment.save(self._target.folder, replace(found, verified=verified))

    def rig(self, deployment: Deployment) -> dict[str, Any]:
        """Return site, compute, generator, cores and VNFs; for a foreign cloud also which one it is."""
        live = self._find(deployment)
        kind = live.deployment.ports[0].kind
        return {
            "site": self.name,
            "compute": live.compute.host,
            "port_kind": kind.value,
            "arrangement": live.arrangement.model_dump(mode="json"),
            "generator": self._target.engine(kind, self._machine.generator_version),
            **_with_gateway(self._setting_up.described(live.wanted.choice), live),
            **self._target.described(live.handles),
        }

    def path_guests(self, deployment: Deployment) -> PathGuests | Unavailable:
        """Return the instances, whose agents are asked through the libvirt of their computes."""
        live = self._find(deployment)
        return guests.path_guests(self._target.connection, live.compute, live.wanted.choice, live.instances)

    @property
    def generator_place(self) -> GeneratorPlace:
        """The place that the cloud states."""
        return self._target.generator_place

    def open_generator(self, deployment: Deployment) -> Generator:
        """Open the generator; one that has probed the path is reused."""
        return self._find(deployment).open_generator()

    def look(self, deployment: Deployment, *parts: Part, threads: Sequence[WorkThread] | None = None) -> Reading:
        """Read switch and instances, and CPU time from this machine's kernel, which runs both."""
        live = self._find(deployment)

        def now() -> tuple[WorkThread, ...]:
            return live.compute.threads(live.instances)

        readers: dict[Part, Callable[[], Any]] = {
            Part.THREADS: now,
            Part.CPU: lambda: read_cpu(now() if threads is None else threads),
            Part.DISTANCES: lambda: self._distances(live),
            Part.COUNTERS: lambda: (
                live.compute.counters() or Unavailable("this compute's switch counts nothing itself")
            ),
            Part.HOPS: live.hops,
        }
        if live.compute.hidden:
            # What is left is the CPU time of this machine's own threads: the generator's.
            readers = {Part.CPU: readers[Part.CPU]}
        return Reading.of(parts, readers, live.compute.hidden)

    def require_disruptable(self, deployment: Deployment, wanted: Disruption) -> None:
        """Refuse respawns that nobody does, instances that cannot be killed from here, and loops side by side."""
        live = self._find(deployment)
        if wanted.operation in SCALING:
            require_scalable(live)
            return
        if wanted.operation is LifeCycleOperation.RESPAWN and live.wanted.choice is not None:
            self._provider.require_monitored(live.wanted.choice)
        require_disruptable(live, wanted)

    def prepare_disruption(self, deployment: Deployment, wanted: Disruption) -> FlowShares | None:
        """Have Tacker scale the VNF to the instances that scaling out or in begins with."""
        if wanted.operation not in SCALING:
            return None
        return self._side_by_side(self._find(deployment)).prepare(wanted.operation)

    def settle_disruption(self, deployment: Deployment) -> None:
        """Have Tacker scale the VNF in to its one instance."""
        found = self._sides.pop(deployment.id, None)
        if found is not None:
            found.settle()
            self._keep(self._find(deployment))

    def _side_by_side(self, live: CloudDeployment) -> SideBySide:
        """Return the instances of a deployment's VNF, as they are known since its first scaling."""
        owner = live.deployment.id

        def scale(first: VnfHandle, delta: int) -> tuple[VnfHandle, ...]:
            return self._provider.scale(owner, live.wanted, first, delta)

        return self._sides.setdefault(owner, SideBySide(live, ScaleControl(scale, self._printed)))

    def _printed(self, instance: str) -> Sequence[str]:
        return console.last_lines(self._target.connection, instance, boots.CONSOLE_LINES)

    def _keep(self, live: CloudDeployment) -> None:
        """Write a deployment that stays down as it is now."""
        if live.stays:
            self._stay(live)

    def disrupt(self, deployment: Deployment, wanted: Disruption) -> DisruptionReport:
        """Kill an instance, of which Tacker makes the VNF again, or scale it; switch and generator live on."""
        live = self._find(deployment)
        if wanted.operation in SCALING:
            return self._side_by_side(live).disrupt(wanted)

        def heal(dead: VnfHandle) -> VnfHandle:
            return self._provider.heal(deployment.id, live.wanted, 0, dead)

        def respawned(dead: VnfHandle, noticed: Callable[[], None]) -> VnfHandle:
            return self._provider.respawned(deployment.id, live.wanted, dead, noticed)

        try:
            control = CloudControl(self._setting_up.status_of_instance, heal, respawned, self._printed)
            return disrupt(live, wanted, control)
        finally:
            self._keep(live)

    def chain(self, deployment: Deployment) -> DeployedChain:
        """Return a fixed path: Neutron joins instances when they are made."""
        return DeployedChain.of(
            self.name, deployment, "its VNFs are instances: Neutron joined them when they were made"
        )

    def _distances(self, live: CloudDeployment) -> Distances | Unavailable:
        """Return distances between the switch's cores and the generator's; instances run anywhere."""
        if any(one.accelerator is Accelerator.TCG for one in live.handles):
            return Unavailable("emulated guests bound what comes through: it does not depend on the cores' distance")
        pairs = coredistance.pairs_of(live.arrangement)
        if not pairs:
            return Unavailable("the switch shares its core with all others")
        return {pair: coredistance.measure(pair, self._machine.root).one_way_ns for pair in pairs}

    def _find(self, deployment: Deployment) -> CloudDeployment:
        if deployment.id not in self._live:
            raise DeployError(
                "this deployment is not deployed",
                where=deployment.id,
                observed="destroyed, or never deployed by this nfvbed",
                fix="deploy it",
            )
        return self._live[deployment.id]

    def _find_left(self) -> storeddeployment.StoredDeployment | None:
        return storeddeployment.find(self._target.folder)

    def _require_left(self, deployment: Deployment) -> storeddeployment.StoredDeployment:
        found = self._find_left()
        if found is None or found.deployment.id != deployment.id or found.choice is None:
            raise DeployError(
                f"{deployment.variant} has no VNFs on site {self.name}", where=deployment.id, fix="nfvbed onboard"
            )
        return found

    def _add(self, live: CloudDeployment) -> Deployment:
        self._live[live.deployment.id] = live
        return live.deployment

    def _stay(self, live: CloudDeployment) -> Deployment:
        live.stays = True
        self._add(live)
        storeddeployment.save(
            self._target.folder,
            storeddeployment.StoredDeployment(
                live.deployment,
                live.wanted.variant,
                live.arrangement,
                live.wanted.choice,
                storeddeployment.since_now(),
                compute=live.compute.host if self._target.ours else "",
            ),
        )
        storeddeployment.done(self._target.folder)
        return live.deployment


def _with_gateway(described: dict[str, Any], live: CloudDeployment) -> dict[str, Any]:
    """Return the VNFs' part of the rig, with what carries a mobile core's bearers."""
    core = mobilecore.rig_of(live.handles)
    return {**described, "vnf": {**described["vnf"], **core}} if core else described
