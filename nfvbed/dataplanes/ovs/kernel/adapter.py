"""Open vSwitch on the kernel's datapath, with veth ports and taps, its work on a core of its own."""

import platform
from dataclasses import dataclass

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ovs import tuning
from nfvbed.dataplanes.ovs.binaries import binaries_of
from nfvbed.dataplanes.ovs.database import PortRequest
from nfvbed.dataplanes.ovs.instance import OvsInstance
from nfvbed.dataplanes.ovs.kernel import reading as kernel_reading
from nfvbed.dataplanes.ovs.kernel.probe import try_kernel_datapath
from nfvbed.dataplanes.ovs.kerneloptions import KernelDatapathOptions
from nfvbed.dataplanes.ovs.switch import BRIDGE, OvsSwitch, StartedSwitch
from nfvbed.dataplanes.ports import kernel_checks, kernel_links
from nfvbed.dataplanes.ports.kernel_cores import place
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces
from nfvbed.dataplanes.ports.link_state import LinkState, outside
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.wiring import port_numbers, queues_of, require_vnf
from nfvbed.errors import DeployError
from nfvbed.host.cores import coredistance
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import napi, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.timing import Steps
from nfvbed.records import Deployment, Hop, SwitchCounters, WorkThread
from nfvbed.spec.layout import End
from nfvbed.spec.variant import Variant, options_of

RESET = "ovs-vswitchd killed (SIGKILL), restarted on its database; the kernel's datapath stays meanwhile"


@dataclass(frozen=True)
class OvsPlan(BridgePlan):
    """Ports as those of bridges, with Open vSwitch's names: all of them are ports of one switch."""

    @property
    def always_up(self) -> tuple[str, ...]:
        """Links that have a carrier whether VNFs run or not."""
        return self.veths

    def port(self, end: End) -> str:
        """Return the name of the switch's port at an end."""
        return end.name


class KernelState(LinkState):
    """What is recorded beside that of every Open vSwitch."""

    switch_core: int


class OvsKernel(OvsSwitch):
    """`br0` of the kernel's datapath in one namespace; the other ends of its ports in the generator's and the VNFs'.

    Core use: `kernel_cores.py`; the datapath does its work where a bridge would do it. What it has no cached flow for
    goes up to ovs-vswitchd, on the control cores.
    """

    kind = "ovs-kernel"

    def probe(self, variant: Variant) -> Fitness:
        """Make a datapath of the kernel in a temporary namespace, run Open vSwitch, and send a live frame."""
        return try_kernel_datapath(variant)

    def options(self, request: DeployRequest) -> KernelDatapathOptions:
        """Return the variant's options."""
        return options_of(request.variant, KernelDatapathOptions)

    def start(self, request: DeployRequest, steps: Steps) -> StartedSwitch:
        """Make links, start database and switch, and put the work onto its cores."""
        options, arrangement, workspace = self.options(request), request.arrangement, request.workspace
        kind = require_vnf(request.layout, request.vnf, request.variant)
        plan = OvsPlan(request.layout, kind, request.is_addressed, queues_of(request.vnf))
        with steps.timed("deploy.links"):
            spaces = kernel_links.make_spaces(request, plan)
            inside(spaces.switch, lambda: kernel_links.make_links(plan, spaces))
        instance = OvsInstance(workspace, binaries_of(options), arrangement.control_cores)
        _start(plan, spaces, instance, (options, steps))
        with steps.timed("deploy.ports"):
            kernel_links.prepare(plan, spaces, options.offloads, request.vnf is None or request.vnf.offloads)
            veth.wait_until_up(spaces.switch, plan.always_up)
            if spaces.generator is not None:
                kernel_links.make_idle(plan, spaces.generator)
        with steps.timed("deploy.cores"):
            threads = place(plan, spaces, options.core_use, arrangement)
        return StartedSwitch(
            instance=instance,
            netns=spaces.switch,
            ports=kernel_links.generator_ports(plan, spaces),
            vnf_ports=kernel_links.ports_of_vnfs(plan, spaces),
            threads=threads,
            daemon_cores=arrangement.control_cores,
            versions={"linux": platform.release()},
            state=_state(plan, spaces, options, request),
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that ovs-vswitchd, the links and their threads live, and so does what writes the rules."""
        super().verify(deployment)
        plan = OvsPlan.of(deployment)
        found = veth.read(LinkState.of(deployment).switch_netns, plan.ports)
        kernel_checks.require_up({name: found[name] for name in plan.always_up}, "links of the switch")
        kernel_checks.require_threads(deployment.threads, "the switch")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the ports' received frames, their NAPI threads' cycles, and the datapath's hits and misses."""
        plan = OvsPlan.of(deployment)
        try:
            return kernel_reading.counters(deployment, port_numbers(plan.layout), bool(plan.taps))
        except DeployError:
            self.verify(deployment)
            raise

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return the generator's ends, the switch's ports, and behind the first the datapath."""
        plan = OvsPlan.of(deployment)
        try:
            path = kernel_reading.hops(deployment, port_numbers(plan.layout))
        except DeployError:
            self.verify(deployment)
            raise
        if not plan.outside:
            return path
        found = veth.read(LinkState.of(deployment).generator_space(), plan.generator_links)
        return kernel_links.between_generators(plan, found, path)

    def reset(self, deployment: Deployment) -> ResetReport:
        """Reset as every Open vSwitch; the kernel goes on with its cached flows until the new daemon looks."""
        return super().reset(deployment).model_copy(update={"kind": RESET})

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return the NAPI threads: of the switch's ports, of the generator's, of the VNFs'."""
        return napi.still_there(deployment.threads)


def _start(
    plan: OvsPlan, spaces: BridgeSpaces, instance: OvsInstance, wanted: tuple[KernelDatapathOptions, Steps]
) -> None:
    """Start database and switch, and make the bridge with all its ports."""
    options, steps = wanted
    with steps.timed("deploy.database"):
        instance.start_database()
    numbers = port_numbers(plan.layout)
    ports = [PortRequest(name, "system", number) for name, number in numbers.items()]
    with instance.connect() as database:
        with steps.timed("deploy.switch"):
            database.initialise(switch_settings(options))
            instance.start_switch(spaces.switch)
            database.wait_until_configured()
        with steps.timed("deploy.bridge"):
            database.add_bridge(BRIDGE, ports, tuning.bridge_settings(options), "system")


def switch_settings(options: KernelDatapathOptions) -> dict[str, str]:
    """Return the switch's settings (`other_config` of the root, ovs-vswitchd.conf.db(5))."""
    return {"n-revalidator-threads": "1"} | tuning.flow_settings(options)


def _state(plan: OvsPlan, spaces: BridgeSpaces, options: KernelDatapathOptions, request: DeployRequest) -> KernelState:
    cores = (request.arrangement.switch_cores[0], request.arrangement.generator_core)
    return KernelState(
        switch_netns=spaces.switch,
        core_use=options.core_use,
        switch_core=cores[0],
        tsc_hz=coredistance.measure(cores).tsc_hz,
        # Rules share the flows out by the same number by which the generator's destinations go in turn.
        **outside(plan, spaces),
    )
