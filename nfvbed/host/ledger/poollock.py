"""One nfvbed at a time reads a pool of hugepages and writes what it makes of that; held for moments alone.

Pages that were given back while a program used them are surplus: they are among `nr_hugepages` until it ends, and then
go. Whoever takes them for a part of the pool and writes a number on top of it keeps them for good.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from nfvbed.host.ledger.places import POOL_LOCK


@contextlib.contextmanager
def pool_locked() -> Iterator[None]:
    """Wait for the others; the kernel lets go when this process ends, however that comes.

    The lock is on a file that root alone can open: whoever may open what is locked, as all may open a pool's own files,
    can let nfvbed wait for ever. Who may not make the file may write to no pool of the host.
    """
    handle = _locked()
    try:
        yield
    finally:
        if handle is not None:
            POOL_LOCK.unlink(missing_ok=True)
            os.close(handle)


def _locked() -> int | None:
    while True:
        try:
            handle = os.open(POOL_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except PermissionError:
            return None
        fcntl.flock(handle, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), POOL_LOCK.stat()):
                return handle
        os.close(handle)  # its last holder removed it between our open and our lock


def persistent_pages(path: Path) -> int:
    """Return the pages of a pool without those that go when a program ends.

    Args:
        path: the pool's file (`nr_hugepages`).

    Raises:
        FileNotFoundError: there is no such pool.
    """
    while True:
        surplus, total = _surplus(path), int(path.read_text())
        if _surplus(path) == surplus:  # else a program has ended between the looks
            return total - surplus


def unused_pages(path: Path) -> int:
    """Return the pages of a pool that nobody uses and nobody has been promised; 0 where there is no such pool.

    Args:
        path: the pool's file (`nr_hugepages`).
    """
    promised = _count(path.with_name("resv_hugepages"))
    return max(0, _count(path.with_name("free_hugepages")) - promised)


def lower_pool(path: Path, pages: int) -> bool:
    """Let the pool have so many persistent pages; the caller holds its lock.

    Pages that a program gives back while the kernel lowers the pool may stay: the kernel takes for surplus what was
    in use when it began, and nobody frees that any more (Linux 6.18: one time in ten where a switch was killed in the
    half millisecond before). Such pages are made persistent, and so go with the next number that is written.

    Args:
        path: the pool's file (`nr_hugepages`).
        pages: wanted.

    Returns:
        Whether all others are gone; those that are in use go with the programs that use them.
    """
    path.write_text(str(pages))
    if _surplus(path) and unused_pages(path):
        path.write_text(path.read_text())
        path.write_text(str(pages))
    return int(path.read_text()) <= pages


def _surplus(path: Path) -> int:
    return _count(path.with_name("surplus_hugepages"))


def _count(path: Path) -> int:
    try:
        return int(path.read_text())
    except FileNotFoundError:  # not counted per node, or no such pool
        return 0
