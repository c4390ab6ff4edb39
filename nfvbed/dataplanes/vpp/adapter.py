"""fd.io's VPP, which the user brings: an instance of its own, driven over its API."""

import os
import time
from collections.abc import Collection
from pathlib import Path

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.ports.veth_probe import probe_veth
from nfvbed.dataplanes.reader import CounterReader
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable, TableNotApplicable
from nfvbed.dataplanes.vpp import binaries, interfaces, reading
from nfvbed.dataplanes.vpp import ports as vpp_ports
from nfvbed.dataplanes.vpp.connection import Connection
from nfvbed.dataplanes.vpp.fdb import VppLearning
from nfvbed.dataplanes.vpp.instance import SWITCH, VppInstance
from nfvbed.dataplanes.vpp.interfaces import Graph
from nfvbed.dataplanes.vpp.options import VppOptions
from nfvbed.dataplanes.vpp.ports import VppPorts
from nfvbed.dataplanes.vpp.routes import VppRoutes
from nfvbed.dataplanes.vpp.startup import NIC_PLUGIN, STATISTICS_SOCKET, NicPort, StartupSettings
from nfvbed.dataplanes.vpp.state import VppState
from nfvbed.dataplanes.vpp.telemetry import VppReader
from nfvbed.dataplanes.wiring import require_vnf
from nfvbed.errors import DeployError, PrerequisiteError, UnsupportedError
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.native import native_binary
from nfvbed.host.network import napi
from nfvbed.host.nics import take
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace, try_memory
from nfvbed.patience import patient
from nfvbed.records import Deployment, Hop, PortKind, SwitchCounters, WorkThread
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant, options_of

RESET = "vpp killed (SIGKILL), restarted and configured again"
BUFFER_BYTES = 2560
"""2 KiB of data, headers, and the share of what fills no page."""
SPARE_MIB = 16
"""Hugepages beyond the buffers: VPP's other physical memory."""
NICS_MIB = 64
"""Hugepages of the DPDK plug-in beside them: the rings of its NICs, and what it looks for itself at its start."""
_SOCKETS = frozenset({PortKind.VHOST_USER, PortKind.MEMIF})
_WORKERS_S = patient(5.0)


