"""A site with VNFs on it: whoever deploys here gets data plane and VNFs as one, measured and destroyed as one."""

import contextlib
import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nfvbed.dataplanes.dataplane import SwitchReader
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable
from nfvbed.errors import InternalError, OnboardError, PrerequisiteError, UnsupportedError
from nfvbed.host.arrangement import Arrangement
from nfvbed.host.reap import Reaped
from nfvbed.host.workspace import Workspace
from nfvbed.records import (
    Accelerator,
    CellRole,
    Deployment,
    Hop,
    PortKind,
    QualityWarning,
    Readiness,
    Support,
    SwitchCounters,
    VnfHandle,
    WorkThread,
)
from nfvbed.sites.lab.site import LabSite
from nfvbed.sites.site import Site
from nfvbed.spec.layout import EndKind, Layout, layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator
from nfvbed.vnfs import path, standing
from nfvbed.vnfs.catalogue import driver
from nfvbed.vnfs.ends import EndTraffic, VnfEnds
from nfvbed.vnfs.incomplete import leave_checksums_out
from nfvbed.vnfs.peers import OnboardedPeers, is_quick
from nfvbed.vnfs.placement import placements, tasks
from nfvbed.vnfs.process.routes import RouteTable
from nfvbed.vnfs.readiness import wait_until_forwarding
from nfvbed.vnfs.vnf import VnfDriver, VnfPlacement

WITH_VNFS = (CellRole.SUBJECT, CellRole.VNF)
"""Roles whose deployments have VNFs; the other ceilings are of the ports alone."""

_VNF_CANNOT_RUN = "the VNF cannot run here:"


@dataclass
class _Live:
    """The VNFs of one deployment."""

    plan: Layout
    choice: VnfChoice
    placements: tuple[VnfPlacement, ...]
    drivers: tuple[VnfDriver, ...]
    handles: tuple[VnfHandle, ...]
    stays: bool = False
    """They stood before, or are meant to stay: `destroy` leaves them."""


