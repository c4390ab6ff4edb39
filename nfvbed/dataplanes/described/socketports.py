"""A described switch on vhost-user sockets, which the generator and the VNFs serve."""

import platform
from pathlib import Path

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.described.drops import SOURCE
from nfvbed.dataplanes.described.linkports import POLLS, RESET_PROCESS
from nfvbed.dataplanes.described.options import DescribedOptions
from nfvbed.dataplanes.described.state import DescribedState
from nfvbed.dataplanes.described.switch import DescribedSpec, DescribedSwitch, PortPlace, memory_of, timed_reset
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.ports.kernel_checks import BusyCycles
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.wiring import layout_of, require_vnf, vnf_ports
from nfvbed.host.cores import coredistance
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import napi
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace, try_memory
from nfvbed.records import NOT_SEPARABLE, Deployment, Hop, HopKind, SwitchCounters, WorkThread
from nfvbed.records.state import PlaneState
from nfvbed.spec.variant import Variant, options_of
from nfvbed.units import NS_PER_S


class DescribedSockets(DataPlane):
    """A process that opens the sockets; its counters are the only ones."""

    kind = "switch"

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def probe(self, variant: Variant) -> Fitness:
        """Reserve its memory, and release it; the program is not started, as nothing serves its sockets."""
        return try_memory(variant.hugepages_mib) if variant.hugepages_mib else Fitness()

    def deploy(self, request: DeployRequest) -> Deployment:
        """Choose the sockets, and start the switch; it connects when the other sides listen."""
        variant, workspace, plan, steps = request.variant, request.workspace, request.layout, Steps()
        arrangement, options = request.arrangement, options_of(variant, DescribedOptions)
        require_vnf(plan, request.vnf, variant)
        ends = [end for cable in plan.cables for end in (cable.first, cable.second)]
        with steps.timed("deploy.ports"):
            sockets = vhost_user.sockets(workspace.directory, [end.name for end in ends])
            netns = workspace.network_namespace("switch")
        with steps.timed("deploy.hugepages"):
            memory = memory_of(workspace, variant.hugepages_mib)
        spec = DescribedSpec(
            options=options,
            netns=netns,
            ports=tuple(
                PortPlace(name=end.name, index=place, socket=str(sockets[end.name])) for place, end in enumerate(ends)
            ),
            switch_cores=arrangement.switch_cores,
            control_core=arrangement.control_cores[0],
            memory=memory,
        )
        switch = DescribedSwitch(workspace, spec)
        with steps.timed("deploy.switch"):
            switch.start()
        self._workspaces[workspace.id] = workspace
        outside = [sockets[f"p{end}"] for end in plan.outside]
        state = PlaneState(idle_port=vhost_user.IDLE if len(plan.outside) == 1 else None)
        return Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=plan.name,
            ports=vhost_user.server_ports(outside, options.ring_size),
            vnf_ports=vnf_ports(plan, lambda end: vhost_user.vnf_port(end, sockets[end.name], options.ring_size)),
            threads=switch.threads(),
            run_directory=str(workspace.directory),
            control=state.as_control() | DescribedState(described=spec).as_control(),
            versions={"linux": platform.release()} | switch.versions(),
            steps=steps.done,
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that the process lives."""
        self.switch(deployment).check()

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read what it counted at its ports, and the cycles of its threads unless they poll."""
        switch = self.switch(deployment)
        counts = switch.counts()
        busy = _busy(switch)
        return SwitchCounters(
            packets=sum(one.rx_packets for one in counts.values()),
            busy_cycles=busy.cycles,
            source=busy.source,
            raw={name: one.all for name, one in counts.items()},
        )

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return p0, the VNFs' ports, p1."""
        counts = self.switch(deployment).counts()
        return tuple(
            Hop(
                name=f"switch port {end.name}",
                kind=HopKind.SWITCH_PORT,
                vnf=end.vnf,
                port=end.port,
                rx_packets=counts[end.name].rx_packets,
                tx_packets=counts[end.name].tx_packets,
                drops=dict(counts[end.name].drops),
                counted_by=SOURCE,
            )
            for end in layout_of(deployment).switch_ends
        )

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill the process and start it again; it connects to the same sockets."""
        return ResetReport(kind=RESET_PROCESS, steps=timed_reset(self.switch(deployment)).done)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the threads that forward."""
        return self.switch(deployment).threads()

    def switch(self, deployment: Deployment) -> DescribedSwitch:
        """Return the switch of a deployment, also one that another nfvbed made."""
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return DescribedSwitch(self._workspaces[deployment.id], DescribedState.of(deployment).described)


def _busy(switch: DescribedSwitch) -> BusyCycles:
    """Return the cycles in which its threads ran."""
    process = switch.options.process
    if process is None or process.threads.polling:
        return BusyCycles(NOT_SEPARABLE, POLLS)
    spent = [napi.run_time_ns(thread.tid) for thread in switch.threads()]
    tsc_hz = coredistance.measure((switch.spec.switch_cores[0], switch.spec.control_core)).tsc_hz
    cycles = sum(one for one in spent if one is not None) * tsc_hz // NS_PER_S
    return BusyCycles(cycles, "scheduler run time of its threads x TSC")
