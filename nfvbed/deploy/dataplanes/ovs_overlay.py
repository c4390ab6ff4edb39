"""Two hosts in one lab, each an Open vSwitch on the userspace datapath, joined by a tunnel; or one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nfvbed.deploy.dataplane import DataPlane, DeployRequest
from nfvbed.deploy.dataplanes import vhost_user_ports
from nfvbed.deploy.dataplanes.ovs_probe import try_open_vswitch
from nfvbed.deploy.lab.arrangement import Arrangement
from nfvbed.deploy.lab.generator import IDLE_PORT
from nfvbed.deploy.lab.processes import check_alive
from nfvbed.deploy.lab.timing import Steps
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.deploy.native import native_binary
from nfvbed.deploy.overlay import watch
from nfvbed.deploy.overlay.host import INTEGRATION, PHYSICAL, OverlayHost, add_wire
from nfvbed.deploy.overlay.placement import HostPlan, host_plans
from nfvbed.deploy.overlay.tenants import tenant_rules
from nfvbed.deploy.overlay.watch import HostView
from nfvbed.deploy.ovs import reading
from nfvbed.deploy.ovs.binaries import locate
from nfvbed.deploy.ovs.database import SwitchState
from nfvbed.deploy.ovs.instance import DpdkSettings, OvsInstance, settings
from nfvbed.deploy.ovs.tablerules import flow_mod
from nfvbed.deploy.wiring import end_name, port_numbers, queues_of, require_vnf, vnf_ports
from nfvbed.errors import DeployError
from nfvbed.records import Deployment, Hop, QualityWarning, Support, SwitchCounters, WorkThread
from nfvbed.spec.dataplanes.ovs_overlay import OvsOverlayOptions
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant, options_of

VNF_PORT_MIB = 64
"""Hugepage memory of each of a host's ports beyond the two that `socket_memory_mib` is for (ADR 0005)."""
_OPEN_PORTS = 2
_NICE, _SLICE_NS = -15, 100_000
"""Of poll-mode threads that share a core, as of VNFs beside the generator."""

_SLEEP_US = 100


@lru_cache(maxsize=1)
def _tenants(count: int) -> tuple[bytes, ...]:
    return tuple(flow_mod(rule) for rule in tenant_rules(count))


@dataclass
class _Made:
    """What a deployment is made of, while it is set up."""

    hosts: tuple[OverlayHost, ...]
    states: list[SwitchState]


