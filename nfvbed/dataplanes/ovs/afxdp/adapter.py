"""Open vSwitch's userspace datapath on AF_XDP sockets: its ports are the kernel's veth and tap devices.

A thread polls the sockets, as with DPDK; or, by interrupt, ovs-vswitchd's main thread sleeps until frames come.
"""

import platform
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ovs import tuning
from nfvbed.dataplanes.ovs.afxdp import probe as afxdp_probe
from nfvbed.dataplanes.ovs.afxdp import threads
from nfvbed.dataplanes.ovs.afxdpoptions import AfxdpDatapathOptions
from nfvbed.dataplanes.ovs.binaries import binaries_of
from nfvbed.dataplanes.ovs.database import PortRequest, SwitchState, asked_mtu
from nfvbed.dataplanes.ovs.instance import SWITCH, DpdkSettings, OvsInstance, settings, thread_settings
from nfvbed.dataplanes.ovs.switch import BRIDGE, VNF_PORT_MIB, OvsSwitch, StartedSwitch
from nfvbed.dataplanes.ports import kernel_links, vhost_user
from nfvbed.dataplanes.ports.kernel_cores import place_generator, place_links
from nfvbed.dataplanes.ports.kernel_links import IDLE_LINKS, BridgePlan, BridgeSpaces
from nfvbed.dataplanes.ports.link_state import LinkState
from nfvbed.dataplanes.wiring import port_numbers, queues_of, require_vnf, vnf_ports
from nfvbed.errors import SwitchDiedError, UnsupportedError
from nfvbed.host.cores import coredistance
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import napi, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.timing import Steps
from nfvbed.records import Deployment, Hop, PortKind, Role, SwitchCounters, VnfPort, WorkThread
from nfvbed.spec.layout import End, layout
from nfvbed.spec.variant import Variant, options_of


@dataclass(frozen=True)
class OvsLinks(BridgePlan):
    """Links as on kernel bridges; but `p0` and `p1` lead outside, and VNFs on vhost-user sockets have no links."""

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """The ends at which there is a link."""
        ends = super().ends
        return tuple(end for end in ends if end.vnf is None) if self.vnf_kind is PortKind.VHOST_USER else ends

    @property
    def always_up(self) -> tuple[str, ...]:
        """Links that have a carrier whether VNFs run or not."""
        return self.veths

    def port(self, end: End) -> str:
        """Return the name of the switch's port at an end."""
        return end.name


class AfxdpState(LinkState):
    """What is recorded beside that of every Open vSwitch."""

    switch_core: int
    interrupt: bool
    """Whether no thread polls, and the main thread works."""


