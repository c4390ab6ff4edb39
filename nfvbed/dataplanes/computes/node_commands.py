"""Commands in a node of this machine: for readings of that node, and to the libvirt in it."""

from collections.abc import Sequence

from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.services.openvswitch import control_socket
from nfvbed.cloud.verify.commands import Answer, Hypervisor, MachineCommands

COMPUTE_SERVICE = "nova-compute"


class NodeCommands(MachineCommands):
    """Commands of one node; its switch runs in the node beside everything else."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.name)
        self._node = node

    def on_machine(self, argv: Sequence[str]) -> Answer:
        """Run a command through the node's first process."""
        done = self._node.channel.run(Command(("/usr/bin/env", *argv)))
        return Answer(done.status, done.stdout, done.stderr)

    def by_switch(self, argv: Sequence[str]) -> Answer:
        """Run a command as `on_machine` does."""
        return self.on_machine(argv)

    def appctl(self, *words: str) -> str:
        """Ask the switch's daemon, whose socket is named after its own program."""
        return self.asked(("ovs-appctl", "--timeout=20", f"--target={control_socket(self._node)}", *words))


class NodeHypervisor(Hypervisor):
    """The libvirt of one node."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.name)
        self._node = node

    def virsh(self, words: Sequence[str], timeout_s: float) -> Answer:
        """Run it through the node's first process."""
        done = self._node.channel.run(Command(("/usr/bin/virsh", "--quiet", *words), timeout_s=timeout_s))
        return Answer(done.status, done.stdout, done.stderr)
