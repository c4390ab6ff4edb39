"""The kernel's bridge between veth pairs and taps, its work on a core of its own."""

from pathlib import Path
from typing import Annotated

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.linux_bridge.balancer import TapBalancer
from nfvbed.dataplanes.linux_bridge.fdb import BridgeLearning
from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.dataplanes.ports import kernel_links
from nfvbed.dataplanes.ports import shares as bridge_shares
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces, GuestSide
from nfvbed.dataplanes.ports.kernel_options import vhost_of
from nfvbed.dataplanes.ports.link_state import LinkState
from nfvbed.dataplanes.ports.link_switch import LinkSwitch
from nfvbed.dataplanes.ports.veth_probe import Attempt, receive_by, require_sender, try_out
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable, TableNotApplicable
from nfvbed.dataplanes.wiring import EMULATED_NICS, queues_of, require_vnf
from nfvbed.errors import UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import MACS
from nfvbed.host.qemu.accelerator import guests_boot
from nfvbed.host.qemu.binaries import PROJECT_ROOT, locate
from nfvbed.host.qemu.vhost import require_vhost_net
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import (
    CounterSource,
    Deployment,
    Hop,
    HopKind,
)
from nfvbed.records.state import NESTED, State, Words
from nfvbed.spec.variant import Variant, options_of
from nfvbed.spec.vnf import VnfChoice

BRIDGE = "br0"
RESET = "bridge deleted and recreated, its links stay"
_AGEING_CENTISECONDS = 30_000
_TRIED_QUEUES = 2
_NETFILTER_SETTINGS = Path("/proc/sys/net/bridge")


class BridgeState(State):
    """What is recorded of a bridge, beside its links."""

    bridge: Words
    """Names of the bridges; one, where there are no VNFs."""
    options: Annotated[LinuxBridgeOptions, NESTED]
    switch_core: int


