"""The lab: this machine as a site. Data plane and VNFs are deployed, measured and destroyed as one."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nfvbed.dataplanes.connections import ConnectionTracker
from nfvbed.dataplanes.reader import CounterReader
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable
from nfvbed.errors import ConfigurationError, InternalError, UnsupportedError
from nfvbed.host.cores.cputime import read_cpu
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import CellRole, Deployment, GeneratorPlace, Hop, QualityWarning, Support, VnfKind, WorkThread
from nfvbed.records.findings import SiteReport
from nfvbed.records.preparation import TopicPlan
from nfvbed.records.readings import Part, Reading, Unavailable
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.disruption import Disruption, DisruptionReport
from nfvbed.sites.hostview import HostView
from nfvbed.sites.lab import lifecycle, remains, vnfs
from nfvbed.sites.lab.deployedchain import LabChain
from nfvbed.sites.lab.disruption import disrupt, require_disruptable
from nfvbed.sites.lab.examine import examine
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.lab.planes import LabPlanes
from nfvbed.sites.lab.storeddeployment import find_remembered
from nfvbed.sites.lab.vnfs import LabVnfs
from nfvbed.sites.site import Site
from nfvbed.spec.layout import Layout, layout
from nfvbed.spec.site import LabSiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator
from nfvbed.vnfs import onboarded, path
from nfvbed.vnfs.descriptors import hostfit
from nfvbed.vnfs.descriptors.epa import Mismatch, mismatch_of
from nfvbed.vnfs.ends import EndTraffic
from nfvbed.vnfs.guest.machines import PathGuests, path_guests
from nfvbed.vnfs.numa import Host
from nfvbed.vnfs.peers import OnboardedPeers, is_quick
from nfvbed.vnfs.process.routes import RouteTable
from nfvbed.vnfs.readiness import wait_until_forwarding
from nfvbed.vnfs.vnf import VnfHost

WITH_VNFS = (CellRole.SUBJECT, CellRole.VNF)
"""Roles whose deployments have VNFs; the other ceilings are of the ports alone."""


def open_site(spec: LabSiteSpec, root: Path) -> "LabSite":
    """Open the lab of a site's file; nothing is changed on any host yet."""
    return LabSite(LabPlanes(LabMachine(spec, root)), root)


