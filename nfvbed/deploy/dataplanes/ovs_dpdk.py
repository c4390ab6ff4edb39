"""Open vSwitch's userspace datapath on DPDK, with vhost-user ports."""

from pathlib import Path

from nfvbed.deploy.dataplane import DataPlane, DeployRequest
from nfvbed.deploy.dataplanes import vhost_user_ports
from nfvbed.deploy.dataplanes.ovs_probe import try_open_vswitch
from nfvbed.deploy.lab.timing import Steps
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.deploy.ovs import openflow, reading
from nfvbed.deploy.ovs.binaries import locate
from nfvbed.deploy.ovs.controller import BridgeController
from nfvbed.deploy.ovs.database import PortRequest, SwitchState
from nfvbed.deploy.ovs.instance import SWITCH, DpdkSettings, OvsInstance, check_alive, settings
from nfvbed.errors import ConfigurationError, DeployError, UnsupportedError
from nfvbed.records import Deployment, Hop, Readiness, Support, SwitchCounters, WorkThread
from nfvbed.spec.variant import OvsDpdkOptions, Variant

BRIDGE = "br0"
PORTS = {"p0": 1, "p1": 2}
"""The bridge's ports and their OpenFlow numbers, in the order of the generator's."""


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
    """`br0` with the vhost-user ports p0 and p1 in an instance of its own; PMD threads on the switch's cores."""

    kind = "ovs-dpdk"

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def probe(self, variant: Variant) -> Support:
        """Look for the programs, run them, and look for memory; nothing is started that polls."""
        try:
            ovs_options(variant)
        except UnsupportedError as failure:
            reason = f"{failure.what} ({failure.observed})"
            return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=reason, fix=failure.fix)
        return try_open_vswitch(variant)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Start database and switch, add the bridge, set its rules."""
        variant, workspace, arrangement = request.variant, request.workspace, request.arrangement
        options = ovs_options(variant)
        vhost_user_ports.check_queue_size(options.rx_queue_size)
        sockets = vhost_user_ports.sockets(workspace.directory)
        instance = OvsInstance(workspace, locate(), arrangement)
        steps = Steps()
        with steps.timed("deploy.hugepages"):
            hugepages = workspace.hugepages(max(variant.hugepages_mib, options.socket_memory_mib))
            netns = workspace.network_namespace("switch")
        with steps.timed("deploy.database"):
            instance.start_database()
        dpdk = DpdkSettings(
            options.socket_memory_mib, hugepages, arrangement.switch_cores, main_core=arrangement.control_cores[0]
        )
        other_config = settings(dpdk, f"nfvbed-{workspace.id}-ovs") | _cache_settings(options)
        state = _bring_up(instance, other_config, netns, sockets, steps)
        with steps.timed("deploy.rules"), BridgeController(instance.management_socket(BRIDGE)) as bridge:
            bridge.add_rules(rules(options))
        self._workspaces[workspace.id] = workspace
        control = {
            "database": str(instance.database_socket),
            "unixctl": str(instance.control_socket),
            "openflow": str(instance.management_socket(BRIDGE)),
            "netns": netns,
            "bridge": BRIDGE,
        }
        return Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            ports=vhost_user_ports.server_ports(sockets, options.rx_queue_size),
            threads=reading.pmd_threads(workspace.process(SWITCH).pid),
            run_directory=str(workspace.directory),
            control=control,
            versions={"openvswitch": reading.version(instance.control_socket), "dpdk": state.dpdk_version},
            steps=steps.done,
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that ovs-vswitchd lives."""
        check_alive(self._workspace(deployment).process(SWITCH))

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Frames that p0 and p1 received, the PMD threads' cycles and caches, the ports' drops."""
        try:
            return reading.counters(deployment.control, PORTS)
        except DeployError:
            self.verify(deployment)
            raise

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """p0, the datapath, p1; the ports' counters and reasons of drops as they are now."""
        try:
            return reading.hops(deployment.control, PORTS)
        except DeployError:
            self.verify(deployment)
            raise

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The PMD threads."""
        return reading.pmd_threads(self._workspace(deployment).process(SWITCH).pid)

    def _workspace(self, deployment: Deployment) -> Workspace:
        """Give the workspace that was deployed into, which knows exit statuses, or open it as another process can."""
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return self._workspaces[deployment.id]


def rules(options: OvsDpdkOptions) -> list[openflow.Rule]:
    """Give the bridge's rules; their cookies are the number of the port that frames come from, 0 for any."""
    if options.flows == "normal":
        return [openflow.Rule(output=openflow.PORT_NORMAL, cookie=0)]
    first, second = PORTS.values()
    return [
        openflow.Rule(in_port=first, output=second, cookie=first),
        openflow.Rule(in_port=second, output=first, cookie=second),
    ]


def _bring_up(
    instance: OvsInstance, other_config: dict[str, str], netns: str, sockets: tuple[Path, Path], steps: Steps
) -> SwitchState:
    ports = [
        PortRequest(name, "dpdkvhostuserclient", number, {"vhost-server-path": str(path)})
        for (name, number), path in zip(PORTS.items(), sockets, strict=True)
    ]
    with instance.connect() as database:
        with steps.timed("deploy.switch"):
            database.initialise(other_config)
            instance.start_switch(netns)
            state = database.wait_for_switch()
        with steps.timed("deploy.bridge"):
            database.add_bridge(BRIDGE, ports)
    return state


def _cache_settings(options: OvsDpdkOptions) -> dict[str, str]:
    caches = {"smc-enable": "true"} if options.smc else {}
    return caches if options.emc else caches | {"emc-insert-inv-prob": "0"}
