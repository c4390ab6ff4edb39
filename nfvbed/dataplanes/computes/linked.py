"""What computes share whose generator is at the ends of links: the links, and what was set up on them."""

import platform
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from nfvbed.cloud.devcloud.links import generator_space, space
from nfvbed.cloud.devcloud.places import write_private
from nfvbed.cloud.devcloud.services.computes import DATA
from nfvbed.cloud.instances import PlacedInstance
from nfvbed.dataplanes.computes import packages
from nfvbed.dataplanes.computes.own_node import OwnNodeCompute
from nfvbed.dataplanes.ports import kernel_checks
from nfvbed.errors import DeployError
from nfvbed.host.network import links, napi, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import GENERATOR_LINKS
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import GeneratorPort, Hop, Record, WorkThread
from nfvbed.spec.variant import Variant

_NOTES = "applied.json"


class Notes(Record):
    """What `apply` has done on a node; the file lies beside the node's socket, and ends with the node."""

    switch_core: int
    tsc_hz: int
    threads: tuple[WorkThread, ...]
    """NAPI threads of both ends of the generator's links."""


_Notes = TypeVar("_Notes", bound=Notes)


class LinkedCompute(OwnNodeCompute):
    """A compute node with links to the generator.

    The links last as long as the node, whose agent needs them when it starts. So a killed nfvbed leaves nothing that is
    in the way of the next one.
    """

    called: str
    """What messages call the switch."""
    noted: type[Notes]
    """What `apply` writes down."""

    @property
    def _outer(self) -> str:
        """The network namespace of the generator's ends."""
        return generator_space(self._cloud.places.node(self.host))

    def attach(self, workspace: Workspace, variant: Variant) -> tuple[GeneratorPort, GeneratorPort]:
        """Return the links' outer ends, which are up."""
        veth.wait_until_up(self._outer, GENERATOR_LINKS)
        return veth.generator_ports(self._outer)

    def detach(self) -> None:
        """Take the links' receive work from the cores; the links stay."""
        node = self._cloud.find_compute(self.host)
        if node is not None:
            self._release_cores()
            (node.places.exchange / _NOTES).unlink(missing_ok=True)

    def versions(self) -> dict[str, str]:
        """Return versions of the kernel and of the packages in the private root."""
        own = {self.kind.agent.removeprefix("neutron-"): self.kind.agent}
        return {"linux": platform.release(), **packages.versions(self._cloud.places, own)}

    def hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Read the generator's ends, and between them what the switch has."""
        outer = veth.read(self._outer, GENERATOR_LINKS)
        first, last = (veth.generator_hop(name, port, outer[name]) for port, name in enumerate(GENERATOR_LINKS))
        return (first, *self.own_hops(instances), last)

    @abstractmethod
    def own_hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Read the hops between the generator's links, in the order of the path."""

    def verify(self) -> None:
        """Check that the node, its links and the NAPI threads live."""
        kernel_checks.require_up(veth.read(space(self._node), DATA), f"links of the {self.called}")
        kernel_checks.require_up(veth.read(self._outer, GENERATOR_LINKS), "links of the generator")
        kernel_checks.require_threads(self._notes(self.noted).threads, f"the {self.called}")

    def _release_cores(self) -> None:
        """Take the receive work from threads and cores. Threads that remain end when the links go down."""
        sides = ((self._outer, GENERATOR_LINKS), (space(self._node), DATA))
        for netns, names in sides:
            veth.prepare(netns, names)  # a link that is down has no receive work that could be said something about
            napi.leave_to_sender(netns, names)
            inside(netns, partial(links.set_down, names))
        for netns, names in sides:
            veth.prepare(netns, names)
        veth.wait_until_up(space(self._node), DATA)

    def _note(self, notes: Notes) -> None:
        """Write down what was set up."""
        write_private(self._node.places.exchange / _NOTES, notes.model_dump_json())

    def _notes(self, kind: type[_Notes]) -> _Notes:
        """Return what was set up.

        Raises:
            DeployError: nothing was.
        """
        path = self._node.places.exchange / _NOTES
        try:
            return kind.model_validate_json(path.read_text())
        except (OSError, ValueError) as failure:
            raise DeployError(
                f"no variant is applied to node {self.host}", where=str(path), observed=str(failure), fix="deploy again"
            ) from failure
