"""XDP redirect: a program on every port hands each frame to the port at the other end of its cable."""

import os
from collections.abc import Mapping
from functools import partial
from typing import Annotated

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces
from nfvbed.dataplanes.ports.link_switch import LinkSwitch
from nfvbed.dataplanes.ports.veth_probe import Attempt, receive_by, require_sender, try_out
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.xdp.drops import SOURCE
from nfvbed.dataplanes.xdp.options import XdpOptions
from nfvbed.dataplanes.xdp.process import DIED, PROGRAM, XdpSwitch, XdpSwitchSpec
from nfvbed.errors import DeployError
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.native import native_binary
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import GENERATOR_LINKS, MACS
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment
from nfvbed.records.state import NESTED, State
from nfvbed.spec.variant import Variant, options_of

RESET = "process of the programs killed (SIGKILL), programs loaded and attached again"


class XdpState(State):
    """What is recorded beside the links."""

    xdp_switch: Annotated[XdpSwitchSpec, NESTED]
    """What the switch was started with."""


class Xdp(LinkSwitch):
    """A process that keeps the programs on the ports; they run where the ports receive."""

    kind = "xdp"
    works_in = "the sender's softirq"
    drops = ("no_way",)
    counts_as = SOURCE

    def probe(self, variant: Variant) -> Fitness:
        """Make two ports, attach the programs in the variant's mode, and remove it all."""
        options = options_of(variant, XdpOptions)
        require_sender()
        return try_out(Attempt(lambda workspace: _try(options, workspace), refusal_fix="Linux 5.18 or later"))

    def connect(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> State:
        """Start the process; when it answers, its programs are on the ports."""
        core = request.arrangement.switch_cores[0]
        switch = XdpSwitch(request.workspace, _switch_spec(plan, spaces, options_of(request.variant, XdpOptions), core))
        switch.start()
        return XdpState(xdp_switch=switch.spec)

    def check(self, deployment: Deployment) -> None:
        """Check that the process lives."""
        check_alive(self.switch(deployment).process, DIED)

    def own_counters(self, deployment: Deployment) -> Mapping[str, Mapping[str, int]]:
        """Return what the programs counted: `received`, and `no_way` of it."""
        try:
            found = self.switch(deployment).client.counters()
        except DeployError:
            self.verify(deployment)
            raise
        return {seen.name: seen.model_dump(exclude={"name"}) for seen in found}

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill the process, and start it again on the same ports."""
        switch = self.switch(deployment)
        steps = Steps()
        with steps.timed("reset.kill"):
            switch.process.kill()
        with steps.timed("reset.start"):
            switch.start()
        return ResetReport(kind=RESET, steps=steps.done)

    def switch(self, deployment: Deployment) -> XdpSwitch:
        """Return the switch of a deployment, also one that another nfvbed made."""
        return XdpSwitch(self.workspace(deployment), XdpState.of(deployment).xdp_switch)


def _try(options: XdpOptions, workspace: Workspace) -> None:
    native_binary(PROGRAM)
    netns = workspace.network_namespace("probe")
    for port, peer in (("s0", "g0"), ("s1", "g1")):
        inside(netns, partial(links.add_veth, port, peer, (MACS[port], MACS[peer])))
    veth.prepare(netns, ("g0", "g1", "s0", "s1"))
    receive_by(netns, options.core_use)
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
