"""What all of Open vSwitch's data planes share: one bridge in its own instance, cables as OpenFlow rules."""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nfvbed.dataplanes.chaincontrol import ChainControl, FixedChain
from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.ovs import joining, openflow, reading
from nfvbed.dataplanes.ovs.binaries import OvsBinaries, binaries_in, locate
from nfvbed.dataplanes.ovs.chaincontrol import STATIC, OvsChain
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.entries import OvsEntries
from nfvbed.dataplanes.ovs.fdb import OvsLearning
from nfvbed.dataplanes.ovs.instance import SWITCH, OvsInstance
from nfvbed.dataplanes.ovs.options import OvsOptions
from nfvbed.dataplanes.ovs.reading import BridgeView
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.ovs.steering.catalogue import steering
from nfvbed.dataplanes.ovs.steering.path import path_rules, steering_path
from nfvbed.dataplanes.ovs.steering.steering import SteeredBridge, Steering, wait_for_forwarding
from nfvbed.dataplanes.ovs.telemetry import OvsReader
from nfvbed.dataplanes.reader import CounterReader
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable, TableNotApplicable
from nfvbed.dataplanes.wiring import layout_of, port_numbers, require_vnf
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, GeneratorPort, Hop, QualityWarning, Role, SwitchCounters, VnfPort, WorkThread
from nfvbed.records.state import PlaneState, State
from nfvbed.spec.layout import Layout
from nfvbed.spec.variant import Variant, options_of

BRIDGE = "br0"
VNF_PORT_MIB = 64
"""Hugepage memory of each vhost-user port beyond the two that `socket_memory_mib` is for (ADR 0005)."""
RESET = "ovs-vswitchd killed (SIGKILL), restarted on its database"
NORMAL = "normal"
"""In place of a steering: one rule, a learning switch."""
PUSH_VLAN = "push-vlan"
"""In place of a steering: a rule per direction that puts a VLAN tag on."""
_FIXED: Mapping[str, str] = {
    NORMAL: "a learning switch has no path",
    PUSH_VLAN: "its rules change frames between the two ports outside",
}
"""Why the rules of a bridge without steering are not changed."""


@dataclass(frozen=True)
class StartedSwitch:
    """A running switch with its bridge and all ports; no rules yet."""

    instance: OvsInstance
    netns: str
    """Path of the switch's network namespace."""
    ports: tuple[GeneratorPort, ...]
    vnf_ports: tuple[tuple[VnfPort, ...], ...]
    threads: tuple[WorkThread, ...]
    daemon_cores: tuple[int, ...]
    """Where ovs-vswitchd's own threads may run."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Beside Open vSwitch's own."""
    state: State = field(default_factory=PlaneState)
    """What else is to be written down of it."""
    warnings: tuple[QualityWarning, ...] = ()
    """About every trial on it."""