class OvsAfxdp(OvsSwitch):
    """`br0` on AF_XDP sockets; the other ends of its veth ports in the generator's and the VNFs' namespaces."""

    kind = "ovs-afxdp"

    def probe(self, variant: Variant) -> Fitness:
        """Start a switch with one such port, and end it."""
        return afxdp_probe.try_afxdp(variant)

    def options(self, request: DeployRequest) -> AfxdpDatapathOptions:
        """Return the variant's options; refuse those that this Open vSwitch or these ports do not have."""
        options = options_of(request.variant, AfxdpDatapathOptions)
        tuning.check_version(options, binaries_of(options))
        options.check_layout(request.layout)
        if queues_of(request.vnf) > 1:
            raise UnsupportedError(
                "an AF_XDP port on a virtual machine's tap has one queue",
                where="flavor: queues",
                observed=f"{queues_of(request.vnf)} queues; a tap has them only once its guest has opened it",
                fix="a flavor with one queue, or vnic: vhost-user",
            )
        return options

    def start(self, request: DeployRequest, steps: Steps) -> StartedSwitch:
        """Make the links, start database and switch, make the bridge with its ports, place the receive work."""
        options, arrangement = self.options(request), request.arrangement
        plan = _plan(request)
        with steps.timed("deploy.links"):
            spaces = _make_links(request, plan, options)
        daemon_cores = arrangement.switch_cores[:1] if options.interrupt else arrangement.control_cores
        request.workspace.libxdp()
        instance = OvsInstance(request.workspace, binaries_of(options), daemon_cores)
        sockets = _sockets(request, plan)
        state = _start(request, instance, (spaces, sockets), steps)
        with steps.timed("deploy.cores"):
            placed = _place(plan, spaces, options, request)
        pid = request.workspace.process(SWITCH).pid
        dpdk = {"dpdk": state.dpdk_version} if sockets else {}
        return StartedSwitch(
            instance=instance,
            netns=spaces.switch,
            ports=kernel_links.generator_ports(plan, spaces),
            vnf_ports=_ports_of_vnfs(request, plan, spaces, sockets),
            threads=(*placed, *threads.forwarding(pid, arrangement.switch_cores[0], options.interrupt)),
            daemon_cores=daemon_cores,
            versions={"linux": platform.release()} | dpdk,
            state=_state(request, spaces, options, plan),
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that ovs-vswitchd lives, that its links are there, and that their NAPI threads live."""
        super().verify(deployment)
        plan = _plan_of(deployment)
        found = veth.read(AfxdpState.of(deployment).switch_netns, plan.ports)
        down = [name for name in plan.always_up if not found[name].up]
        if down:
            raise SwitchDiedError("links of the switch are down", where=str(down), fix="see who set them down")
        lost = set(_of_kernel(deployment)) - set(napi.still_there(_of_kernel(deployment)))
        if lost:
            names = sorted(thread.name for thread in lost)
            raise SwitchDiedError("NAPI threads of the switch's links are gone", where=str(names), fix="deploy again")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read what an Open vSwitch with DPDK counts; by interrupt, the main thread's time in place of cycles."""
        counted, state = super().counters(deployment), AfxdpState.of(deployment)
        if counted is None or not state.interrupt:
            return counted
        return threads.with_main_thread(counted, self._pid(deployment), state.tsc_hz)

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return the generator's links, and between them the hops of every Open vSwitch."""
        inner = super().hops(deployment)
        plan = _plan_of(deployment)
        if not plan.outside:
            return inner
        found = veth.read(AfxdpState.of(deployment).generator_space(), plan.generator_links)
        return kernel_links.between_generators(plan, found, inner)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the switch's own threads, and the kernel's that receive for it and for the generator."""
        state = AfxdpState.of(deployment)
        own = threads.forwarding(self._pid(deployment), state.switch_core, state.interrupt)
        return (*napi.still_there(_of_kernel(deployment)), *own)

    def _pid(self, deployment: Deployment) -> int:
        return self._workspace(deployment).process(SWITCH).pid


def _plan(request: DeployRequest) -> OvsLinks:
    kind = require_vnf(request.layout, request.vnf, request.variant)
    return OvsLinks(request.layout, kind, queues=queues_of(request.vnf))


def _plan_of(deployment: Deployment) -> OvsLinks:
    kinds = {port.kind for ports in deployment.vnf_ports for port in ports}
    return OvsLinks(layout(deployment.topology), next(iter(kinds), None))


def _make_links(request: DeployRequest, plan: OvsLinks, options: AfxdpDatapathOptions) -> BridgeSpaces:
    spaces = kernel_links.make_spaces(request, plan)
    inside(spaces.switch, lambda: kernel_links.make_links(plan, spaces, options.n_rxq))
    kernel_links.prepare(plan, spaces, options.veth_offloads, options.veth_offloads)
    veth.wait_until_up(spaces.switch, plan.always_up)
    if spaces.generator is not None:
        kernel_links.make_idle(plan, spaces.generator)
    return spaces


def _sockets(request: DeployRequest, plan: OvsLinks) -> dict[str, Path]:
    """Return the vhost-user sockets of VNFs that want them."""
    if plan.vnf_kind is not PortKind.VHOST_USER:
        return {}
    names = [name for name in port_numbers(request.layout) if not name.startswith("p")]
    return vhost_user.sockets(request.workspace.directory, names)


def _start(
    request: DeployRequest, instance: OvsInstance, parts: tuple[BridgeSpaces, dict[str, Path]], steps: Steps
) -> SwitchState:
    """Start database and switch and make the bridge."""
    spaces, sockets = parts
    options = options_of(request.variant, AfxdpDatapathOptions)
    with steps.timed("deploy.database"):
        instance.start_database()
    other_config = _settings(request, options, len(sockets)) | tuning.userspace_settings(options)
    cores = request.arrangement.switch_cores
    ports = [
        PortRequest(
            name,
            "dpdkvhostuserclient",
            number,
            {"vhost-server-path": str(sockets[name])},
            mtu=asked_mtu(request.variant),
        )
        if name in sockets
        else afxdp_probe.port_request(name, number, options, cores)
        for name, number in port_numbers(request.layout).items()
    ]
    with instance.connect() as database:
        with steps.timed("deploy.switch"):
            database.initialise(other_config)
            instance.start_switch(spaces.switch)
            state = database.wait_for_switch(dpdk=bool(sockets))
        with steps.timed("deploy.bridge"):
            database.add_bridge(BRIDGE, ports, tuning.bridge_settings(options))
    return state


def _settings(request: DeployRequest, options: AfxdpDatapathOptions, vhost_ports: int) -> dict[str, str]:
    """Return the switch's settings; DPDK is initialised only for vhost-user ports."""
    arrangement = request.arrangement
    if not vhost_ports:
        return thread_settings(arrangement.switch_cores)
    memory_mib = options.socket_memory_mib + VNF_PORT_MIB * vhost_ports
    hugepages = request.workspace.hugepages(max(memory_mib, request.variant.hugepages_mib), least_mib=memory_mib)
    dpdk = DpdkSettings(memory_mib, hugepages, arrangement.switch_cores, main_core=arrangement.control_cores[0])
    return settings(dpdk, f"nfvbed-{request.workspace.id}-ovs")


def _place(
    plan: OvsLinks, spaces: BridgeSpaces, options: AfxdpDatapathOptions, request: DeployRequest
) -> tuple[WorkThread, ...]:
    placed: tuple[WorkThread, ...] = ()
    if options.core_use == "threaded-napi" and plan.veths:
        placed = place_links(spaces.switch, plan.veths, request.arrangement.switch_cores[0], Role.SWITCH)
    return placed + place_generator(plan.generator_links, spaces.generator, request.arrangement)


def _ports_of_vnfs(
    request: DeployRequest, plan: OvsLinks, spaces: BridgeSpaces, sockets: dict[str, Path]
) -> tuple[tuple[VnfPort, ...], ...]:
    if not sockets:
        return kernel_links.ports_of_vnfs(plan, spaces)
    size, queues = request.variant.options.ring_size, queues_of(request.vnf)
    return vnf_ports(request.layout, lambda end: vhost_user.vnf_port(end, sockets[end.name], size, queues))


def _of_kernel(deployment: Deployment) -> tuple[WorkThread, ...]:
    return tuple(thread for thread in deployment.threads if thread.name.startswith("napi/"))


def _state(request: DeployRequest, spaces: BridgeSpaces, options: AfxdpDatapathOptions, plan: OvsLinks) -> AfxdpState:
    arrangement = request.arrangement
    return AfxdpState(
        switch_netns=spaces.switch,
        core_use=options.core_use,
        switch_core=arrangement.switch_cores[0],
        interrupt=options.interrupt,
        tsc_hz=coredistance.measure((arrangement.switch_cores[0], arrangement.generator_core)).tsc_hz,
        generator_netns=spaces.generator,
        idle_port=IDLE_LINKS[0] if len(plan.outside) == 1 else None,
    )
