"""What computes whose switch is the kernel's share: their node, its links to the generator, cores and counters."""

import platform
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

from nfvbed.dataplanes.ports import kernel_checks, veth
from nfvbed.dataplanes.ports.kernel_cores import place_generator, place_links
from nfvbed.dataplanes.ports.veth import GENERATOR_LINKS
from nfvbed.errors import DeployError, SwitchDiedError
from nfvbed.host import coredistance, links, napi
from nfvbed.host.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.host.links import LinkCounters
from nfvbed.host.namespaces import inside
from nfvbed.host.workspace import Workspace
from nfvbed.records import (
    NOT_SEPARABLE,
    GeneratorPort,
    Hop,
    HopKind,
    Record,
    Role,
    SwitchCounters,
    WorkThread,
)
from nfvbed.sites.openstack.cloud import GUESTS_MIB, DevCloud
from nfvbed.sites.openstack.computes import guests, packages
from nfvbed.sites.openstack.computes.compute import Compute
from nfvbed.sites.openstack.instances import InstancePort, PlacedInstance
from nfvbed.sites.openstack.links import generator_space, space
from nfvbed.sites.openstack.nodes.node import Node
from nfvbed.sites.openstack.places import write_private
from nfvbed.sites.openstack.services.computes import DATA, ComputeKind
from nfvbed.sites.openstack.stages import Silent
from nfvbed.spec.layout import End, Layout, layout
from nfvbed.spec.options import CoreUse
from nfvbed.spec.variant import Variant

_NOTES = "applied.json"


class Applied(Record):
    """What `apply` has done on a node; written beside the node's socket, and gone with the node."""

    core_use: CoreUse
    switch_core: int
    tsc_hz: int
    threads: tuple[WorkThread, ...]
    """NAPI threads of both ends of the generator's links."""


