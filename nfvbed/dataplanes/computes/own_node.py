"""What computes on a node of their own share: the node beside the controller, and how it is started."""

from abc import abstractmethod

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.devcloud.cloud import DevCloud
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.services.computes import ComputeKind
from nfvbed.cloud.devcloud.stages import SilentProgress
from nfvbed.cloud.verify.checks import ExpectedMachine
from nfvbed.cloud.verify.commands import Hypervisor, MachineCommands
from nfvbed.dataplanes.computes.node_commands import COMPUTE_SERVICE, NodeCommands, NodeHypervisor
from nfvbed.errors import SwitchDiedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant


def running_node(cloud: DevCloud, host: str) -> Node:
    """Return a compute node beside the controller.

    Raises:
        SwitchDiedError: it does not run.
    """
    node = cloud.find_compute(host)
    if node is None:
        raise SwitchDiedError(f"node {host} does not run", where=host, fix="nfvbed devcloud start starts it again")
    return node


class OwnNodeCompute(Compute):
    """A compute node beside the controller."""

    kind: ComputeKind

    def __init__(self, cloud: DevCloud) -> None:
        self._cloud = cloud
        self.host = self.kind.host

    @property
    def guests_mib(self) -> int:
        """Hugepage memory for its guests: as much as the controller has, so that the same chains fit on it."""
        return self._cloud.guests_mib

    @property
    def _node(self) -> Node:
        return running_node(self._cloud, self.host)

    @abstractmethod
    def try_host(self, variant: Variant) -> None:
        """Check that this machine has what the compute needs.

        Raises:
            UnsupportedError, PrerequisiteError: it has not.
        """

    def expected(self, variant: Variant, arrangement: Arrangement) -> ExpectedMachine:
        """Return the node's agent and compute service, and hugepages for its guests."""
        return ExpectedMachine(
            host=self.host, agents=(self.kind.agent,), services=(COMPUTE_SERVICE,), takes_hugepages=True
        )

    def reading(self) -> MachineCommands | None:
        """Return commands in the node."""
        return NodeCommands(self._node)

    def hypervisor(self, host: str) -> Hypervisor:
        """Return the node's."""
        return NodeHypervisor(self._node)

    def probe(self, variant: Variant) -> Fitness:
        """Check that this machine has what the compute needs; the node need not run."""
        self.check(variant, layout("pvp"))
        self.try_host(variant)
        return Fitness()

    def start(self) -> None:
        """Start the node and its services, or what has ended of them."""
        self._cloud.start_compute(self.host, SilentProgress(), self.guests_mib)
