"""The lab: this machine as a site. One deployment at a time, and nothing left behind."""

import atexit
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.dataplanes.catalogue import CATALOGUE, Catalogue
from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest, Peers, SwitchReader
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.wiring import on_path, require_topology, vnf_port_kind
from nfvbed.errors import DeployError, InternalError, NfvbedError, PrerequisiteError, UnsupportedError
from nfvbed.host import coredistance
from nfvbed.host.arrangement import Arrangement, resolve
from nfvbed.host.facts import host_facts
from nfvbed.host.generator import GeneratorStarter
from nfvbed.host.hostlock import HostLock
from nfvbed.host.kept import KeptPages
from nfvbed.host.memorynodes import what_lies_apart
from nfvbed.host.native import native_binary, version_of
from nfvbed.host.nics import fit, take
from nfvbed.host.reap import Reaped, close_own, reap
from nfvbed.host.topology import AFFINITY_AT_START, read_topology
from nfvbed.host.workspace import Workspace
from nfvbed.records import (
    CellRole,
    Deployment,
    Hop,
    PortKind,
    QualityWarning,
    Readiness,
    Support,
    SwitchCounters,
    WorkThread,
)
from nfvbed.signals import end_like_interrupt, signals_held
from nfvbed.sites.lab.standing import Standing, find_standing
from nfvbed.sites.site import Site
from nfvbed.spec.layout import Layout, layout
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator

PeersAt = Callable[[GeneratorStarter], Peers]
"""Gives what will be at the other side of a deployment's ports, in the starter's workspace."""


@dataclass(frozen=True)
class _Wanted:
    """What is asked for, checked."""

    variant: Variant
    layout: Layout
    vnf: VnfChoice | None

    @property
    def vnf_kind(self) -> PortKind | None:
        """Of the ports that its VNFs want; None where there are none."""
        return None if self.vnf is None else vnf_port_kind(self.variant, self.vnf)


@dataclass
class _Live:
    """A deployment that this object set up, or found standing."""

    deployment: Deployment
    plane: DataPlane
    workspace: Workspace
    """What `destroy` undoes: the deployment's own, or only the generator's beside a standing deployment."""
    arrangement: Arrangement
    starter: GeneratorStarter