class OvsOverlay(DataPlane):
    """The path's ports are vhost-user sockets on the br-int of the host that they are on."""

    kind = "ovs-overlay"

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def probe(self, variant: Variant) -> Support:
        """Look for the programs, run them, and look for the memory of all hosts; nothing is started that polls."""
        options = options_of(variant, OvsOverlayOptions)
        return try_open_vswitch(variant, options.hosts * options.socket_memory_mib)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Start the hosts, join their underlay, bring the rules in."""
        variant, plan, workspace = request.variant, request.layout, request.workspace
        options = options_of(variant, OvsOverlayOptions)
        vhost_user_ports.check_queue_size(options.rx_queue_size)
        require_vnf(plan, request.vnf, variant)
        sockets = vhost_user_ports.sockets(workspace.directory, port_numbers(plan))
        steps = Steps()
        made = _start(request, host_plans(plan, options.hosts), sockets, steps)
        counts = _join(made.hosts, options, steps)
        self._workspaces[workspace.id] = workspace
        return Deployment(
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
            threads=_threads(workspace, made.hosts),
            run_directory=str(workspace.directory),
            control=_control(request, made.hosts, counts),
            versions={
                "openvswitch": reading.version(made.hosts[0].instance.control_socket),
                "dpdk": made.states[0].dpdk_version,
            },
            steps=steps.done,
            doubts=(QualityWarning.CORES_SHARED,) if options.shares_core else (),
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that every host's ovs-vswitchd lives."""
        for view in watch.views(deployment.control):
            check_alive(self._workspace(deployment).process(view.process))

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Frames that the path's ports received on all hosts; cycles where each host has a core of its own."""
        views = watch.views(deployment.control)
        try:
            return watch.counters(views, self._ports(deployment, views))
        except DeployError:
            self.verify(deployment)
            raise

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """p0, the hosts' datapaths and underlay ports where the path crosses, the ports of the VNFs, p1."""
        views = watch.views(deployment.control)
        try:
            return watch.hops(views, self._ports(deployment, views))
        except DeployError:
            self.verify(deployment)
            raise

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The PMD threads of all hosts."""
        workspace = self._workspace(deployment)
        pids = [workspace.process(view.process).pid for view in watch.views(deployment.control)]
        return tuple(thread for pid in pids for thread in reading.pmd_threads(pid))

    def _ports(self, deployment: Deployment, views: tuple[HostView, ...]) -> tuple[dict[str, int], ...]:
        return tuple(plan.ports for plan in host_plans(layout(deployment.topology), len(views)))

    def _workspace(self, deployment: Deployment) -> Workspace:
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return self._workspaces[deployment.id]


def _start(request: DeployRequest, plans: tuple[HostPlan, ...], sockets: Mapping[str, Path], steps: Steps) -> _Made:
    """Start database and switch of every host, with its bridges."""
    options, workspace = options_of(request.variant, OvsOverlayOptions), request.workspace
    hosts: list[OverlayHost] = []
    states: list[SwitchState] = []
    with steps.timed("deploy.namespaces"):
        netns = tuple(workspace.network_namespace(plan.name) for plan in plans)
        if options.hosts > 1 and options.underlay == "veth":
            add_wire((netns[0], netns[1]))
    for plan, space in zip(plans, netns, strict=True):
        environment = _sharing(request, plan) if options.shares_core and options.underlay == "memif" else {}
        instance = OvsInstance(workspace, locate(), request.arrangement.control_cores, plan.name, environment)
        host = OverlayHost(plan, instance, space, options, workspace.directory / "wire.sock")
        states.append(_start_host(request, host, sockets, steps))
        hosts.append(host)
    return _Made(tuple(hosts), states)


def _start_host(request: DeployRequest, host: OverlayHost, sockets: Mapping[str, Path], steps: Steps) -> SwitchState:
    options, arrangement = host.options, request.arrangement
    memory_mib = options.socket_memory_mib + VNF_PORT_MIB * max(0, len(host.plan.ports) - _OPEN_PORTS)
    with steps.timed(f"deploy.{host.name}.hugepages"):
        asked_mib = max(request.variant.hugepages_mib // options.hosts, memory_mib)
        hugepages = request.workspace.hugepages(asked_mib, least_mib=memory_mib)
    with steps.timed(f"deploy.{host.name}.database"):
        host.instance.start_database()
    dpdk = DpdkSettings(memory_mib, hugepages, _cores(arrangement, host), main_core=arrangement.control_cores[0])
    with host.instance.connect() as database:
        with steps.timed(f"deploy.{host.name}.switch"):
            other_config = settings(dpdk, f"nfvbed-{request.workspace.id}-{host.name}")
            database.initialise(other_config | _sleeping(options))
            host.instance.start_switch(host.netns)
            state = database.wait_for_switch()
        with steps.timed(f"deploy.{host.name}.bridges"):
            host.add_bridges(database, sockets)
    return state


def _join(hosts: tuple[OverlayHost, ...], options: OvsOverlayOptions, steps: Steps) -> tuple[int, ...]:
    """Join the hosts' underlay and bring the rules in; give how many rules each br-int holds."""
    if options.hosts > 1:
        with steps.timed("deploy.underlay"):
            for host in hosts:
                host.join_underlay()
            for host in hosts:
                host.find_other()
    with steps.timed("deploy.make-rules"):
        tenants = _tenants(options.rules)
    counts = []
    for host in hosts:
        with steps.timed(f"deploy.{host.name}.rules"):
            counts.append(host.add_rules(tenants))
    return tuple(counts)


def _cores(arrangement: Arrangement, host: OverlayHost) -> tuple[int, ...]:
    cores = arrangement.switch_cores
    return (cores[host.plan.index % len(cores)],)


def _sharing(request: DeployRequest, plan: HostPlan) -> dict[str, str]:
    """Give the variables that make poll-mode threads yield their core when the underlay has nothing for them."""
    return {
        "LD_PRELOAD": str(native_binary("nfvbed-yield")),
        "NFVBED_YIELD_REPORT": str(request.workspace.directory / f"{plan.name}.yield"),
        "NFVBED_YIELD_NICE": str(_NICE),
        "NFVBED_YIELD_SLICE_NS": str(_SLICE_NS),
    }


def _sleeping(options: OvsOverlayOptions) -> dict[str, str]:
    """Let poll-mode threads that share a core sleep where they poll no port of DPDK after which they could yield."""
    return {"pmd-maxsleep": str(_SLEEP_US)} if options.shares_core and options.underlay == "veth" else {}


def _threads(workspace: Workspace, hosts: tuple[OverlayHost, ...]) -> tuple[WorkThread, ...]:
    pids = [workspace.process(host.instance.switch_name).pid for host in hosts]
    return tuple(thread for pid in pids for thread in reading.pmd_threads(pid))


def _control(request: DeployRequest, hosts: tuple[OverlayHost, ...], counts: tuple[int, ...]) -> dict[str, str]:
    control = {watch.HOSTS: ",".join(host.name for host in hosts)}
    for host, count in zip(hosts, counts, strict=True):
        control |= HostView(
            name=host.name,
            process=host.instance.switch_name,
            netns=host.netns,
            unixctl=str(host.instance.control_socket),
            integration=str(host.instance.management_socket(INTEGRATION)),
            physical=str(host.instance.management_socket(PHYSICAL)) if host.tunnelled else "",
            rules=count,
            shares_core=host.options.shares_core,
        ).as_control()
    return control | ({IDLE_PORT: vhost_user_ports.IDLE} if len(request.layout.outside) == 1 else {})
