"""How readings, and requests to guests, reach a machine of a cloud: in a namespace of this machine, or over SSH."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from nfvbed.errors import DeployError


@dataclass(frozen=True)
class Answer:
    """The result of a command."""

    status: int
    out: str
    said: str
    """On its standard error."""


class MachineCommands(ABC):
    """Commands on one machine of a cloud; those for readings change nothing.

    Args:
        host: its name in Nova and Neutron.
    """

    def __init__(self, host: str) -> None:
        self.host = host

    @abstractmethod
    def on_machine(self, argv: Sequence[str]) -> Answer:
        """Run a command on the machine itself.

        Raises:
            NfvbedError: the machine cannot be reached.
        """

    @abstractmethod
    def by_switch(self, argv: Sequence[str]) -> Answer:
        """Run a command where Open vSwitch's tools and sockets are.

        Raises:
            NfvbedError: the machine cannot be reached.
        """

    def appctl(self, *words: str) -> str:
        """Return the answer of the switch's daemon.

        Raises:
            DeployError: it does not answer.
        """
        return self.asked(("ovs-appctl", "--timeout=20", *words))

    def vsctl(self, *words: str) -> str:
        """Return the answer of the switch's database, in JSON.

        Raises:
            DeployError: it does not answer.
        """
        return self.asked(("ovs-vsctl", "--timeout=20", "--format=json", *words))

    def asked(self, argv: Sequence[str]) -> str:
        """Return the output of a command that runs by the switch.

        Raises:
            DeployError: it failed.
        """
        answer = self.by_switch(argv)
        if answer.status != 0:
            raise DeployError(
                f"{argv[0]} failed on {self.host}",
                where=" ".join(argv),
                observed=answer.said.strip() or f"exit status {answer.status}",
                fix="see whether the switch and its database run there",
            )
        return answer.out


class Hypervisor(ABC):
    """The libvirt of one compute, which runs its guests.

    Args:
        host: the compute's name in Nova.
    """

    def __init__(self, host: str) -> None:
        self.host = host

    @abstractmethod
    def virsh(self, words: Sequence[str], timeout_s: float) -> Answer:
        """Run a command of virsh as the system's administrator.

        Raises:
            NfvbedError: the compute cannot be reached, or the command did not end in time.
        """