class LinuxBridge(LinkSwitch):
    """One bridge for each cable, in one namespace; the other ends of its ports are in other namespaces.

    Those of the generator and of the VNFs.

    Core use: `kernel_cores.py`.
    """

    kind = "linux-bridge"
    called = "bridge"
    whose = "the bridge's"
    works_in = "the sender's softirq"

    def probe(self, variant: Variant) -> Fitness:
        """Make a bridge with a port in a namespace, thread its NAPI, send a live frame, and remove it all."""
        options = options_of(variant, LinuxBridgeOptions)
        require_sender()
        if options.netfilter and not _NETFILTER_SETTINGS.is_dir():
            raise UnsupportedError("the kernel has no br_netfilter", fix=fixes.BRIDGE_NETFILTER)
        cannot = "a bridge between veth links cannot be made"
        try_out(Attempt(lambda workspace: _try(options, workspace), cannot, fixes.load("bridge", "veth")))
        if options.queue_balancer:
            cannot = "no program can choose a tap's queues"
            fix = "Linux 4.16 or later with CONFIG_TUN and CONFIG_BPF_SYSCALL, and make build"
            try_out(Attempt(lambda workspace: _try_balancer(options, workspace), cannot, fix))
        return _probe_guests(options)

    def plan(self, request: DeployRequest) -> BridgePlan:
        """Return the ports of a layout: veth pairs, or taps with as many queues as the VNFs' NICs."""
        options = options_of(request.variant, LinuxBridgeOptions)
        kind = require_vnf(request.layout, request.vnf, request.variant)
        return BridgePlan(request.layout, kind, request.is_addressed, _queues(request.vnf, options))

    def lay(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> None:
        """Make links, and the bridges that they are ports of."""
        super().lay(request, plan, spaces)
        inside(spaces.switch, lambda: _make_bridges(plan, options_of(request.variant, LinuxBridgeOptions)))

    def offloads(self, request: DeployRequest) -> tuple[bool, bool]:
        """Return what the variant and the VNF ask for."""
        options = options_of(request.variant, LinuxBridgeOptions)
        return options.offloads, request.vnf is None or request.vnf.offloads

    def guests(self, request: DeployRequest) -> GuestSide:
        """Return what the variant asks for."""
        options = options_of(request.variant, LinuxBridgeOptions)
        return GuestSide(options.guest_nic, options.offloads, vhost_of(options.vhost))

    def always_up(self, plan: BridgePlan) -> tuple[str, ...]:
        """Return the bridges that have more than taps, and the veth pairs."""
        return plan.always_up

    def connect(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> State:
        """Record what joins the ports already: `lay` has made the bridges."""
        options = options_of(request.variant, LinuxBridgeOptions)
        for tap in plan.taps if options.queue_balancer and plan.queues > 1 else ():
            balancer = TapBalancer(request.workspace, spaces.switch, tap)
            balancer.start(plan.queues, options, request.arrangement.control_cores)
        return BridgeState(bridge=tuple(plan.bridges), options=options, switch_core=request.arrangement.switch_cores[0])

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Raise: a bridge has only the addresses that it learns."""
        raise TableNotApplicable(
            "a bridge forwards by the addresses it learns: address-caching measures those; routes need a VNF that"
            " routes (topology pvp, forwarding: router)"
        )

    def _learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Return the first bridge's table of learnt addresses."""
        options = options_of(variant, LinuxBridgeOptions)
        if not options.learning:
            raise TableNotApplicable("this bridge does not learn (learning: false): it floods every frame")
        netns = LinkState.of(deployment).switch_netns
        return BridgeLearning(netns, BridgeState.of(deployment).bridge[0], options.fdb_max_learned)

    def check(self, deployment: Deployment) -> None:
        """Check that the bridges are there, and that the balancers of their taps run."""
        state, netns = BridgeState.of(deployment), LinkState.of(deployment).switch_netns
        veth.read(netns, state.bridge)
        ports = [port for ports in deployment.vnf_ports for port in ports if port.queues > 1]
        for port in ports if state.options.queue_balancer else ():
            TapBalancer(self.workspace(deployment), netns, port.name).check()

    def own_hops(self, deployment: Deployment, plan: BridgePlan) -> tuple[Hop, ...]:
        """Return s0, br0, s1; with VNFs the ports of every bridge, v1a, v1b, ... among them."""
        within = veth.read(LinkState.of(deployment).switch_netns, (*plan.ports, *plan.bridges))
        path: list[Hop] = []
        for end, name, bridge in kernel_links.walk(plan):
            if end is None:
                # A bridge counts as its own only what is for the host itself: what it forwards shows at its ports.
                drops = {"rx_dropped": within[name].rx_dropped, "tx_dropped": within[name].tx_dropped}
                path.append(Hop(name=name, drops=drops, counted_by=CounterSource.LINUX))
            else:
                path.append(veth.hop(f"{bridge} port {name}", within[name], HopKind.SWITCH_PORT, end))
        return tuple(path)

    def reset(self, deployment: Deployment) -> ResetReport:
        """Remove the bridges and make them again; the links that were their ports stay, with their threads."""
        plan, options = BridgePlan.of(deployment), BridgeState.of(deployment).options
        netns = LinkState.of(deployment).switch_netns
        steps = Steps()
        with steps.timed("reset.remove"):
            inside(netns, lambda: links.remove(plan.bridges))
        with steps.timed("reset.make"):
            inside(netns, lambda: _make_bridges(plan, options))
            veth.wait_until_up(netns, plan.always_up)
        return ResetReport(kind=RESET, steps=steps.done)


def _probe_guests(options: LinuxBridgeOptions) -> Fitness:
    """Try vhost-net where it is wanted, a tap, and, where guests belong to the variant, which accelerator boots one.

    Raises:
        UnsupportedError, PrerequisiteError: this host cannot.
    """
    if options.vhost == "on":
        require_vhost_net()
    if options.guest_nic == "any":
        return Fitness()
    try_out(Attempt(_make_tap, "no tap can be made", "a kernel with CONFIG_TUN"))
    return guests_boot(locate(PROJECT_ROOT))


def _make_tap(workspace: Workspace) -> None:
    inside(workspace.network_namespace("probe"), lambda: links.add_tap("v0"))


def _try_balancer(options: LinuxBridgeOptions, workspace: Workspace) -> None:
    netns = workspace.network_namespace("queues")
    inside(netns, lambda: links.add_tap("v0", _TRIED_QUEUES))
    balancer = TapBalancer(workspace, netns, "v0")
    balancer.start(_TRIED_QUEUES, options, read_topology().allowed)
    balancer.stop()


def _try(options: LinuxBridgeOptions, workspace: Workspace) -> None:
    netns = workspace.network_namespace("probe")
    inside(netns, lambda: links.add_veth("s0", "g0", (MACS["s0"], MACS["g0"])))
    inside(netns, lambda: links.add_bridge(BRIDGE, ["s0"], {"br_stp_state": 0}, options.learning))
    veth.prepare(netns, ("s0", "g0"))
    receive_by(netns, options.core_use)


def _queues(choice: VnfChoice | None, options: LinuxBridgeOptions) -> int:
    return 1 if options.guest_nic in EMULATED_NICS else queues_of(choice)


def _make_bridges(plan: BridgePlan, options: LinuxBridgeOptions) -> None:
    links.silence_ipv6()
    calls = int(options.netfilter)
    if _NETFILTER_SETTINGS.is_dir():
        for table in ("iptables", "ip6tables"):
            (_NETFILTER_SETTINGS / f"bridge-nf-call-{table}").write_text(str(calls))
    attributes = {
        "br_stp_state": 0,
        "br_forward_delay": 0,
        "br_ageing_time": _AGEING_CENTISECONDS,
        "br_mcast_snooping": 0,
    }
    if options.fdb_max_learned is not None:
        attributes["br_fdb_max_learned"] = options.fdb_max_learned
    for bridge, ports in kernel_links.bridge_names(plan):
        links.add_bridge(bridge, ports, attributes, options.learning)
        _check_limit(bridge, options)
    for ends in plan.bridges.values() if plan.layout.ways > 1 else ():
        steered = bridge_shares.entries(plan.layout, ends)
        isolated = [plan.port(end) for end in ends if end.vnf is not None]
        links.steer_by_address(isolated, {plan.port(end): addresses for end, addresses in steered.items()})


def _check_limit(bridge: str, options: LinuxBridgeOptions) -> None:
    """Make sure that the limit is in force: a kernel that does not know the attribute does not refuse it.

    Raises:
        UnsupportedError: it is not.
    """
    limit = links.learnt_addresses(bridge)[1]
    if options.fdb_max_learned is not None and limit != options.fdb_max_learned:
        raise UnsupportedError(
            "the bridge takes no limit of learnt addresses",
            where=f"fdb_max_learned: {options.fdb_max_learned}",
            observed=f"the kernel says {limit}",
            fix="Linux 6.7 or later, or no fdb_max_learned",
        )
