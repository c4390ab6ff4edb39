"""A VNF looped back alone on veth ports: the generator's ends lead into its namespace, and there is no switch."""

import platform
from functools import partial

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ports import veth
from nfvbed.dataplanes.ports.kernel_cores import place_generator
from nfvbed.dataplanes.ports.switchless import SwitchlessState, SwitchlessVeth
from nfvbed.dataplanes.ports.veth import GENERATOR_LINKS, MACS
from nfvbed.dataplanes.wiring import end_mac, refuse_many_vnfs, vnf_ports
from nfvbed.host import links
from nfvbed.host.namespaces import inside
from nfvbed.host.timing import Steps
from nfvbed.records import CellRole, Deployment, PortKind, VnfPort, WorkThread
from nfvbed.spec.layout import End

VNF_LINKS = ("eth1a", "eth1b")


class BareVeth(SwitchlessVeth):
    """Two pairs, g0-eth1a and g1-eth1b. Threads are where they are beside the bridge."""

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