class OnboardingSite(Site):
    """A lab whose deployments have VNFs where their topology has any.

    `deploy` returns when frames have come through the VNFs.
    """

    def __init__(self, lab: LabSite, root: Path) -> None:
        self.name = lab.name
        self.renews = lab.renews
        self._lab = lab
        self._root = root
        self._live: dict[str, _Live] = {}
        self._opened: dict[str, list[Generator]] = {}
        """Generators that came up with their deployment, or probed, and wait to be used."""

    def facts(self) -> dict[str, Any]:
        """The host's description."""
        return self._lab.facts()

    def rig(self, port_kind: PortKind, deployment: Deployment) -> dict[str, Any]:
        """What surrounds the variant, with the VNFs of the deployment."""
        rig = self._lab.rig(port_kind, deployment)
        live = self._live.get(deployment.id)
        if live is None:
            return rig
        choice, first = live.choice, live.handles[0]
        digest = hashlib.sha256(choice.model_dump_json(exclude={"label"}).encode()).hexdigest()
        vnf = {
            "name": choice.vnf.name,
            "kind": choice.kind.value,
            "forwarding": choice.forwarding,
            "digest": digest,
            "versions": first.versions,
            "cores": [list(handle.cores) for handle in live.handles],
            "shares_core": [handle.shares_core for handle in live.handles],
        }
        accelerator = None if first.accelerator is Accelerator.NONE else first.accelerator.value
        return rig | {"vnf": vnf, "flavor": choice.flavor.name, "accelerator": accelerator}

    def probe(self, variant: Variant) -> Support:
        """Whether this host can run the variant."""
        return self._lab.probe(variant)

    def require(self, variant: Variant) -> Support:
        """Probe a variant that is about to be deployed; an error where this host cannot run it."""
        return self._lab.require(variant)

    def begin(self, *, keeps_hugepages: bool = False) -> list[Reaped]:
        """Take the host for this nfvbed and remove what dead ones left; idempotent."""
        return self._lab.begin(keeps_hugepages=keeps_hugepages)

    def close(self) -> None:
        """Destroy what does not stay, and let go of the host; idempotent."""
        for generators in self._opened.values():
            _close_all(generators)
        self._opened.clear()
        self._live.clear()
        self._lab.close()

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
            self.require_vnf(topology, vnf)
        peers = OnboardedPeers(plan, vnf, self._root)
        try:
            beside = peers.at if role is CellRole.SUBJECT and is_quick(plan, vnf) else None
            deployment = self._lab.deploy(variant, topology, role, vnf=vnf, peers=beside)
        except BaseException:
            peers.give_up()
            raise
        if vnf is None:
            self._keep(deployment, peers)
            return deployment
        try:
            stood = standing.find(deployment) if deployment.run_directory else None
            if stood is not None:
                return self._take_over(deployment, plan, vnf, stood)
            if not beside:
                peers.inside(self._host(deployment))
            return self._onboard(deployment, plan, vnf, peers)
        except BaseException:
            self._forget(deployment)
            self._lab.destroy(deployment)
            raise

    def deploy_to_stay(self, variant: Variant, topology: str, vnf: VnfChoice | None = None) -> tuple[Deployment, bool]:
        """Set data plane and VNFs up so that they outlive nfvbed.

        Returns:
            The deployment, and whether all of it stood already.
        """
        plan = layout(topology)
        if vnf is None or not plan.vnfs:
            return self._lab.deploy_to_stay(variant, topology)
        self.require_vnf(topology, vnf)
        deployment, stood = self._lab.deploy_to_stay(variant, topology, vnf=vnf)
        attached = self._lab.deploy(variant, topology, vnf=vnf)
        found = standing.find(deployment)
        if found is not None:
            return self._take_over(attached, plan, vnf, found), True
        try:
            # Into the workspace that stays, not into the one that this nfvbed uses beside it.
            workspace = Workspace.attach(Path(deployment.run_directory))
            peers = OnboardedPeers(plan, vnf, self._root).inside((workspace, self._host(attached)[1]))
            done = self._onboard(attached, plan, vnf, peers)
            live = self._live[done.id]
            standing.save(deployment, standing.StandingVnfs(choice=vnf, handles=live.handles))
        except BaseException:
            self._forget(attached)
            if not stood:
                self._lab.destroy(attached)
                Workspace.attach(Path(deployment.run_directory)).close()
            raise
        live.stays = True
        return done, False

    def require_vnf(self, topology: str, choice: VnfChoice) -> None:
        """Probe the VNFs of a topology, whatever data plane they are to be on.

        Raises:
            UnsupportedError: this host cannot run them; with the probe's reason and fix.
            PrerequisiteError, OnboardError: as `require_files`.
        """
        for does in tasks(layout(topology), choice):
            support = driver(choice.kind, does).probe(choice)
            if support.readiness is Readiness.UNSUPPORTED:
                failure = UnsupportedError(
                    f"{_VNF_CANNOT_RUN} {choice.vnf.name} ({choice.label})",
                    observed=support.reason,
                    fix=support.fix,
                )
                failure.of_vnf = True
                raise failure
        self.require_files(topology, choice)

    def require_files(self, topology: str, choice: VnfChoice) -> None:
        """Look for the files that the VNFs of a topology are started from; the host is asked nothing.

        Raises:
            PrerequisiteError: one is not there; with its place and how to get it.
            OnboardError: one is not what it should be.
        """
        for does in tasks(layout(topology), choice):
            driver(choice.kind, does).require_files(choice, self._root)

    def missing(self, topology: str, choice: VnfChoice) -> str:
        """Say which file of a path's VNFs is not there, where, and how to get it."""
        try:
            self.require_files(topology, choice)
        except PrerequisiteError as failure:
            return (
                f"{_VNF_CANNOT_RUN} {choice.vnf.name} ({choice.label}): {failure.what} ({failure.where}; {failure.fix})"
            )
        except (OnboardError, UnsupportedError):
            return ""  # told when it is deployed, before anything stands
        return ""

    def _take_over(
        self, deployment: Deployment, plan: Layout, choice: VnfChoice, stood: standing.StandingVnfs
    ) -> Deployment:
        standing.require_same(deployment, stood, choice)
        places = placements(deployment, plan, choice, (*self._host(deployment), self._root))
        drivers = tuple(driver(choice.kind, place.does) for place in places)
        live = _Live(plan, choice, places, drivers, stood.handles, stays=True)
        return self._remember(deployment, live)

    def _onboard(self, deployment: Deployment, plan: Layout, choice: VnfChoice, peers: OnboardedPeers) -> Deployment:
        if peers.began_ns is None:
            peers.start(deployment)
        live = _Live(plan, choice, peers.placements, peers.drivers, peers.handles)
        self._keep(deployment, peers)
        self._remember(deployment, live)
        peers.wait()
        live.handles = peers.handles
        done = self._remember(deployment, live)
        began = peers.began_ns or peers.ready_ns
        steps = [step for handle in live.handles for step in handle.steps]
        steps.append(("onboard.ready", peers.ready_ns - began))
        if plan.one_way:
            self._lab.wait_for_vnfs(deployment)
        elif choice.vnf.readiness.probe_frames:
            steps += self._probe_path(done, live, began)
        return done.model_copy(update={"steps": (*done.steps, *steps)})

    def _keep(self, deployment: Deployment, peers: OnboardedPeers) -> None:
        if peers.generator is not None:
            self._opened[deployment.id] = [peers.generator]

    def _probe_path(self, deployment: Deployment, live: _Live, began: int) -> list[tuple[str, int]]:
        """Send frames through, and keep the generator that did for whoever opens one next."""
        if not self._opened.get(deployment.id):
            self._opened[deployment.id] = [self._lab.open_generator(deployment)]
        report = wait_until_forwarding(
            self._opened[deployment.id][0],
            live.choice.vnf.readiness.probe_frames,
            live.choice.vnf.readiness.within_s,
            (lambda: self.hops(deployment), lambda: self.verify(deployment)),
            deployment,
        )
        return [("onboard.probe", report.waited_ns), ("onboard.first-frame", time.monotonic_ns() - began)]

    def _host(self, deployment: Deployment) -> tuple[Workspace, Arrangement]:
        return self._lab.workspace(deployment), self._lab.arrangement(deployment)

    def _remember(self, deployment: Deployment, live: _Live) -> Deployment:
        self._live[deployment.id] = live
        return deployment.model_copy(update={"vnfs": live.handles})

    def open_generator(self, deployment: Deployment) -> Generator:
        """Open the generator; one that came up with the deployment, or has probed the path, is used on."""
        if self._opened.get(deployment.id):
            return self._opened[deployment.id].pop()
        live = self._live.get(deployment.id)
        if live is None or not live.plan.one_way:
            return self._lab.open_generator(deployment)
        generator = self._lab.open_generator(deployment) if live.plan.outside else None
        return EndTraffic(self._ends(deployment, live), generator, live.placements[0].cores[0])

    def _ends(self, deployment: Deployment, live: _Live) -> VnfEnds:
        source_at = 0 if live.plan.ends[0] is EndKind.SOURCE else None
        sink_at = len(live.handles) - 1 if live.plan.ends[1] is EndKind.SINK else None

        def read(index: int) -> Hop:
            return live.drivers[index].hops(live.handles[index])[0]

        def restart(frame_size: int) -> None:
            place = replace(live.placements[0], frame_size=frame_size)
            live.drivers[0].stop(live.handles[0])
            handle = live.drivers[0].ready(place, live.drivers[0].start(place))
            live.handles = (handle, *live.handles[1:])
            self._lab.wait_for_vnfs(deployment)

        return VnfEnds(
            source=(lambda: read(0)) if source_at is not None else None,
            restart=restart,
            sink=(lambda: read(sink_at)) if sink_at is not None else None,
        )

    def close_generators(self, deployment: Deployment) -> None:
        """Close a generator that waits to be used: its ports are wanted for something else."""
        _close_all(self._opened.get(deployment.id, []))

    def workspace(self, deployment: Deployment) -> Workspace:
        """Where processes beside the deployment are started; they end with it."""
        return self._lab.workspace(deployment)

    def arrangement(self, deployment: Deployment) -> Arrangement:
        """Who sits on which core."""
        return self._lab.arrangement(deployment)

    def verify(self, deployment: Deployment) -> None:
        """Check that switch and VNFs live; the switch first, as VNFs may end with it."""
        self._lab.verify(deployment)
        for run, handle in self._vnfs(deployment):
            run.verify(handle)

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """The switch's own counters."""
        return self._lab.counters(deployment)

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """The counters of switch and VNFs, in the order of the path."""
        inner = self._lab.hops(deployment)
        return path.woven(inner, [run.hops(handle) for run, handle in self._vnfs(deployment)])

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The threads that do the packet work now, those of VNFs included."""
        of_vnfs = [thread for run, handle in self._vnfs(deployment) for thread in run.threads(handle)]
        return (*self._lab.work_threads(deployment), *of_vnfs)

    def doubts(self, deployment: Deployment, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        """Name what data plane and VNFs cast doubt on."""
        found = self._lab.doubts(deployment, threads)
        live = self._live.get(deployment.id)
        if live is not None and leave_checksums_out(deployment, live.handles, live.choice):
            return (*found, QualityWarning.OFFLOADS_ON)
        return found

    def core_distances_ns(self, deployment: Deployment) -> dict[tuple[int, int], float]:
        """Between each of the switch's cores and the generator's and the VNFs'."""
        return self._lab.core_distances_ns(deployment)

    def reset(self, deployment: Deployment, after_s: float) -> ResetReport:
        """Of the switch; the VNFs live on."""
        return self._lab.reset(deployment, after_s)

    def switch_reader(self, deployment: Deployment, duration_s: float) -> SwitchReader | None:
        """Of the switch alone."""
        return self._lab.switch_reader(deployment, duration_s)

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """The routes of the kernel's VNF where there is one that routes, else the switch's entries."""
        if any(handle.forwarding == "router" for handle in deployment.vnfs):
            return RouteTable.of(deployment.vnfs)
        return super().forwarding_table(deployment, variant)

    def destroy(self, deployment: Deployment) -> None:
        """Take VNFs and data plane down; what stands stays."""
        try:
            self._forget(deployment)
        finally:
            self._lab.destroy(deployment)

    def _forget(self, deployment: Deployment) -> None:
        _close_all(self._opened.pop(deployment.id, []))
        live = self._live.pop(deployment.id, None)
        if live is None or live.stays:
            return
        for run, handle in zip(live.drivers, live.handles, strict=False):
            run.end(handle)

    def _vnfs(self, deployment: Deployment) -> Iterator[tuple[VnfDriver, VnfHandle]]:
        live = self._live.get(deployment.id)
        if live is not None:
            yield from zip(live.drivers, live.handles, strict=True)


def _close_all(generators: list[Generator]) -> None:
    while generators:
        with contextlib.suppress(InternalError):
            generators.pop().close()
