"""macvtap: the kernel's devices on lower links, which switch by destination address without a bridge."""

import platform
from collections.abc import Mapping
from typing import Annotated

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.macvtap import ports as macvtap_ports
from nfvbed.dataplanes.macvtap.options import MacvtapOptions
from nfvbed.dataplanes.macvtap.ports import MacvtapPlan, MacvtapSpaces
from nfvbed.dataplanes.ports import kernel_checks
from nfvbed.dataplanes.ports.kernel_cores import place_generator, place_links
from nfvbed.dataplanes.ports.veth_probe import Attempt, probe_veth, try_out
from nfvbed.dataplanes.wiring import queues_of, require_vnf
from nfvbed.errors import DeployError, InternalError, UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import links, macvlans, napi, veth
from nfvbed.host.network.macvlans import MacvlanDevice
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import MACS
from nfvbed.host.qemu.vhost import require_vhost_net
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import (
    NOT_SEPARABLE,
    CounterSource,
    Deployment,
    Hop,
    HopKind,
    Role,
    SwitchCounters,
    VnfKind,
    VnfPort,
    WorkThread,
)
from nfvbed.records.state import NESTED, PlaneState
from nfvbed.spec.layout import End, layout
from nfvbed.spec.variant import Variant, options_of


class MacvtapState(PlaneState):
    """What is recorded of the links and devices."""

    switch_netns: str
    generator_netns: str
    core_use: str
    mode: str
    options: Annotated[MacvtapOptions, NESTED]
    taps: bool
    """Whether the VNFs' devices are macvtaps, which virtual machines open."""


class Macvtap(DataPlane):
    """One lower link for every cable; on it the devices of the VNFs that the cable joins."""

    kind = "macvtap"

    def probe(self, variant: Variant) -> Fitness:
        """Make a device of either kind in the variant's mode on a link in a namespace, and remove all of it."""
        options = options_of(variant, MacvtapOptions)
        probe_veth(variant)
        if options.vhost == "on":
            require_vhost_net()
        cannot = f"no {options.mode} macvtap can be made"
        return try_out(Attempt(lambda workspace: _try(options, workspace), cannot, fixes.load("macvtap")))

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make namespaces, lower links and devices, and put their receive work onto its cores."""
        variant, options = request.variant, options_of(request.variant, MacvtapOptions)
        if request.vnf is None and request.layout.vnfs:
            require_vnf(request.layout, None, variant)
        plan = _plan(request, options)
        steps = Steps()
        with steps.timed("deploy.namespaces"):
            spaces = macvtap_ports.make_spaces(request, plan)
        with steps.timed("deploy.links"):
            inside(spaces.switch, lambda: macvtap_ports.make_links(plan, spaces))
            macvtap_ports.prepare(plan, spaces, request.vnf is None or request.vnf.offloads)
            _check_modes(plan, spaces)
        with steps.timed("deploy.cores"):
            threads = _place(plan, spaces, request.arrangement)
        return Deployment(
            id=request.workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            ports=macvtap_ports.generator_ports(plan, spaces),
            vnf_ports=macvtap_ports.ports_of_vnfs(plan, spaces),
            threads=threads,
            run_directory=str(request.workspace.directory),
            control=_state(plan, spaces).as_control(),
            versions={"linux": platform.release()},
            steps=steps.done,
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that links and devices are there and up, and that their threads live."""
        plan, netns = _plan_of(deployment), MacvtapState.of(deployment).switch_netns
        found = veth.read(netns, (*plan.lowers, *plan.relays)) | _devices(deployment)
        kernel_checks.require_up(dict(sorted(found.items())), "links of macvtap")
        kernel_checks.require_threads(deployment.threads, "the lower links")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the frames that came from outside and from VNFs; switching and sending cannot be told apart."""
        state = MacvtapState.of(deployment)
        outer = veth.read(state.switch_netns, tuple(f"s{port}" for port in layout(deployment.topology).outside))
        inner = _devices(deployment)
        packets = sum(counted.rx_packets for counted in outer.values())
        packets += sum(counted.tx_packets for counted in inner.values())
        return SwitchCounters(
            packets=packets,
            busy_cycles=NOT_SEPARABLE,
            source=f"what VNFs send is switched in their own system calls ({state.core_use})",
            raw={name: counted.model_dump() for name, counted in outer.items()} | _by_end(deployment, inner),
        )

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return g0, s0, the VNFs' devices in the order of the path, s1, g1; each as the switch sees it."""
        plan, state = _plan_of(deployment), MacvtapState.of(deployment)
        within = veth.read(state.switch_netns, (*plan.lowers, *plan.relays))
        outside = veth.read(state.generator_netns, plan.generator_links)
        devices = _devices(deployment)
        path: list[Hop] = []
        for end in plan.ends:
            path.append(_device_hop(end, plan.lower(end), devices[plan.device(end)]))
            # A link between VNFs is inside: what it lost is shown, its counts are those of the devices.
            names = plan.behind(end)
            path += [_inside(name, within[name]) for name in names]
        first, last = (
            (
                veth.generator_hop(link, number, outside[link]),
                veth.hop(f"link s{number}", within[f"s{number}"], HopKind.SWITCH_PORT, End(None, number)),
            )
            for number, link in enumerate(plan.generator_links)
        )
        return (*first, *path, *last[::-1])

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the NAPI threads of the lower links and of the generator's ends."""
        return napi.still_there(deployment.threads)


