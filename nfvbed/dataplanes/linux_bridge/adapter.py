"""The kernel's bridge between veth pairs and taps, its work on a core of its own."""

import platform
from pathlib import Path
from typing import Annotated

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.linux_bridge.fdb import BridgeLearning
from nfvbed.dataplanes.linux_bridge.guest_probe import probe_guests
from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.dataplanes.ports import kernel_checks, kernel_links, veth
from nfvbed.dataplanes.ports import shares as bridge_shares
from nfvbed.dataplanes.ports.guest_cards import vhost_of
from nfvbed.dataplanes.ports.kernel_cores import place
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces
from nfvbed.dataplanes.ports.link_state import LinkState, outside
from nfvbed.dataplanes.ports.veth import MACS
from nfvbed.dataplanes.ports.veth_probe import Attempt, receive_by, require_sender, try_out
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable, TableNotApplicable
from nfvbed.dataplanes.wiring import EMULATED_CARDS, queues_of, require_vnf
from nfvbed.errors import UnsupportedError
from nfvbed.host import coredistance, links, napi
from nfvbed.host.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.host.namespaces import inside
from nfvbed.host.timing import Steps
from nfvbed.host.workspace import Workspace
from nfvbed.records import (
    NOT_SEPARABLE,
    Deployment,
    Hop,
    HopKind,
    SwitchCounters,
    WorkThread,
)
from nfvbed.spec.variant import Variant, options_of
from nfvbed.spec.vnf import VnfChoice
from nfvbed.state import NESTED, Words

BRIDGE = "br0"
RESET = "bridge deleted and recreated, its links stay"
_AGEING_CENTISECONDS = 30_000
_NETFILTER_SETTINGS = Path("/proc/sys/net/bridge")


class BridgeState(LinkState):
    """What is written down of a bridge."""

    bridge: Words
    """Names of the bridges; one, where there are no VNFs."""
    options: Annotated[LinuxBridgeOptions, NESTED]
    switch_core: int