class OvsSwitch(DataPlane):
    """`br0` with the ports p0 and p1 to the generator, v1a and v1b to the first VNF, and so on.

    A data plane implements `start`, which brings up the switch and its ports; rules, counters, hops and reset are the
    same.
    """

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}
        self._steerings: dict[str, Steering] = {}

    @abstractmethod
    def options(self, request: DeployRequest) -> OvsOptions:
        """Return the variant's options; refuse those that are impossible."""

    @abstractmethod
    def start(self, request: DeployRequest, steps: Steps) -> StartedSwitch:
        """Start database and switch, make the bridge and all ports of the layout."""

    def deploy(self, request: DeployRequest) -> Deployment:
        """Start database and switch, add the bridge with all its ports, write the cables' rules."""
        variant, plan, workspace = request.variant, request.layout, request.workspace
        options = self.options(request)
        require_vnf(plan, request.vnf, variant)
        _check_flows(options, plan.vnfs)
        steps = Steps()
        started = self.start(request, steps)
        self._workspaces[workspace.id] = workspace
        deployment = Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=plan.name,
            ports=started.ports,
            vnf_ports=started.vnf_ports,
            threads=started.threads,
            run_directory=str(workspace.directory),
            control=_state(request, options, started).as_control() | started.state.as_control(),
            versions={
                "openvswitch": reading.version(started.instance.control_socket),
                **started.instance.binaries.versions(),
                **started.versions,
            },
            warnings=started.warnings,
        )
        self._join(request, deployment, steps)
        return deployment.model_copy(update={"steps": steps.done})

    def _join(self, request: DeployRequest, deployment: Deployment, steps: Steps) -> None:
        """Write the cables' rules into the bridge."""
        bridge = self._bridge(deployment)
        kind = OvsState.of(deployment).steering
        if kind in _FIXED:
            with steps.timed("deploy.rules"), BridgeController(bridge.management) as connection:
                connection.add_rules(_fixed_rules(kind, request.layout))
            return
        self._steerings[deployment.id] = writer = steering(kind, request.onos)
        steps.add(writer.set_up(bridge, steering_path(request.layout)).steps)

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Return the bridge's OpenFlow rules."""
        return OvsEntries(deployment)

    def _learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Return the addresses that the action NORMAL learns."""
        if options_of(variant, OvsOptions).flows != NORMAL:
            raise TableNotApplicable("static rules forward from port to port, whatever the addresses (flows: normal)")
        return OvsLearning(OvsState.of(deployment))

    def switch_reader(self, deployment: Deployment, duration_s: float) -> CounterReader | None:
        """Return a reader of its poll-mode threads and their receive queues; None where no thread polls."""
        polls = any(thread.polling for thread in deployment.threads if thread.role is Role.SWITCH)
        return OvsReader(Path(OvsState.of(deployment).unixctl), duration_s) if polls else None

    def verify(self, deployment: Deployment) -> None:
        """Check that ovs-vswitchd lives, and what writes its rules."""
        check_alive(self._workspace(deployment).process(SWITCH))
        writer = self._steering(deployment)
        if writer is not None:
            writer.verify(self._bridge(deployment))

    def wait_until_joined(self, deployment: Deployment, ports: Collection[str]) -> None:
        """Wait until the switch has set up its ports for their other sides."""
        numbers = port_numbers(layout_of(deployment))
        view, wanted = BridgeView.of(OvsState.of(deployment)), {name: numbers[name] for name in ports}
        joining.wait_for_links(view, wanted, lambda: self.verify(deployment))

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the frames that all ports received, the PMD threads' cycles and caches, the ports' drops.

        The ports' counts are those of the cables too, hop by hop. The rules' own are left out: the switch updates them
        only every half second, and waiting for that twice a trial took longer than the trials.
        """
        try:
            return reading.counters(BridgeView.of(OvsState.of(deployment)), port_numbers(layout_of(deployment)))
        except DeployError:
            self.verify(deployment)
            raise

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return p0, the datapath, the ports of the VNFs, p1; with their present counters and reasons of drops."""
        try:
            return reading.hops(BridgeView.of(OvsState.of(deployment)), port_numbers(layout_of(deployment)))
        except DeployError:
            self.verify(deployment)
            raise

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the PMD threads."""
        return reading.pmd_threads(self._workspace(deployment).process(SWITCH).pid)

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill ovs-vswitchd, start it again on its database, and write the rules that ended with it.

        The database lives on, and so do the other sides of the ports, which wait for the switch. A controller writes
        its rules by itself once the switch has found it again.
        """
        bridge, workspace = self._bridge(deployment), self._workspace(deployment)
        instance = OvsInstance(workspace, deployed_binaries(deployment), OvsState.of(deployment).daemon_cores)
        steps = Steps()
        with instance.connect() as database:
            with steps.timed("reset.kill"):
                workspace.process(SWITCH).kill()
            with steps.timed("reset.start"):
                instance.start_switch(bridge.netns)
                database.wait_until_configured()
        with steps.timed("reset.rules"):
            self._rejoin(deployment, bridge)
        return ResetReport(kind=RESET, steps=steps.done)

    def _rejoin(self, deployment: Deployment, bridge: SteeredBridge) -> None:
        kind, path = OvsState.of(deployment).steering, steering_path(layout_of(deployment))
        if kind in _FIXED:
            with BridgeController(bridge.management) as connection:
                connection.add_rules(_fixed_rules(kind, layout_of(deployment)))
        elif kind == "static":
            steering(kind).set_up(bridge, path)
        else:
            wait_for_forwarding(bridge, path)

    def release(self, deployment: Deployment) -> None:
        """Remove the rules from an ONOS, which is not ours and would keep them."""
        writer = self._steerings.pop(deployment.id, None)
        if writer is not None and writer.kind == "onos":
            writer.tear_down(self._bridge(deployment))

    def chain(self, deployment: Deployment) -> ChainControl:
        """Return the order of VNFs where the rules are a steering's of nfvbed; an ONOS has its own."""
        kind, writer = OvsState.of(deployment).steering, self._steering(deployment)
        if writer is None:
            fixed = _FIXED.get(kind, "its rules are ONOS's")
            return FixedChain(fixed, f"variant {deployment.variant}, steering {kind}", STATIC)
        return OvsChain(deployment, self._bridge(deployment), writer)

    def _steering(self, deployment: Deployment) -> Steering | None:
        """Return the writer of the rules; None where there is none, or for an ONOS that another process knows."""
        kind = OvsState.of(deployment).steering
        if deployment.id not in self._steerings and kind not in (*_FIXED, "onos"):
            self._steerings[deployment.id] = steering(kind)
        return self._steerings.get(deployment.id)

    def _bridge(self, deployment: Deployment) -> SteeredBridge:
        state = OvsState.of(deployment)
        return SteeredBridge(
            name=state.bridge,
            management=Path(state.openflow),
            database=Path(state.database),
            unixctl=Path(state.unixctl),
            workspace=self._workspace(deployment),
            netns=state.netns,
            cores=state.control_cores,
        )

    def _workspace(self, deployment: Deployment) -> Workspace:
        """Return the workspace of the deployment, which knows exit statuses; else open it as another process can."""
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return self._workspaces[deployment.id]


