"""Keeps a machine of a box: `python -m nfvbed.cloud.box.keeper SPEC`; the machine ends with this process.

It has the machine's network namespace, so that cables stay while the machine restarts. The kernel reports a restart of
a process namespace as SIGHUP of its first process, and a halt as SIGINT (reboot(2)).
"""

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from nfvbed.cloud.rootmounts import change_root, fill_dev
from nfvbed.host.ledger.processes import start_time
from nfvbed.host.network.namespaces import (
    CLONE_NEWNET,
    CLONE_NEWNS,
    MS_BIND,
    MS_PRIVATE,
    MS_REC,
    libc,
    mount,
)
from nfvbed.wholefile import write_whole

_CLONE_NEWCGROUP = 0x02000000
_CLONE_NEWUTS = 0x04000000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWPID = 0x20000000
_MS_SHARED = 0x100000
_PR_SET_PDEATHSIG = 1
_SYSTEMD = "/lib/systemd/systemd"
_ENVIRONMENT = {"container": "nfvbed-box", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
_FAILED = 70


def main() -> None:
    """Read the machine's spec, and start it until it is switched off."""
    spec = json.loads(Path(sys.argv[1]).read_text())
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    _unshare(CLONE_NEWNET)
    starts = 1
    while _started(spec, starts) == signal.SIGHUP:
        starts += 1


def _started(spec: dict[str, Any], starts: int) -> int:
    """Run a machine until it ends; return the signal that ended its first process, 0 where none did."""
    said, say = os.pipe()
    middle = os.fork()
    if not middle:
        os.close(said)
        with _last_words():
            _end_with_parent()
            status = _run(spec, starts)
            os.write(say, str(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0).encode())
    os.close(say)
    os.waitpid(middle, 0)
    with os.fdopen(said) as stream:
        return int(stream.read() or 0)


def _run(spec: dict[str, Any], starts: int) -> int:
    """Start the first process of a new process namespace; return its status when it has ended."""
    state = Path(spec["state"])
    _unshare(_CLONE_NEWPID)
    child = os.fork()
    if not child:
        with _last_words():
            _boot(spec)
    write_whole(state, json.dumps({"pid": child, "start_time": start_time(child), "starts": starts}), 0o600)
    try:
        return os.waitpid(child, 0)[1]
    finally:
        state.unlink(missing_ok=True)


@contextmanager
def _last_words() -> Iterator[None]:
    """End this process with the block, whatever happens in it: a copy of a process does not go on as the first one."""
    try:
        yield
        os._exit(0)
    finally:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(_FAILED)


def clear_group(group: Path) -> None:
    """Take from a machine's control group what an earlier start left in it.

    A group that hands controllers down, as a container engine has systemd do, takes no process itself (EBUSY).
    """
    for folder, _, _ in os.walk(group, topdown=False):
        if folder != str(group):
            Path(folder).rmdir()
    handed = group / "cgroup.subtree_control"
    for controller in handed.read_text().split():
        handed.write_text(f"-{controller}")


def _boot(spec: dict[str, Any]) -> NoReturn:
    """Make the mounts of a machine, and become its first process."""
    _end_with_parent()
    clear_group(Path(spec["cgroup"]))
    (Path(spec["cgroup"]) / "cgroup.procs").write_text("0")
    _unshare(CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWCGROUP)
    root = Path(spec["merged"])
    mount("none", "/", "none", MS_REC | MS_PRIVATE)
    layers = f"lowerdir={spec['lower']},upperdir={spec['layer']},workdir={spec['work']}"
    mount("nfvbed", str(root), "overlay", 0, layers)
    _mount_kernel(root)
    _write_kernel_files(root, Path(spec["kernel_files"]), spec["site"])
    for source, target in spec["binds"]:
        (root / target).mkdir(parents=True, exist_ok=True)
        mount(source, str(root / target), "none", MS_BIND)
    change_root(root)
    # Containers' engines share mounts with their containers.
    mount("none", "/", "none", MS_REC | _MS_SHARED)
    name = str(spec["name"]).encode()
    if libc.sethostname(name, len(name)) != 0:
        raise OSError(ctypes.get_errno(), "sethostname failed")
    subprocess.run(["/sbin/depmod"], stdin=subprocess.DEVNULL, check=False)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.execve(_SYSTEMD, [_SYSTEMD, "--system", "--show-status=yes", "--log-target=console"], _ENVIRONMENT)


def _mount_kernel(root: Path) -> None:
    mount("proc", str(root / "proc"), "proc")
    mount("sysfs", str(root / "sys"), "sysfs")
    mount("cgroup2", str(root / "sys/fs/cgroup"), "cgroup2")
    for name in ("run", "dev"):
        mount("tmpfs", str(root / name), "tmpfs", 0, "mode=755")
    fill_dev(root, "pagesize=2M")


def _write_kernel_files(root: Path, folder: Path, site: str) -> None:
    """Bind files over those of the kernel's that a machine has of its own: what its roles read before and after."""
    menu = root / "boot/grub/grub.cfg"
    line = command_line(menu.read_text() if menu.exists() else "", site)
    files = {
        "proc/sys/kernel/random/boot_id": Path("/proc/sys/kernel/random/uuid").read_text(),
        "proc/cmdline": line + "\n",
        "sys/devices/system/cpu/isolated": isolated(line) + "\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        mount(str(path), str(root / name), "none", MS_BIND)


def command_line(menu: str, site: str) -> str:
    """Return the kernel command line that the boot loader's menu of a machine gives its next start."""
    return menu.strip() or f"root=box-{site}"


def isolated(line: str) -> str:
    """Return the isolated cores of a kernel command line, as the kernel shows them; empty: none."""
    words = [word for word in line.split() if word.startswith("isolcpus=")]
    # The last one counts; before the cores stand flags, as in `isolcpus=domain,managed_irq,2-5,8`.
    cores = re.findall(r"(?<![\w-])\d+(?:-\d+)?(?![\w-])", words[-1].partition("=")[2]) if words else []
    return ",".join(cores)


def _unshare(flags: int) -> None:
    if libc.unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "unshare")


def _end_with_parent() -> None:
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl failed")


if __name__ == "__main__":
    main()
