"""Open vSwitch's userspace datapath on DPDK, with vhost-user ports."""

from collections.abc import Mapping
from pathlib import Path

from nfvbed.deploy.dataplane import DataPlane, DeployRequest
from nfvbed.deploy.dataplanes import vhost_user_ports
from nfvbed.deploy.dataplanes.ovs_probe import try_open_vswitch
from nfvbed.deploy.lab.generator import IDLE_PORT
from nfvbed.deploy.lab.timing import Steps
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.deploy.ovs import openflow, reading
from nfvbed.deploy.ovs.binaries import locate
from nfvbed.deploy.ovs.controller import BridgeController
from nfvbed.deploy.ovs.database import PortRequest, SwitchState
from nfvbed.deploy.ovs.instance import SWITCH, DpdkSettings, OvsInstance, check_alive, settings
from nfvbed.deploy.reset import ResetReport
from nfvbed.deploy.steering.steering import SteeredBridge, Steering, steering, wait_for_forwarding
from nfvbed.deploy.wiring import end_name, port_numbers, queues_of, require_vnf, steering_path, vnf_ports
from nfvbed.errors import ConfigurationError, DeployError, UnsupportedError
from nfvbed.records import Deployment, Hop, Readiness, Support, SwitchCounters, WorkThread
from nfvbed.spec.dataplanes.ovs_dpdk import OvsDpdkOptions
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant

BRIDGE = "br0"
VNF_PORT_MIB = 64
"""Hugepage memory of each port beyond the two that the variant's `socket_memory_mib` is for (ADR 0005)."""
_OPEN_PORTS = 2
RESET = "ovs-vswitchd killed (SIGKILL), restarted on its database"
NORMAL = "normal"
"""In place of a steering: one rule, a learning switch."""


def ovs_options(variant: Variant) -> OvsDpdkOptions:
    """Give the variant's options.

    Raises:
        ConfigurationError: they are those of another data plane.
        UnsupportedError: they ask for more queues than a generator's port has.
    """
    options = variant.options
    if not isinstance(options, OvsDpdkOptions):
        raise ConfigurationError(f"variant {variant.name} is no ovs-dpdk", observed=options.dataplane)
    if options.n_rxq != 1:
        raise UnsupportedError(
            "vhost-user ports have as many queues as their other side, and the generator has one",
            where=f"variant {variant.name}, n_rxq",
            observed=str(options.n_rxq),
            fix="n_rxq: 1",
        )
    return options


class OvsDpdk(DataPlane):
    """`br0` in an instance of its own, all its ports vhost-user; PMD threads on the switch's cores.

    The ports p0 and p1 lead to the generator, v1a and v1b to the first VNF, and so on; cables are OpenFlow rules.
    """

    kind = "ovs-dpdk"

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}
        self._steerings: dict[str, Steering] = {}

    def probe(self, variant: Variant) -> Support:
        """Look for the programs, run them, and look for memory; nothing is started that polls."""
        try:
            options = ovs_options(variant)
        except UnsupportedError as failure:
            reason = f"{failure.what} ({failure.observed})"
            return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=reason, fix=failure.fix)
        return try_open_vswitch(variant, options.socket_memory_mib)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Start database and switch, add the bridge with all its ports, bring the cables in."""
        variant, plan, workspace = request.variant, request.layout, request.workspace
        options = ovs_options(variant)
        vhost_user_ports.check_queue_size(options.rx_queue_size)
        require_vnf(plan, request.vnf, variant)
        _check_flows(options, plan.vnfs)
        sockets = vhost_user_ports.sockets(workspace.directory, port_numbers(plan))
        instance = OvsInstance(workspace, locate(), request.arrangement.control_cores)
        steps = Steps()
        state, netns = _start(request, instance, sockets, steps)
        self._workspaces[workspace.id] = workspace
        deployment = Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=plan.name,
            ports=vhost_user_ports.server_ports([sockets[f"p{end}"] for end in plan.outside], options.rx_queue_size),
            vnf_ports=vnf_ports(
                plan,
                lambda end: vhost_user_ports.vnf_port(
                    end, sockets[end_name(end)], options.rx_queue_size, queues_of(request.vnf)
                ),
            ),
            threads=reading.pmd_threads(workspace.process(SWITCH).pid),
            run_directory=str(workspace.directory),
            control=_control(request, instance, netns),
            versions={"openvswitch": reading.version(instance.control_socket), "dpdk": state.dpdk_version},
        )
        self._join(request, deployment, steps)
        return deployment.model_copy(update={"steps": steps.done})

    def _join(self, request: DeployRequest, deployment: Deployment, steps: Steps) -> None:
        """Bring the cables into the bridge."""
        bridge = self._bridge(deployment)
        kind = deployment.control["steering"]
        if kind == NORMAL:
            with steps.timed("deploy.rules"), BridgeController(bridge.management) as connection:
                connection.add_rules([openflow.Rule(output=openflow.PORT_NORMAL, cookie=0)])
            return
        self._steerings[deployment.id] = writer = steering(kind, request.onos)
        steps.add(writer.set_up(bridge, steering_path(request.layout)).steps)

    def verify(self, deployment: Deployment) -> None:
        """Check that ovs-vswitchd lives, and what writes its rules."""
        check_alive(self._workspace(deployment).process(SWITCH))
        writer = self._steering(deployment)
        if writer is not None:
            writer.verify(self._bridge(deployment))

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Frames that all ports received, the PMD threads' cycles and caches, the ports' drops.

        The ports' counts are those of the cables too, hop by hop. The rules' own are left out: the switch brings them
        up to date every half second, and to wait for that twice a trial took longer than the trials.
        """
        try:
            return reading.counters(deployment.control, port_numbers(layout(deployment.topology)))
        except DeployError:
            self.verify(deployment)
            raise

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """p0, the datapath, the ports of the VNFs, p1; their counters and reasons of drops as they are now."""
        try:
            return reading.hops(deployment.control, port_numbers(layout(deployment.topology)))
        except DeployError:
            self.verify(deployment)
            raise

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The PMD threads."""
        return reading.pmd_threads(self._workspace(deployment).process(SWITCH).pid)

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill ovs-vswitchd and start it again on its database, then bring the rules in that died with it.

        The database lives on, and so do the other sides of the ports, which wait for the switch. A controller writes
        its rules by itself once the switch has found it again.
        """
        bridge, workspace = self._bridge(deployment), self._workspace(deployment)
        instance = OvsInstance(workspace, locate(), bridge.cores)
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
        kind, path = deployment.control["steering"], steering_path(layout(deployment.topology))
        if kind == NORMAL:
            with BridgeController(bridge.management) as connection:
                connection.add_rules([openflow.Rule(output=openflow.PORT_NORMAL, cookie=0)])
        elif kind == "static":
            steering(kind).set_up(bridge, path)
        else:
            wait_for_forwarding(bridge, path)

    def release(self, deployment: Deployment) -> None:
        """Take an ONOS's rules away: it is not ours, and would keep them."""
        writer = self._steerings.pop(deployment.id, None)
        if writer is not None and writer.kind == "onos":
            writer.tear_down(self._bridge(deployment))

    def _steering(self, deployment: Deployment) -> Steering | None:
        """Give the writer of the rules; None where there is none, and of an ONOS that another process knows."""
        kind = deployment.control["steering"]
        if deployment.id not in self._steerings and kind not in (NORMAL, "onos"):
            self._steerings[deployment.id] = steering(kind)
        return self._steerings.get(deployment.id)

    def _bridge(self, deployment: Deployment) -> SteeredBridge:
        control: Mapping[str, str] = deployment.control
        return SteeredBridge(
            name=control["bridge"],
            management=Path(control["openflow"]),
            database=Path(control["database"]),
            unixctl=Path(control["unixctl"]),
            workspace=self._workspace(deployment),
            netns=control["netns"],
            cores=tuple(int(core) for core in control["control_cores"].split(",")),
        )

    def _workspace(self, deployment: Deployment) -> Workspace:
        """Give the workspace that was deployed into, which knows exit statuses, or open it as another process can."""
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return self._workspaces[deployment.id]


