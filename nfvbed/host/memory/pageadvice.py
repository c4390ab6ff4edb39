"""Advice for more hugepages: by size and NUMA node, with the host's present numbers, and never fewer of any.

`sysctl vm.nr_hugepages` is about pages of the default size, which `default_hugepagesz=1G` makes 1 GiB: nfvbed's 2 MiB
then has to be named. So the advice names the kernel's files by size
(Documentation/admin-guide/mm/hugetlbpage.rst), and a number is the sum of what is there and what is lacking.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nfvbed.host.ledger.poollock import persistent_pages, unused_pages
from nfvbed.host.memory.meminfo import available_kib

SIZE_KIB = 2048
"""Size of the pages that nfvbed takes."""
LOWER = "lower hugepages_mib of the variant or generator_hugepages_mib of the site"
"""What a site and a variant can do."""
_HELD_SHOWN = 4
_KIB_PER_MIB = 1024
_NODES = "sys/devices/system/node"


@dataclass(frozen=True)
class Pool:
    """The pages of one size, of the whole machine or of one NUMA node."""

    size_kib: int
    node: int | None
    total: int
    """Pages that stay, whichever process ends."""
    free: int
    """Those that are neither used nor promised."""

    @property
    def file(self) -> str:
        """The file of its number of pages."""
        place = "kernel/mm" if self.node is None else f"devices/system/node/node{self.node}"
        return f"/sys/{place}/hugepages/hugepages-{self.size_kib}kB/nr_hugepages"

    @property
    def size(self) -> str:
        """The size as users write it."""
        return f"{self.size_kib >> 20} GiB" if self.size_kib >= 1 << 20 else f"{self.size_kib >> 10} MiB"


def read_pools(root: Path = Path("/"), node: int | None = None) -> tuple[Pool, ...]:
    """Read the pools of a machine or of one node, by size; none where the kernel has no hugepages."""
    place = "sys/kernel/mm" if node is None else f"sys/devices/system/node/node{node}"
    return tuple(
        sorted(
            (
                Pool(
                    size_kib=int(folder.name.removeprefix("hugepages-").removesuffix("kB")),
                    node=node,
                    total=persistent_pages(folder / "nr_hugepages"),
                    free=unused_pages(folder / "nr_hugepages"),
                )
                for folder in (root / place / "hugepages").glob("hugepages-*kB")
            ),
            key=lambda pool: pool.size_kib,
        )
    )


def more_pages(lacking: Mapping[int | None, int], root: Path = Path("/")) -> str:
    """Return advice by which a host gets more free pages of 2 MiB.

    Args:
        lacking: how many are lacking, by NUMA node; None: of the whole machine, on any node.
        root: of the file tree; other than `/` in tests.
    """
    pools = {node: {pool.size_kib: pool for pool in read_pools(root, node)} for node in lacking}
    whole = read_pools(root)
    if not all(SIZE_KIB in of_node for of_node in pools.values()):
        return _no_such_size(sum(lacking.values()), whole)
    wanted = {node: (pools[node][SIZE_KIB], pages) for node, pages in lacking.items()}
    parts = [_written(wanted, root), _at_boot(wanted, root), *_too_little_memory(wanted, root)]
    parts += [_held(root)] if any(pool.total > pool.free for pool, _ in wanted.values()) else []
    others = [f"{pool.free} free pages of {pool.size}" for pool in whole if pool.size_kib != SIZE_KIB and pool.free]
    parts += [f"{', '.join(others)} are reserved beside them, which nfvbed does not take"] if others else []
    return "; ".join(part for part in parts if part)


def _written(wanted: Mapping[int | None, tuple[Pool, int]], root: Path) -> str:
    commands = [f"echo {pool.total + pages} > {pool.file}" for pool, pages in wanted.values()]
    numbers = [
        f"{'' if pool.node is None else f'node {pool.node}: '}{pool.free} of {pool.total} are free, {pages} lack"
        for pool, pages in wanted.values()
    ]
    cannot = [pool.file for pool, _ in wanted.values() if not os.access(root / pool.file[1:], os.W_OK)]
    where = "on the host itself, as /sys cannot be written here: " if cannot else ""
    return f"{where}{'; '.join(commands)} ({'; '.join(numbers)}), best right after booting"


def _at_boot(wanted: Mapping[int | None, tuple[Pool, int]], root: Path) -> str:
    """Return the kernel's parameters; with nodes, all are named, as those left out would have none."""
    counts = {node: pool.total + pages for node, (pool, pages) in wanted.items()}
    by_node = ""
    if None not in counts:
        counts = {node: counts.get(node, total) for node, total in _totals_by_node(root).items()} | counts
        by_node = " (by node from kernel 5.16 on)"
    words = ",".join(
        str(count) if node is None else f"{node}:{count}" for node, count in sorted(counts.items(), key=str)
    )
    there = _words_of_size(root)
    place = f"in the place of {' and '.join(there)}" if there else "beside what is there"
    return f"or at boot, on the kernel's command line {place}: hugepagesz=2M hugepages={words}{by_node}"