class KernelCompute(Compute):
    """A compute node beside the controller.

    The generator's links are there as long as the node is: its agent wants them when it starts, and so nothing that a
    killed nfvbed leaves is in the way of the next one.
    """

    kind: ComputeKind
    called: str
    """What messages call the switch."""
    tap: str
    """How names of devices of guests begin."""

    def __init__(self, cloud: DevCloud, guests_mib: int = GUESTS_MIB) -> None:
        """Take a node of a cloud.

        Args:
            cloud: its controller runs when anything is done.
            guests_mib: hugepage memory for guests, of a node that is not there yet.
        """
        self._cloud = cloud
        self._guests_mib = guests_mib
        self.host = self.kind.host

    @property
    def _node(self) -> Node:
        node = self._cloud.find_compute(self.host)
        if node is None:
            raise SwitchDiedError(
                f"node {self.host} does not run", where=self.host, fix="nfvbed devcloud start starts it again"
            )
        return node

    @property
    def _outer(self) -> str:
        """The network namespace of the generator's ends."""
        return generator_space(self._cloud.places.node(self.host))

    @abstractmethod
    def try_kernel(self, variant: Variant) -> None:
        """Try what the kernel has to have.

        Raises:
            UnsupportedError, PrerequisiteError: it has not.
        """

    @abstractmethod
    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse options and paths."""

    def probe(self, variant: Variant) -> Fitness:
        """Try what the kernel has to have; the node need not run."""
        self.check(variant, layout("pvp"))
        self.try_kernel(variant)
        return Fitness()

    def start(self) -> None:
        """Start the node and its services, or what has ended of them."""
        self._cloud.start_compute(self.host, Silent(), self._guests_mib)

    def apply(self, variant: Variant, arrangement: Arrangement) -> None:
        """Put the receive work of both ends of the generator's links where the variant wants it."""
        inner, core_use = space(self._node), variant.options.veth_core_use
        self._release_cores()
        core = arrangement.switch_cores[0]
        threads: tuple[WorkThread, ...] = ()
        if core_use == "rps":
            napi.steer(inner, DATA, core)
        if core_use == "threaded-napi":
            threads = place_links(inner, DATA, core, Role.SWITCH)
        if core_use != "inline":
            threads += place_generator(GENERATOR_LINKS, self._outer, arrangement)
        tsc_hz = coredistance.measure((core, arrangement.generator_core)).tsc_hz
        applied = Applied(core_use=core_use, switch_core=core, tsc_hz=tsc_hz, threads=threads)
        write_private(self._node.places.exchange / _NOTES, applied.model_dump_json())

    def adopt(self, variant: Variant, instances: Sequence[PlacedInstance]) -> None:
        """Let RPS hand what guests send to the switch's core: a tap has no receive work that a thread could do."""
        applied = self._applied()
        if applied.core_use != "inline":
            names = [self.device(port) for instance in instances for port in instance.ports[:2]]
            napi.steer(space(self._node), names, applied.switch_core)

    def attach(self, workspace: Workspace, variant: Variant) -> tuple[GeneratorPort, GeneratorPort]:
        """Give the links' outer ends, which are up."""
        veth.wait_until_up(self._outer, GENERATOR_LINKS)
        return veth.generator_ports(self._outer)

    def detach(self) -> None:
        """Take the links' receive work from the cores; the links stay."""
        node = self._cloud.find_compute(self.host)
        if node is not None:
            self._release_cores()
            (node.places.exchange / _NOTES).unlink(missing_ok=True)

    def versions(self) -> dict[str, str]:
        """Of the kernel, and of the packages of the private root."""
        own = {self.kind.agent.removeprefix("neutron-"): self.kind.agent}
        return {"linux": platform.release(), **packages.versions(self._cloud.places, own)}

    def threads(self, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
        """Return the NAPI threads, the guests' vCPUs, and QEMU's main threads, which serve the taps."""
        node, switching = self._node, napi.still_there(self._applied().threads)
        return (*switching, *guests.vcpu_threads(node, instances), *guests.main_threads(node, instances))

    def hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Read the generator's ends, and between them what the switch has."""
        outer = veth.read(self._outer, GENERATOR_LINKS)
        first, last = (veth.generator_hop(name, port, outer[name]) for port, name in enumerate(GENERATOR_LINKS))
        return (first, *self.own_hops(instances), last)

    @abstractmethod
    def own_hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Read what lies between the generator's links, in the order of the path."""

    @abstractmethod
    def device(self, port: InstancePort) -> str:
        """Name the device of a port of an instance."""

    def counters(self) -> SwitchCounters:
        """Read what came into its ports. Its cycles are not separable from those of the guests' QEMU."""
        found = {name: counted for name, counted in self._read().items() if name in DATA or name.startswith(self.tap)}
        core_use = self._applied().core_use
        return SwitchCounters(
            packets=sum(counted.rx_packets for counted in found.values()),
            busy_cycles=NOT_SEPARABLE,
            source=f"the {self.called}'s work is part of a guest's writes to its tap ({core_use})",
            raw={name: counted.model_dump() for name, counted in found.items()},
        )

    def verify(self) -> None:
        """Check that the node, its links and the NAPI threads live."""
        kernel_checks.require_up(veth.read(space(self._node), DATA), f"links of the {self.called}")
        kernel_checks.require_up(veth.read(self._outer, GENERATOR_LINKS), "links of the generator")
        kernel_checks.require_threads(self._applied().threads, f"the {self.called}")

    def _read(self) -> dict[str, LinkCounters]:
        return inside(space(self._node), links.all_counters)

    def _release_cores(self) -> None:
        """Take the receive work from threads and cores; what is left of threads ends with the links' being up."""
        sides = ((self._outer, GENERATOR_LINKS), (space(self._node), DATA))
        for netns, names in sides:
            veth.prepare(netns, names)  # a link that is down has no receive work that could be said something about
            napi.leave_to_sender(netns, names)
            inside(netns, partial(links.set_down, names))
        for netns, names in sides:
            veth.prepare(netns, names)
        veth.wait_until_up(space(self._node), DATA)

    def _applied(self) -> Applied:
        path = self._node.places.exchange / _NOTES
        try:
            return Applied.model_validate_json(path.read_text())
        except (OSError, ValueError) as failure:
            raise DeployError(
                f"no variant is applied to node {self.host}", where=str(path), observed=str(failure), fix="deploy again"
            ) from failure


def port_hop(bridge: str, name: str, counted: LinkCounters, end: End) -> Hop:
    """Return a port of the switch as a hop."""
    return veth.hop(f"{bridge} port {name}", counted, HopKind.SWITCH_PORT, end)
