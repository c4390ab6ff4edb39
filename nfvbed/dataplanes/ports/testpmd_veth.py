"""The reference on veth ports: testpmd `io` over AF_XDP sockets in the bridge's place, on its core.

The bridge works inside the kernel; testpmd gets every frame copied out of it and back in. So it is no floor of what the
ports cost, and a bridge may exceed it: it is what a switch in user space can do on the same ports.
"""

import platform

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ports import kernel_links, veth
from nfvbed.dataplanes.ports.kernel_cores import place_generator
from nfvbed.dataplanes.ports.kernel_links import BridgePlan
from nfvbed.dataplanes.ports.testpmd_io import ReferencePorts, TestpmdIo
from nfvbed.dataplanes.ports.veth import GENERATOR_LINKS, SWITCH_LINKS
from nfvbed.dataplanes.ports.veth_probe import probe_veth
from nfvbed.errors import UnsupportedError
from nfvbed.host import napi
from nfvbed.host.namespaces import inside
from nfvbed.records import Deployment, Readiness, Support, WorkThread
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant

MEMORY_MIB = 128
DESCRIPTORS = 1024


class TestpmdVeth(TestpmdIo):
    """dpdk-testpmd on s0 and s1, in the switch's namespace.

    It does the kernel's receive work of both in its own system calls (preferred busy polling). As kernel threads on its
    core that work would either starve it (put first) or wait for whole scheduler slices (as its equal).
    """

    __test__ = False
    kind = "testpmd-veth"

    def probe(self, variant: Variant) -> Support:
        """It needs veth ports, and testpmd."""
        support = probe_veth(variant)
        return support if support.readiness is Readiness.UNSUPPORTED else super().probe(variant)

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
        """Its forwarding thread, and the NAPI threads of both sides."""
        of_kernel = [thread for thread in deployment.threads if not thread.polling]
        return (*napi.still_there(of_kernel), *super().work_threads(deployment))


def vdev(index: int, link: str) -> str:
    """Give testpmd's port on a link."""
    return f"net_af_xdp{index},iface={link}"
