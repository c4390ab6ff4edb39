"""The ceilings of veth ports: the generator looped back, a VNF alone, and testpmd in the bridge's place.

testpmd `io` works over AF_XDP sockets, on the bridge's core. The bridge works inside the kernel, while every frame is
copied out of it to testpmd and back. So testpmd is no floor of what the ports cost, and a bridge may exceed it: it
shows what a switch in user space can do on the same ports.
"""

import platform
from functools import partial
from typing import ClassVar

from nfvbed.dataplanes.dataplane import Ceiling, DeployRequest
from nfvbed.dataplanes.ports import kernel_links
from nfvbed.dataplanes.ports.kernel_checks import require_up
from nfvbed.dataplanes.ports.kernel_cores import place_generator
from nfvbed.dataplanes.ports.kernel_links import BridgePlan
from nfvbed.dataplanes.ports.testpmd_io import ReferencePorts, TestpmdIo
from nfvbed.dataplanes.wiring import end_mac, refuse_many_vnfs, vnf_ports
from nfvbed.errors import UnsupportedError
from nfvbed.host.network import links, napi, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import GENERATOR_LINKS, MACS, SWITCH_LINKS
from nfvbed.host.timing import Steps
from nfvbed.records import CellRole, CounterSource, Deployment, Hop, PortKind, Role, SwitchCounters, VnfPort, WorkThread
from nfvbed.records.state import PlaneState
from nfvbed.spec.layout import End, layout

VNF_LINKS = ("eth1a", "eth1b")
MEMORY_MIB = 128
DESCRIPTORS = 1024


class SwitchlessState(PlaneState):
    """What is recorded of links that no switch joins."""

    generator_netns: str
    core_use: str


class SwitchlessVeth(Ceiling):
    """Veth pairs, of which the generator has one end, arranged as beside the bridge."""

    links_are: ClassVar[str]
    """What its links are, for the message when they are down."""

    def verify(self, deployment: Deployment) -> None:
        """Check that the generator's links are there and up."""
        found = veth.read(SwitchlessState.of(deployment).generator_netns, GENERATOR_LINKS)
        require_up(found, self.links_are)

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Return None: there is no switch."""
        return None

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return g0, g1; what is between them is counted by a VNF, where there is one."""
        found = veth.read(SwitchlessState.of(deployment).generator_netns, GENERATOR_LINKS)
        return tuple(veth.generator_hop(n, i, found[n]) for i, n in enumerate(GENERATOR_LINKS))

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the sinks' NAPI threads."""
        return napi.still_there(deployment.threads)


class LoopbackVeth(SwitchlessVeth):
    """One pair g0-g1.

    Where the bridge has threads of its own on the switch's core, the sink's threads are there. With `rps` they are on
    the generator's core, as beside the bridge. `inline` has everything in the sender's softirq.
    """

    kind = "loopback-veth"
    links_are = "links of the loopback"

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make the pair and place the receive work."""
        variant, workspace, arrangement = request.variant, request.workspace, request.arrangement
        options = variant.options
        steps = Steps()
        core = arrangement.switch_cores[0] if options.veth_core_use == "threaded-napi" else arrangement.generator_core
        threads: list[WorkThread] = []
        with steps.timed("deploy.links"):
            netns = workspace.network_namespace("generator")
            first, second = GENERATOR_LINKS
            inside(netns, lambda: links.add_veth(first, second, (MACS[first], MACS[second])))
            veth.prepare(netns, GENERATOR_LINKS, options.veth_offloads)
            veth.wait_until_up(netns, GENERATOR_LINKS)
        with steps.timed("deploy.cores"):
            if options.veth_core_use != "inline":
                with napi.threads_told_apart() as before:
                    napi.make_threaded(netns, GENERATOR_LINKS)
                    for name in GENERATOR_LINKS:
                        threads += napi.pin_threads(name, before, core, Role.GENERATOR)
                if core == arrangement.generator_core:
                    napi.put_first(threads)
        return Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            role=CellRole.LOOPBACK,
            ports=veth.generator_ports(netns),
            threads=tuple(threads),
            run_directory=str(workspace.directory),
            control=SwitchlessState(generator_netns=netns, core_use=options.veth_core_use).as_control(),
            versions={"linux": platform.release()},
            steps=steps.done,
        )


class BareVeth(SwitchlessVeth):
    """Two pairs, g0-eth1a and g1-eth1b. Threads are placed as beside the bridge."""

    kind = "bare-veth"
    links_are = "links to the VNF"

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make the pairs and place the receive work of the generator's ends."""
        refuse_many_vnfs(request.layout)
        options = request.variant.options
        offloads = request.vnf is None or request.vnf.offloads
        steps = Steps()
        with steps.timed("deploy.links"):
            vnf = request.workspace.network_namespace("vnf1")
            generator = request.workspace.network_namespace("generator")
            for place, (near, far) in enumerate(zip(GENERATOR_LINKS, VNF_LINKS, strict=True)):
                macs = (MACS[near], end_mac(End(0, place)))
                inside(generator, partial(links.add_veth, near, far, macs, vnf))
            veth.prepare(vnf, VNF_LINKS, offloads)
            veth.prepare(generator, GENERATOR_LINKS, options.veth_offloads)
            veth.wait_until_up(generator, GENERATOR_LINKS)
        threads: tuple[WorkThread, ...] = ()
        with steps.timed("deploy.cores"):
            if options.veth_core_use != "inline":
                threads = place_generator(GENERATOR_LINKS, generator, request.arrangement)
        return Deployment(
            id=request.workspace.id,
            variant=request.variant.name,
            site="lab",
            topology=request.layout.name,
            role=CellRole.VNF,
            ports=veth.generator_ports(generator),
            vnf_ports=vnf_ports(request.layout, lambda end: _vnf_port(end, vnf, options.veth_offloads)),
            threads=threads,
            run_directory=str(request.workspace.directory),
            control=SwitchlessState(generator_netns=generator, core_use=options.veth_core_use).as_control(),
            versions={"linux": platform.release()},
            steps=steps.done,
        )


