"""One nfvbed at a time reads a pool of hugepages and writes what it makes of that; held for moments alone."""

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
