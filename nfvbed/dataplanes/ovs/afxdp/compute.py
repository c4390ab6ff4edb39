"""The compute with Open vSwitch on AF_XDP sockets: Neutron's Open vSwitch agent, no DPDK, guests on taps.

Neutron binds ports of a userspace datapath that has no vhost-user as taps on its bridge, as which they are opened with
packet sockets. Here the taps of what was onboarded, and the generator's links, become AF_XDP sockets.
"""

import os
from collections.abc import Sequence

from nfvbed.cloud.compute import AddressLead
from nfvbed.cloud.devcloud.cloud import DevCloud
from nfvbed.cloud.devcloud.links import space
from nfvbed.cloud.devcloud.services import libvirt, neutron, nova, openvswitch
from nfvbed.cloud.devcloud.services.computes import DATA, ComputeKind
from nfvbed.cloud.devcloud.services.openvswitch import BRIDGES
from nfvbed.cloud.devcloud.services.settings import OWN_MECHANISM
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.verify.checks import ExpectedMachine
from nfvbed.dataplanes.computes import guests, packages, refusals
from nfvbed.dataplanes.computes.linked import LinkedCompute, Notes
from nfvbed.dataplanes.computes.refusals import Others
from nfvbed.dataplanes.ovs import nodeoptions
from nfvbed.dataplanes.ovs.afxdp import modes
from nfvbed.dataplanes.ovs.afxdp import probe as afxdp_probe
from nfvbed.dataplanes.ovs.afxdp import threads as afxdp_threads
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.dataplanes.ovs.nodeswitch import INTEGRATION, NodeSwitch, SwitchPort
from nfvbed.dataplanes.ports.kernel_cores import place_generator, place_links
from nfvbed.host.cores import coredistance
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.network import napi, veth
from nfvbed.host.network.veth import GENERATOR_LINKS
from nfvbed.records import Hop, PortKind, Role, SwitchCounters, WorkThread
from nfvbed.spec.layout import End, Layout
from nfvbed.spec.variant import Variant, options_of

_OTHERS: Others = {
    "vnf_ports": ("kernel", "the compute's switch runs without DPDK, so Neutron gives instances taps"),
    "n_rxq": (1, "the generator's links and the instances' taps have one queue each"),
    "socket_memory_mib": (nodeoptions.SOCKET_MEMORY_MIB, "the compute's switch runs without DPDK"),
    "rx_queue_size": (1024, "rings of AF_XDP sockets have the size that Open vSwitch gives them"),
}
_PREFIX = "tap"
_ID = 11
"""Characters of a port's id in the name of its tap (Nova)."""
_OUTSIDE = {name: BRIDGES[name] for name in DATA}
"""The ports that lead to the generator, with their bridges."""


class AfxdpNotes(Notes):
    """Notes that also say which thread forwards."""

    interrupt: bool


