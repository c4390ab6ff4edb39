"""The ceiling of veth ports: the generator looped back over one pair, in the arrangement of the bridge."""

import platform

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ports import veth
from nfvbed.dataplanes.ports.switchless import SwitchlessState, SwitchlessVeth
from nfvbed.dataplanes.ports.veth import GENERATOR_LINKS, MACS
from nfvbed.host import links, napi
from nfvbed.host.namespaces import inside
from nfvbed.host.timing import Steps
from nfvbed.records import CellRole, Deployment, Role, WorkThread


class LoopbackVeth(SwitchlessVeth):
    """One pair g0-g1.

    Where the bridge has threads of its own on the switch's core, the sink's threads are there; with `rps` they are on
    the generator's, as beside the bridge; `inline` has everything in the sender's softirq.
    """

    kind = "loopback-veth"
    links_are = "links of the loop-back"

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
                before = list(napi.napi_threads())
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
