"""The root of a machine that is namespaces: its /dev, and the way into it.

This machine's devices are not among those of /dev, above all not /dev/kvm and /dev/kmsg.
"""

import ctypes
import os
import stat
from pathlib import Path

from nfvbed.host.network.namespaces import MNT_DETACH, libc, mount, unmount

_DEVICES = (("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9), ("tty", 5, 0))
_TUN = (10, 200)
_LINKS = (
    ("ptmx", "pts/ptmx"),
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
)


def fill_dev(root: Path, hugepages: str) -> None:
    """Fill the /dev of a root, on which an empty file system of its own is mounted.

    Args:
        hugepages: options of the file system of hugepages that is mounted there.
    """
    for name, major, minor in _DEVICES:
        _device(root / "dev" / name, major, minor)
    (root / "dev/net").mkdir()
    _device(root / "dev/net/tun", *_TUN)
    for name, target in _LINKS:
        (root / "dev" / name).symlink_to(target)
    for name, kind, options in (
        ("pts", "devpts", "newinstance,ptmxmode=0666,mode=0620,gid=5"),
        ("shm", "tmpfs", "mode=1777"),
        ("hugepages", "hugetlbfs", hugepages),
    ):
        (root / "dev" / name).mkdir()
        mount(kind, str(root / "dev" / name), kind, 0, options)


def change_root(root: Path) -> None:
    """Make a mounted root this process's, and leave the old one.

    Raises:
        OSError: the kernel refuses it.
    """
    os.chdir(root)
    if libc.pivot_root(b".", b".") != 0:
        raise OSError(ctypes.get_errno(), "pivot_root failed", str(root))
    # Both are at "." now, this machine's on top (pivot_root(2)).
    unmount(".", MNT_DETACH)
    os.chdir("/")


def _device(path: Path, major: int, minor: int) -> None:
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
    path.chmod(0o666)
