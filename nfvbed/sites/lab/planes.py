"""The data planes of the lab, without VNFs: one deployment at a time, and nothing left behind."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.dataplanes.chaincontrol import ChainControl
from nfvbed.dataplanes.connections import ConnectionTracker
from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest, Peers
from nfvbed.dataplanes.reader import CounterReader
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable
from nfvbed.dataplanes.wiring import on_path, require_topology, vnf_port_kind
from nfvbed.errors import DeployError, GeneratorError, InternalError, NfvbedError
from nfvbed.host.cores import coredistance, corepace
from nfvbed.host.cores.memorynodes import what_lies_apart
from nfvbed.host.generator import GeneratorStarter
from nfvbed.host.ledger.ledger import gone
from nfvbed.host.nics import take
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import CellRole, Deployment, Hop, PortKind, QualityWarning, Support, SwitchCounters, WorkThread
from nfvbed.records.readings import Distances, Slowdowns, Unavailable
from nfvbed.sites.hostview import HostView
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.lab.storeddeployment import StoredDeployment, find_remembered
from nfvbed.spec.layout import End, Layout, layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator

PeersAt = Callable[[GeneratorStarter], Peers]
"""Gives what will be at the other side of a deployment's ports, in the starter's workspace."""


@dataclass(frozen=True)
class _PlaneRequest:
    """A request, checked."""

    variant: Variant
    layout: Layout
    vnf: VnfChoice | None

    @property
    def vnf_kind(self) -> PortKind | None:
        """The kind of ports that its VNFs want; None where there are none."""
        return None if self.vnf is None else vnf_port_kind(self.variant, self.vnf)


@dataclass
class _LiveDeployment:
    """A deployment that this object set up, or found left by an earlier command."""

    deployment: Deployment
    plane: DataPlane
    starter: GeneratorStarter
    """In the workspace that `destroy` undoes: the deployment's own, or only the generator's beside an existing one."""
    port_kind: PortKind
    """Kind of the generator's ports, as the variant has them; its rig is distinguished by it."""

    @property
    def workspace(self) -> Workspace:
        """What `destroy` undoes."""
        return self.starter.workspace