class LinuxBridge(DataPlane):
    """One bridge for every cable, in one namespace; the other ends of their ports in the generator's and the VNFs'.

    Core use: `kernel_cores.py`.
    """

    kind = "linux-bridge"

    def probe(self, variant: Variant) -> Fitness:
        """Make a bridge with a port in a namespace, thread its NAPI, send a live frame, and remove it all."""
        options = options_of(variant, LinuxBridgeOptions)
        require_sender()
        if options.netfilter and not _NETFILTER_SETTINGS.is_dir():
            raise UnsupportedError("the kernel has no br_netfilter", fix="modprobe br_netfilter")
        cannot = "a bridge between veth links cannot be made"
        try_out(Attempt(lambda workspace: _try(options, workspace), cannot, "modprobe bridge veth"))
        return probe_guests(options)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make namespaces, links and bridges, and put their work onto its cores."""
        variant, arrangement = request.variant, request.arrangement
        options = options_of(variant, LinuxBridgeOptions)
        addressed = request.vnf is not None and request.vnf.forwarding == "router"
        kind = require_vnf(request.layout, request.vnf, variant)
        plan = BridgePlan(request.layout, kind, addressed, _queues(request.vnf, options))
        steps = Steps()
        with steps.timed("deploy.namespaces"):
            spaces = kernel_links.make_spaces(request, plan)
        with steps.timed("deploy.links"):
            inside(spaces.switch, lambda: kernel_links.make_links(plan, spaces))
            inside(spaces.switch, lambda: _make_bridges(plan, options))
            kernel_links.prepare(plan, spaces, options.offloads, request.vnf is None or request.vnf.offloads)
            veth.wait_until_up(spaces.switch, plan.always_up)
            if spaces.generator is not None:
                kernel_links.make_idle(plan, spaces.generator)
        with steps.timed("deploy.cores"):
            threads = place(plan, spaces, options.core_use, arrangement)
        return Deployment(
            id=request.workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            ports=kernel_links.generator_ports(plan, spaces),
            vnf_ports=kernel_links.ports_of_vnfs(plan, spaces, _guest_side(options)),
            threads=threads,
            run_directory=str(request.workspace.directory),
            control=_state(plan, spaces, options, arrangement).as_control(),
            versions={"linux": platform.release()},
            steps=steps.done,
        )

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """None: it has the addresses that it learns."""
        raise TableNotApplicable(
            "a bridge forwards by the addresses it learns: address-caching measures those; routes need a VNF that"
            " routes (topology pvp, forwarding: router)"
        )

    def _learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """The bridge's."""
        options = options_of(variant, LinuxBridgeOptions)
        if not options.learning:
            raise TableNotApplicable("this bridge does not learn (learning: false): it floods every frame")
        state = BridgeState.of(deployment)
        return BridgeLearning(state.switch_netns, state.bridge[0], options.fdb_max_learned)

    def verify(self, deployment: Deployment) -> None:
        """Check that bridges and links are there and up, and that their threads live."""
        plan = BridgePlan.of(deployment)
        found = veth.read(BridgeState.of(deployment).switch_netns, (*plan.bridges, *plan.ports))
        kernel_checks.require_up({name: found[name] for name in plan.always_up}, "links of the bridge")
        kernel_checks.require_threads(deployment.threads, "the bridge")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Frames that the bridges' ports received, and the cycles of their NAPI threads."""
        plan, state = BridgePlan.of(deployment), BridgeState.of(deployment)
        found = veth.read(state.switch_netns, plan.ports)
        packets = sum(counted.rx_packets for counted in found.values())
        raw = {name: counted.model_dump() for name, counted in found.items()}
        busy_ns = kernel_checks.busy_ns(deployment.threads)
        if plan.taps or busy_ns is None:
            work = "a guest's writes to its tap" if plan.taps else "the sender's softirq"
            source = f"the bridge's work is part of {work} ({state.core_use})"
            return SwitchCounters(packets=packets, busy_cycles=NOT_SEPARABLE, source=source, raw=raw)
        return SwitchCounters(
            packets=packets,
            busy_cycles=kernel_checks.busy_cycles(busy_ns, state.tsc_hz),
            source=kernel_checks.BUSY_SOURCE,
            raw=raw | {"napi_run_time_ns": busy_ns},
        )

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """g0, s0, br0, s1, g1; with VNFs the ports of every bridge, v1a, v1b, ... among them."""
        plan = BridgePlan.of(deployment)
        within = veth.read(BridgeState.of(deployment).switch_netns, (*plan.ports, *plan.bridges))
        outer: dict[int, Hop] = {}
        if plan.outside:
            found = veth.read(BridgeState.of(deployment).generator_space(), plan.generator_links)
            outer = {
                end.port: veth.generator_hop(plan.peer(end), end.port, found[plan.peer(end)]) for end in plan.outside
            }
        path: list[Hop] = []
        for end, name, bridge in kernel_links.walk(plan):
            if end is None:
                # A bridge counts as its own only what is for the host itself: what it forwards shows at its ports.
                drops = {"rx_dropped": within[name].rx_dropped, "tx_dropped": within[name].tx_dropped}
                path.append(Hop(name=name, drops=drops))
                continue
            path.append(veth.hop(f"{bridge} port {name}", within[name], HopKind.SWITCH_PORT, end))
            if end.vnf is None:
                path.insert(len(path) - (end.port == 0), outer[end.port])
        return tuple(path)

    def reset(self, deployment: Deployment) -> ResetReport:
        """Remove the bridges and make them anew; the links that were their ports stay, as do their threads."""
        plan, state = BridgePlan.of(deployment), BridgeState.of(deployment)
        netns, options = state.switch_netns, state.options
        steps = Steps()
        with steps.timed("reset.remove"):
            inside(netns, lambda: links.remove(plan.bridges))
        with steps.timed("reset.make"):
            inside(netns, lambda: _make_bridges(plan, options))
            veth.wait_until_up(netns, plan.always_up)
        return ResetReport(kind=RESET, steps=steps.done)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The NAPI threads: of the bridges' ports, of the generator's, of the VNFs'."""
        return napi.still_there(deployment.threads)


def _try(options: LinuxBridgeOptions, workspace: Workspace) -> None:
    netns = workspace.network_namespace("probe")
    inside(netns, lambda: links.add_veth("s0", "g0", (MACS["s0"], MACS["g0"])))
    inside(netns, lambda: links.add_bridge(BRIDGE, ["s0"], {"br_stp_state": 0}, options.learning))
    veth.prepare(netns, ("s0", "g0"))
    receive_by(netns, options.core_use)


def _queues(choice: VnfChoice | None, options: LinuxBridgeOptions) -> int:
    return 1 if options.guest_card in EMULATED_CARDS else queues_of(choice)


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


def _state(
    plan: BridgePlan, spaces: BridgeSpaces, options: LinuxBridgeOptions, arrangement: Arrangement
) -> BridgeState:
    cores = (arrangement.switch_cores[0], arrangement.generator_core)
    return BridgeState(
        switch_netns=spaces.switch,
        bridge=tuple(plan.bridges),
        core_use=options.core_use,
        options=options,
        switch_core=cores[0],
        tsc_hz=coredistance.measure(cores).tsc_hz,
        **outside(plan, spaces),
    )


def _guest_side(options: LinuxBridgeOptions) -> kernel_links.GuestSide:
    return kernel_links.GuestSide(options.guest_card, options.offloads, vhost_of(options.vhost))
