"""Network namespaces: made, entered and removed from threads, without a child process."""

import contextlib
import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from nfvbed.signals import signals_held

NETNS_DIRECTORY = Path("/run/netns")
CLONE_NEWNET = 0x40000000
CLONE_NEWNS = 0x00020000
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 2

libc = ctypes.CDLL(None, use_errno=True)
_Result = TypeVar("_Result")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def mount(source: str, target: str, filesystem: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system (mount(2)).

    Raises:
        OSError: with the target as its file name.
    """
    data = options.encode() if options else None
    _check(libc.mount(source.encode(), target.encode(), filesystem.encode(), ctypes.c_ulong(flags), data), target)


def unmount(target: str, flags: int = 0) -> None:
    """Unmount a file system (umount2(2)).

    Raises:
        OSError: EINVAL when nothing is mounted there.
    """
    _check(libc.umount2(target.encode(), flags), target)


def in_thread(work: Callable[[], _Result]) -> _Result:
    """Run in a thread of its own, whose namespaces end with it; return or raise what the function does.

    An interrupt waits for its end: in the middle of starting or joining, Python would lose count of its threads.
    """
    with signals_held(), ThreadPoolExecutor(max_workers=1, thread_name_prefix="nfvbed-namespace") as executor:
        return executor.submit(work).result()


def enter(path: str) -> None:
    """Enter a network namespace with the calling thread."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(libc.setns(handle, CLONE_NEWNET), path)
    finally:
        os.close(handle)


def inside(path: str, work: Callable[[], _Result]) -> _Result:
    """Run a function in a network namespace; sockets that it opens belong to it."""

    def body() -> _Result:
        enter(path)
        return work()

    return in_thread(body)


def create(path: str) -> None:
    """Make a network namespace that a mount holds, as `ip netns` does, with its loopback up.

    Raises:
        OSError: no privilege, or the name exists.
    """
    from pyroute2 import IPRoute  # Who only looks at stores need not have it.

    os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444))

    def body() -> None:
        _check(libc.unshare(CLONE_NEWNET), path)
        mount("/proc/thread-self/ns/net", path, "none", MS_BIND)
        with IPRoute() as route:
            route.link("set", index=1, state="up")

    in_thread(body)


def remove(path: str) -> None:
    """Remove a network namespace and what is in it; nothing to do when it is gone."""
    with contextlib.suppress(OSError):  # never mounted, or already gone
        unmount(path, MNT_DETACH)
    Path(path).unlink(missing_ok=True)


def inside_with_sysfs(path: str, work: Callable[[], _Result]) -> _Result:
    """Run a function in a network namespace with a /sys that shows its devices.

    The mount is in a mount namespace of the thread, and ends with it.
    """

    def body() -> _Result:
        enter(path)
        _check(libc.unshare(CLONE_NEWNS), "mount namespace")
        mount("none", "/", "none", MS_REC | MS_PRIVATE)
        mount("nfvbed", "/sys", "sysfs")
        return work()

    return in_thread(body)
