"""Lagopus: with raw sockets on veth ports, or with DPDK on vhost-user ports; its cables are OpenFlow rules by port."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.lagopus import process
from nfvbed.dataplanes.lagopus.configuration import configuration, raw_socket, vhost_client
from nfvbed.dataplanes.lagopus.drops import SOURCE
from nfvbed.dataplanes.lagopus.options import LagopusOptions
from nfvbed.dataplanes.lagopus.process import DIED, Lagopus, LagopusSpec, configuration_file
from nfvbed.dataplanes.ports import kernel_checks, vhost_user
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces
from nfvbed.dataplanes.ports.link_switch import LinkSwitch
from nfvbed.dataplanes.ports.veth_probe import require_sender
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.wiring import port_numbers, queues_of, require_vnf, vnf_ports
from nfvbed.errors import DeployError
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import (
    NOT_SEPARABLE,
    Deployment,
    Hop,
    HopKind,
    SwitchCounters,
    WorkThread,
)
from nfvbed.records.state import NESTED, PlaneState, State
from nfvbed.spec.layout import Layout, layout
from nfvbed.spec.variant import Variant, options_of

RESET = "lagopus killed (SIGKILL), started again on its configuration"
_PIPELINE = ("main_loop_io", "worker_", "ioworker_")


class LagopusState(State):
    """What is recorded of a Lagopus, with either kind of ports."""

    lagopus: Annotated[LagopusSpec, NESTED]
    """What it was started with."""


class SocketState(PlaneState, LagopusState):
    """What is recorded of a Lagopus with vhost-user sockets."""

    netns: str
    """Path of the network namespace that it runs in."""


class LagopusRaw(LinkSwitch):
    """Lagopus on veth ports: frames leave the kernel through packet sockets, and come back in through them."""

    kind = "lagopus-raw"
    works_in = "its own threads"
    drops = ("rx_dropped", "tx_dropped")

    def probe(self, variant: Variant) -> Fitness:
        """Run the program for its version."""
        process.version()
        require_sender()
        return Fitness()

    def connect(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> State:
        """Write the configuration and start Lagopus; when this returns its rules are in."""
        numbers = port_numbers(request.layout)
        interfaces = {numbers[end.name]: raw_socket(plan.port(end)) for end in plan.ends}
        cables = rules_of(request.layout)
        text = configuration(interfaces, cables)
        configuration_file(request.workspace.directory).write_text(text)
        spec = LagopusSpec(netns=spaces.switch, cores=request.arrangement.switch_cores, flows=2 * len(cables))
        Lagopus(request.workspace, spec).start()
        return LagopusState(lagopus=spec)

    def check(self, deployment: Deployment) -> None:
        """Check that its process lives."""
        check_alive(self.lagopus(deployment).process, DIED)

    def own_counters(self, deployment: Deployment) -> Mapping[str, Mapping[str, int]]:
        """Return the statistics of its interfaces."""
        plan = BridgePlan.of(deployment)
        numbers = port_numbers(plan.layout)
        datastore = self.lagopus(deployment).datastore
        try:
            return {plan.port(end): datastore.statistics(numbers[end.name]) for end in plan.ends}
        except DeployError:
            self.verify(deployment)
            raise

    def busy(self, deployment: Deployment) -> kernel_checks.BusyCycles:
        """Return that the cycles are not separable: Lagopus has only its threads' CPU time."""
        return kernel_checks.BusyCycles(NOT_SEPARABLE, "statistics of the links")

    def versions(self) -> dict[str, str]:
        """Return the kernel's version and Lagopus's own."""
        return super().versions() | {"lagopus": process.version()}

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill Lagopus, and start it again."""
        return _restarted(self.lagopus(deployment))

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return its own threads, and the NAPI threads of both sides."""
        return (*super().work_threads(deployment), *self.lagopus(deployment).threads())

    def lagopus(self, deployment: Deployment) -> Lagopus:
        """Return the Lagopus of a deployment, also one that another nfvbed made."""
        return Lagopus(self.workspace(deployment), LagopusState.of(deployment).lagopus)


def rules_of(plan: Layout) -> tuple[tuple[int, int], ...]:
    """Return the cables by the OpenFlow numbers of their ports."""
    numbers = port_numbers(plan)
    return tuple((numbers[cable.first.name], numbers[cable.second.name]) for cable in plan.cables)