class OvsAfxdpCompute(LinkedCompute):
    """Open vSwitch of a compute's own node."""

    dataplane = "ovs-afxdp"
    kind = ComputeKind(
        "ovs-afxdp",
        "neutron-openvswitch-agent",
        (openvswitch.SERVICE, libvirt.SERVICE, nova.COMPUTE, neutron.agent("openvswitch")),
        OWN_MECHANISM,
    )
    vnf_port_kind = PortKind.TAP
    called = "switch"
    noted = AfxdpNotes

    def __init__(self, cloud: DevCloud) -> None:
        super().__init__(cloud)
        self._maxsleep_us = 0

    def expected(self, variant: Variant, arrangement: Arrangement) -> ExpectedMachine:
        """Return also the userspace datapath, and a thread on each core of the switch where threads poll."""
        polls = not options_of(variant, OvsAfxdpOptions).interrupt
        more = {"datapath_type": "netdev", "polling": arrangement.switch_cores if polls else ()}
        return super().expected(variant, arrangement).model_copy(update=more)

    @property
    def _switch(self) -> NodeSwitch:
        return NodeSwitch(self._node)

    def try_host(self, variant: Variant) -> None:
        """Start a switch with one such port, and end it."""
        afxdp_probe.try_afxdp(variant)

    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse what Nova and Neutron decide, and paths that are no chain."""
        check_options(variant)
        refusals.require_chain(plan, refusals.LONGEST, refusals.JOINED)

    def apply(self, variant: Variant, arrangement: Arrangement) -> None:
        """Set threads and caches, open the generator's links, and place their receive work."""
        options = options_of(variant, OvsAfxdpOptions)
        inner, core = space(self._node), arrangement.switch_cores[0]
        self._maxsleep_us = options.pmd_maxsleep_us
        self._release_cores()
        # An AF_XDP socket passes on what it gets, with the checksum that was left to a later device.
        veth.prepare(inner, DATA, offloads=False)
        veth.prepare(self._outer, GENERATOR_LINKS, offloads=False)
        self._switch.apply(nodeoptions.settings(options, arrangement.switch_cores))
        for name, bridge in _OUTSIDE.items():
            self._switch.vsctl("--may-exist", "add-port", bridge, name, *_settings(name, options))
        modes.check(self._switch.control, self._switch.statuses, DATA, options)
        # By interrupt the daemon's main thread is what forwards, and has the switch's core; else any core is its.
        os.sched_setaffinity(self._switch.pid, {core} if options.interrupt else set(read_topology().allowed))
        threads: tuple[WorkThread, ...] = ()
        if options.core_use == "threaded-napi":
            threads = place_links(inner, DATA, core, Role.SWITCH)
        threads += place_generator(GENERATOR_LINKS, self._outer, arrangement)
        tsc_hz = coredistance.measure((core, arrangement.generator_core)).tsc_hz
        self._note(AfxdpNotes(switch_core=core, tsc_hz=tsc_hz, threads=threads, interrupt=options.interrupt))

    def adopt(self, variant: Variant, instances: Sequence[PlacedInstance]) -> None:
        """Open the instances' taps with AF_XDP sockets, too."""
        options = options_of(variant, OvsAfxdpOptions)
        names = [self.device(port) for instance in instances for port in instance.ports[:2]]
        words = [word for name in names for word in _settings(name, options)]
        if words:
            self._switch.vsctl(*words[1:])
        modes.check(self._switch.control, self._switch.statuses, names, options)

    def rest(self, resting: bool) -> None:
        """Let polling threads sleep, or not: those that poll take a core from the cloud while guests boot."""
        if self._cloud.find_compute(self.host) is not None:
            self._switch.rest(resting, self._maxsleep_us)

    def versions(self) -> dict[str, str]:
        """Return the versions of other computes, and Open vSwitch's."""
        own = {"openvswitch": "openvswitch-switch-dpdk"}
        return {**super().versions(), **packages.versions(self._cloud.places, own)}

    def threads(self, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
        """Return the threads that forward, those of the kernel, the guests' vCPUs, and QEMU's main threads."""
        node, notes = self._node, self._notes(AfxdpNotes)
        own = afxdp_threads.forwarding(self._switch.pid, notes.switch_core, notes.interrupt)
        of_guests = (*guests.vcpu_threads(node, instances), *guests.main_threads(node, instances))
        return (*napi.still_there(notes.threads), *own, *of_guests)

    def own_hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Return data0, the datapath, the taps, data1."""
        first, last = (SwitchPort(_OUTSIDE[name], name, End(None, number)) for number, name in enumerate(DATA))
        taps = [
            SwitchPort(INTEGRATION, self.device(port), End(place, number))
            for place, instance in enumerate(instances)
            for number, port in enumerate(instance.ports[:2])
        ]
        return self._switch.hops([first, *taps, last])

    def lead(self, leads: Sequence[AddressLead]) -> None:
        """Put static addresses into Neutron's bridge."""
        self._switch.lead(leads, self.device)

    def counters(self) -> SwitchCounters:
        """Read what came in through its ports, and the cycles of the threads that forward."""
        counted, notes = self._switch.counters(_OUTSIDE, _PREFIX), self._notes(AfxdpNotes)
        if not notes.interrupt:
            return counted
        return afxdp_threads.with_main_thread(counted, self._switch.pid, notes.tsc_hz)

    def verify(self) -> None:
        """Check the switch's daemon, the links and the NAPI threads."""
        self._switch.verify()
        super().verify()

    def device(self, port: InstancePort) -> str:
        """Return the name of the port's tap."""
        return f"{_PREFIX}{port.id[:_ID]}"


def check_options(variant: Variant) -> None:
    """Refuse options that do not reach a switch on AF_XDP sockets.

    Raises:
        UnsupportedError: with the option's key, its value and what it would have to be.
    """
    nodeoptions.check(variant, options_of(variant, OvsAfxdpOptions), _OTHERS)


def _settings(name: str, options: OvsAfxdpOptions) -> list[str]:
    """Return the arguments of ovs-vsctl that set up a port; in a cloud no variant decides which thread polls it."""
    request = afxdp_probe.port_request(name, 0, options, ())
    return [
        "--",
        "set",
        "Interface",
        name,
        f"type={request.type}",
        *(f"options:{key}={value}" for key, value in request.options.items()),
    ]
