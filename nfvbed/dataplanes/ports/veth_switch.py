"""What switches between veth ports share that are no bridges: links, cores, counters, hops and the checks of them.

Ports and their peers are those of a bridge's (`kernel_links.py`), and so is the use of cores (`kernel_cores.py`).
"""

import platform
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.ports import kernel_checks, kernel_links, veth
from nfvbed.dataplanes.ports.kernel_cores import place
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces
from nfvbed.dataplanes.ports.link_state import LinkState, outside
from nfvbed.dataplanes.wiring import require_vnf
from nfvbed.host import coredistance, napi
from nfvbed.host.namespaces import inside
from nfvbed.host.timing import Steps
from nfvbed.host.workspace import Workspace
from nfvbed.records import (
    NOT_SEPARABLE,
    Deployment,
    Hop,
    HopKind,
    Separable,
    SwitchCounters,
    WorkThread,
)
from nfvbed.state import State


class VethSwitch(DataPlane):
    """Links of a layout, and what a class of its own joins them by."""

    works_in: ClassVar[str]
    """What its work is part of where it has no threads of its own."""
    drops: ClassVar[tuple[str, ...]] = ()
    """Those of its own counters that are drops."""

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    @abstractmethod
    def connect(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> State:
        """Join the ports, which are up; return what is to be written down of what joins them."""

    @abstractmethod
    def check(self, deployment: Deployment) -> None:
        """Check that what joins the ports lives.

        Raises:
            SwitchDiedError: it does not.
        """

    @abstractmethod
    def own_counters(self, deployment: Deployment) -> Mapping[str, Mapping[str, int]]:
        """Read what it counts itself, by the names of the ports; empty: nothing."""

    def versions(self) -> dict[str, str]:
        """Give the versions of what is under test."""
        return {"linux": platform.release()}

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make namespaces and links, put their work onto its cores, and join the ports."""
        variant, workspace, arrangement = request.variant, request.workspace, request.arrangement
        addressed = request.vnf is not None and request.vnf.forwarding == "router"
        plan = BridgePlan(request.layout, require_vnf(request.layout, request.vnf, variant), addressed)
        steps = Steps()
        with steps.timed("deploy.namespaces"):
            spaces = kernel_links.make_spaces(request, plan)
        with steps.timed("deploy.links"):
            inside(spaces.switch, lambda: kernel_links.make_links(plan, spaces))
            # Past the kernel's stack a frame has no note that its checksum is still to be made: so it is made before.
            kernel_links.prepare(plan, spaces, False, False)
            veth.wait_until_up(spaces.switch, plan.veths)
            if spaces.generator is not None:
                kernel_links.make_idle(plan, spaces.generator)
        with steps.timed("deploy.cores"):
            threads = place(plan, spaces, variant.options.veth_core_use, arrangement)
        with steps.timed("deploy.switch"):
            own = self.connect(request, plan, spaces)
        self._workspaces[workspace.id] = workspace
        cores = (arrangement.switch_cores[0], arrangement.generator_core)
        state = LinkState(
            switch_netns=spaces.switch,
            core_use=variant.options.veth_core_use,
            tsc_hz=coredistance.measure(cores).tsc_hz,
            **outside(plan, spaces),
        )
        return Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            ports=kernel_links.generator_ports(plan, spaces),
            vnf_ports=kernel_links.ports_of_vnfs(plan, spaces),
            threads=threads,
            run_directory=str(workspace.directory),
            control=state.as_control() | own.as_control(),
            versions=self.versions(),
            steps=steps.done,
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that the switch and the threads live, and that the links are there and up."""
        self.check(deployment)
        found = veth.read(LinkState.of(deployment).switch_netns, BridgePlan.of(deployment).veths)
        kernel_checks.require_up(found, "links of the switch")
        kernel_checks.require_threads(deployment.threads, "the switch")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Frames that the ports received, what the switch counts itself, and the cycles of its threads."""
        found = veth.read(LinkState.of(deployment).switch_netns, BridgePlan.of(deployment).ports)
        raw: dict[str, Any] = {name: counted.model_dump() for name, counted in found.items()}
        raw.update({f"{name} switch": dict(counts) for name, counts in self.own_counters(deployment).items()})
        busy_cycles, source, more = self.busy(deployment)
        packets = sum(counted.rx_packets for counted in found.values())
        return SwitchCounters(packets=packets, busy_cycles=busy_cycles, source=source, raw={**raw, **more})

    def busy(self, deployment: Deployment) -> tuple[Separable, str, Mapping[str, int]]:
        """Give the cycles of its NAPI threads, where they are from, and what they were made of."""
        busy_ns, state = kernel_checks.busy_ns(deployment.threads), LinkState.of(deployment)
        if busy_ns is None:
            return NOT_SEPARABLE, f"its work is part of {self.works_in} ({state.core_use})", {}
        cycles = kernel_checks.busy_cycles(busy_ns, state.tsc_hz)
        return cycles, kernel_checks.BUSY_SOURCE, {"napi_run_time_ns": busy_ns}

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """g0, s0, the VNFs' ports, s1, g1; what the switch itself dropped is among a port's drops."""
        plan = BridgePlan.of(deployment)
        within = veth.read(LinkState.of(deployment).switch_netns, plan.ports)
        own = self.own_counters(deployment)
        path = []
        for end in plan.ends:
            name = plan.port(end)
            hop = veth.hop(f"{self.kind} port {name}", within[name], HopKind.SWITCH_PORT, end)
            drops = {key: count for key, count in own.get(name, {}).items() if key in self.drops}
            path.append(hop.model_copy(update={"drops": hop.drops | drops}))
        if not plan.outside:
            return tuple(path)
        outer = veth.read(LinkState.of(deployment).generator_space(), plan.generator_links)
        return kernel_links.between_generators(plan, outer, path)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The NAPI threads: of the switch's ports, of the generator's."""
        return napi.still_there(deployment.threads)

    def workspace(self, deployment: Deployment) -> Workspace:
        """Give the workspace that was deployed into, or open it as another process can."""
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return self._workspaces[deployment.id]
