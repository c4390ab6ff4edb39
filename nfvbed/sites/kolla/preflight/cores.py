"""Checks of cores and hugepages, node by node."""

from collections.abc import Iterator, Sequence

from nfvbed.cloud.kolla.release import PREPARES_HOST
from nfvbed.sites.kolla.preflight.facts import NodeFacts
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.sites.kolla.preflight.subject import Subject
from nfvbed.spec.cpulist import format_cpu_list
from nfvbed.spec.rack import MIB_PER_GIB, NumaSpec

KIB_PER_MIB = 1024
MOST_PAGES_SHARE = 0.95
"""The most of a node's memory: the kernel and the services need the rest."""
SIZES = {MIB_PER_GIB: "hugepages_1g", 2: "hugepages_2m"}
"""Keys of the file, by the size of a page in MiB."""


def check_cores(subject: Subject) -> Iterator[Finding]:
    """Compare cores and hugepages of the file with those of the machine."""
    for number, spec in enumerate(subject.spec.numa):
        node = subject.facts.node(number)
        if node is None:
            yield subject.finding(
                f"{subject.name} has no NUMA node {number}",
                f"numa[{number}]",
                f"nodes: {', '.join(str(one.number) for one in subject.facts.nodes)}",
                "describe the nodes that it has, from node 0 on",
            )
            continue
        yield from _check_node(subject, number, spec, node)
        yield from _check_pages(subject, number, spec, node)
    yield from _check_threads(subject)


def _check_node(subject: Subject, number: int, spec: NumaSpec, node: NodeFacts) -> Iterator[Finding]:
    away = tuple(sorted(set(spec.all_cores) - set(node.cores)))
    if away:
        yield subject.finding(
            f"cores {format_cpu_list(away)} are not on NUMA node {number} of {subject.name}",
            f"numa[{number}].cores",
            f"node {number} has {format_cpu_list(node.cores) or 'none'}",
            f"cores: {format_cpu_list(node.cores)}",
        )
    isolated = set(subject.facts.isolated)
    lacking = tuple(sorted((set(spec.isolated_cores) & set(node.cores)) - isolated))
    more = tuple(sorted((set(spec.all_cores) - set(spec.isolated_cores)) & isolated))
    for cores, what in ((lacking, "are not isolated"), (more, "are isolated, and the file does not say so")):
        if cores:
            yield subject.finding(
                f"cores {format_cpu_list(cores)} of {subject.name} {what}",
                f"numa[{number}].isolated",
                f"/sys/devices/system/cpu/isolated: {format_cpu_list(subject.facts.isolated) or 'none'}",
                "boot it with isolcpus as isolated says, or change isolated",
                PREPARES_HOST,
            )


def _check_pages(subject: Subject, number: int, spec: NumaSpec, node: NodeFacts) -> Iterator[Finding]:
    wanted = {MIB_PER_GIB: spec.hugepages_1g, 2: spec.hugepages_2m}
    for size_mib, count in wanted.items():
        kib, key = size_mib * KIB_PER_MIB, f"numa[{number}].{SIZES[size_mib]}"
        there = node.pages.get(kib, 0)
        if count and kib not in subject.facts.page_sizes_kib:
            yield subject.finding(
                f"{subject.name} cannot have hugepages of {size_mib} MiB",
                key,
                f"its kernel has sizes {', '.join(map(str, subject.facts.page_sizes_kib)) or 'none'} KiB",
                "use hugepages_2m; pages of 1 GiB need a processor with pdpe1gb, which a hypervisor may hide",
            )
        elif there < count:
            yield subject.finding(
                f"NUMA node {number} of {subject.name} has too few hugepages of {size_mib} MiB",
                key,
                f"{there} of {count}",
                f"{_at_boot(subject.spec.numa, size_mib)}, or {SIZES[size_mib]}: {there}",
                PREPARES_HOST,
            )
    memory_mib = sum(size * count for size, count in wanted.items())
    if memory_mib > node.memory_mib * MOST_PAGES_SHARE:
        yield subject.finding(
            f"NUMA node {number} of {subject.name} has not the memory for its hugepages",
            f"numa[{number}].hugepages_1g, hugepages_2m",
            f"{memory_mib} MiB of hugepages, and the node has {node.memory_mib} MiB",
            "fewer hugepages: the kernel and the services need memory, too",
        )


def _at_boot(nodes: Sequence[NumaSpec], size_mib: int) -> str:
    """Give the kernel's parameters for pages of a size; nodes that are left out would have none."""
    counts = [node.hugepages_1g if size_mib == MIB_PER_GIB else node.hugepages_2m for node in nodes]
    by_node = ",".join(f"{number}:{count}" for number, count in enumerate(counts))
    size = "1G" if size_mib == MIB_PER_GIB else "2M"
    return f"boot it with hugepagesz={size} hugepages={by_node} (by node from kernel 5.16 on)"


def _check_threads(subject: Subject) -> Iterator[Finding]:
    placement = subject.placement
    if placement is None or not placement.polling:
        return
    others = {**dict.fromkeys(placement.shared, "shared with guests"), **dict.fromkeys(placement.dedicated, "guests'")}
    others |= dict.fromkeys(placement.polling, "a polling thread's")
    for core in placement.polling:
        group = next((group for group in subject.facts.siblings if core in group), ())
        for other in sorted(set(group) - {core}):
            if other in others:
                yield subject.finding(
                    f"a core of {subject.name} is claimed twice: {core} and {other} are threads of one",
                    "sibling_offset",
                    f"{core} is a polling thread's, {other} is {others[other]}; the file says"
                    f" {subject.spec.sibling_offset or 'one thread a core'}",
                    f"sibling_offset: {abs(other - core)}",
                )
