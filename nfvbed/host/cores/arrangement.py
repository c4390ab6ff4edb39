"""Which core does what: one object, used by every deployment and stored with every result."""

from pydantic import Field

from nfvbed.errors import ConfigurationError, NfvbedError, UnsupportedError
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.records import Record
from nfvbed.spec.site import ArrangementSpec


class Arrangement(Record):
    """A fair arrangement: switch and generator each have their own cores, and nothing else is pinned to these."""

    switch_cores: tuple[int, ...]
    generator_core: int
    more_generator_cores: tuple[int, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Cores that nothing else has, where the generator sends on several queues: one a queue, while there are some."""
    control_cores: tuple[int, ...]
    """Where management threads (OVS main, DPDK main lcore, nfvbed itself) may run.

    Never the core of the switch where there is a choice.
    """
    vnf_cores: tuple[int, ...] = ()
    """Where the VNFs run, one entry a VNF, in the order of the path; the generator's core where no other is free."""
    shares_physical_core: bool = False
    """Switch and generator are threads of one physical core: they slow each other down, and results say so."""


def resolve(
    topology: CpuTopology,
    spec: ArrangementSpec,
    switch_cores: int = 1,
    vnfs: int = 0,
    near: int | None = None,
    generator_queues: int = 1,
) -> Arrangement:
    """Decide which core does what.

    Isolated cores come first. Switch and generator are on one NUMA node and not on threads of one physical core,
    where the machine has such cores. VNFs take the free cores of the switch's node in turn: whole physical cores
    first, never the second thread of the switch's core; without free cores, the generator's. Control gets the rest,
    or the generator's core where nothing is left.

    Args:
        spec: arrangement of the site's file.
        switch_cores: number that the variant wants.
        near: the NUMA node of its NICs, from which the switch's cores are taken where it has enough of them.
        generator_queues: that the generator sends on.

    Raises:
        ConfigurationError: the file names a core that is not there, or one twice.
        UnsupportedError: the machine has too few cores.
    """
    if len(topology.allowed) < 2:
        raise UnsupportedError(
            "switch and generator need a core each",
            where="CPU affinity of nfvbed",
            observed=f"only core {list(topology.allowed)} can be used",
            fix="give it at least two cores (taskset, cpuset, the machine's size)",
        )
    named = _named(spec)
    _check(topology, named)
    generator = None if spec.generator_core == "auto" else spec.generator_core
    if spec.switch_cores == "auto":
        chosen = _choose(topology, switch_cores, generator, near)
    else:
        chosen = _as_named(spec.switch_cores, switch_cores)
    if generator is None:
        generator = _choose_generator(topology, chosen)
    vnf_cores = _vnf_cores(topology, chosen, generator, vnfs)
    more = _more_generator_cores(topology, {*chosen, generator, *vnf_cores}, generator_queues - 1)
    return Arrangement(
        switch_cores=chosen,
        generator_core=generator,
        more_generator_cores=more,
        control_cores=_control(topology, {*chosen, generator, *vnf_cores, *more}, generator),
        vnf_cores=vnf_cores,
        shares_physical_core=any(generator in topology.siblings_of(core) for core in chosen),
    )


def _named(spec: ArrangementSpec) -> list[tuple[str, int]]:
    named = [] if spec.switch_cores == "auto" else [("switch_cores", core) for core in spec.switch_cores]
    return named if spec.generator_core == "auto" else [*named, ("generator_core", spec.generator_core)]


def _check(topology: CpuTopology, named: list[tuple[str, int]]) -> None:
    seen: set[int] = set()
    for key, core in named:
        if core not in topology.allowed:
            raise ConfigurationError(
                f"core {core} cannot be used",
                where=f"arrangement.{key}",
                observed=f"cores there are for us: {list(topology.allowed)}",
                fix="name one of these, or auto",
            )
        if core in seen:
            raise ConfigurationError(
                f"core {core} is named twice",
                where=f"arrangement.{key}",
                observed="switch and generator would share it",
                fix="give each a core of its own, or auto",
            )
        seen.add(core)


def _as_named(cores: tuple[int, ...], wanted: int) -> tuple[int, ...]:
    if len(cores) < wanted:
        raise ConfigurationError(
            f"the variant wants {wanted} switch cores and the site names {len(cores)}",
            where="arrangement.switch_cores",
            observed=str(list(cores)),
            fix="name more cores, or lower pmd_cores of the variant",
        )
    return cores[:wanted]


def _preferred(topology: CpuTopology) -> list[int]:
    """Return the isolated cores first, then the others, each by number."""
    return sorted(topology.allowed, key=lambda core: (core not in topology.isolated, core))


def _choose(topology: CpuTopology, wanted: int, generator: int | None, near: int | None) -> tuple[int, ...]:
    """Choose the switch's cores so that a core for the generator is left."""
    left = [core for core in _preferred(topology) if core != generator]
    room = wanted + (1 if generator is None else 0)
    if len(left) < room:
        raise _too_few(topology, wanted)
    for candidates in _groups(topology, left, generator, near):
        if len(candidates) >= room:
            return tuple(sorted(candidates[:wanted]))
    return tuple(sorted(left[:wanted]))


def _groups(topology: CpuTopology, cores: list[int], generator: int | None, near: int | None) -> list[list[int]]:
    """Return sets of cores, best first: one thread of each physical core on one node, the same anywhere, one node."""
    taken = set() if generator is None else set(topology.siblings_of(generator))
    single: list[int] = []
    for core in cores:
        if core not in taken:
            single.append(core)
            taken |= topology.siblings_of(core)
    ranked = sorted({topology.node_of(c) for c in cores}, key=lambda n: _node_rank(topology, single, n, generator))
    nodes = sorted(ranked, key=lambda node: near is not None and node != near)
    one_node = [[c for c in single if topology.node_of(c) == node] for node in nodes]
    threads = [[c for c in cores if topology.node_of(c) == node] for node in nodes]
    return [*one_node, single, *threads]


def _node_rank(topology: CpuTopology, cores: list[int], node: int, generator: int | None) -> tuple[bool, int, int]:
    """Return a sort key: the generator's node first, then the most isolated cores, then the number."""
    isolated = sum(1 for c in cores if topology.node_of(c) == node and c in topology.isolated)
    return (generator is not None and topology.node_of(generator) != node, -isolated, node)


def _choose_generator(topology: CpuTopology, switch: tuple[int, ...]) -> int:
    left = [core for core in _preferred(topology) if core not in switch]
    if not left:
        raise _too_few(topology, len(switch))
    threads = {thread for core in switch for thread in topology.siblings_of(core)}
    node = topology.node_of(switch[0])
    return min(left, key=lambda c: (c in threads, topology.node_of(c) != node, c not in topology.isolated, c))


def _vnf_cores(topology: CpuTopology, switch: tuple[int, ...], generator: int, vnfs: int) -> tuple[int, ...]:
    node = topology.node_of(switch[0])
    of_switch = {thread for core in switch for thread in topology.siblings_of(core)}
    free = [
        core
        for core in _preferred(topology)
        if core != generator and core not in of_switch and topology.node_of(core) == node
    ]
    whole: list[int] = []
    taken = set(topology.siblings_of(generator))
    for core in free:
        if core not in taken:
            whole.append(core)
            taken |= topology.siblings_of(core)
    ranked = [*whole, *(core for core in free if core not in whole and core not in topology.siblings_of(generator))]
    ranked += [core for core in free if core not in ranked]
    places = ranked[:vnfs] or [generator]
    return tuple(places[index % len(places)] for index in range(vnfs))


def _more_generator_cores(topology: CpuTopology, used: set[int], wanted: int) -> tuple[int, ...]:
    """Choose whole physical cores that are free, on nodes in use first; one is left for control."""
    nodes = {topology.node_of(core) for core in used}
    taken = {thread for core in used for thread in topology.siblings_of(core)}
    whole: list[int] = []
    for core in _preferred(topology):
        if core not in taken:
            whole.append(core)
            taken |= topology.siblings_of(core)
    whole.sort(key=lambda core: topology.node_of(core) not in nodes)
    return tuple(whole[: min(wanted, max(0, len(whole) - 1))])


def _control(topology: CpuTopology, used: set[int], generator: int) -> tuple[int, ...]:
    threads = {thread for core in used for thread in topology.siblings_of(core)}
    free = [core for core in topology.allowed if core not in used and core not in topology.isolated]
    quiet = [core for core in free if core not in threads]
    return tuple(quiet or free or [generator])


def _too_few(topology: CpuTopology, wanted: int) -> NfvbedError:
    return UnsupportedError(
        f"{wanted} switch cores and one for the generator are not available",
        where="pmd_cores of the variant",
        observed=f"cores there are for us: {list(topology.allowed)}",
        fix=f"lower pmd_cores to at most {len(topology.allowed) - 1}, or use a larger machine",
    )
