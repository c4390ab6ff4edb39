"""Removes one recorded thing from the host. Every function is idempotent: what is gone already is fine."""

import contextlib
import errno
import shutil
import time
from functools import singledispatch
from pathlib import Path

from pyroute2 import IPRoute

from nfvbed import boundedcommand
from nfvbed.errors import DeployError
from nfvbed.host.ledger import processes, restore, tracefs
from nfvbed.host.ledger.entries import (
    CgroupEntry,
    CommandEntry,
    DirectoryEntry,
    DriverEntry,
    Entry,
    EswitchEntry,
    FileEntry,
    HugepagesEntry,
    LinkEntry,
    LinkStateEntry,
    MembersEntry,
    MountEntry,
    NetdevEntry,
    NetnsEntry,
    ProcessEntry,
    SharedMemoryEntry,
    TraceInstanceEntry,
    VfSettingsEntry,
)
from nfvbed.host.ledger.poollock import lower_pool, persistent_pages, pool_locked
from nfvbed.host.network import namespaces
from nfvbed.patience import patient

_SHARED_MEMORY = Path("/dev/shm")
_HUGEPAGES_WAIT_S = patient(3.0)
_CGROUP_WAIT_S = patient(5.0)
_UNMOUNT_WAIT_S = patient(2.0)


@singledispatch
def undo(entry: object) -> None:
    """Remove a recorded thing.

    Raises:
        OSError, DeployError: it is still there.
    """
    raise DeployError(f"nothing is known about undoing {entry!r}")


@undo.register
def _(entry: DirectoryEntry) -> None:
    path = Path(entry.path)
    if not path.is_dir():
        return
    if entry.shared:
        with contextlib.suppress(OSError):
            path.rmdir()
        return
    _refuse_mounts_below(entry.path)
    shutil.rmtree(path)


def _refuse_mounts_below(path: str) -> None:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        target = line.split()[1]
        if target == path or target.startswith(path + "/"):
            raise DeployError(f"{path} is not removed: something is still mounted in it", where=target)


@undo.register
def _(entry: NetnsEntry) -> None:
    namespaces.remove(entry.path)


@undo.register
def _(entry: MountEntry) -> None:
    deadline = time.monotonic() + _UNMOUNT_WAIT_S
    while True:
        try:
            namespaces.unmount(entry.path)
            return
        except OSError as failure:
            if failure.errno in (errno.EINVAL, errno.ENOENT):
                return
            if failure.errno != errno.EBUSY:
                raise
        if time.monotonic() > deadline:
            namespaces.unmount(entry.path, namespaces.MNT_DETACH)
            return
        time.sleep(0.02)


@undo.register
def _(entry: CgroupEntry) -> None:
    kill_cgroup(entry)
    path = Path(entry.path)
    if not path.is_dir():
        return
    for child in sorted((p for p in path.rglob("*") if p.is_dir()), reverse=True):
        child.rmdir()
    path.rmdir()


def kill_cgroup(entry: CgroupEntry) -> None:
    """Kill what runs in the group, and wait until it is empty.

    Raises:
        DeployError: something in it does not end.
    """
    path = Path(entry.path)
    if not path.is_dir():
        return
    (path / "cgroup.kill").write_text("1")
    deadline = time.monotonic() + _CGROUP_WAIT_S
    while "populated 1" in (path / "cgroup.events").read_text():
        if time.monotonic() > deadline:
            pids = (path / "cgroup.procs").read_text().split()
            raise DeployError("processes do not end after SIGKILL", where=str(path), observed=f"pids {pids}")
        time.sleep(0.005)


@undo.register
def _(entry: MembersEntry) -> None:
    path, previous = Path(entry.path), Path(entry.previous)
    deadline = time.monotonic() + _CGROUP_WAIT_S
    while path.is_dir():
        target = (previous if previous.is_dir() else path.parent) / "cgroup.procs"
        for pid in (path / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                target.write_text(pid)
        # One that was forked meanwhile is moved in the next round, and one that has ended leaves when it is waited for.
        with contextlib.suppress(OSError):
            path.rmdir()
            return
        if time.monotonic() > deadline:
            pids = (path / "cgroup.procs").read_text().split()
            raise DeployError("processes do not leave a cgroup", where=str(path), observed=f"pids {pids}")
        time.sleep(0.02)


@undo.register
def _(entry: ProcessEntry) -> None:
    if not processes.terminate(entry.pid, entry.start_time):
        raise DeployError(f"process {entry.name} does not end", where=f"pid {entry.pid}")


@undo.register
def _(entry: HugepagesEntry) -> None:
    path = Path(entry.path)
    with pool_locked():
        current = persistent_pages(path)
        if current <= entry.previous:
            return
        # Others may have added pages since: take back ours, and no more than there was.
        wanted = max(entry.previous, current - entry.added)
        # Frames of an AF_XDP socket that were under way when it ended hold their pages until the kernel has freed them.
        deadline = time.monotonic() + _HUGEPAGES_WAIT_S
        while not lower_pool(path, wanted) and time.monotonic() < deadline:
            time.sleep(0.05)


def settled(entry: Entry) -> Entry:
    """Return the entry after undoing, so that it can be undone twice.

    Pages from before may have been those of an nfvbed that is gone. Where it is known how many are ours, that number
    is taken from the present one.
    """
    if not isinstance(entry, HugepagesEntry) or entry.granted is None:
        return entry
    left = max(0, persistent_pages(Path(entry.path)) - entry.granted)
    return entry.model_copy(update={"previous": left, "added": entry.granted, "granted": None})


@undo.register
def _(entry: FileEntry) -> None:
    path = Path(entry.path)
    if path.exists():
        path.write_text(entry.previous)


@undo.register
def _(entry: SharedMemoryEntry) -> None:
    for path in _SHARED_MEMORY.glob(f"{entry.prefix}*"):
        path.unlink(missing_ok=True)


@undo.register
def _(entry: LinkEntry) -> None:
    with IPRoute() as route:
        for index in route.link_lookup(ifname=entry.name):
            route.link("del", index=index)


@undo.register
def _(entry: TraceInstanceEntry) -> None:
    tracefs.remove_instance(Path(entry.path))


@undo.register
def _(entry: DriverEntry) -> None:
    restore.driver(entry)


@undo.register
def _(entry: VfSettingsEntry) -> None:
    restore.vf_settings(entry)


@undo.register
def _(entry: NetdevEntry) -> None:
    restore.netdev(entry)


@undo.register
def _(entry: LinkStateEntry) -> None:
    restore.link_state(entry)


@undo.register
def _(entry: EswitchEntry) -> None:
    restore.eswitch(entry)


@undo.register
def _(entry: CommandEntry) -> None:
    # Its status is not judged: what it takes away may have gone with a process that was killed.
    boundedcommand.run(entry.argv, within_s=entry.within_s, environment=entry.environment)