class Vpp(DataPlane):
    """One VPP in a run directory. Ports p0 and p1 lead to the generator, v1a and v1b to the first VNF, and so on."""

    kind = "vpp"

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}
        self._connections: dict[str, Connection] = {}

    def probe(self, variant: Variant) -> Fitness:
        """Find the program, run it, and look for memory; nothing that polls is started."""
        if os.geteuid() != 0:
            raise PrerequisiteError("VPP needs root", fix="run it with sudo")
        program = binaries.locate()
        binaries.version(program)
        if variant.port_kind is PortKind.PCI:
            binaries.require_plugin(program, NIC_PLUGIN, "vpp-plugin-dpdk")
        native_binary("nfvgen")
        memory = try_memory(variant.hugepages_mib, _least_mib(variant))
        if variant.port_kind is PortKind.VETH:
            probe_veth(variant)
        return memory

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make the ports' other sides, start VPP, and configure it over its API."""
        variant, workspace = request.variant, request.workspace
        options = options_of(variant, VppOptions)
        vnf_kind = require_vnf(request.layout, request.vnf, variant)
        program = binaries.locate()
        instance = VppInstance(workspace, program)
        steps = Steps()
        with steps.timed("deploy.ports"):
            ports = vpp_ports.make(request, options, vnf_kind)
            graph = vpp_ports.graph(request, options, ports)
        settings = _settings(request, options, ports)
        cores = sorted({settings.main_core, *settings.worker_cores})
        topology = read_topology()
        with steps.timed("deploy.hugepages"):
            _reserve_hugepages(workspace, variant, take.memory_nodes(ports.nics, cores, topology))
        with steps.timed("deploy.switch"):
            instance.configure(settings)
            instance.start(ports.netns, cores)
        with instance.connect() as api:
            with steps.timed("deploy.interfaces"):
                numbers = interfaces.configure(api, graph)
            version = api.version()
        state = VppState(
            program=str(program),
            netns=ports.netns,
            statistics=str(workspace.directory / STATISTICS_SOCKET),
            interfaces=numbers,
            cores=tuple(cores),
            workers=len(settings.worker_cores),
            graph=graph,
        )
        self._workspaces[workspace.id] = workspace
        deployment = Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            ports=ports.generator,
            vnf_ports=ports.vnfs,
            threads=ports.threads,
            run_directory=str(workspace.directory),
            control=state.as_control() | ports.state.as_control(),
            versions={"vpp": version},
            steps=steps.done,
            warnings=take.warnings(ports.nics, settings.worker_cores, topology),
        )
        return deployment.model_copy(update={"threads": (*ports.threads, *self._workers(deployment))})

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Return the routes of the main table; while it is open they take the place of layer 2."""
        return VppRoutes(deployment, options_of(variant, VppOptions))

    def _learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Return the learnt addresses of a bridge domain."""
        options = options_of(variant, VppOptions)
        if options.forwarding != "bridge-domain":
            raise TableNotApplicable("a cross-connect looks no address up (forwarding: bridge-domain learns them)")
        return VppLearning(deployment, options.mac_table_size)

    def switch_reader(self, deployment: Deployment, duration_s: float) -> CounterReader | None:
        """Return a reader of its graph nodes."""
        return VppReader(Path(VppState.of(deployment).statistics))

    def verify(self, deployment: Deployment) -> None:
        """Check that VPP lives and answers on its API."""
        self._instance(deployment).check()
        self._connection(deployment).api.call("control_ping")

    def wait_until_joined(self, deployment: Deployment, ports: Collection[str]) -> None:
        """Wait until VPP has joined these sockets; it looks every three seconds."""
        numbers = VppState.of(deployment).interfaces
        wanted = {numbers[name]: name for name in ports}
        interfaces.wait_for_links(self._connection(deployment).api, wanted)

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the frames that all ports received, what the workers' graph took for them, the ports' drops."""
        self._wait_for_nics(deployment)
        return self._connection(deployment).counters(VppState.of(deployment).interfaces)

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return p0, the graph, the ports of the VNFs, p1; with their present counters and drops."""
        entries = self._connection(deployment).read(errors=True)
        return reading.hops(entries, VppState.of(deployment).interfaces, layout(deployment.topology))

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the workers, and the kernel's threads that receive for the generator."""
        of_kernel = [thread for thread in deployment.threads if thread.name.startswith("napi/")]
        return (*napi.still_there(tuple(of_kernel)), *self._workers(deployment))

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill VPP, start it again, and configure it again as before: it keeps nothing of its configuration.

        Raises:
            UnsupportedError: its ports are sockets, whose other sides do not restart with a VPP that has come back.
        """
        if any(interface.kind in _SOCKETS for interface in self._graph(deployment).interfaces):
            raise UnsupportedError(
                "DPDK's ports do not restart with a VPP that was restarted",
                where=f"variant {deployment.variant}",
                observed="VPP begins a vhost-user ring at its first kick, and virtio-user does not kick the ring that"
                " it receives by a second time; a memif client connects once",
                fix="variant vpp-af-packet, whose ports are the kernel's; or vpp-pci without VNFs",
            )
        workspace, instance = self._workspace(deployment), self._instance(deployment)
        self.release(deployment)
        steps = Steps()
        with steps.timed("reset.kill"):
            workspace.process(SWITCH).kill()
        with steps.timed("reset.start"):
            state = VppState.of(deployment)
            instance.start(state.netns, state.cores)
        with instance.connect() as api, steps.timed("reset.interfaces"):
            interfaces.configure(api, self._graph(deployment))
            self._wait_for_nics(deployment)
        return ResetReport(kind=RESET, steps=steps.done)

    def release(self, deployment: Deployment) -> None:
        """Close the connections to the API and to the statistics."""
        connection = self._connections.pop(deployment.id, None)
        if connection is not None:
            connection.close()

    def _wait_for_nics(self, deployment: Deployment) -> None:
        """Wait for the links of NICs: VPP looks at them every three seconds, and drops frames until then."""
        numbers = VppState.of(deployment).interfaces
        nics = [one.name for one in self._graph(deployment).interfaces if one.kind is PortKind.PCI]
        if nics:
            interfaces.wait_for_links(self._connection(deployment).api, {numbers[name]: name for name in nics})

    def _connection(self, deployment: Deployment) -> Connection:
        if deployment.id not in self._connections:
            instance = self._instance(deployment)
            opened = Connection.open(instance.connect(), Path(VppState.of(deployment).statistics), instance.check)
            self._connections[deployment.id] = opened
        return self._connections[deployment.id]

    def _graph(self, deployment: Deployment) -> Graph:
        return VppState.of(deployment).graph

    def _workers(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the workers; VPP answers on its API when all of them run."""
        graph = self._graph(deployment)
        kernel = any(interface.kind in vpp_ports.KERNEL for interface in graph.interfaces)
        polling = not kernel or graph.rx_mode == "polling"
        pid = self._workspace(deployment).process(SWITCH).pid
        wanted = VppState.of(deployment).workers
        deadline = time.monotonic() + _WORKERS_S
        while len(found := reading.workers(pid, polling=polling)) < wanted:
            check_alive(self._workspace(deployment).process(SWITCH))
            if time.monotonic() > deadline:
                raise DeployError("VPP lacks workers", where=f"pid {pid}", observed=f"{len(found)} of {wanted}")
            time.sleep(0.01)
        return found

    def _instance(self, deployment: Deployment) -> VppInstance:
        return VppInstance(self._workspace(deployment), Path(VppState.of(deployment).program))

    def _workspace(self, deployment: Deployment) -> Workspace:
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return self._workspaces[deployment.id]


def buffer_mib(options: VppOptions) -> int:
    """Return the hugepage memory without which VPP does not start, in MiB."""
    return -(-options.buffers * BUFFER_BYTES // (1 << 20)) + SPARE_MIB


def _least_mib(variant: Variant) -> int:
    """Return the hugepage memory that the variant's outside ports need at least, in MiB."""
    nics_mib = NICS_MIB if variant.port_kind is PortKind.PCI else 0
    return buffer_mib(options_of(variant, VppOptions)) + nics_mib


def _reserve_hugepages(workspace: Workspace, variant: Variant, nodes: tuple[int, ...]) -> None:
    """Reserve its hugepages on each of these NUMA nodes; with no nodes, anywhere."""
    least_mib = _least_mib(variant)
    for node in nodes or (None,):
        workspace.reserve_hugepages(max(variant.hugepages_mib, least_mib), least_mib=least_mib, node=node)


def _settings(request: DeployRequest, options: VppOptions, ports: VppPorts) -> StartupSettings:
    on_nics = [interface for interface in ports.interfaces if interface.kind is PortKind.PCI]
    return StartupSettings(
        directory=request.workspace.directory,
        prefix=f"nfvbed-{request.workspace.id}",
        main_core=request.arrangement.control_cores[0],
        worker_cores=request.arrangement.switch_cores,
        main_heap_mib=options.main_heap_mib,
        buffers=options.buffers,
        nics=tuple(NicPort(one.name, one.address, options.rx_queues, one.ring_size) for one in on_nics),
    )
