"""The pool of hugepages: how many are free for us, and how it grows."""

from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.host.ledger.entries import HugepagesEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.poollock import persistent_pages, pool_locked, unused_pages
from nfvbed.host.memory.meminfo import available_kib
from nfvbed.host.memory.pageadvice import LOWER, SIZE_KIB, more_pages

PAGE_KIB = SIZE_KIB
_TRIES = 5
"""How often the pool is enlarged by what is short."""
_GATHERINGS = 8
"""How often the kernel is asked to bring free memory together where pages are short. Each time it moves what it can and
takes back a part of what it keeps of files; caches of all are not dropped for it."""


class HugepagePool:
    """The 2 MiB pages of the machine, or of one NUMA node."""

    def __init__(self, node: int | None = None, root: Path = Path("/")) -> None:
        self.node = node
        self._root = root
        self._meminfo = root / "proc/meminfo"
        base = root / "sys" / ("kernel/mm" if node is None else f"devices/system/node/node{node}")
        self._directory = base / f"hugepages/hugepages-{PAGE_KIB}kB"

    @property
    def total(self) -> int:
        """Pages in the pool."""
        return int(self._path.read_text())

    def how_to_have(self, pages: int) -> str:
        """Return advice by which this many pages become free here."""
        advice = more_pages({self.node: max(1, pages - self.free)}, self._root)
        return f"{advice}; or {LOWER}"

    @property
    def free(self) -> int:
        """Pages that are neither used nor promised."""
        return unused_pages(self._path)

    def ensure_free(self, pages: int, ledger: Ledger, least: int | None = None) -> int:
        """Enlarge the pool until this many pages are free.

        Args:
            ledger: ledger of what wants the pages; undoing it gives them back.
            least: fewer pages that still will do; None: only all of them.

        Returns:
            How many of the wanted pages are free now.

        Raises:
            PrerequisiteError: the kernel finds too little contiguous memory, or the pool cannot be written. What was
                added so far is in the ledger.
        """
        least = pages if least is None else least
        before = self.free
        if before >= pages:
            return pages
        path, reach = self._path, before + available_kib(self._meminfo) // PAGE_KIB
        # The kernel would turn all the memory that there is into hugepages before it gives up.
        wanted = pages if pages <= reach else least
        if wanted > reach:
            raise self._too_few(pages, path)
        self._enlarge_to(wanted, ledger)
        for _ in range(_GATHERINGS):
            if self.free >= wanted or not self._gather():
                break
            self._enlarge_to(wanted, ledger)
        if self.free < least:
            raise self._too_few(pages, path)
        return min(self.free, pages)

    def _enlarge_to(self, wanted: int, ledger: Ledger) -> None:
        for _ in range(_TRIES):
            # A program that was promised some may take them in between: then as many are short again.
            short = wanted - self.free
            if short <= 0 or not self.enlarge(short, ledger):
                break

    def _gather(self) -> bool:
        """Have the kernel bring memory together; False: it cannot be asked to."""
        try:
            (self._root / "proc/sys/vm/compact_memory").write_text("1")
        except OSError:
            return False
        return True

    def enlarge(self, pages: int, ledger: Ledger) -> int:
        """Ask the kernel for this many more pages; undoing the ledger gives them back.

        Returns:
            How many pages it found; the rest of its memory is in use or fragmented.

        Raises:
            PrerequisiteError: the pool cannot be written.
        """
        path = self._path
        with pool_locked():
            previous = self._persistent
            asked = HugepagesEntry(path=str(path), page_kib=PAGE_KIB, node=self.node, previous=previous, added=pages)
            place = ledger.record(asked)
            try:
                path.write_text(str(previous + pages))
            except OSError as failure:
                raise PrerequisiteError(
                    "the number of hugepages cannot be changed",
                    where=str(path),
                    observed=str(failure),
                    fix="run as root; in a container, on the host itself, where /sys can be written",
                ) from failure
            granted = max(0, self._persistent - previous)
            ledger.amend(place, asked.model_copy(update={"granted": granted}))
        return granted

    @property
    def _persistent(self) -> int:
        return persistent_pages(self._path)

    @property
    def _path(self) -> Path:
        path = self._directory / "nr_hugepages"
        if not path.exists():
            raise PrerequisiteError(
                f"no {PAGE_KIB // 1024} MiB hugepages on this host",
                where=str(path),
                observed="no such file",
                fix=more_pages({self.node: 1}, self._root) if self.node is None else "choose a NUMA node that exists",
            )
        return path

    def _too_few(self, pages: int, path: Path) -> PrerequisiteError:
        mib = PAGE_KIB // 1024
        got = self.free
        return PrerequisiteError(
            f"too few hugepages: wanted {pages * mib} MiB, got {got * mib} MiB",
            where=str(path),
            observed=f"{got} of {pages} pages of {mib} MiB are free of {self.total} in the pool",
            fix=self.how_to_have(pages),
        )