class LabPlanes:
    """The data planes on this machine.

    The first `deploy` takes the machine and keeps nfvbed itself off the switch's cores.
    """

    def __init__(self, machine: LabMachine) -> None:
        self.machine = machine
        self.name = machine.spec.name
        self._live: dict[str, _LiveDeployment] = {}

    def begin(self) -> None:
        """Take the host for this nfvbed; idempotent."""
        self.machine.begin()

    def probe(self, variant: Variant) -> Support:
        """Probe whether this host can run the variant."""
        return self.machine.probe(variant)

    def rig(self, deployment: Deployment) -> dict[str, Any]:
        """Return site, the deployment's arrangement, and generator."""
        live = self._find(deployment)
        engine = "xdp" if live.port_kind.is_kernel else "dpdk"
        on_nics = {"cables": take.described(self.machine.spec.cables)} if live.port_kind is PortKind.PCI else {}
        in_order = {"order": list(deployment.order)} if deployment.order else {}
        return (
            on_nics
            | in_order
            | {
                "site": self.name,
                "port_kind": live.port_kind.value,
                "arrangement": live.starter.arrangement.model_dump(mode="json"),
                "generator": {"engine": f"nfvgen-{engine}", "version": self.machine.generator_version()},
                "vnf": None,
                "flavor": None,
                "accelerator": None,
            }
        )

    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
        peers: PeersAt | None = None,
    ) -> Deployment:
        """Set up a variant or a ceiling; an existing deployment of the same variant is taken over as it is.

        With `peers`, its data plane may start what is at the other side of its ports.

        Raises:
            BusyError: another nfvbed is at work, or another deployment is running.
        """
        self.machine.begin()
        wanted = _wanted(variant, topology, vnf, role)
        remembered = find_remembered()
        if remembered is not None:
            found = remembered.deployed
            if role is not CellRole.SUBJECT or not found.is_same(variant, topology, wanted.vnf_kind):
                raise found.in_the_way(f"{variant.name} ({role})")
            return self._attach(remembered)
        return self._set_up(wanted, role, peers=peers).deployment

    def deploy_to_stay(self, variant: Variant, topology: str, vnf: VnfChoice | None = None) -> tuple[Deployment, bool]:
        """Set up a variant that outlives nfvbed.

        Returns:
            The deployment, and whether it was deployed already.

        Raises:
            BusyError: another nfvbed is at work, or another deployment is running.
        """
        self.machine.begin()
        wanted = _wanted(variant, topology, vnf)
        remembered = find_remembered()
        if remembered is not None:
            if not remembered.deployed.is_same(variant, topology, wanted.vnf_kind):
                raise remembered.deployed.in_the_way(variant.name)
            self.machine.catalogue.data_plane(variant).verify(remembered.deployment)
            return remembered.deployment, True
        live = self._set_up(wanted, CellRole.SUBJECT, persistent=True)
        StoredDeployment(live.workspace, live.deployment, variant, live.starter.arrangement).save()
        self._live.pop(live.deployment.id)
        return live.deployment, False

    def _set_up(
        self, wanted: _PlaneRequest, role: CellRole, *, persistent: bool = False, peers: PeersAt | None = None
    ) -> _LiveDeployment:
        if self._live:
            raise InternalError(
                "a second deployment was asked for while one is deployed",
                where=", ".join(live.deployment.variant for live in self._live.values()),
                fix="destroy it first: two switches would disturb each other's trials",
            )
        variant, plan = wanted.variant, wanted.layout
        plane = self.machine.catalogue.data_plane(variant, role, wanted.vnf)
        spec, arrangement = self.machine.spec, self.machine.arrangement(variant, plan.vnfs)
        self.machine.make_room(arrangement)
        workspace = Workspace.create(persistent=persistent)
        starter = self.machine.starter(workspace, arrangement)
        try:
            beside = None if peers is None else peers(starter)
            request = DeployRequest(variant, plan, workspace, arrangement, wanted.vnf, spec.onos, spec.cables, beside)
            deployment = _deploy(plane, request)
        except BaseException:
            # Ctrl-C as well: close() itself cannot be interrupted.
            workspace.close()
            raise
        return self._remember(deployment, plane, starter, variant)

    def _attach(self, remembered: StoredDeployment) -> Deployment:
        deployment = remembered.deployment
        if deployment.id not in self._live:
            plane = self.machine.catalogue.data_plane(remembered.variant)
            plane.verify(deployment)
            self.machine.make_room(remembered.arrangement)
            starter = self.machine.starter(Workspace.create(), remembered.arrangement)
            self._remember(deployment, plane, starter, remembered.variant)
        return deployment

    def _remember(
        self, deployment: Deployment, plane: DataPlane, starter: GeneratorStarter, variant: Variant
    ) -> _LiveDeployment:
        if starter.workspace.short_of_hugepages:
            # Written down with a deployment that stays: a later nfvbed has another workspace.
            warnings = dict.fromkeys((*deployment.warnings, QualityWarning.HUGEPAGES_SHORT))
            deployment = deployment.model_copy(update={"warnings": tuple(warnings)})
        deployment = deployment.model_copy(update={"mtu": variant.mtu})
        live = _LiveDeployment(deployment, plane, starter, variant.port_kind)
        self._live[deployment.id] = live
        return live

    def _find(self, deployment: Deployment) -> _LiveDeployment:
        live = self._live.get(deployment.id)
        if live is None:
            raise DeployError(
                "this deployment is not deployed",
                where=deployment.run_directory or deployment.id,
                observed="destroyed, or never deployed by this nfvbed",
                fix="deploy it",
            )
        return live

    def open_generator(self, deployment: Deployment) -> Generator:
        """Start nfvgen on the deployment's ports, on the generator's core.

        Raises:
            SwitchDiedError: it does not start, and the switch has ended: with nobody at their other ends, ports of
                some kinds do not open.
            GeneratorError: it does not start, and the switch lives.
        """
        try:
            return self._find(deployment).starter.start(deployment)
        except GeneratorError:
            self.verify(deployment)
            raise

    def host_view(self, deployment: Deployment) -> HostView:
        """Return a deployment's cores and workspace; for an existing deployment, the workspace that `destroy` ends."""
        live = self._find(deployment)
        starter = live.starter
        return HostView(
            starter.workspace,
            starter.arrangement,
            own_ends=live.plane.own_ends(deployment) if layout(deployment.topology).outside else {},
            work_threads=lambda: self.work_threads(deployment),
            core_distances_ns=lambda: self.core_distances_ns(deployment),
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that the switch lives, and that the run directory is there.

        Raises:
            SwitchDiedError: it has ended.
            DeploymentGoneError: its sockets and its log are gone.
        """
        live = self._find(deployment)
        live.plane.verify(deployment)
        if not live.workspace.directory.is_dir():
            raise gone(live.workspace.directory)

    def wait_for_vnfs(self, deployment: Deployment) -> None:
        """Wait until the switch is joined to the VNFs that were started, or restarted."""
        ports = {port.name for ports in deployment.vnf_ports for port in ports if port.kind is PortKind.VHOST_USER}
        self._find(deployment).plane.wait_until_joined(deployment, ports)

    def wait_for_generator(self, deployment: Deployment) -> None:
        """Wait until the switch is joined to the generator that was opened."""
        ends = (End(None, number) for number in layout(deployment.topology).outside)
        ports = {
            end.name for end, port in zip(ends, deployment.ports, strict=False) if port.kind is PortKind.VHOST_USER
        }
        self._find(deployment).plane.wait_until_joined(deployment, ports)

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Return the switch's own counters."""
        return self._find(deployment).plane.counters(deployment)

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return the packet counters along the path."""
        return self._find(deployment).plane.hops(deployment)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the threads that do the packet work now."""
        return self._find(deployment).plane.work_threads(deployment)

    def warnings(self, deployment: Deployment, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        """Return the warnings of wrong NUMA nodes, and of fewer hugepages than were asked for."""
        found = dict.fromkeys(deployment.warnings)
        if self._find(deployment).workspace.short_of_hugepages:
            found[QualityWarning.HUGEPAGES_SHORT] = None
        if what_lies_apart(self.machine.topology, threads, deployment.ports):
            found[QualityWarning.WRONG_NUMA_NODE] = None
        return tuple(found)

    def core_distances_ns(self, deployment: Deployment) -> Distances | Unavailable:
        """Measure the one-way cache-line time between each switch core and the generator's and the VNFs'."""
        pairs = coredistance.pairs_of(self.host_view(deployment).arrangement, deployment.vnfs)
        if not pairs:
            return Unavailable("the switch shares its core with all others")
        return {pair: coredistance.measure(pair, self.machine.root).one_way_ns for pair in pairs}

    def core_slowdowns(self, deployment: Deployment) -> Slowdowns | Unavailable:
        """Measure how much slower than they can be the cores of switch, generator and VNFs are."""
        return corepace.measure(
            coredistance.cores_of(self.host_view(deployment).arrangement, deployment.vnfs), self.machine.root
        )

    def connections(self, deployment: Deployment) -> ConnectionTracker | None:
        """Return the data plane's connection tracker."""
        return self._find(deployment).plane.connections(deployment)

    def chain(self, deployment: Deployment) -> ChainControl:
        """Return the data plane's control of its path."""
        return self._find(deployment).plane.chain(deployment)

    def own_readers(self, deployment: Deployment, duration_s: float) -> tuple[CounterReader, ...]:
        """Return the data plane's own readers."""
        reader = self._find(deployment).plane.switch_reader(deployment, duration_s)
        return (reader,) if reader else ()

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Return the data plane's forwarding table."""
        return self.machine.catalogue.data_plane(variant).forwarding_table(deployment, variant)

    def learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Return the data plane's learning table."""
        return self.machine.catalogue.data_plane(variant).learning_table(deployment, variant)

    def reset(self, deployment: Deployment, after_s: float) -> ResetReport:
        """Reset the data plane in its own way."""
        live = self._find(deployment)
        time.sleep(after_s)
        return live.plane.reset(deployment)

    def destroy(self, deployment: Deployment) -> None:
        """Take a deployment and its generators down; of one that an earlier command left, only the generators.

        Raises:
            DeployError: something could not be removed; the next nfvbed tries again.
        """
        live = self._live.pop(deployment.id, None)
        try:
            if live and live.workspace.id == deployment.id:
                live.plane.release(deployment)
        finally:
            if live:
                self.machine.keep_pages(live.workspace)
            problems = live.workspace.close() if live else []
        if problems:
            raise DeployError(
                f"{deployment.variant} is not completely gone",
                where=str(live.workspace.directory) if live else "",
                observed="; ".join(problems),
                fix="nfvbed destroy --all",
            )

    def close(self) -> None:
        """Destroy what this process set up and does not leave behind, and release the host; idempotent."""
        self._live.clear()
        self.machine.close()


def _wanted(variant: Variant, topology: str, vnf: VnfChoice | None, role: CellRole = CellRole.SUBJECT) -> _PlaneRequest:
    # A ceiling is of the variant's ports: they can be looped back also where the variant has no such path itself.
    if role is CellRole.SUBJECT:
        require_topology(variant, topology)
    plan = layout(topology)
    return _PlaneRequest(variant, plan, on_path(plan, vnf) if vnf is not None and plan.vnfs else None)


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
