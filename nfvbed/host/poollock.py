"""One nfvbed at a time reads a pool of hugepages and writes what it makes of that; held for moments alone.

Pages that were given back while a program used them are surplus: they are among `nr_hugepages` until it ends, and then
go. Whoever takes them for a part of the pool and writes a number on top of it keeps them for good.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def pool_locked(path: Path) -> Iterator[None]:
    """Wait for the others; the kernel lets go when this process ends, however that comes.

    Args:
        path: the pool's file (`nr_hugepages`); its folder is what is locked.
    """
    handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def persistent_pages(path: Path) -> int:
    """Return the pages of a pool without those that go when a program ends.

    Args:
        path: the pool's file (`nr_hugepages`).

    Raises:
        FileNotFoundError: there is no such pool.
    """
    return int(path.read_text()) - _surplus(path.with_name("surplus_hugepages"))


def _surplus(path: Path) -> int:
    try:
        return int(path.read_text())
    except FileNotFoundError:
        return 0