def _fixed_rules(kind: str, plan: Layout) -> list[openflow.Rule]:
    """Return the rules of a bridge that has no steering."""
    if kind == NORMAL:
        return [openflow.Rule(output=openflow.PORT_NORMAL, cookie=0)]
    return [replace(rule, push_vlan=True) for rule in path_rules(steering_path(plan))]


def _check_flows(options: OvsOptions, vnfs: int) -> None:
    why = {
        NORMAL: "a learning switch joins all ports with each other, so no path leads through VNFs",
        PUSH_VLAN: "each pass through the switch would put another tag on a frame",
    }
    if options.flows in why and vnfs:
        raise UnsupportedError(
            why[options.flows],
            where=f"flows: {options.flows}",
            observed=f"a topology with {vnfs} VNFs",
            fix="flows: port-to-port, or topology p2p",
        )
    if options.flows == PUSH_VLAN and options.steering != "static":
        raise UnsupportedError(
            "rules that change frames are written by nfvbed alone",
            where=f"flows: {options.flows}",
            observed=f"steering: {options.steering}",
            fix="steering: static",
        )


def _state(request: DeployRequest, options: OvsOptions, started: StartedSwitch) -> OvsState:
    instance = started.instance
    return OvsState(
        database=str(instance.database_socket),
        unixctl=str(instance.control_socket),
        openflow=str(instance.management_socket(BRIDGE)),
        netns=started.netns,
        bridge=BRIDGE,
        steering=options.flows if options.flows in _FIXED else options.steering,
        control_cores=request.arrangement.control_cores,
        daemon_cores=started.daemon_cores,
        programs=str(instance.binaries.root),
    )


def deployed_binaries(deployment: Deployment) -> OvsBinaries:
    """Return the programs that a deployment was made with.

    Raises:
        PrerequisiteError: they are not there any more.
    """
    folder = OvsState.of(deployment).programs
    return locate() if folder is None else binaries_in(Path(folder))
