"""The interface of a site: where data planes are deployed. The lab is one; clouds are others.

Nothing here is about a host. A site that is one says so by its `host_view`; what a site cannot do is refused with the
reason, and so are the verbs below that are not abstract, unless a site has them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nfvbed.dataplanes.connections import ConnectionTracker
from nfvbed.dataplanes.reader import CounterReader
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable
from nfvbed.dataplanes.wiring import require_path
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import (
    CellRole,
    Deployment,
    GeneratorPlace,
    GeneratorPort,
    QualityWarning,
    Readiness,
    RenewedPart,
    Support,
    WorkThread,
)
from nfvbed.records.findings import Finding, PlainReport, SiteReport, State
from nfvbed.records.preparation import TopicPlan
from nfvbed.records.readings import Part, Reading, Unavailable
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.deployedchain import DeployedChain
from nfvbed.sites.disruption import Disruption, DisruptionReport, FlowShares
from nfvbed.sites.ownmachine import Boot
from nfvbed.sites.stages import LoggedProgress, Observer, StagedCloud
from nfvbed.spec.commands import TracedPath, trace_command
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator
from nfvbed.units import MIN_FRAME_SIZE_BYTES
from nfvbed.vnfs.descriptors.descriptorfile import DescriptorVnf
from nfvbed.vnfs.descriptors.descriptorfit import DescriptorFit
from nfvbed.vnfs.descriptors.epa import Mismatch, mismatch_of
from nfvbed.vnfs.descriptors.model import Flavour
from nfvbed.vnfs.descriptors.onboardable import OnboardableVnf

if TYPE_CHECKING:
    # A module that asks for a host imports what it is made of; the interface needs nothing of it.
    from nfvbed.sites.hostview import HostView
    from nfvbed.vnfs.guest.machines import PathGuests
    from nfvbed.vnfs.numa import Host

NOTHING_DEPLOYED = "nothing is deployed on this host"


class Site(ABC):
    """A place that can run variants.

    A command opens it, takes it with `begin`, and lets go of it with `close`.
    """

    name: str
    renews: RenewedPart = RenewedPart.DEPLOYMENT
    """What is set up again for each visit to a cell: what lasts from one visit to the next can make them alike."""

    evicts: bool = False
    """Whether what others have on a cloud that is taken down goes with it; else it is refused."""
    observer: Observer = LoggedProgress()
    """Is shown what takes stages, where anything does."""
    has_cloud: bool = False
    """Whether it has a cloud that can be compared with what a variant says (`inspect`)."""
    descriptor_form: str = "legacy"
    """What VNFs of several machines are described in for it: `legacy`, or `sol` (packages)."""

    # Its optional parts.

    def own_machine(self) -> Boot | None:
        """Return what boots the machine that this site's commands run in; None: they run here."""
        return None

    def staged_cloud(self) -> StagedCloud | None:
        """Return the cloud that stages make of this site's machines; None: variants are deployed singly."""
        return None

    def standing_variants(self) -> tuple[str, ...]:
        """Return the names of the data planes that are on it already, where a command changes none; empty: it does."""
        return ()

    # What it is, and what it can.

    def require_open(self) -> None:
        """Refuse a site on which nothing can run as it is: it has optional parts alone.

        Raises:
            NfvbedError: with the reason.
        """
        return

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return the site's description; its hash is the host hash."""

    def examine(self, *, read_only: bool = True) -> SiteReport:
        """Report what there is for packet work, topic by topic; a site that is no host has its own description.

        Args:
            read_only: change nothing; else what only a trial shows may be tried, for a moment.
        """
        summary = f"site {self.name} is no host: it has no kernel, cores or NICs that could be examined"
        topics = [Finding(topic="host", state=State.ABSENT, summary=summary, probed="asked the site")]
        for name, value in self.facts().items():
            topics.append(Finding(topic=name, state=State.PRESENT, summary=str(value), probed="asked the site"))
        return PlainReport(site=self.name, topics=tuple(topics))

    def plan_preparation(self) -> tuple[TopicPlan, ...]:
        """Return what `nfvbed doctor --prepare` would set on the host against what disturbs measuring.

        Raises:
            UnsupportedError: it is no host of ours.
        """
        raise self._cannot("prepare a host", self.name, "run nfvbed doctor --prepare on the machine that measures")

    @abstractmethod
    def probe(self, variant: Variant) -> Support:
        """Return whether this site can run the variant, and if not, why."""

    def require(self, variant: Variant) -> Support:
        """Probe a variant before it is deployed; never while something is deployed, which it would disturb.

        Raises:
            UnsupportedError, PrerequisiteError: this site cannot run it; with the probe's reason and fix.
        """
        support = self.probe(variant)
        if support.readiness is Readiness.UNSUPPORTED:
            raise UnsupportedError(f"{variant.name} cannot run here", observed=support.reason, fix=support.fix)
        return support

    def require_possible(
        self, variant: Variant, topology: str, choice: VnfChoice | None = None, role: CellRole = CellRole.SUBJECT
    ) -> None:
        """Refuse what is not possible here, judged by files alone; nothing is asked, and nothing changed.

        A dry run, a check and a deployment ask this, and so say the same.

        Args:
            topology: name of its layout.

        Raises:
            UnsupportedError, OnboardError: with the reason.
        """
        if role is CellRole.SUBJECT:
            require_path(variant, topology, choice)
        if choice is not None and choice.row is not None and not self.has_cloud:
            failure = UnsupportedError(
                f"a VNF of several machines does not run on site {self.name}",
                where=f"{choice.vnf.name} ({choice.label})",
                observed=f"its machines {', '.join(choice.row.machines)} are a cloud's, each on a compute of its own",
                fix="a rack, as the one in a box (--site box)",
            )
            failure.of_vnf = True
            raise failure

    def fit(self, variant: Variant, topology: str, choice: VnfChoice | None) -> tuple[Mismatch, ...]:
        """Compare VNF, flavor, variant and site, as `require_possible` does and beyond: descriptor, memory, cores.

        Nothing is changed. What onboards or deploys at a user's word asks this first, and goes on where it is empty.

        Raises:
            ConfigurationError: a file is not valid.
        """
        try:
            self.require_possible(variant, topology, choice)
        except (UnsupportedError, OnboardError) as failure:
            return misfits_of_path(variant, topology, choice) or (mismatch_of(failure, "site"),)
        return ()

    def guest_host(self, variant: Variant, vnfs: int) -> "Host | None":
        """Return the host of virtual machines on a variant; None: they run on another machine.

        Raises:
            UnsupportedError, ConfigurationError: it has too few cores for switch, generator and VNFs.
        """
        return None

    def check(self, topology: str, vnf: VnfChoice) -> None:
        """Probe the VNFs of a topology and their files, whatever data plane they will be on.

        Raises:
            UnsupportedError: this site cannot run them; with the probe's reason and fix.
            PrerequisiteError, OnboardError: as `prepare`.
        """
        raise self._cannot("run VNFs", vnf.label)

    def prepare(self, topology: str, vnf: VnfChoice) -> None:
        """Prepare what the VNFs of a topology are started from, before anything is set up.

        Raises:
            UnsupportedError: this site has no VNFs.
            PrerequisiteError: a file of theirs is not there; with its place and how to get it.
            OnboardError: one is not what it should be.
        """
        raise self._cannot("run VNFs", vnf.label)

    def missing(self, topology: str, choice: VnfChoice) -> str:
        """Return what VNFs need and lack, as far as that is known before anything is deployed; empty: nothing.

        Args:
            topology: name of its layout.
        """
        return ""

    def begin_round(self, number: int) -> None:
        """Prepare the site for a round of a run (from 1); most do nothing. Errors are as of `deploy`."""
        return

    # Its life in a command, and what lasts from one to the next.

    @abstractmethod
    def begin(self, *, many: bool = False) -> None:
        """Take the site for this nfvbed and remove what killed ones left; idempotent.

        Args:
            many: whether several deployments will follow; what the next one needs may then be kept until `close`.

        Raises:
            PrerequisiteError: it may not.
            BusyError: another nfvbed is at work.
        """

    @abstractmethod
    def close(self) -> None:
        """Destroy what does not stay, and release the site; idempotent."""

    def find_deployed(self) -> DeploymentRecord | None:
        """Find what an earlier command left deployed; None: nothing is, or nothing can outlive a command."""
        return None

    def deploy_to_stay(self, variant: Variant, topology: str, vnf: VnfChoice | None = None) -> tuple[Deployment, bool]:
        """Set data plane and VNFs up so that they outlive nfvbed.

        Returns:
            The deployment, and whether all of it was deployed already.

        Raises:
            UnsupportedError: nothing can outlive a command on this site.
            BusyError: another nfvbed is at work, or another deployment is running.
        """
        fix = f"{self._traced(variant.name, topology, vnf)} sets up its own, as nfvbed run does"
        raise self._cannot("leave a deployment behind", variant.name, fix)

    def onboard(
        self, variant: Variant, topology: str, vnf: VnfChoice, tell: Callable[[str], None]
    ) -> tuple[Deployment, bool]:
        """Start VNFs on a data plane so that both outlive nfvbed; one without ports for them is set up again.

        Args:
            topology: name of its layout; one with VNFs.
            tell: is called with what is set up again.

        Returns:
            As `deploy_to_stay`.

        Raises:
            UnsupportedError: nothing can outlive a command on this site.
            BusyError: another nfvbed is at work, or another deployment is running.
        """
        fix = f"{self._traced(variant.name, topology, vnf)} starts its own, as nfvbed run does"
        raise self._cannot("leave VNFs behind", vnf.label, fix)

    def foresee_onboard(
        self, existing: DeploymentRecord, variant: Variant, topology: str, vnf: VnfChoice | None
    ) -> str:
        """Refuse what `onboard` refuses beside a deployment; return what it would set up again (empty: nothing).

        Args:
            existing: the record that `find_deployed` returns.
            vnf: None: a descriptor's own, which is on no path, where another data plane is deployed.

        Raises:
            BusyError: another deployment is in the way.
            OnboardError: another VNF is running on it.
        """
        existing.require_room(variant, topology)
        if existing.deployment.topology == topology:
            existing.require_same(variant, topology, vnf)
            return ""
        return f"{variant.name} ({existing.deployment.topology}) would be set up again with ports for VNFs"

    def fit_networks(self, variant: Variant, name: str, flavour: Flavour) -> tuple[Mismatch, ...]:
        """Compare the networks that are made with a VNF with what a variant binds ports of; nothing is changed.

        Args:
            name: name of the VNF.
        """
        return ()

    def fit_descriptor(self, variant: Variant, found: OnboardableVnf) -> DescriptorFit:
        """Compare a user's descriptor with a variant and the site, as far as that can be asked; nothing is changed.

        Raises:
            UnsupportedError: nothing on this site takes descriptors.
            ConfigurationError: a part of the descriptor cannot be read.
        """
        fix = "a site that is an OpenStack (--site devcloud)"
        raise self._cannot("onboard descriptors", found.source, fix)

    def onboard_descriptor(self, variant: Variant, found: OnboardableVnf, tell: Callable[[str], None]) -> DescriptorVnf:
        """Onboard the VNF of a user's descriptor; its data plane is deployed where it is not yet. Idempotent.

        Raises:
            UnsupportedError: nothing on this site takes descriptors; or it cannot with these credentials.
            ConfigurationError: it does not fit, or names what the site does not have.
            OnboardError: it failed; with the chain of causes, and nothing of it is left.
        """
        fix = "a site that is an OpenStack (--site devcloud)"
        raise self._cannot("onboard descriptors", found.source, fix)

    def offboard_descriptor(self, name: str, tell: Callable[[str], None]) -> None:
        """Remove the VNF of a descriptor that was onboarded under a name.

        Raises:
            UnsupportedError: this site has none.
            UsageError: there is none of this name.
            OnboardError: not all of it could be removed.
        """
        raise self._cannot("offboard descriptors", name, "nfvbed offboard without a name")

    # VNFs of a deployment that an earlier command left.

    def scale(self, deployment: Deployment, vnfs: int) -> Deployment:
        """Change the number of VNFs side by side; return the changed deployment, which may be a new one.

        Raises:
            UnsupportedError: this site cannot, or not with this deployment's topology or data plane.
            DeployError, OnboardError: as `onboard`.
        """
        raise self._cannot("scale", f"{deployment.variant} to {vnfs} VNFs", "deploy a topology with as many VNFs")

    def foresee_scale(self, deployment: Deployment, vnfs: int) -> str:
        """Return a line that says what `scale` would do; nothing is changed.

        Raises:
            UnsupportedError: as `scale`.
        """
        raise self._cannot("scale", f"{deployment.variant} to {vnfs} VNFs", "deploy a topology with as many VNFs")

    def dead_vnfs(self, deployment: Deployment) -> tuple[str, ...]:
        """Return the names of the VNFs that have died; nothing is changed.

        Raises:
            UnsupportedError: this site cannot tell.
        """
        command = self._traced(deployment.variant, deployment.topology)
        raise self._cannot("find dead VNFs", deployment.variant, f"{command} shows whether frames come through")

    def heal(self, deployment: Deployment) -> Deployment:
        """Start dead VNFs of a deployment again; return the deployment once frames come through.

        Raises:
            UnsupportedError: this site cannot.
            SwitchDiedError: its data plane has died: VNFs are of no use.
            OnboardError, VnfDiedError: one does not come up again.
        """
        raise self._cannot("heal", deployment.variant, "nfvbed destroy, then onboard again")

    def offboard(self, deployment: Deployment) -> Deployment:
        """Remove the VNFs of a deployment and leave its data plane; return the changed deployment.

        Raises:
            UnsupportedError: this site cannot.
        """
        raise self._cannot("offboard VNFs", deployment.variant, "nfvbed destroy takes them down with their data plane")

    def asks_name(self) -> bool:
        """Return whether the user must type the site's name before something is removed; nothing is changed.

        Raises:
            BusyError: as `take_down`.
        """
        return False

    def take_down(self, *, everything: bool = False) -> tuple[str, ...]:
        """Take down what earlier commands left, killed ones too; return lines that say what was.

        Args:
            everything: whether what cannot be read goes too.

        Raises:
            BusyError: others have something on a cloud that would go (`evicts`).
            DeployError: not everything could be removed.
        """
        return (NOTHING_DEPLOYED,)

    def foresee_take_down(self) -> tuple[str, ...]:
        """Return lines that say what `take_down` would remove; nothing is changed."""
        return (NOTHING_DEPLOYED,)

    # One deployment.

    @abstractmethod
    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
    ) -> Deployment:
        """Set up a variant, or the ceiling of its port kind where the role asks for one.

        Args:
            topology: name of its layout.
            role: the variant under test, or one of its ceilings.
            vnf: its VNFs; their ports and cables are made for them. None: there are none.

        Raises:
            UnsupportedError, PrerequisiteError, DeployError: nothing is left behind then.
        """

    @abstractmethod
    def destroy(self, deployment: Deployment) -> None:
        """Take the deployment down completely; idempotent."""

    @abstractmethod
    def verify(self, deployment: Deployment) -> None:
        """Check that the switch (and VNFs) still live.

        Raises:
            SwitchDiedError: with its exit status and the last lines of its log.
        """

    @abstractmethod
    def rig(self, deployment: Deployment) -> dict[str, Any]:
        """Return what surrounds a variant: site, kind of ports, generator engine and version, cores, VNFs.

        Its hash is the rig hash.
        """

    def host_view(self, deployment: Deployment) -> "HostView | None":
        """Return the host of a deployment, for what starts processes on it; None: the site is no host.

        Raises:
            DeployError: the deployment is not there.
        """
        return None

    def path_guests(self, deployment: Deployment) -> "PathGuests | Unavailable":
        """Return the guests of a deployment's path, whose agents can be asked; or why none can.

        Raises:
            DeployError: the deployment is not there.
        """
        return Unavailable(f"nothing reaches the guests of site {self.name}")

    # Its generator.

    @property
    def generator_place(self) -> GeneratorPlace:
        """The place of the generator, seen from what it measures, as far as the site knows."""
        return GeneratorPlace.NOT_KNOWN

    def generator_ports(self, deployment: Deployment) -> tuple[GeneratorPort, ...]:
        """Return the ports that a generator is opened on, in the order of the path; none where VNFs are its ends."""
        return deployment.ports

    @abstractmethod
    def open_generator(self, deployment: Deployment) -> Generator:
        """Start the generator on the deployment's ports, pinned as the arrangement says.

        With one port (`p2v`, `v2p`) the other one of the generator leads nowhere: its port 0 is at outside end 0
        and its port 1 at outside end 1 all the same.

        Raises:
            InternalError: the deployment has no ports for a generator.
        """

    def wait_for_generator(self, deployment: Deployment) -> None:
        """Wait until the data plane takes frames of an open generator, whose links are up.

        Most ports take frames with the link, so only the switch is checked.

        Args:
            deployment: a deployment with its open generator.

        Raises:
            DeployError: they are not in time.
        """
        self.verify(deployment)

    # What is read of it.

    def inspect(self, deployed: DeploymentRecord) -> tuple[Finding, ...]:
        """Compare the cloud that runs with what a variant says; nothing is changed.

        Raises:
            UnsupportedError: the site has none, or its machines are not reached.
            DeployError: nothing is deployed.
        """
        raise self._cannot("compare a cloud with what a variant says", deployed.variant.name)

    def keep_findings(self, deployed: DeploymentRecord, findings: tuple[Finding, ...]) -> None:
        """Write findings of an inspection beside a deployment; by default nowhere."""
        return

    def connections(self, deployment: Deployment) -> ConnectionTracker | None:
        """Return the connection tracker of the switch; None where it tracks none, or none can be seen."""
        return None

    def warnings(self, deployment: Deployment, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        """Return the warnings that every trial on the deployment has.

        Args:
            deployment: a deployment with its open generator.
            threads: threads that do the packet work, the generator's included.
        """
        return deployment.warnings

    @abstractmethod
    def look(self, deployment: Deployment, *parts: Part, threads: Sequence[WorkThread] | None = None) -> Reading:
        """Read parts of a deployment, now.

        Args:
            parts: what is read, in this order: what takes long, or disturbs, is kept away from a trial by its caller.
            threads: whose CPU time is read; None: the deployment's own, as they are now.

        Returns:
            Each part that was asked for; what this site cannot read is `Unavailable`, with the reason.

        Raises:
            SwitchDiedError, VnfDiedError: what was to be read has ended.
        """

    def own_readers(self, deployment: Deployment, duration_s: float) -> tuple[CounterReader, ...]:
        """Return the readers of own counters around a trial: the switch's and the VNFs', beside those of ports.

        Args:
            duration_s: duration of the trial.
        """
        return ()

    def consoles(self, deployment: Deployment, lines: int) -> dict[str, list[str]]:
        """Return the last lines that VNFs have printed on their consoles, by the VNFs' names.

        Raises:
            UnsupportedError: the site's VNFs have no consoles, or keep them elsewhere.
        """
        raise self._cannot("show the consoles of VNFs", deployment.variant)

    # What tests do to it.

    def reset(self, deployment: Deployment, after_s: float) -> ResetReport:
        """Wait, then kill the switch and restart it as it was; called while frames flow.

        Args:
            after_s: time for which it is left alone first.

        Raises:
            UnsupportedError: the site or the data plane has no reset.
            DeployError, SwitchDiedError: it did not come back.
        """
        raise UnsupportedError(
            f"switches on site {self.name} cannot be reset",
            where=f"{deployment.variant}, after {after_s:g} s",
            fix="leave the test reset out",
        )

    def require_disruptable(self, deployment: Deployment, wanted: Disruption) -> None:
        """Refuse what `disrupt` refuses, before frames are sent in vain; nothing is changed.

        Raises:
            UnsupportedError: the site cannot do it, or not to these VNFs.
        """
        raise self._cannot_disrupt(deployment, wanted)

    def prepare_disruption(self, deployment: Deployment, wanted: Disruption) -> FlowShares | None:
        """Bring a deployment's VNFs to the number that an operation begins with, before the frames of a trial.

        Returns:
            The flows that a trial has then; None: those of any trial.

        Raises:
            OnboardError, VnfDiedError: one that is to be there does not come up.
        """
        return None

    def settle_disruption(self, deployment: Deployment) -> None:
        """Bring the VNFs back to the number of the deployment's topology, after all trials of an operation.

        Raises:
            OnboardError: they are not.
        """
        return

    def disrupt(self, deployment: Deployment, wanted: Disruption) -> DisruptionReport:
        """Wait, then kill a VNF and have it brought back, or scale; called while frames flow.

        Raises:
            UnsupportedError: as `require_disruptable`.
            OnboardError, VnfDiedError: what was to come up did not.
        """
        raise self._cannot_disrupt(deployment, wanted)

    def chain(self, deployment: Deployment) -> DeployedChain:
        """Open the path of a deployment that stays, for the order of its VNFs."""
        return DeployedChain.of(self.name, deployment, "the site joins VNFs once, when it deploys them")

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Open the table in which a deployment's frames are looked up.

        Raises:
            TableNotApplicable: it has none.
            UnsupportedError, DeployError: it cannot be filled here.
        """
        raise self._cannot("fill the tables of switches", variant.name, "leave tests of tables out")

    def learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Open the table of addresses that a deployment's switch learns, with a monitoring port.

        Raises:
            TableNotApplicable: it learns none.
            UnsupportedError, DeployError: the monitoring port cannot be added.
        """
        raise self._cannot("look into the tables of switches", variant.name, "leave tests of addresses out")

    def _cannot_disrupt(self, deployment: Deployment, wanted: Disruption) -> UnsupportedError:
        fix = "leave the test life-cycle out"
        return self._cannot(f"{wanted.operation.value} VNFs under traffic", deployment.variant, fix)

    def _traced(self, variant: str, topology: str, vnf: VnfChoice | None = None) -> str:
        """Return the command that sends frames on a path here."""
        return trace_command(TracedPath(variant, topology, MIN_FRAME_SIZE_BYTES, vnf, self.name))

    def _cannot(self, do: str, where: str, fix: str = "choose another site") -> UnsupportedError:
        return UnsupportedError(
            f"site {self.name} cannot {do}", where=where, observed="the site has no such verb", fix=fix
        )


def misfits_of_path(variant: Variant, topology: str, choice: VnfChoice | None) -> tuple[Mismatch, ...]:
    """Return the faults of a path on any site: the variant does not offer it, or has no ports for such VNFs."""
    try:
        require_path(variant, topology, choice)
    except UnsupportedError as failure:
        return (mismatch_of(failure, "topology" if variant.lacks(topology) else "ports"),)
    return ()
