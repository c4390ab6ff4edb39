"""Two hosts in one lab, each an Open vSwitch on the userspace datapath, joined by a tunnel; or one of them."""

from collections.abc import Collection
from pathlib import Path

from nfvbed.dataplanes.connections import ConnectionTracker
from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.ovs import joining, reading, tuning
from nfvbed.dataplanes.ovs.binaries import binaries_of
from nfvbed.dataplanes.ovs.overlay import watch
from nfvbed.dataplanes.ovs.overlay.bringup import Overlay, bring_up
from nfvbed.dataplanes.ovs.overlay.host import INTEGRATION, PHYSICAL, OverlayHost, PipelineHost
from nfvbed.dataplanes.ovs.overlay.hostoptions import OverlayHostOptions
from nfvbed.dataplanes.ovs.overlay.hostplan import host_plans
from nfvbed.dataplanes.ovs.overlay.pipeline import PIPELINE
from nfvbed.dataplanes.ovs.overlay.watch import HostView, OverlayState
from nfvbed.dataplanes.ovs.probe import try_open_vswitch
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.wiring import port_numbers, queues_of, require_vnf, vnf_ports
from nfvbed.errors import DeployError
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, Hop, QualityWarning, SwitchCounters, WorkThread
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant, options_of


class OvsOverlay(DataPlane):
    """The path's ports are vhost-user sockets on the br-int of the host that they are on."""

    kind = "ovs-overlay"
    host_kind: type[OverlayHost] = PipelineHost

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def probe(self, variant: Variant) -> Fitness:
        """Find the programs, run them, and look for the memory of all hosts; nothing that polls is started."""
        options = options_of(variant, OverlayHostOptions)
        return try_open_vswitch(variant, binaries_of(options), options.hosts * options.socket_memory_mib)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Start the hosts, join their underlay, write the rules."""
        variant, plan, workspace = request.variant, request.layout, request.workspace
        options = options_of(variant, OverlayHostOptions)
        tuning.check_version(options, binaries_of(options))
        require_vnf(plan, request.vnf, variant)
        sockets = vhost_user.sockets(workspace.directory, port_numbers(plan))
        steps = Steps()
        made = bring_up(request, sockets, self.host_kind, steps)
        self._workspaces[workspace.id] = workspace
        return Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=plan.name,
            ports=vhost_user.server_ports([sockets[f"p{end}"] for end in plan.outside], options.rx_queue_size),
            vnf_ports=vnf_ports(
                plan,
                lambda end: vhost_user.vnf_port(end, sockets[end.name], options.rx_queue_size, queues_of(request.vnf)),
            ),
            threads=_threads(workspace, made.hosts),
            run_directory=str(workspace.directory),
            control=_state(request, made).as_control(),
            versions={
                "openvswitch": reading.version(made.hosts[0].instance.control_socket),
                **made.hosts[0].instance.binaries.versions(),
                "dpdk": made.dpdk_version,
                "pipeline": PIPELINE,
            },
            steps=steps.done,
            warnings=(QualityWarning.CORES_SHARED,) if options.shares_core else (),
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that every host's ovs-vswitchd lives."""
        for view in OverlayState.of(deployment).hosts:
            check_alive(self._workspace(deployment).process(view.process))

    def wait_until_joined(self, deployment: Deployment, ports: Collection[str]) -> None:
        """Wait until each host has set up its own ports for their other sides."""
        views = OverlayState.of(deployment).hosts
        for view, mine in zip(views, self._ports(deployment, views), strict=True):
            wanted = {name: number for name, number in mine.items() if name in ports}
            joining.wait_for_links(view.bridge, wanted, lambda: self.verify(deployment))

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the frames that the path's ports received on all hosts; cycles where each host has a core of its own."""
        views = OverlayState.of(deployment).hosts
        try:
            return watch.counters(views, self._ports(deployment, views))
        except DeployError:
            self.verify(deployment)
            raise

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return p0, the hosts' datapaths and underlay ports where the path crosses, the ports of the VNFs, p1."""
        views = OverlayState.of(deployment).hosts
        try:
            return watch.hops(views, self._ports(deployment, views))
        except DeployError:
            self.verify(deployment)
            raise

    def connections(self, deployment: Deployment) -> ConnectionTracker | None:
        """Return the connection tracking of all hosts; None where they track no connections."""
        views = OverlayState.of(deployment).hosts
        if not all(view.tracks for view in views):
            return None
        return watch.OverlayConnections(views, self._ports(deployment, views))

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the PMD threads of all hosts."""
        workspace = self._workspace(deployment)
        pids = [workspace.process(view.process).pid for view in OverlayState.of(deployment).hosts]
        return tuple(thread for pid in pids for thread in reading.pmd_threads(pid))

    def _ports(self, deployment: Deployment, views: tuple[HostView, ...]) -> tuple[dict[str, int], ...]:
        return tuple(plan.ports for plan in host_plans(layout(deployment.topology), len(views)))

    def _workspace(self, deployment: Deployment) -> Workspace:
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return self._workspaces[deployment.id]


def _threads(workspace: Workspace, hosts: tuple[OverlayHost, ...]) -> tuple[WorkThread, ...]:
    pids = [workspace.process(host.instance.switch_name).pid for host in hosts]
    return tuple(thread for pid in pids for thread in reading.pmd_threads(pid))


def _state(request: DeployRequest, made: Overlay) -> OverlayState:
    hosts = tuple(
        HostView(
            name=host.name,
            process=host.instance.switch_name,
            netns=host.netns,
            unixctl=str(host.instance.control_socket),
            integration=str(host.instance.management_socket(INTEGRATION)),
            physical=str(host.instance.management_socket(PHYSICAL)) if host.tunnelled else "",
            rules=count,
            shares_core=host.options.shares_core,
            database=str(host.instance.database_socket),
            tracks=host.options.tracks_connections,
        )
        for host, count in zip(made.hosts, made.counts, strict=True)
    )
    return OverlayState(hosts=hosts, idle_port=vhost_user.IDLE if len(request.layout.outside) == 1 else None)
