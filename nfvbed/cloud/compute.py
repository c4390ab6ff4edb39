"""The interface of a compute: a node on whose data plane instances run, with what joins the generator to it.

There is one for each variant that a devcloud offers. While one is deployed, Nova's compute services of all others are
disabled, so instances come to it and no descriptor has to name a host.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.verify.checks import ExpectedMachine
from nfvbed.cloud.verify.commands import Hypervisor, MachineCommands
from nfvbed.errors import UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.host.generator import GeneratorStarter
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, GeneratorPort, Hop, PortKind, SwitchCounters, WorkThread
from nfvbed.records.findings import Finding
from nfvbed.spec.layout import Layout
from nfvbed.spec.variant import Variant
from nfvbed.traffic.generator import Generator


@dataclass(frozen=True)
class AddressLead:
    """An address on a data network, and where frames to it go."""

    side: int
    """Number of the data network, which is that of the generator's port on it."""
    mac: str
    instance: PlacedInstance | None
    """None: to the generator."""


class Compute(ABC):
    """One compute of a devcloud, or the computes of an existing cloud."""

    host: str
    """Nova's name of it, and its node's."""
    vnf_port_kind: PortKind
    """Kind of the instances' ports."""

    @property
    def guests_mib(self) -> int | None:
        """Its hugepage memory for guests, or what it is started with, in MiB; None: not known from here."""
        return None

    second_host: str = ""
    """Nova's name of a second compute, joined with this one on all networks; empty: its data plane has none."""
    no_made_networks: str = ""
    """Why no frames go there over a network that is made with a VNF; empty: they do."""
    hidden: str = ""
    """Why nothing is read of its switch, cores and guests; empty: it is read."""

    @abstractmethod
    def probe(self, variant: Variant) -> Fitness:
        """Find out whether it can run here with the variant's options; nothing is changed.

        Raises:
            UnsupportedError, PrerequisiteError: it cannot.
        """

    @abstractmethod
    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse options of the variant that do not reach this switch, and paths that it does not have.

        Raises:
            UnsupportedError: with the option's key, its value, and what it would have to be.
        """

    @abstractmethod
    def start(self) -> None:
        """Start its node and its services, and wait until Nova and Neutron know them; idempotent.

        Raises:
            DeployError: it did not come up; with the process and its last lines.
        """

    @abstractmethod
    def apply(self, variant: Variant, arrangement: Arrangement) -> None:
        """Configure the switch with the variant's options; idempotent.

        Raises:
            DeployError: the switch did not take one.
        """

    @abstractmethod
    def attach(self, workspace: Workspace, variant: Variant) -> tuple[GeneratorPort, GeneratorPort]:
        """Join a generator's two ports to `data0` and `data1`; the workspace and `detach` undo it."""

    def adopt(self, variant: Variant, instances: Sequence[PlacedInstance]) -> None:
        """Configure what came with the instances, as their taps, with the variant's options; idempotent.

        Call it after onboarding.

        Raises:
            DeployError, UnsupportedError: the switch did not take one.
        """
        return

    @abstractmethod
    def detach(self) -> None:
        """Take the generator's ports off the switch, also those that a killed nfvbed left; idempotent."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return the versions of what is under test: switch, QEMU, libvirt, Nova's and Neutron's packages."""

    @abstractmethod
    def threads(self, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
        """Return the threads that do packet work now, by their ids on this machine: the switch's and the guests'."""

    @abstractmethod
    def hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Read the counters of every hop, in the order of the path from the generator's port 0 to its port 1."""

    @abstractmethod
    def counters(self) -> SwitchCounters | None:
        """Read the switch's own counters; None: it has only those of its ports."""

    @abstractmethod
    def verify(self) -> None:
        """Check that the switch lives.

        Raises:
            SwitchDiedError: with its exit status and the last lines of its log.
        """

    def destination_macs(self, instances: Sequence[PlacedInstance]) -> tuple[str, str] | None:
        """Return the destination addresses of frames from ports 0 and 1; None: any address comes through."""
        return None

    def lead(self, leads: Sequence[AddressLead]) -> None:
        """Have frames to addresses go to one port and to no other, whatever the switch has learnt; idempotent.

        Raises:
            UnsupportedError: this compute's switch takes no such entries.
        """
        raise UnsupportedError(
            "frames cannot be dealt out to instances side by side",
            where=self.host,
            observed=self.hidden or "nothing tells this compute's switch to which port an address leads",
            fix="a data plane whose switch takes static addresses",
        )

    def start_generator(self, deployment: Deployment, starter: GeneratorStarter) -> Generator:
        """Start the generator on its ports, on this machine unless a compute overrides this; wait until it is ready."""
        return starter.start(deployment)

    def expected(self, variant: Variant, arrangement: Arrangement) -> ExpectedMachine:
        """Return what a verification has to find.

        Raises:
            UnsupportedError: its machine is not read.
        """
        raise UnsupportedError(
            f"the machines of {self.host or 'this cloud'} are not read",
            where=variant.name,
            observed=self.hidden or "it is no compute of ours",
            fix="verify a cloud that nfvbed deploys: --site devcloud",
        )

    def reading(self) -> MachineCommands | None:
        """Return the commands for reading its machine; None: only the agents report its state."""
        return None

    def hypervisor(self, host: str) -> Hypervisor | None:
        """Return the libvirt of one of its computes, by Nova's name; None: nothing here reaches it."""
        return None

    def findings(self) -> tuple[Finding, ...]:
        """Check what is of its data plane alone, beside agents, services and the machine.

        Raises:
            NfvbedError: it cannot be read.
        """
        return ()

    def rest(self, resting: bool) -> None:
        """Let polling threads sleep while nothing is measured, or let them poll; others have nothing to do."""
        return