def _check_flows(options: OvsDpdkOptions, vnfs: int) -> None:
    if options.flows == "normal" and vnfs:
        raise UnsupportedError(
            "a learning switch joins all ports with each other, so no path leads through VNFs",
            where="flows: normal",
            observed=f"a topology with {vnfs} VNFs",
            fix="flows: port-to-port, or topology p2p",
        )


def _start(
    request: DeployRequest, instance: OvsInstance, sockets: Mapping[str, Path], steps: Steps
) -> tuple[SwitchState, str]:
    """Start database and switch and make the bridge; give what the switch says and its network namespace."""
    options, arrangement = ovs_options(request.variant), request.arrangement
    more_mib = VNF_PORT_MIB * max(0, len(sockets) - _OPEN_PORTS)
    with steps.timed("deploy.hugepages"):
        memory_mib = options.socket_memory_mib + more_mib
        asked_mib = max(request.variant.hugepages_mib + more_mib, memory_mib)
        hugepages = request.workspace.hugepages(asked_mib, least_mib=memory_mib)
        netns = request.workspace.network_namespace("switch")
    with steps.timed("deploy.database"):
        instance.start_database()
    dpdk = DpdkSettings(memory_mib, hugepages, arrangement.switch_cores, main_core=arrangement.control_cores[0])
    other_config = settings(dpdk, f"nfvbed-{request.workspace.id}-ovs") | _cache_settings(options)
    numbers = port_numbers(request.layout)
    ports = [
        PortRequest(name, "dpdkvhostuserclient", numbers[name], {"vhost-server-path": str(path)})
        for name, path in sockets.items()
    ]
    with instance.connect() as database:
        with steps.timed("deploy.switch"):
            database.initialise(other_config)
            instance.start_switch(netns)
            state = database.wait_for_switch()
        with steps.timed("deploy.bridge"):
            database.add_bridge(BRIDGE, ports, _bridge_settings(options))
    return state, netns


def _control(request: DeployRequest, instance: OvsInstance, netns: str) -> dict[str, str]:
    options = ovs_options(request.variant)
    control = {
        "database": str(instance.database_socket),
        "unixctl": str(instance.control_socket),
        "openflow": str(instance.management_socket(BRIDGE)),
        "netns": netns,
        "bridge": BRIDGE,
        "steering": NORMAL if options.flows == "normal" else options.steering,
        "control_cores": ",".join(str(core) for core in request.arrangement.control_cores),
    }
    return control | ({IDLE_PORT: vhost_user_ports.IDLE} if len(request.layout.outside) == 1 else {})


def _bridge_settings(options: OvsDpdkOptions) -> dict[str, str]:
    return {} if options.mac_table_size is None else {"mac-table-size": str(options.mac_table_size)}


def _cache_settings(options: OvsDpdkOptions) -> dict[str, str]:
    caches = {"smc-enable": "true"} if options.smc else {}
    return caches if options.emc else caches | {"emc-insert-inv-prob": "0"}
