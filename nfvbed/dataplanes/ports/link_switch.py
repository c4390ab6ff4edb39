"""What switches between the kernel's links share: the links, their cores, counters, hops and checks.

Ports and their peers: `kernel_links.py`; the use of cores: `kernel_cores.py`.
"""

import platform
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.ports import kernel_checks, kernel_links
from nfvbed.dataplanes.ports.kernel_cores import place
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces, GuestSide
from nfvbed.dataplanes.ports.link_state import LinkState, outside
from nfvbed.dataplanes.wiring import require_vnf
from nfvbed.host.cores import coredistance
from nfvbed.host.network import napi, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import (
    NOT_SEPARABLE,
    Deployment,
    Hop,
    HopKind,
    SwitchCounters,
    WorkThread,
)
from nfvbed.records.state import State


class LinkSwitch(DataPlane):
    """The links of a layout; subclasses join them."""

    called: ClassVar[str] = "switch"
    """What messages call it."""
    whose: ClassVar[str] = "its"
    """How a counter's source begins that says where its work is done."""
    works_in: ClassVar[str]
    """What its work is part of where it has no threads of its own."""
    drops: ClassVar[tuple[str, ...]] = ()
    """Those of its own counters that are drops."""
    counts_as: ClassVar[str] = ""
    """Their source."""

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def plan(self, request: DeployRequest) -> BridgePlan:
        """Return the ports of a layout, which are veth pairs."""
        kind = require_vnf(request.layout, request.vnf, request.variant)
        return BridgePlan(request.layout, kind, request.is_addressed)

    def lay(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> None:
        """Make the links, which are down."""
        inside(spaces.switch, lambda: kernel_links.make_links(plan, spaces))

    def offloads(self, request: DeployRequest) -> tuple[bool, bool]:
        """Return whether the switch's own links have offloads, and whether those of VNFs have.

        By default they have none: a frame that bypasses the kernel's stack has no mark that its checksum is still to
        be made.
        """
        return False, False

    def guests(self, request: DeployRequest) -> GuestSide:
        """Return the NICs that virtual machines get."""
        return GuestSide()

    def always_up(self, plan: BridgePlan) -> tuple[str, ...]:
        """Return the links that have a carrier even without running VNFs."""
        return plan.veths

    @abstractmethod
    def connect(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> State:
        """Join the ports, which are up; return the record of what joins them."""

    @abstractmethod
    def check(self, deployment: Deployment) -> None:
        """Check that whatever joins the ports lives.

        Raises:
            SwitchDiedError: it does not.
        """

    def own_counters(self, deployment: Deployment) -> Mapping[str, Mapping[str, int]]:
        """Read what the switch itself counts beside its links, by the names of the ports."""
        return {}

    def drops_among(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return those of its own counters that are drops."""
        return {name: count for name, count in counts.items() if name in self.drops}

    def versions(self) -> dict[str, str]:
        """Return the versions of what is under test."""
        return {"linux": platform.release()}

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make namespaces and links, put their work onto its cores, and join the ports."""
        variant, workspace, arrangement = request.variant, request.workspace, request.arrangement
        plan, steps = self.plan(request), Steps()
        with steps.timed("deploy.namespaces"):
            spaces = kernel_links.make_spaces(request, plan)
        with steps.timed("deploy.links"):
            self.lay(request, plan, spaces)
            kernel_links.prepare(plan, spaces, *self.offloads(request))
            veth.wait_until_up(spaces.switch, self.always_up(plan))
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
            vnf_ports=kernel_links.ports_of_vnfs(plan, spaces, self.guests(request)),
            threads=threads,
            run_directory=str(workspace.directory),
            control=state.as_control() | own.as_control(),
            versions=self.versions(),
            steps=steps.done,
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that the switch and the threads live, and that the links are there and up."""
        self.check(deployment)
        plan = BridgePlan.of(deployment)
        always_up = self.always_up(plan)
        found = veth.read(LinkState.of(deployment).switch_netns, (*always_up, *plan.taps))
        kernel_checks.require_up({name: found[name] for name in always_up}, f"links of the {self.called}")
        kernel_checks.require_threads(deployment.threads, f"the {self.called}")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the ports' received frames, what the switch itself counts, and the cycles of its threads."""
        found = veth.read(LinkState.of(deployment).switch_netns, BridgePlan.of(deployment).ports)
        raw: dict[str, Any] = {name: counted.model_dump() for name, counted in found.items()}
        raw.update({f"{name} switch": dict(counts) for name, counts in self.own_counters(deployment).items()})
        busy = self.busy(deployment)
        packets = sum(counted.rx_packets for counted in found.values())
        return SwitchCounters(packets=packets, busy_cycles=busy.cycles, source=busy.source, raw={**raw, **busy.raw})

    def busy(self, deployment: Deployment) -> kernel_checks.BusyCycles:
        """Return the cycles of its NAPI threads."""
        busy_ns, state = kernel_checks.busy_ns(deployment.threads), LinkState.of(deployment)
        taps = BridgePlan.of(deployment).taps
        if taps or busy_ns is None:
            work = "a guest's writes to its tap" if taps else self.works_in
            return kernel_checks.BusyCycles(NOT_SEPARABLE, f"{self.whose} work is part of {work} ({state.core_use})")
        cycles = kernel_checks.busy_cycles(busy_ns, state.tsc_hz)
        return kernel_checks.BusyCycles(cycles, kernel_checks.BUSY_SOURCE, {"napi_run_time_ns": busy_ns})

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return g0, the switch's own hops, g1."""
        plan = BridgePlan.of(deployment)
        path = self.own_hops(deployment, plan)
        if not plan.outside:
            return path
        outer = veth.read(LinkState.of(deployment).generator_space(), plan.generator_links)
        return kernel_links.between_generators(plan, outer, path)

    def own_hops(self, deployment: Deployment, plan: BridgePlan) -> tuple[Hop, ...]:
        """Return s0, the VNFs' ports, s1; what the switch itself dropped is among a port's drops."""
        within = veth.read(LinkState.of(deployment).switch_netns, plan.ports)
        own = self.own_counters(deployment)
        path = []
        for end in plan.ends:
            name = plan.port(end)
            hop = veth.hop(f"{self.kind} port {name}", within[name], HopKind.SWITCH_PORT, end)
            drops = self.drops_among(own.get(name, {}))
            by = self.counts_as if drops else hop.counted_by
            path.append(hop.model_copy(update={"drops": hop.drops | drops, "counted_by": by}))
        return tuple(path)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the NAPI threads: of the switch's ports, and of the generator's."""
        return napi.still_there(deployment.threads)

    def workspace(self, deployment: Deployment) -> Workspace:
        """Return the workspace of the deployment, or open it as another process can."""
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return self._workspaces[deployment.id]
