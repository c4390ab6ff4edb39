"""Which cores and hugepages of a machine are the switch's, and which are the guests'.

Kolla's role for a switch on DPDK has one mask for all machines (0x2 for polling threads, 0x1 for all others). That is
whatever NUMA node the NIC is on, and whether or not the kernel schedules there. Here the masks come from the site's
file.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from nfvbed.errors import ConfigurationError
from nfvbed.spec.rack import NumaSpec, RackHostSpec

KIB_PER_MIB = 1024


@dataclass(frozen=True)
class ReservedPages:
    """The switch's hugepages on one node."""

    node: int
    page_kib: int
    count: int

    @property
    def page_mib(self) -> int:
        """The size of a page."""
        return self.page_kib // KIB_PER_MIB

    @property
    def memory_mib(self) -> int:
        """The size of the pages together."""
        return self.page_kib * self.count // KIB_PER_MIB


@dataclass(frozen=True)
class Placement:
    """The owner of each core of a machine; cores in rising order."""

    dedicated: tuple[int, ...]
    """Cores of guests that have cores of their own."""
    shared: tuple[int, ...]
    """Cores of all other guests, and of the machine itself."""
    polling: tuple[int, ...] = ()
    """Cores of the switch's polling threads."""
    main: tuple[int, ...] = ()
    """Cores of the switch's other threads that DPDK knows (lcores)."""
    pages: tuple[ReservedPages, ...] = ()
    """Hugepages of the switch's memory, node by node."""


@dataclass(frozen=True)
class Polling:
    """What a polling switch needs of a machine."""

    threads: int
    """Number of polling threads, for each NUMA node that has a NIC of role dpdk."""
    memory_mib: int = 0
    """Hugepages, MiB, of every node that has some: a guest's rings are on its own. 0: it uses none."""
    held_mib: Callable[[Collection[int]], int] | None = None
    """Hugepages, MiB, that it holds in the end by the MTUs of its ports; None: those that it asks for."""

    def reserved_mib(self, mtus: Collection[int]) -> int:
        """Return the hugepages, MiB, of a node that guests cannot have."""
        held = self.held_mib(mtus) if self.memory_mib and self.held_mib is not None else 0
        return max(self.memory_mib, held)


def place_without_polling(host: RackHostSpec) -> Placement:
    """Place guests on a machine whose switch is the kernel's, which polls nothing."""
    isolated = _cores(node.isolated_cores for node in host.numa)
    return Placement(isolated, tuple(sorted(set(_cores(node.all_cores for node in host.numa)) - set(isolated))))


def place_on_shared_cores(host: RackHostSpec) -> Placement:
    """Place guests on a machine that has its cores together with other machines, a box's: none can be a guest's own."""
    return Placement((), _cores(node.all_cores for node in host.numa))


def place_with_polling(name: str, host: RackHostSpec, wanted: Polling, mtus: Collection[int] = ()) -> Placement:
    """Place the switch's threads on the nodes that its NICs are attached to, and guests on what is left.

    Args:
        mtus: MTUs of its ports.

    Raises:
        ConfigurationError: a node has too few isolated cores or hugepages, or no core is left for other threads.
    """
    nodes = sorted({nic.numa_node for nic in host.nics_of("dpdk")})
    polling, idle = list[int](), set[int]()
    for number in nodes:
        chosen = _polling_of(name, host, number, wanted.threads)
        polling += chosen
        idle |= {core + host.sibling_offset for core in chosen if host.sibling_offset}
    free = place_without_polling(host)
    main = _main_core(name, host, nodes[0])
    shared = tuple(core for core in free.shared if core != main)
    return Placement(
        dedicated=tuple(core for core in free.dedicated if core not in {*polling, *idle}),
        # A machine with one core for everything else has the switch's other threads there too.
        shared=shared or free.shared,
        polling=tuple(sorted(polling)),
        main=(main,),
        pages=_pages(name, host, wanted.reserved_mib(mtus)) if wanted.memory_mib else (),
    )


def _cores(of_nodes: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted(core for cores in of_nodes for core in cores))


def _polling_of(name: str, host: RackHostSpec, number: int, count: int) -> tuple[int, ...]:
    node = host.numa[number]
    offset = host.sibling_offset
    second = {core for core in node.all_cores if offset and core - offset in node.all_cores}
    whole = [core for core in node.isolated_cores if core not in second]
    if len(whole) < count:
        raise ConfigurationError(
            f"{name} has too few isolated cores on NUMA node {number} for {count} polling threads",
            where=f"hosts.{name}.numa[{number}].isolated",
            observed=f"{node.isolated or 'none'}; a polling thread has a core with all its threads",
            fix="isolate more cores of this node (isolcpus), or choose a variant with fewer pmd_cores",
        )
    return tuple(whole[:count])


def _main_core(name: str, host: RackHostSpec, first: int) -> int:
    order = [first, *(number for number in range(len(host.numa)) if number != first)]
    for number in order:
        node = host.numa[number]
        free = [core for core in node.all_cores if core not in node.isolated_cores]
        if free:
            # Core 0 has most of the kernel's own work.
            return next((core for core in free if core), free[0])
    raise ConfigurationError(
        f"every core of {name} is isolated: none is left for the kernel and the switch's other threads",
        where=f"hosts.{name}.numa",
        observed="; ".join(f"node {number}: isolated {node.isolated}" for number, node in enumerate(host.numa)),
        fix="leave at least two cores of each node out of isolated",
    )


def _pages(name: str, host: RackHostSpec, memory_mib: int) -> tuple[ReservedPages, ...]:
    found = []
    for number, node in enumerate(host.numa):
        if node.page_mib:
            found.append(ReservedPages(number, node.page_mib * KIB_PER_MIB, -(-memory_mib // node.page_mib)))
    lacking = [pages for pages in found if pages.count > _count(host.numa[pages.node])]
    missing = {nic.numa_node for nic in host.nics_of("dpdk")} - {pages.node for pages in found}
    if lacking or missing:
        number = lacking[0].node if lacking else min(missing)
        raise ConfigurationError(
            f"{name} has too few hugepages on NUMA node {number} for a switch with DPDK",
            where=f"hosts.{name}.numa[{number}]",
            observed=f"hugepages_1g: {host.numa[number].hugepages_1g}, hugepages_2m: {host.numa[number].hugepages_2m}",
            fix=f"reserve {memory_mib} MiB for the switch (by the variant's options and its networks' MTUs), and the"
            " guests' memory",
        )
    return tuple(found)


def _count(node: NumaSpec) -> int:
    return node.hugepages_1g or node.hugepages_2m