def _vnf_port(end: End, netns: str, offloads: bool) -> VnfPort:
    return VnfPort(
        name=end.name,
        vnf=0,
        port=end.port,
        kind=PortKind.VETH,
        address=VNF_LINKS[end.port],
        netns=netns,
        mac=end_mac(end),
        offloads=offloads,
    )


class TestpmdVeth(TestpmdIo):
    """dpdk-testpmd on s0 and s1, in the switch's namespace.

    It does the kernel's receive work of both in its own system calls (preferred busy polling). As kernel threads on its
    core that work would either starve it (put first) or wait for whole scheduler slices (as its equal).
    """

    __test__ = False
    kind = "testpmd-veth"
    counted_by = CounterSource.AF_XDP

    def _wire(self, request: DeployRequest) -> ReferencePorts:
        options = request.variant.options
        if request.layout.vnfs:
            raise UnsupportedError(
                "a reference is measured from port to port", observed=f"topology {request.layout.name}", fix="p2p"
            )
        if options.veth_core_use == "inline":
            raise UnsupportedError(
                "no reference has its work in the sender's softirq",
                where="core_use: inline",
                observed="testpmd polls on a core of its own",
                fix="core_use: threaded-napi",
            )
        plan = BridgePlan(layout("p2p"))
        spaces = kernel_links.make_spaces(request, plan)
        inside(spaces.switch, lambda: kernel_links.make_links(plan, spaces))
        kernel_links.prepare(plan, spaces, options.veth_offloads, True)
        veth.wait_until_up(spaces.switch, SWITCH_LINKS)
        napi.leave_to_poller(spaces.switch, SWITCH_LINKS)
        request.workspace.libxdp()
        return ReferencePorts(
            vdevs=(vdev(0, SWITCH_LINKS[0]), vdev(1, SWITCH_LINKS[1])),
            ports=kernel_links.generator_ports(plan, spaces),
            netns=spaces.switch,
            hugepages_mib=MEMORY_MIB + 64,
            memory_mib=MEMORY_MIB,
            descriptors=DESCRIPTORS,
            threads=place_generator(GENERATOR_LINKS, spaces.generator, request.arrangement),
            versions={"linux": platform.release()},
        )

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return its forwarding thread, and the NAPI threads of both sides."""
        of_kernel = [thread for thread in deployment.threads if not thread.polling]
        return (*napi.still_there(of_kernel), *super().work_threads(deployment))


def vdev(index: int, link: str) -> str:
    """Return testpmd's port on a link."""
    return f"net_af_xdp{index},iface={link}"


CEILINGS = {CellRole.LOOPBACK: LoopbackVeth, CellRole.VNF: BareVeth, CellRole.REFERENCE: TestpmdVeth}