class LagopusDpdk(DataPlane):
    """Lagopus with DPDK. As with Open vSwitch, its ports are clients of sockets that generator and VNFs serve."""

    kind = "lagopus"

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def probe(self, variant: Variant) -> Fitness:
        """Run the program for its version."""
        process.version()
        return Fitness()

    def deploy(self, request: DeployRequest) -> Deployment:
        """Write the configuration and start Lagopus."""
        plan, workspace, options = request.layout, request.workspace, options_of(request.variant, LagopusOptions)
        require_vnf(plan, request.vnf, request.variant)
        numbers = port_numbers(plan)
        sockets = vhost_user.sockets(workspace.directory, numbers)
        steps = Steps()
        with steps.timed("deploy.hugepages"):
            hugepages = workspace.hugepages(max(request.variant.hugepages_mib, options.memory_mib))
            netns = workspace.network_namespace("switch")
        interfaces = {
            numbers[name]: vhost_client(place, str(path)) for place, (name, path) in enumerate(sockets.items())
        }
        cables = rules_of(plan)
        configuration_file(workspace.directory).write_text(configuration(interfaces, cables))
        cores = request.arrangement.switch_cores
        eal = eal_arguments(cores, options.memory_mib, hugepages, f"nfvbed-{workspace.id}-lagopus")
        spec = LagopusSpec(netns=netns, cores=cores, flows=2 * len(cables), eal=eal)
        lagopus = Lagopus(workspace, spec)
        with steps.timed("deploy.switch"):
            lagopus.start()
        self._workspaces[workspace.id] = workspace
        idle = vhost_user.IDLE if len(plan.outside) == 1 else None
        return Deployment(
            id=workspace.id,
            variant=request.variant.name,
            site="lab",
            topology=plan.name,
            ports=vhost_user.server_ports([sockets[f"p{end}"] for end in plan.outside], options.queue_size),
            vnf_ports=vnf_ports(
                plan,
                lambda end: vhost_user.vnf_port(end, sockets[end.name], options.queue_size, queues_of(request.vnf)),
            ),
            threads=self._polling(lagopus),
            run_directory=str(workspace.directory),
            control=SocketState(lagopus=spec, netns=netns, idle_port=idle).as_control(),
            versions={"lagopus": process.version()},
            steps=steps.done,
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that its process lives."""
        check_alive(self._lagopus(deployment).process, DIED)

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Return the statistics of its interfaces; Lagopus does not report how busy it is."""
        found = self._statistics(deployment)
        packets = sum(counts["rx_packets"] for counts in found.values())
        source = "Lagopus tells no cycles, and its threads poll"
        return SwitchCounters(packets=packets, busy_cycles=NOT_SEPARABLE, source=source, raw=dict(found))

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return its ports, in the order of the path."""
        ends = {end.name: end for end in layout(deployment.topology).switch_ends}
        return tuple(
            Hop(
                name=f"lagopus port {name}",
                kind=HopKind.SWITCH_PORT,
                vnf=ends[name].vnf,
                port=ends[name].port,
                rx_packets=counts["rx_packets"],
                tx_packets=counts["tx_packets"],
                drops={key: counts[key] for key in ("rx_dropped", "tx_dropped", "rx_errors", "tx_errors")},
                counted_by=SOURCE,
            )
            for name, counts in self._statistics(deployment).items()
        )

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill Lagopus, and start it again; generator and VNFs keep serving their sockets."""
        return _restarted(self._lagopus(deployment))

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the threads of its pipeline."""
        return self._polling(self._lagopus(deployment))

    def _polling(self, lagopus: Lagopus) -> tuple[WorkThread, ...]:
        """Return the threads of its pipeline, by the names that its data plane gives them (dataplane/dpdk/dpdk.c)."""
        threads = [thread for thread in lagopus.threads() if thread.name.startswith(_PIPELINE)]
        return tuple(thread.model_copy(update={"polling": True}) for thread in threads)

    def _statistics(self, deployment: Deployment) -> Mapping[str, Mapping[str, int]]:
        datastore = self._lagopus(deployment).datastore
        numbers = port_numbers(layout(deployment.topology))
        try:
            return {name: datastore.statistics(number) for name, number in numbers.items()}
        except DeployError:
            self.verify(deployment)
            raise

    def _lagopus(self, deployment: Deployment) -> Lagopus:
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return Lagopus(self._workspaces[deployment.id], LagopusState.of(deployment).lagopus)


def _restarted(lagopus: Lagopus) -> ResetReport:
    steps = Steps()
    with steps.timed("reset.kill"):
        lagopus.process.kill()
    with steps.timed("reset.start"):
        lagopus.start()
    return ResetReport(kind=RESET, steps=steps.done)


def eal_arguments(cores: tuple[int, ...], memory_mib: int, hugepages: Path, prefix: str) -> tuple[str, ...]:
    """Return what DPDK is started with inside Lagopus: its cores, memory of its own, and no PCI device."""
    mask = sum(1 << core for core in cores)
    memory = ("-m", str(memory_mib), "--huge-dir", str(hugepages), "--file-prefix", prefix)
    return ("-c", f"{mask:#x}", "-n", "2", *memory, "--no-pci")
