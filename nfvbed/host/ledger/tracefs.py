"""The kernel's tracing file system: removes an instance of it, which outlives its maker.

Source: Documentation/trace/ftrace.rst, section "Instances".
"""

import errno
import os
import time
from pathlib import Path

from nfvbed.host.network import namespaces

FILE_SYSTEM = "tracefs"
_BUSY_WAIT_S = 2.0


def instance_path(mount_point: Path, name: str) -> Path:
    """Return the path of an instance, below a mounted tracefs."""
    return mount_point / "instances" / name


def remove_instance(path: Path) -> None:
    """Remove an instance, which ends its tracing. Nothing to do where there is none.

    An instance outlives the mount through which it was made: where that is gone, it is mounted again for the removal.

    Raises:
        OSError: it is in use.
    """
    mount_point = path.parents[1]
    if not mount_point.is_dir() or os.path.ismount(mount_point):
        _remove(path)
        return
    try:
        namespaces.mount("nfvbed", str(mount_point), FILE_SYSTEM)
    except OSError as failure:
        if failure.errno == errno.ENODEV:
            return  # a kernel without tracing has no instance
        raise
    try:
        _remove(path)
    finally:
        namespaces.unmount(str(mount_point))


def _remove(path: Path) -> None:
    deadline = time.monotonic() + _BUSY_WAIT_S
    while path.is_dir():
        try:
            path.rmdir()
        except OSError as failure:
            # The process that had its files open was killed a moment ago.
            if failure.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
