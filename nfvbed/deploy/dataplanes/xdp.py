"""XDP redirect: a program on every port hands each frame to the port at the other end of its cable."""

import os
import platform
from functools import partial
from pathlib import Path

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.deploy.dataplane import DataPlane, DeployRequest
from nfvbed.deploy.dataplanes import bridge_ports, bridge_shares, veth_ports
from nfvbed.deploy.dataplanes.bridge_cores import place
from nfvbed.deploy.dataplanes.bridge_ports import IDLE_LINKS, BridgePlan, BridgeSpaces
from nfvbed.deploy.dataplanes.veth_ports import GENERATOR_LINKS, MACS
from nfvbed.deploy.lab import coredistance, links, napi
from nfvbed.deploy.lab.generator import DESTINATION_MAC_COUNT, DESTINATION_MACS, IDLE_PORT
from nfvbed.deploy.lab.liveframes import try_live_frames
from nfvbed.deploy.lab.namespaces import inside
from nfvbed.deploy.lab.timing import Steps
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.deploy.native import native_binary
from nfvbed.deploy.reset import ResetReport
from nfvbed.deploy.wiring import require_vnf
from nfvbed.deploy.xdpswitch.client import PortCounts
from nfvbed.deploy.xdpswitch.process import PROGRAM, XdpSwitch, XdpSwitchSpec, check_alive
from nfvbed.errors import ConfigurationError, DeployError, NfvbedError, SwitchDiedError
from nfvbed.records import (
    NOT_SEPARABLE,
    Deployment,
    Hop,
    Readiness,
    Role,
    Support,
    SwitchCounters,
    WorkThread,
)
from nfvbed.spec.dataplanes.xdp import XdpOptions
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant
from nfvbed.units import NS_PER_S

RESET = "process of the programs killed (SIGKILL), programs loaded and attached anew"
SWITCH = "xdp_switch"
"""In a deployment's control: what the switch was started with."""


def xdp_options(variant: Variant) -> XdpOptions:
    """Give the variant's options.

    Raises:
        ConfigurationError: they are those of another data plane.
    """
    if not isinstance(variant.options, XdpOptions):
        raise ConfigurationError(f"variant {variant.name} is no xdp", observed=variant.options.dataplane)
    return variant.options


