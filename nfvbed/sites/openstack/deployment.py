"""One deployment on the cloud while a command has it: its compute, its VNFs, the generator beside them."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.instances import PlacedInstance
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.generator import GeneratorStarter
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, Hop, VnfHandle
from nfvbed.records.state import PlaneState
from nfvbed.sites.openstack import mobilecore, vnfs
from nfvbed.spec.layout import Layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.bearers import BearerGenerator
from nfvbed.traffic.generator import Generator
from nfvbed.vnfs.readiness import wait_until_forwarding


@dataclass(frozen=True)
class CloudRequest:
    """A deployment that is asked for."""

    variant: Variant
    plan: Layout
    choice: VnfChoice | None
    """None: the data plane alone."""


@dataclass
class CloudDeployment:
    """A running deployment."""

    wanted: CloudRequest
    deployment: Deployment
    compute: Compute
    arrangement: Arrangement
    workspace: Workspace
    """Workspace of this command: what it starts beside the cloud ends with it."""
    starter: GeneratorStarter
    stays: bool = False
    """Whether it was deployed before this command, or is meant to outlive it."""
    waiting: Generator | None = None
    """A generator that has probed, for the next that opens one."""

    @property
    def handles(self) -> tuple[VnfHandle, ...]:
        """The handles of its VNFs."""
        return self.deployment.vnfs

    @property
    def instances(self) -> tuple[PlacedInstance, ...]:
        """The instances of its VNFs."""
        return vnfs.instances(self.handles)

    def hops(self) -> tuple[Hop, ...]:
        """Read the counters along the path."""
        return self.compute.hops(self.instances)

    def attach(self) -> None:
        """Join the generator's ports to the data networks."""
        ports = self.compute.attach(self.workspace, self.wanted.variant)
        macs = self.compute.destination_macs(self.instances)
        control = self.deployment.control | PlaneState(destination_macs=macs).as_control()
        self.deployment = self.deployment.model_copy(update={"ports": ports, "control": control})

    def open_generator(self) -> Generator:
        """Return the generator that has probed, or start one; from now on no thread of the switch sleeps."""
        self.compute.rest(False)
        generator, self.waiting = self.waiting, None
        if generator is not None:
            return generator
        started = self.compute.start_generator(self.deployment, self.starter)
        path = mobilecore.path_of(self.handles)
        return started if path is None else BearerGenerator(started, path)

    def wait_until_forwarding(self, verify: Callable[[], None], began: int) -> None:
        """Send frames through the VNFs until some come back both ways.

        Args:
            verify: raises when the switch has ended.
            began: when the deployment was asked for, monotonic clock, ns: the first frame is timed from there.

        Raises:
            OnboardError: none does in the time that the VNF's file gives it.
        """
        choice = self.wanted.choice
        if choice is None or not choice.vnf.readiness.probe_frames:
            return
        self.waiting = self.open_generator()
        readiness = choice.vnf.readiness
        report = wait_until_forwarding(
            self.waiting, readiness.probe_frames, readiness.within_s, (self.hops, verify), self.deployment
        )
        steps = [("onboard.probe", report.waited_ns), ("onboard.first-frame", time.monotonic_ns() - began)]
        self.deployment = self.deployment.model_copy(update={"steps": (*self.deployment.steps, *steps)})

    def close(self) -> None:
        """End the generator and its ports, which this command has beside the cloud; idempotent."""
        if self.waiting is not None:
            self.waiting.close()
            self.waiting = None
        self.compute.detach()
        self.compute.rest(True)
        self.workspace.close()
