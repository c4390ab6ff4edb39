"""What a compute node is: its services declared, as those of the controller are."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.services.openvswitch import PLAIN, SwitchSetup
from nfvbed.cloud.devcloud.services.service import Mechanism, Process, Service
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.processes import ManagedProcess

MGMT = "mgmt"
DATA = ("data0", "data1")
"""Physical networks by their names in Neutron; a compute node's links to them are named so, too."""
JOINED = (*DATA, "tenant")
"""Physical networks beside the management network on which a second compute of a data plane is joined with the
controller."""


class OutsideSwitch(ABC):
    """A switch that is a process of this machine, in a node's network namespace."""

    name: str
    """Name of its log, and in what the cloud says of its processes."""
    title: str
    """Title of its stage in the progress display."""

    @abstractmethod
    def find(self, node: Node, entries: Sequence[object]) -> ManagedProcess | None:
        """Return a node's switch from a ledger's entries, if it runs."""

    @abstractmethod
    def start_again(self, node: Node, ledger: Ledger) -> None:
        """Start the switch as it was last started; the first time, as a variant without options has it.

        Raises:
            PrerequisiteError, SwitchDiedError: it does not start.
        """


@dataclass(frozen=True)
class ComputeKind:
    """One kind of compute node."""

    host: str
    """Its name, in Nova and Neutron too."""
    agent: str
    """Neutron's agent there: its program."""
    services: tuple[Service, ...]
    """Services of the node, in the order in which they are started."""
    mechanism: Mechanism
    """Mechanism driver by which Neutron binds ports there."""
    outside: OutsideSwitch | None = None
    """Switch outside the node; None: its switch is the kernel's, or one of its services."""
    switch: SwitchSetup = PLAIN
    """Setup of its Open vSwitch, where that is one of its services."""
    joined: bool = False
    """Whether it is the second compute of the controller's data plane: its links lead to the controller's bridges, and
    none to the generator."""
    ports: tuple[int, ...] = ()
    """Ports of the controller's loopback that it asks, beside those of APIs and messages."""

    @property
    def processes(self) -> tuple[Process, ...]:
        """All processes that must run."""
        return tuple(process for service in self.services for process in service.processes)
