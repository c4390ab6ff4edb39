"""Lagopus with raw sockets, on veth ports; its cables are OpenFlow rules by port."""

import os
from collections.abc import Mapping

from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.lagopus import process
from nfvbed.dataplanes.lagopus.configuration import configuration, raw_socket
from nfvbed.dataplanes.lagopus.process import DIED, Lagopus, LagopusSpec, configuration_file
from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces
from nfvbed.dataplanes.ports.veth_switch import VethSwitch, plan_of, unsupported
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.wiring import port_numbers
from nfvbed.errors import DeployError, NfvbedError
from nfvbed.host.liveframes import try_live_frames
from nfvbed.host.processes import check_alive
from nfvbed.host.timing import Steps
from nfvbed.records import NOT_SEPARABLE, Deployment, Readiness, Separable, Support, WorkThread
from nfvbed.spec.layout import Layout
from nfvbed.spec.variant import Variant

RESET = "lagopus killed (SIGKILL), started again on its configuration"
SWITCH = "lagopus"
"""In a deployment's control: what it was started with."""


class LagopusRaw(VethSwitch):
    """Frames leave the kernel by packet sockets, and come back in by them."""

    kind = "lagopus-raw"
    works_in = "its own threads"
    drops = ("rx_dropped", "tx_dropped")

    def probe(self, variant: Variant) -> Support:
        """Run the program for its version."""
        try:
            process.version()
        except NfvbedError as failure:
            return unsupported(variant, f"{failure.what} ({failure.where}: {failure.observed})", failure.fix)
        if os.geteuid() != 0:
            return unsupported(variant, "links and namespaces can only be made by root", "run it with sudo")
        reason = try_live_frames()
        if reason:
            return unsupported(variant, f"the generator cannot send: {reason}", "Linux 5.18 or later")
        return Support(variant=variant.name, readiness=Readiness.READY)

    def connect(self, request: DeployRequest, plan: BridgePlan, spaces: BridgeSpaces) -> Mapping[str, str]:
        """Write its configuration and start it; its rules are in when this returns."""
        numbers = port_numbers(request.layout)
        interfaces = {numbers[end.name]: raw_socket(plan.port(end)) for end in plan.ends}
        cables = rules_of(request.layout)
        text = configuration(interfaces, cables)
        configuration_file(request.workspace.directory).write_text(text)
        spec = LagopusSpec(netns=spaces.switch, cores=request.arrangement.switch_cores, flows=2 * len(cables))
        Lagopus(request.workspace, spec).start()
        return {SWITCH: spec.model_dump_json()}

    def check(self, deployment: Deployment) -> None:
        """Check that its process lives."""
        check_alive(self.lagopus(deployment).process, DIED)

    def own_counters(self, deployment: Deployment) -> Mapping[str, Mapping[str, int]]:
        """The statistics of its interfaces."""
        numbers, plan = port_numbers(plan_of(deployment).layout), plan_of(deployment)
        datastore = self.lagopus(deployment).datastore
        try:
            return {plan.port(end): datastore.statistics(numbers[end.name]) for end in plan.ends}
        except DeployError:
            self.verify(deployment)
            raise

    def busy(self, deployment: Deployment) -> tuple[Separable, str, Mapping[str, int]]:
        """Leave it to the CPU time of its threads and of those that receive for its sockets."""
        return NOT_SEPARABLE, "statistics of the links", {}

    def versions(self) -> dict[str, str]:
        """The kernel's and its own."""
        return super().versions() | {"lagopus": process.version()}

    def reset(self, deployment: Deployment) -> ResetReport:
        """Kill it, and start it again."""
        lagopus = self.lagopus(deployment)
        steps = Steps()
        with steps.timed("reset.kill"):
            lagopus.process.kill()
        with steps.timed("reset.start"):
            lagopus.start()
        return ResetReport(kind=RESET, steps=steps.done)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Its own threads, and the NAPI threads of both sides."""
        return (*super().work_threads(deployment), *self.lagopus(deployment).threads())

    def lagopus(self, deployment: Deployment) -> Lagopus:
        """Give the Lagopus of a deployment, also one that another nfvbed made."""
        spec = LagopusSpec.model_validate_json(deployment.control[SWITCH])
        return Lagopus(self.workspace(deployment), spec)


def rules_of(plan: Layout) -> tuple[tuple[int, int], ...]:
    """Give the cables by the OpenFlow numbers of their ports."""
    numbers = port_numbers(plan)
    return tuple((numbers[cable.first.name], numbers[cable.second.name]) for cable in plan.cables)