def _plan(request: DeployRequest, options: MacvtapOptions) -> MacvtapPlan:
    choice = request.vnf
    if choice is None:
        raise InternalError(f"topology {request.layout.name} needs a VNF, and none was chosen", where="macvtap")
    require_vnf(request.layout, choice, request.variant)
    options.check(request.layout, choice)
    return MacvtapPlan(request.layout, options, choice.kind is VnfKind.VM, queues_of(choice))


def _plan_of(deployment: Deployment) -> MacvtapPlan:
    state = MacvtapState.of(deployment)
    return MacvtapPlan(layout(deployment.topology), state.options, state.taps)


def _try(options: MacvtapOptions, workspace: Workspace) -> None:
    netns = workspace.network_namespace("probe")

    def make() -> None:
        for number, tap in enumerate((True, False)):
            lower, peer = f"s{number}", f"g{number}"
            links.add_veth(lower, peer, (MACS[lower], MACS[peer]))
            device = MacvlanDevice(f"v{number}", lower, MACS[lower], options.mode, options.promiscuous, tap)
            macvlans.add(device)
            if macvlans.mode_of(device.name) != options.mode:
                raise UnsupportedError(
                    f"the kernel makes no device in mode {options.mode}",
                    observed=f"it made one in mode {macvlans.mode_of(device.name) or 'unknown'}",
                )

    inside(netns, make)


def _check_modes(plan: MacvtapPlan, spaces: MacvtapSpaces) -> None:
    found = macvtap_ports.check_modes(plan, spaces)
    wrong = {name: mode for name, mode in found.items() if mode != plan.options.mode}
    if wrong:
        raise DeployError(f"devices are not in mode {plan.options.mode}", where="macvtap", observed=str(wrong))


def _place(plan: MacvtapPlan, spaces: MacvtapSpaces, arrangement: Arrangement) -> tuple[WorkThread, ...]:
    """Put the receive work of the lower links onto the switch's core, that of the generator's ends onto its own."""
    core_use, core = plan.options.core_use, arrangement.switch_cores[0]
    if core_use == "inline":
        return ()
    threads: tuple[WorkThread, ...] = ()
    if core_use == "rps":
        napi.steer(spaces.switch, plan.lowers, core)
    else:
        threads = place_links(spaces.switch, plan.lowers, core, Role.SWITCH)
    return threads + place_generator(plan.generator_links, spaces.generator, arrangement)


def _devices(deployment: Deployment) -> dict[str, links.LinkCounters]:
    found: dict[str, links.LinkCounters] = {}
    # A VNF may have moved its ports: a mobile core does, each into the namespace of its gateway.
    now = {(port.vnf, port.port): port for handle in deployment.vnfs for port in handle.ports}
    for port in (port for ports in deployment.vnf_ports for port in ports):
        found |= veth.read(_space_of(now.get((port.vnf, port.port), port)), (port.address,))
    return found


def _space_of(port: VnfPort) -> str:
    if port.netns is None:
        raise InternalError("a macvtap is in no network namespace", where=port.name)
    return port.netns


def _device_hop(end: End, lower: str, counted: links.LinkCounters) -> Hop:
    """Return a VNF's device as a switch's port: what the VNF sends is received here."""
    return Hop(
        name=f"{lower} port {end.name}",
        kind=HopKind.SWITCH_PORT,
        vnf=end.vnf,
        port=end.port,
        rx_packets=counted.tx_packets,
        tx_packets=counted.rx_packets,
        drops={"rx_dropped": counted.tx_dropped, "tx_dropped": counted.rx_dropped},
        counted_by=CounterSource.LINUX,
    )


def _by_end(deployment: Deployment, devices: Mapping[str, links.LinkCounters]) -> dict[str, dict[str, int]]:
    """Return the VNFs' devices by the names of the path's ends, counted as a switch's ports are."""
    plan = _plan_of(deployment)
    seen = {end.name: devices[plan.device(end)] for end in plan.ends if end.vnf is not None}
    return {
        name: {
            "rx_packets": counted.tx_packets,
            "tx_packets": counted.rx_packets,
            "rx_dropped": counted.tx_dropped,
            "tx_dropped": counted.rx_dropped,
        }
        for name, counted in seen.items()
    }


def _inside(name: str, counted: links.LinkCounters) -> Hop:
    drops = {"rx_dropped": counted.rx_dropped, "tx_dropped": counted.tx_dropped}
    return Hop(name=f"link {name}", drops=drops, counted_by=CounterSource.LINUX)


def _state(plan: MacvtapPlan, spaces: MacvtapSpaces) -> MacvtapState:
    macs = plan.first_macs()
    return MacvtapState(
        switch_netns=spaces.switch,
        generator_netns=spaces.generator,
        core_use=plan.options.core_use,
        mode=plan.options.mode,
        options=plan.options,
        taps=plan.taps,
        destination_macs=macs,
        destination_mac_count=None if macs is None else plan.layout.ways,
    )
