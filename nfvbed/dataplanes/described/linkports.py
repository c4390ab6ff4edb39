"""A described switch between the kernel's links: veth pairs that nfvbed makes and counts."""

import os
import socket
from collections.abc import Mapping
from functools import partial

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.described.drops import SOURCE
from nfvbed.dataplanes.described.options import DescribedOptions
from nfvbed.dataplanes.described.state import DescribedState
from nfvbed.dataplanes.described.switch import (
    DescribedSpec,
    DescribedSwitch,
    PortPlace,
    memory_of,
    timed_reset,
)
from nfvbed.dataplanes.ports import kernel_checks
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces
from nfvbed.dataplanes.ports.link_state import LinkState
from nfvbed.dataplanes.ports.link_switch import LinkSwitch
from nfvbed.dataplanes.ports.veth_probe import Attempt, receive_by, require_sender, try_out
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import links, napi, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import MACS
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import NOT_SEPARABLE, Deployment, WorkThread
from nfvbed.records.state import State
from nfvbed.spec.variant import Variant, options_of

_COUNTED = frozenset({"rx_packets", "tx_packets"})
POLLS = "the switch polls all the time, and its description tells no busy cycles"
RESET_PROCESS = "process killed (SIGKILL) and started again on the same ports, by the variant's own commands"
RESET_RULES = "forwarding removed and set up again by the variant's own commands, its links stay"


class DescribedLinks(LinkSwitch):
    """Commands and a process between links; what the kernel does of it is in the threads of the links."""

    kind = "switch"
    works_in = "the sender's softirq"
    counts_as = SOURCE

    def __init__(self) -> None:
        super().__init__()
        self._versions: dict[str, str] = {}

    def probe(self, variant: Variant) -> Fitness:
        """Make a cable between two links, deploy the switch on it, and remove it all."""
        require_sender()
        options = options_of(variant, DescribedOptions)
        return try_out(
            Attempt(
                lambda workspace: _try(options, variant.hugepages_mib, workspace),
                refusal_fix="correct the variant's file",
            )
        )

    def connect(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> State:
        """Start the switch on the links."""
        ends = [end for cable in plan.layout.cables for end in (cable.first, cable.second)]
        names = [plan.port(end) for end in ends]
        arrangement = request.arrangement
        spec = DescribedSpec(
            options=options_of(request.variant, DescribedOptions),
            netns=spaces.switch,
            ports=_places(spaces.switch, names),
            switch_cores=arrangement.switch_cores,
            control_core=arrangement.control_cores[0],
            memory=memory_of(request.workspace, request.variant.hugepages_mib),
        )
        switch = DescribedSwitch(request.workspace, spec)
        switch.start()
        self._versions = switch.versions()
        return DescribedState(described=spec)

    def versions(self) -> dict[str, str]:
        """Return Linux's, and what the variant's file asks for."""
        return super().versions() | self._versions

    def check(self, deployment: Deployment) -> None:
        """Check that the process lives, or that the kernel still forwards."""
        switch = self.switch(deployment)
        switch.check()
        switch.check_rules()

    def own_counters(self, deployment: Deployment) -> Mapping[str, Mapping[str, int]]:
        """Return what the switch itself counted."""
        return {name: counts.all for name, counts in self.switch(deployment).counts().items()}

    def drops_among(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return all but the frames that a port received and sent."""
        return {name: count for name, count in counts.items() if name not in _COUNTED}

    def busy(self, deployment: Deployment) -> kernel_checks.BusyCycles:
        """Return the cycles of the links' threads and those of the process, unless it polls."""
        switch = self.switch(deployment)
        if switch.options.process is None:
            return super().busy(deployment)
        if switch.options.process.threads.polling:
            return kernel_checks.BusyCycles(NOT_SEPARABLE, POLLS)
        kernel_ns = kernel_checks.busy_ns(deployment.threads)
        own_ns = [napi.run_time_ns(thread.tid) for thread in switch.threads()]
        if kernel_ns is None or None in own_ns:
            state = LinkState.of(deployment)
            reason = f"part of its work is in {self.works_in} ({state.core_use})"
            return kernel_checks.BusyCycles(NOT_SEPARABLE, reason)
        spent = sum(one for one in own_ns if one is not None)
        cycles = kernel_checks.busy_cycles(kernel_ns + spent, LinkState.of(deployment).tsc_hz)
        source = f"{kernel_checks.BUSY_SOURCE}, and that of the process"
        raw = {"napi_run_time_ns": kernel_ns, "process_run_time_ns": spent}
        return kernel_checks.BusyCycles(cycles, source, raw)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the threads of the links, and those of the process."""
        return (*super().work_threads(deployment), *self.switch(deployment).threads())

    def reset(self, deployment: Deployment) -> ResetReport:
        """End the switch on its links and start it again."""
        switch = self.switch(deployment)
        steps = timed_reset(switch)
        return ResetReport(kind=RESET_RULES if switch.options.process is None else RESET_PROCESS, steps=steps.done)

    def switch(self, deployment: Deployment) -> DescribedSwitch:
        """Return the switch of a deployment, also one that another nfvbed made."""
        return DescribedSwitch(self.workspace(deployment), DescribedState.of(deployment).described)


def _places(netns: str, names: list[str]) -> tuple[PortPlace, ...]:
    indexes = inside(netns, lambda: [socket.if_nametoindex(name) for name in names])
    pairs = zip(names, indexes, strict=True)
    return tuple(PortPlace(name=name, index=place, ifindex=index) for place, (name, index) in enumerate(pairs))


def _try(options: DescribedOptions, hugepages_mib: int, workspace: Workspace) -> None:
    netns = workspace.network_namespace("probe")
    for port, peer in (("s0", "g0"), ("s1", "g1")):
        inside(netns, partial(links.add_veth, port, peer, (MACS[port], MACS[peer])))
    veth.prepare(netns, ("g0", "g1", "s0", "s1"), offloads=False)
    receive_by(netns, options.core_use)
    spec = DescribedSpec(
        options=options,
        netns=netns,
        ports=_places(netns, ["s0", "s1"]),
        switch_cores=tuple(sorted(os.sched_getaffinity(0)))[: options.cores],
        control_core=min(os.sched_getaffinity(0)),
        memory=memory_of(workspace, hugepages_mib),
    )
    switch = DescribedSwitch(workspace, spec)
    switch.start()
    switch.versions()
    switch.counts()
