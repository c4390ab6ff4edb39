"""The lock of a pool of hugepages: one nfvbed at a time reads it and writes a number from what it read.

It is held for moments only.

Pages that were given back while a program used them are surplus: `nr_hugepages` counts them until the program ends, and
then they go. A process that counts them as part of the pool and writes a number on top of that keeps them for good.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from nfvbed.host.ledger.places import POOL_LOCK


@contextlib.contextmanager
def pool_locked() -> Iterator[None]:
    """Hold the lock of the pools, waiting for others. The kernel releases it when this process ends, however it ends.

    The lock is on a file that only root can open. All users may open a pool's own files; on one of these any user could
    make nfvbed wait for ever. A process that may not make the file may not write to the host's pools either.
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
    """Return the persistent pages of a pool: those that stay when programs end.

    Args:
        path: file of the pool (`nr_hugepages`).

    Raises:
        FileNotFoundError: there is no such pool.
    """
    while True:
        surplus, total = _surplus(path), int(path.read_text())
        if _surplus(path) == surplus:  # else a program has ended between the looks
            return total - surplus


def unused_pages(path: Path) -> int:
    """Return the pages of a pool that are neither used nor promised; 0 where there is no such pool.

    Args:
        path: file of the pool (`nr_hugepages`).
    """
    promised = _count(path.with_name("resv_hugepages"))
    return max(0, _count(path.with_name("free_hugepages")) - promised)


def lower_pool(path: Path, pages: int) -> bool:
    """Lower a pool to this number of persistent pages; the caller holds its lock.

    Pages that a program gives back while the kernel lowers the pool may stay: the kernel counts pages that were in use
    as surplus, and then nothing frees them. On Linux 6.18 this happens one time in ten when a switch was killed half a
    millisecond before. Such pages are made persistent, and so go with the next number that is written.

    Args:
        path: file of the pool (`nr_hugepages`).

    Returns:
        Whether all other pages are gone; those in use go with the programs that use them.
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