class Xdp(DataPlane):
    """Veth ports as a bridge has them (`bridge_ports.py`), and a process that holds the programs on them.

    Core use: `bridge_cores.py`.
    """

    kind = "xdp"

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def probe(self, variant: Variant) -> Support:
        """Make two ports, attach the programs in the variant's mode, and remove it all."""
        options = xdp_options(variant)
        if os.geteuid() != 0:
            return _unsupported(variant, "links and namespaces can only be made by root", "run it with sudo")
        reason = try_live_frames()
        if reason:
            return _unsupported(variant, f"the generator cannot send: {reason}", "Linux 5.18 or later")
        workspace = Workspace.create()
        try:
            native_binary(PROGRAM)
            _try(options, workspace)
        except NfvbedError as failure:
            return _unsupported(variant, f"{failure.what}: {failure.observed}", failure.fix or "Linux 5.18 or later")
        except (OSError, NetlinkError) as failure:
            return _unsupported(variant, f"veth links cannot be made: {failure}", "modprobe veth")
        finally:
            workspace.close()
        return Support(variant=variant.name, readiness=Readiness.READY)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make namespaces and links, put their work onto its cores, and attach the programs."""
        variant, workspace, arrangement = request.variant, request.workspace, request.arrangement
        options = xdp_options(variant)
        addressed = request.vnf is not None and request.vnf.forwarding == "router"
        plan = BridgePlan(request.layout, require_vnf(request.layout, request.vnf, variant), addressed)
        steps = Steps()
        with steps.timed("deploy.namespaces"):
            spaces = bridge_ports.make_spaces(request, plan)
        with steps.timed("deploy.links"):
            inside(spaces.switch, lambda: bridge_ports.make_links(plan, spaces))
            # A redirected frame leaves the note behind that its checksum is still to be made: so it is made before.
            bridge_ports.prepare(plan, spaces, False, False)
            veth_ports.wait_until_up(spaces.switch, plan.veths)
            if spaces.generator is not None:
                bridge_ports.make_idle(plan, spaces.generator)
        with steps.timed("deploy.cores"):
            threads = place(plan, spaces, variant.options.veth_core_use, arrangement)
        switch = XdpSwitch(workspace, _switch_spec(plan, spaces, options, arrangement.switch_cores[0]))
        with steps.timed("deploy.programs"):
            switch.start()
        self._workspaces[workspace.id] = workspace
        cores = (arrangement.switch_cores[0], arrangement.generator_core)
        return Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            ports=bridge_ports.generator_ports(plan, spaces),
            vnf_ports=bridge_ports.ports_of_vnfs(plan, spaces),
            threads=threads,
            run_directory=str(workspace.directory),
            control=_control(plan, spaces, switch.spec)
            | {"core_use": options.core_use, "tsc_hz": str(coredistance.measure(cores).tsc_hz)},
            versions={"linux": platform.release()},
            steps=steps.done,
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that the process and the threads live, and that the links are there and up."""
        check_alive(self.switch(deployment).process)
        plan = _plan_of(deployment)
        found = veth_ports.read(deployment.control["switch_netns"], plan.veths)
        down = [name for name, counted in found.items() if not counted.up]
        if down:
            raise SwitchDiedError("links of the switch are down", where=str(down), fix="see who set them down")
        lost = set(deployment.threads) - set(napi.still_there(deployment.threads))
        if lost:
            names = sorted(thread.name for thread in lost)
            raise SwitchDiedError("NAPI threads of the switch are gone", where=str(names), fix="deploy again")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Frames that the ports received, the cycles of their NAPI threads, and what the programs counted."""
        plan = _plan_of(deployment)
        found = veth_ports.read(deployment.control["switch_netns"], plan.ports)
        packets = sum(counted.rx_packets for counted in found.values())
        raw = {name: counted.model_dump() for name, counted in found.items()}
        raw |= {f"{seen.name} program": seen.model_dump(exclude={"name"}) for seen in self._programs(deployment)}
        times = [napi.run_time_ns(t.tid) for t in deployment.threads if t.role is Role.SWITCH]
        if not times or None in times:
            source = f"the programs' work is part of the sender's softirq ({deployment.control['core_use']})"
            return SwitchCounters(packets=packets, busy_cycles=NOT_SEPARABLE, source=source, raw=raw)
        busy_ns = sum(t for t in times if t is not None)
        return SwitchCounters(
            packets=packets,
            busy_cycles=busy_ns * int(deployment.control["tsc_hz"]) // NS_PER_S,
            source="scheduler run time of NAPI threads x TSC",
            raw=raw | {"napi_run_time_ns": busy_ns},
        )

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """g0, s0, the VNFs' ports, s1, g1; drops of a port's program among them."""
        plan = _plan_of(deployment)
        within = veth_ports.read(deployment.control["switch_netns"], plan.ports)
        lost = {seen.name: seen.no_way for seen in self._programs(deployment)}
        path = []
        for name in plan.ports:
            hop = veth_ports.hop(f"xdp port {name}", within[name])
            path.append(hop.model_copy(update={"drops": hop.drops | {"no_way": lost[name]}}))
        outer = [_generator_hop(deployment, name) for name in plan.generator_links]
        if 0 in plan.layout.outside:
            path.insert(0, outer[0])
        if 1 in plan.layout.outside:
            path.append(outer[-1])
        return tuple(path)

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill the process, and start it again on the same ports."""
        switch = self.switch(deployment)
        steps = Steps()
        with steps.timed("reset.kill"):
            switch.process.kill()
        with steps.timed("reset.start"):
            switch.start()
        return ResetReport(kind=RESET, steps=steps.done)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The NAPI threads: of the switch's ports, of the generator's."""
        return napi.still_there(deployment.threads)

    def switch(self, deployment: Deployment) -> XdpSwitch:
        """Give the switch of a deployment, also one that another nfvbed made."""
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        spec = XdpSwitchSpec.model_validate_json(deployment.control[SWITCH])
        return XdpSwitch(self._workspaces[deployment.id], spec)

    def _programs(self, deployment: Deployment) -> tuple[PortCounts, ...]:
        try:
            return self.switch(deployment).client.counters()
        except DeployError:
            self.verify(deployment)
            raise


def _try(options: XdpOptions, workspace: Workspace) -> None:
    netns = workspace.network_namespace("probe")
    for port, peer in (("s0", "g0"), ("s1", "g1")):
        inside(netns, partial(links.add_veth, port, peer, (MACS[port], MACS[peer])))
    veth_ports.prepare(netns, ("g0", "g1", "s0", "s1"))
    if options.core_use == "threaded-napi":
        napi.make_threaded(netns, ["s0"])
    elif options.core_use == "rps":
        napi.steer(netns, ["s0"], 0)
    core = min(os.sched_getaffinity(0))
    cables = (("s0", "s1"),)
    spec = XdpSwitchSpec(
        mode=options.mode, netns=netns, core=core, ports=("s0", "s1"), cables=cables, stations=_stations()
    )
    XdpSwitch(workspace, spec).start()


def _switch_spec(plan: BridgePlan, spaces: BridgeSpaces, options: XdpOptions, core: int) -> XdpSwitchSpec:
    return XdpSwitchSpec(
        mode=options.mode,
        netns=spaces.switch,
        core=core,
        ports=plan.ports,
        cables=tuple((plan.port(cable.first), plan.port(cable.second)) for cable in plan.layout.cables),
        stations=_stations(),
    )


def _stations() -> tuple[str, str]:
    first, second = (MACS[name] for name in GENERATOR_LINKS)
    return first, second


def _control(plan: BridgePlan, spaces: BridgeSpaces, spec: XdpSwitchSpec) -> dict[str, str]:
    control = {"switch_netns": spaces.switch, SWITCH: spec.model_dump_json()}
    if spaces.generator is not None:
        control["generator_netns"] = spaces.generator
    macs = bridge_shares.first_macs(plan.layout)
    if macs is not None:
        control |= {DESTINATION_MACS: ",".join(macs), DESTINATION_MAC_COUNT: str(plan.layout.ways)}
    return control | ({IDLE_PORT: IDLE_LINKS[0]} if len(plan.outside) == 1 else {})


def _plan_of(deployment: Deployment) -> BridgePlan:
    kinds = {port.kind for ports in deployment.vnf_ports for port in ports}
    return BridgePlan(layout(deployment.topology), next(iter(kinds), None))


def _generator_hop(deployment: Deployment, name: str) -> Hop:
    counted = veth_ports.read(deployment.control["generator_netns"], (name,))[name]
    return veth_ports.hop(f"generator port {name[1:]} ({name})", counted)


def _unsupported(variant: Variant, reason: str, fix: str) -> Support:
    return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=reason, fix=fix)