class LabSite(Site):
    """This machine.

    The first `deploy` takes the host lock, removes what a dead nfvbed left, and keeps nfvbed itself off the switch's
    cores; the lock is held until `close`, which runs by itself at the end of nfvbed.

    Args:
        spec: the site's file.
        root: of the project, where `native/build` is.
        catalogue: the data planes that it deploys.
    """

    def __init__(self, spec: SiteSpec, root: Path, catalogue: Catalogue = CATALOGUE) -> None:
        self.name = spec.name
        self._spec = spec
        self._root = root
        self._catalogue = catalogue
        self._topology = read_topology()
        self._lock = HostLock()
        self._live: dict[str, _Live] = {}
        self._kept: KeptPages | None = None

    def facts(self) -> dict[str, Any]:
        """The host's description."""
        return host_facts(self._topology)

    def rig(self, port_kind: PortKind, deployment: Deployment) -> dict[str, Any]:
        """Site, the deployment's arrangement, and generator."""
        engine = "xdp" if port_kind.is_kernel else "dpdk"
        on_cards = {"cables": take.described(self._spec.cables)} if port_kind is PortKind.PCI else {}
        return on_cards | {
            "site": self.name,
            "port_kind": port_kind.value,
            "arrangement": self.arrangement(deployment).model_dump(mode="json"),
            "generator": {"engine": f"nfvgen-{engine}", "version": self._generator_version()},
            "vnf": None,
            "flavor": None,
            "accelerator": None,
        }

    def _generator_version(self) -> str:
        return version_of(native_binary("nfvgen", self._root))

    def probe(self, variant: Variant) -> Support:
        """Whether this host can run the variant."""
        try:
            return self._probe(variant)
        except (UnsupportedError, PrerequisiteError) as failure:
            reason = f"{failure.what} ({failure.observed})" if failure.observed else failure.what
            return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=reason, fix=failure.fix)

    def require(self, variant: Variant) -> Support:
        """Probe a variant that is about to be deployed; not while something stands, which it would disturb.

        Raises:
            UnsupportedError, PrerequisiteError: this host cannot run it; with the probe's reason and fix.
        """
        support = self._probe(variant)
        if support.readiness is Readiness.UNSUPPORTED:
            raise UnsupportedError(f"{variant.name} cannot run here", observed=support.reason, fix=support.fix)
        return support

    def _probe(self, variant: Variant) -> Support:
        near = self._near(variant.port_kind)
        resolve(self._topology, self._spec.arrangement, variant.options.switch_cores, near=near)
        if variant.port_kind is PortKind.PCI:
            fit.require(self._spec.cables)
        return self._catalogue.data_plane(variant).probe(variant)

    def _near(self, port_kind: PortKind) -> int | None:
        """Give the NUMA node that the switch belongs to: that of its network cards, where it has some."""
        return take.near_node(self._spec.cables) if port_kind is PortKind.PCI else None

    def begin(self, *, keeps_hugepages: bool = False) -> list[Reaped]:
        """Take the host for this nfvbed and remove what dead ones left; idempotent.

        Args:
            keeps_hugepages: until `close`, and not until each deployment's end.

        Returns:
            What was removed (it is in the log as well).

        Raises:
            PrerequisiteError: not root.
            BusyError: another nfvbed is at work.
        """
        self._kept = KeptPages() if keeps_hugepages else self._kept
        if self._lock.held:
            return []
        if os.geteuid() != 0:
            raise PrerequisiteError(
                "deploying in the lab needs root", where="namespaces, hugepages, cgroups", fix="run it with sudo"
            )
        end_like_interrupt()
        atexit.register(self.close)
        self._lock.acquire()
        return reap(self._lock)

    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
        peers: PeersAt | None = None,
    ) -> Deployment:
        """Set up a variant or a ceiling; a standing deployment of the very same variant is taken as it is.

        With `peers`, its data plane may start what is at the other side of its ports.

        Raises:
            BusyError: another nfvbed is at work, or another deployment stands.
        """
        self.begin()
        wanted = _wanted(variant, topology, vnf, role)
        standing = find_standing()
        if standing is not None:
            if role is not CellRole.SUBJECT or not standing.is_same(variant, topology, wanted.vnf_kind):
                raise standing.in_the_way(f"{variant.name} ({role})")
            return self._attach(standing)
        return self._set_up(wanted, role, peers=peers).deployment

    def deploy_to_stay(self, variant: Variant, topology: str, vnf: VnfChoice | None = None) -> tuple[Deployment, bool]:
        """Set up a variant that outlives nfvbed.

        Returns:
            The deployment, and whether it stood already.

        Raises:
            BusyError: another nfvbed is at work, or another deployment stands.
        """
        self.begin()
        wanted = _wanted(variant, topology, vnf)
        standing = find_standing()
        if standing is not None:
            if not standing.is_same(variant, topology, wanted.vnf_kind):
                raise standing.in_the_way(variant.name)
            self._catalogue.data_plane(variant).verify(standing.deployment)
            return standing.deployment, True
        live = self._set_up(wanted, CellRole.SUBJECT, persistent=True)
        Standing(live.workspace, live.deployment, variant, live.arrangement).save()
        self._live.pop(live.deployment.id)
        return live.deployment, False

    def _set_up(
        self, wanted: _Wanted, role: CellRole, *, persistent: bool = False, peers: PeersAt | None = None
    ) -> _Live:
        if self._live:
            raise InternalError(
                "a second deployment was asked for while one stands",
                where=", ".join(live.deployment.variant for live in self._live.values()),
                fix="destroy it first: two switches would disturb each other's trials",
            )
        variant, plan = wanted.variant, wanted.layout
        plane = self._catalogue.data_plane(variant, role, wanted.vnf)
        near, cores = self._near(variant.port_kind), variant.options.switch_cores
        arrangement = resolve(self._topology, self._spec.arrangement, cores, plan.vnfs, near)
        os.sched_setaffinity(0, arrangement.control_cores)
        workspace = Workspace.create(persistent=persistent)
        starter = self._starter(workspace, arrangement)
        try:
            beside = None if peers is None else peers(starter)
            request = DeployRequest(
                variant, plan, workspace, arrangement, wanted.vnf, self._spec.onos, self._spec.cables, beside
            )
            deployment = _deploy(plane, request)
        except BaseException:
            # Ctrl-C as well: close() itself cannot be interrupted.
            workspace.close()
            raise
        return self._remember(deployment, plane, starter)

    def _attach(self, standing: Standing) -> Deployment:
        deployment = standing.deployment
        if deployment.id not in self._live:
            plane = self._catalogue.data_plane(standing.variant)
            plane.verify(deployment)
            os.sched_setaffinity(0, standing.arrangement.control_cores)
            self._remember(deployment, plane, self._starter(Workspace.create(), standing.arrangement))
        return deployment

    def _starter(self, workspace: Workspace, arrangement: Arrangement) -> GeneratorStarter:
        return GeneratorStarter(workspace, arrangement, self._spec.generator_hugepages_mib // 2, self._root)

    def _remember(self, deployment: Deployment, plane: DataPlane, starter: GeneratorStarter) -> _Live:
        workspace = starter.workspace
        if workspace.short_of_hugepages:
            # Written down with a deployment that stays: a later nfvbed has another workspace.
            doubts = dict.fromkeys((*deployment.doubts, QualityWarning.HUGEPAGES_SHORT))
            deployment = deployment.model_copy(update={"doubts": tuple(doubts)})
        live = _Live(deployment, plane, workspace, starter.arrangement, starter)
        self._live[deployment.id] = live
        return live

    def _find(self, deployment: Deployment) -> _Live:
        live = self._live.get(deployment.id)
        if live is None:
            raise DeployError(
                "this deployment does not stand",
                where=deployment.run_directory or deployment.id,
                observed="destroyed, or never deployed by this nfvbed",
                fix="deploy it",
            )
        return live

    def starter(self, deployment: Deployment) -> GeneratorStarter:
        """What starts generators there."""
        return self._find(deployment).starter

    def open_generator(self, deployment: Deployment) -> Generator:
        """Start nfvgen on the deployment's ports, on the generator's core."""
        return self._find(deployment).starter.start(deployment)

    def workspace(self, deployment: Deployment) -> Workspace:
        """The deployment's own workspace; beside a standing one that was found, the one that `destroy` ends."""
        return self._find(deployment).workspace

    def arrangement(self, deployment: Deployment) -> Arrangement:
        """Who sits on which core."""
        return self._find(deployment).arrangement

    def verify(self, deployment: Deployment) -> None:
        """Check that the switch lives."""
        self._find(deployment).plane.verify(deployment)

    def wait_for_vnfs(self, deployment: Deployment) -> None:
        """Wait until the switch is joined to the VNFs that were started, or started anew."""
        self._find(deployment).plane.wait_for_vnfs(deployment)

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """The switch's own counters."""
        return self._find(deployment).plane.counters(deployment)

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """The packet counters along the path."""
        return self._find(deployment).plane.hops(deployment)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The threads that do the packet work now."""
        return self._find(deployment).plane.work_threads(deployment)

    def doubts(self, deployment: Deployment, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        """Name what lies on the wrong NUMA node, and whether there were fewer hugepages than asked for."""
        found = dict.fromkeys(deployment.doubts)
        if self._find(deployment).workspace.short_of_hugepages:
            found[QualityWarning.HUGEPAGES_SHORT] = None
        if what_lies_apart(self._topology, threads, deployment.ports):
            found[QualityWarning.WRONG_NUMA_NODE] = None
        return tuple(found)

    def core_distances_ns(self, deployment: Deployment) -> dict[tuple[int, int], float]:
        """The one-way cache-line time between each of the switch's cores and the generator's and the VNFs'."""
        pairs = coredistance.pairs_of(self.arrangement(deployment), deployment.vnfs)
        return {pair: coredistance.measure(pair, self._root).one_way_ns for pair in pairs}

    def switch_reader(self, deployment: Deployment, duration_s: float) -> SwitchReader | None:
        """As its data plane has it."""
        return self._find(deployment).plane.switch_reader(deployment, duration_s)

    def reset(self, deployment: Deployment, after_s: float) -> ResetReport:
        """As its data plane does it."""
        live = self._find(deployment)
        time.sleep(after_s)
        return live.plane.reset(deployment)

    def destroy(self, deployment: Deployment) -> None:
        """Take it down, its generators too; of a standing deployment that was found, only the generators.

        Raises:
            DeployError: something could not be removed; the next nfvbed tries again.
        """
        live = self._live.pop(deployment.id, None)
        try:
            if live and live.workspace.id == deployment.id:
                live.plane.release(deployment)
        finally:
            if live and self._kept:
                self._kept.take_over(live.workspace)
            problems = live.workspace.close() if live else []
        if problems:
            raise DeployError(
                f"{deployment.variant} is not completely gone",
                where=str(live.workspace.directory) if live else "",
                observed="; ".join(problems),
                fix="nfvbed destroy --all",
            )

    def close(self) -> None:
        """Destroy what this process set up and does not mean to leave, and let go of the host; idempotent."""
        with signals_held():
            self._live.clear()
            if self._lock.held:
                close_own()
                os.sched_setaffinity(0, AFFINITY_AT_START)
                self._lock.release()
        atexit.unregister(self.close)


def _wanted(variant: Variant, topology: str, vnf: VnfChoice | None, role: CellRole = CellRole.SUBJECT) -> _Wanted:
    # A ceiling is of the variant's ports: they can be looped back also where the variant has no such path itself.
    if role is CellRole.SUBJECT:
        require_topology(variant, topology)
    plan = layout(topology)
    return _Wanted(variant, plan, on_path(plan, vnf) if vnf is not None and plan.vnfs else None)


def _deploy(plane: DataPlane, request: DeployRequest) -> Deployment:
    try:
        return plane.deploy(request)
    except NfvbedError:
        raise
    except (OSError, NetlinkError) as failure:
        raise DeployError(
            f"{request.variant.name} cannot be deployed",
            where=str(request.workspace.directory),
            observed=f"{failure!r}",
        ) from failure