class LabSite(Site):
    """A machine whose deployments include the topology's VNFs: `deploy` returns when frames come through."""

    def __init__(self, planes: LabPlanes, root: Path) -> None:
        self.name = planes.name
        self._planes = planes
        self._root = root
        self._vnfs: dict[str, LabVnfs] = {}
        self._opened: dict[str, list[Generator]] = {}
        """Generators that came up with their deployment, or probed, and wait to be used."""

    def facts(self) -> dict[str, Any]:
        """Return the host's description."""
        return self._planes.machine.facts()

    def examine(self, *, read_only: bool = True) -> SiteReport:
        """Examine this machine."""
        return examine(self._root, read_only=read_only)

    def plan_preparation(self) -> tuple[TopicPlan, ...]:
        """Plan for this machine, with the cores of a switch, a generator and two VNFs kept quiet."""
        return self._planes.machine.plan_preparation()

    def probe(self, variant: Variant) -> Support:
        """Return whether this host can run the variant."""
        return self._planes.probe(variant)

    def require(self, variant: Variant) -> Support:
        """Probe a variant before it is deployed, and refuse it where this host cannot run it."""
        return self._planes.machine.require(variant)

    def fit(self, variant: Variant, topology: str, choice: VnfChoice | None) -> tuple[Mismatch, ...]:
        """Compare the request also with the cores and memory that are left, where nothing is deployed."""
        found = super().fit(variant, topology, choice)
        if found or choice is None or choice.kind is not VnfKind.VM or self.find_deployed() is not None:
            return found
        vnfs = layout(topology).vnfs
        try:
            host = self.guest_host(variant, vnfs)
        except (UnsupportedError, ConfigurationError) as failure:
            return (mismatch_of(failure, "cores"),)
        return tuple(hostfit.check(choice.flavor, host, vnfs=vnfs, realtime_us=hostfit.realtime_share()))

    def guest_host(self, variant: Variant, vnfs: int) -> Host:
        """Return this machine, with the memory that could be made into pages."""
        return self._planes.machine.guest_host(variant, vnfs)

    def check(self, topology: str, vnf: VnfChoice) -> None:
        """Probe the VNFs of a topology, and look for their files."""
        vnfs.check(topology, vnf, self._root)

    def prepare(self, topology: str, vnf: VnfChoice) -> None:
        """Look for the files that the VNFs of a topology are started from; the host is asked nothing."""
        vnfs.prepare(topology, vnf, self._root)

    def missing(self, topology: str, choice: VnfChoice) -> str:
        """Return which file of a path's VNFs is not there, where, and how to get it."""
        return vnfs.missing(topology, choice, self._root)

    def begin(self, *, many: bool = False) -> None:
        """Take the host for this nfvbed and remove what killed ones left; hugepages are kept for many deployments."""
        self._planes.machine.begin(keeps_hugepages=many)

    def close(self) -> None:
        """Destroy what does not stay, and release the host; idempotent."""
        for generators in self._opened.values():
            _close_all(generators)
        self._opened.clear()
        self._vnfs.clear()
        self._planes.close()

    def find_deployed(self) -> DeploymentRecord | None:
        """Find the deployment that stays; there is at most one, since a second one is refused."""
        found = find_remembered()
        return None if found is None else found.deployed

    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
    ) -> Deployment:
        """Set the data plane up, start the VNFs, and wait until frames come through them.

        Raises:
            UnsupportedError, PrerequisiteError, DeployError, OnboardError, VnfDiedError: nothing is left behind then.
        """
        plan = layout(topology)
        if vnf is None or not plan.vnfs or role not in WITH_VNFS:
            vnf = None
        else:
            self.check(topology, vnf)
        peers = OnboardedPeers(plan, vnf, self._root)
        try:
            beside = peers.at if role is CellRole.SUBJECT and is_quick(plan, vnf) else None
            deployment = self._planes.deploy(variant, topology, role, vnf=vnf, peers=beside)
        except BaseException:
            peers.give_up()
            raise
        if vnf is None:
            self._keep(deployment, peers)
            return deployment
        try:
            vnfs = onboarded.find(deployment) if deployment.run_directory else None
            if vnfs is not None:
                return self._take_over(deployment, vnf, vnfs)
            if not beside:
                view = self._planes.host_view(deployment)
                peers.inside(view.workspace, view.arrangement)
            return self._onboard(deployment, plan, vnf, peers)
        except BaseException:
            self._forget(deployment)
            self._planes.destroy(deployment)
            raise

    def deploy_to_stay(self, variant: Variant, topology: str, vnf: VnfChoice | None = None) -> tuple[Deployment, bool]:
        """Set data plane and VNFs up so that they outlive nfvbed."""
        plan = layout(topology)
        if vnf is None or not plan.vnfs:
            return self._planes.deploy_to_stay(variant, topology)
        self.check(topology, vnf)
        deployment, existed = self._planes.deploy_to_stay(variant, topology, vnf=vnf)
        attached = self._planes.deploy(variant, topology, vnf=vnf)
        found = onboarded.find(deployment)
        if found is not None:
            return self._take_over(attached, vnf, found), True
        try:
            # Into the workspace that stays, not into the one that this nfvbed uses beside it.
            workspace = Workspace.attach(Path(deployment.run_directory))
            arrangement = self._planes.host_view(attached).arrangement
            peers = OnboardedPeers(plan, vnf, self._root).inside(workspace, arrangement)
            done = self._onboard(attached, plan, vnf, peers)
            live = self._vnfs[done.id]
            onboarded.save(deployment, onboarded.OnboardedVnfs(choice=vnf, handles=live.handles))
        except BaseException:
            self._forget(attached)
            if not existed:
                self._planes.destroy(attached)
                Workspace.attach(Path(deployment.run_directory)).close()
            raise
        live.stays = True
        return done, False

    def onboard(
        self, variant: Variant, topology: str, vnf: VnfChoice, tell: Callable[[str], None]
    ) -> tuple[Deployment, bool]:
        """Start VNFs so that they stay; the data plane is set up again where it has no ports for them."""
        found = find_remembered()
        if found is not None:
            found.deployed.require_room(variant, topology)
            if found.deployment.topology != topology:
                tell(f"{variant.name} ({found.deployment.topology}) is set up again with ports for VNFs")
                found.workspace.close()
        return self.deploy_to_stay(variant, topology, vnf)

    def dead_vnfs(self, deployment: Deployment) -> tuple[str, ...]:
        """Return the names of dead VNFs."""
        return lifecycle.left_on(deployment, self._root).vnfs.dead()

    def heal(self, deployment: Deployment) -> Deployment:
        """Start dead VNFs again where they were, and send frames through."""
        self._planes.begin()
        left = lifecycle.left_on(deployment, self._root)
        attached = self._planes.deploy(left.remembered.variant, deployment.topology, vnf=left.vnfs.choice)
        if left.vnfs.dead():
            began = time.monotonic_ns()
            left.vnfs.heal()
            left.save()
            self._wait_until_forwarding(self._remember(attached, left.vnfs), left.vnfs, began)
        return self._remember(attached, left.vnfs)

    def offboard(self, deployment: Deployment) -> Deployment:
        """End the VNFs; the ports that they had stay."""
        self._planes.begin()
        left = lifecycle.left_on(deployment, self._root)
        # What this nfvbed has beside it: a generator that waits on its ports.
        self.destroy(deployment)
        return left.offboard()

    def foresee_scale(self, deployment: Deployment, vnfs: int) -> str:
        """Check the topology, and probe its VNFs."""
        left = lifecycle.left_on(deployment, self._root)
        topology = left.scaled_topology(vnfs)
        if topology == deployment.topology:
            return f"{deployment.variant} ({topology}) has as many: nothing would be done"
        self.check(topology, left.vnfs.choice)
        return f"{deployment.variant} ({deployment.topology}) would be set up again as {topology}"

    def scale(self, deployment: Deployment, vnfs: int) -> Deployment:
        """Set the data plane up again with ports for so many VNFs, all of which it makes before one starts."""
        self._planes.begin()
        left = lifecycle.left_on(deployment, self._root)
        topology = left.scaled_topology(vnfs)
        if topology != deployment.topology:
            self.check(topology, left.vnfs.choice)
            self.destroy(deployment)
            left.take_down()
        return self.deploy_to_stay(left.remembered.variant, topology, left.vnfs.choice)[0]

    def take_down(self, *, everything: bool = False) -> tuple[str, ...]:
        """Take down the existing deployment and whatever an nfvbed that was killed left behind."""
        return remains.take_down(self._planes.machine.begin(), everything=everything)

    def foresee_take_down(self) -> tuple[str, ...]:
        """Return what `take_down` would take down."""
        return remains.foresee_take_down()

    def chain(self, deployment: Deployment) -> LabChain:
        """Return the path of the deployment; a new order is accepted once frames come through."""
        left, control = lifecycle.left_on(deployment, self._root), self._planes.chain(deployment)
        return LabChain(control, deployment, self.name, self, left, lambda changed: self._probe(changed, left.vnfs))

    def _probe(self, deployment: Deployment, live: LabVnfs) -> None:
        self._wait_until_forwarding(self._remember(deployment, live), live, time.monotonic_ns())

    def _take_over(self, deployment: Deployment, choice: VnfChoice, vnfs: onboarded.OnboardedVnfs) -> Deployment:
        onboarded.require_same(deployment, vnfs.choice, choice)
        view = self._planes.host_view(deployment)
        host = VnfHost(view.workspace, view.arrangement, self._root)
        live = LabVnfs.found(deployment, vnfs.model_copy(update={"choice": choice}), host)
        return self._remember(deployment, live)

    def _onboard(self, deployment: Deployment, plan: Layout, choice: VnfChoice, peers: OnboardedPeers) -> Deployment:
        if peers.began_ns is None:
            peers.start(deployment)
        live = LabVnfs.started(plan, choice, peers)
        self._keep(deployment, peers)
        self._remember(deployment, live)
        peers.wait()
        live.handles = peers.handles
        done = self._remember(deployment, live)
        began = peers.began_ns or peers.ready_ns
        steps = [step for handle in live.handles for step in handle.steps]
        steps.append(("onboard.ready", peers.ready_ns - began))
        steps += self._wait_until_forwarding(done, live, began)
        return done.model_copy(update={"steps": (*done.steps, *steps)})

    def _keep(self, deployment: Deployment, peers: OnboardedPeers) -> None:
        if peers.generator is not None:
            self._opened[deployment.id] = [peers.generator]

    def _wait_until_forwarding(self, deployment: Deployment, live: LabVnfs, began: int) -> list[tuple[str, int]]:
        """Send frames through, and keep the generator for the next that opens one."""
        if live.plan.one_way:
            self._planes.wait_for_vnfs(deployment)
        if live.plan.one_way or not live.choice.vnf.readiness.probe_frames:
            return []
        if live.carry(deployment):
            return [("onboard.first-frame", time.monotonic_ns() - began)]
        if not self._opened.get(deployment.id):
            self._opened[deployment.id] = [vnfs.over_bearers(live, self._planes.open_generator(deployment))]
        report = wait_until_forwarding(
            self._opened[deployment.id][0],
            live.choice.vnf.readiness.probe_frames,
            live.choice.vnf.readiness.within_s,
            (lambda: self._hops(deployment), lambda: self.verify(deployment)),
            deployment,
        )
        return [("onboard.probe", report.waited_ns), ("onboard.first-frame", time.monotonic_ns() - began)]

    def _remember(self, deployment: Deployment, live: LabVnfs) -> Deployment:
        self._vnfs[deployment.id] = live
        return deployment.model_copy(update={"vnfs": live.handles})

    def rig(self, deployment: Deployment) -> dict[str, Any]:
        """Return what surrounds the variant, with the VNFs of the deployment."""
        rig, live = self._planes.rig(deployment), self._vnfs.get(deployment.id)
        return rig if live is None else rig | live.described()

    def host_view(self, deployment: Deployment) -> HostView:
        """Return this machine; the ports are free once the waiting generator is closed."""
        return replace(
            self._planes.host_view(deployment),
            work_threads=lambda: self._work_threads(deployment),
            close_generators=lambda: self.close_generators(deployment),
        )

    def path_guests(self, deployment: Deployment) -> PathGuests | Unavailable:
        """Return the guests, whose agents' sockets are on this machine."""
        return path_guests(deployment)

    @property
    def generator_place(self) -> GeneratorPlace:
        """On this machine, as is all that it measures."""
        return GeneratorPlace.SAME_HOST

    def open_generator(self, deployment: Deployment) -> Generator:
        """Open the generator; one that came up with the deployment, or probed the path, is reused."""
        if self._opened.get(deployment.id):
            return self._opened[deployment.id].pop()
        live = self._vnfs.get(deployment.id)
        if live is None or not live.plan.one_way:
            return vnfs.over_bearers(live, self._planes.open_generator(deployment))
        generator = self._planes.open_generator(deployment) if live.plan.outside else None
        ends = live.ends(lambda: self._planes.wait_for_vnfs(deployment))
        return EndTraffic(ends, generator, live.seats[0].cores[0])

    def wait_for_generator(self, deployment: Deployment) -> None:
        """Wait for the switch, which may set its ports up only after the generator has its link."""
        self._planes.wait_for_generator(deployment)

    def connections(self, deployment: Deployment) -> ConnectionTracker | None:
        """Return the switch's connection tracker."""
        return self._planes.connections(deployment)

    def close_generators(self, deployment: Deployment) -> None:
        """Close a generator that waits to be used: something else needs its ports."""
        _close_all(self._opened.get(deployment.id, []))

    def verify(self, deployment: Deployment) -> None:
        """Check that switch and VNFs live; the switch first, as VNFs may end with it."""
        self._planes.verify(deployment)
        if deployment.id in self._vnfs:
            self._vnfs[deployment.id].verify()

    def look(self, deployment: Deployment, *parts: Part, threads: Sequence[WorkThread] | None = None) -> Reading:
        """Read switch and VNFs, CPU time from this machine's kernel."""
        planes = self._planes
        readers: dict[Part, Callable[[], Any]] = {
            Part.THREADS: lambda: self._work_threads(deployment),
            Part.CPU: lambda: read_cpu(self._work_threads(deployment) if threads is None else threads),
            Part.DISTANCES: lambda: planes.core_distances_ns(deployment),
            Part.SLOWDOWNS: lambda: planes.core_slowdowns(deployment),
            Part.COUNTERS: lambda: planes.counters(deployment) or Unavailable("no switch counts on this path"),
            Part.HOPS: lambda: self._hops(deployment),
        }
        return Reading.of(parts, readers, "")

    def _hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        inner, live = self._planes.hops(deployment), self._vnfs.get(deployment.id)
        return path.woven(inner, [] if live is None else live.hops())

    def _work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        live = self._vnfs.get(deployment.id)
        of_vnfs = () if live is None else live.threads()
        return (*self._planes.work_threads(deployment), *of_vnfs)

    def warnings(self, deployment: Deployment, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        """Return the warnings of data plane and VNFs."""
        found, live = self._planes.warnings(deployment, threads), self._vnfs.get(deployment.id)
        if live is not None and live.leave_checksums_out(deployment):
            return (*found, QualityWarning.OFFLOADS_ON)
        return found

    def reset(self, deployment: Deployment, after_s: float) -> ResetReport:
        """Reset the switch; the VNFs go on running."""
        return self._planes.reset(deployment, after_s)

    def require_disruptable(self, deployment: Deployment, wanted: Disruption) -> None:
        """Refuse scaling, and VNFs without a process."""
        require_disruptable(self._vnfs[deployment.id], wanted)

    def disrupt(self, deployment: Deployment, wanted: Disruption) -> DisruptionReport:
        """Kill a VNF and start it again; data plane, ports and generator live on."""
        live = self._vnfs[deployment.id]
        try:
            return disrupt(live, wanted)
        finally:
            if live.stays:
                left = onboarded.OnboardedVnfs(choice=live.choice, handles=live.handles)
                onboarded.save(deployment, left)

    def own_readers(self, deployment: Deployment, duration_s: float) -> tuple[CounterReader, ...]:
        """Return the switch's readers, then those of VNFs that count by themselves."""
        live = self._vnfs.get(deployment.id)
        return (*self._planes.own_readers(deployment, duration_s), *(live.readers() if live else ()))

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Return the routes of the kernel's VNF where one routes, else the switch's entries."""
        if any(handle.forwarding == "router" for handle in deployment.vnfs):
            return RouteTable.of(deployment.vnfs)
        return self._planes.forwarding_table(deployment, variant)

    def learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Return the table of addresses that the switch learns."""
        return self._planes.learning_table(deployment, variant)

    def destroy(self, deployment: Deployment) -> None:
        """Take VNFs and data plane down; what is deployed stays."""
        try:
            self._forget(deployment)
        finally:
            self._planes.destroy(deployment)

    def _forget(self, deployment: Deployment) -> None:
        _close_all(self._opened.pop(deployment.id, []))
        live = self._vnfs.pop(deployment.id, None)
        if live is not None:
            live.end()


def _close_all(generators: list[Generator]) -> None:
    while generators:
        with contextlib.suppress(InternalError):
            generators.pop().close()