def _totals_by_node(root: Path) -> dict[int | None, int]:
    """Return the pages of 2 MiB of every NUMA node that has a pool of them."""
    numbers = sorted(int(path.name.removeprefix("node")) for path in (root / _NODES).glob("node[0-9]*"))
    return {
        pool.node: pool.total for number in numbers for pool in read_pools(root, number) if pool.size_kib == SIZE_KIB
    }


def _words_of_size(root: Path) -> list[str]:
    """Return the words of the kernel's command line about 2 MiB: a number is for the size before it."""
    try:
        words = (root / "proc/cmdline").read_text().split()
        default = re.search(r"^Hugepagesize:\s+(\d+) kB", (root / "proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        return []
    is_ours = default is not None and int(default[1]) == SIZE_KIB
    found: list[str] = []
    size = ""
    for word in words:
        if word.startswith("hugepagesz="):
            size, is_ours = word, word == "hugepagesz=2M"
        elif word.startswith("hugepages=") and is_ours:
            found.append(f"{size} {word}".strip())
    return found


def _too_little_memory(wanted: Mapping[int | None, tuple[Pool, int]], root: Path) -> Iterator[str]:
    needed = sum(pages for _, pages in wanted.values()) * SIZE_KIB
    try:
        available = available_kib(root / "proc/meminfo")
    except OSError:
        return
    if needed > available:
        yield (
            f"that takes {needed // _KIB_PER_MIB} MiB, and {available // _KIB_PER_MIB} MiB are available: end programs"
            " of yours first"
        )


def _no_such_size(pages: int, pools: tuple[Pool, ...]) -> str:
    if not pools:
        return "run a kernel with CONFIG_HUGETLBFS; in a container, see that /sys of the host is shown"
    there = ", ".join(pool.size for pool in pools)
    return (
        f"nfvbed takes pages of 2 MiB, and this kernel shows {there} alone: boot it with hugepagesz=2M"
        f" hugepages={pages} beside what is there; on ARM with a kernel whose ordinary pages are 4 KiB"
    )


def _held(root: Path) -> str:
    """Return who has hugepages: processes by their mappings, and files that outlive their processes."""
    holders = [*_processes(root), *_files(root)]
    shown = [text for _, text in sorted(holders, reverse=True)[:_HELD_SHOWN]]
    more = len(holders) - len(shown)
    if not shown:
        return "their holder is not visible from here: another container's programs, or files that one has left"
    return f"held by {', '.join(shown)}{f' and {more} more' if more > 0 else ''}: end what is yours alone"


def _processes(root: Path) -> Iterator[tuple[int, str]]:
    """Yield KiB and name of each process with hugepages (HugetlbPages in proc(5), since Linux 4.4)."""
    for status in (root / "proc").glob("[0-9]*/status"):
        try:
            found = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:
            continue  # it has ended
        kib = int(found.get("HugetlbPages", "0 kB").split()[0])
        if kib:
            yield kib, f"{found['Name'].strip()} (pid {status.parent.name}, {kib // _KIB_PER_MIB} MiB)"


def _files(root: Path) -> Iterator[tuple[int, str]]:
    """Yield KiB and name of each mount of hugetlbfs with files; these hold their pages until they are removed."""
    try:
        mounts = [line.split() for line in (root / "proc/mounts").read_text().splitlines()]
    except OSError:
        return
    for target in {mount[1] for mount in mounts if len(mount) > 2 and mount[2] == "hugetlbfs"}:
        try:
            sizes = [entry.stat().st_blocks // 2 for entry in (root / target[1:]).rglob("*") if entry.is_file()]
        except OSError:
            continue  # not ours to see
        if sum(sizes):
            yield sum(sizes), f"{len(sizes)} files in {target} ({sum(sizes) // _KIB_PER_MIB} MiB)"
