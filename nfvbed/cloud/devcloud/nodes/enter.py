"""Becomes the first process of a node: `python -m nfvbed.cloud.devcloud.nodes.enter SPEC`, in new namespaces.

It mounts the node's root, leaves this machine's root, and then runs the supervisor on the node's own Python.
"""

import json
import os
import socket
import stat
import sys
from pathlib import Path

from pyroute2 import IPRoute

from nfvbed.host.network.namespaces import MNT_DETACH, MS_BIND, MS_PRIVATE, MS_REC, libc, mount, unmount

SUPERVISOR = "/run/nfvbed/supervisor.py"
_DEVICES = (("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9), ("tty", 5, 0))
_TUN = (10, 200)
_LINKS = (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"))


def main() -> None:
    """Read the node's spec, and become its first process."""
    spec = json.loads(Path(sys.argv[1]).read_text())
    root = Path(spec["merged"])
    socket.sethostname(spec["name"])
    mount("none", "/", "none", MS_REC | MS_PRIVATE)
    layers = ":".join(spec["lower"])
    mount("nfvbed", str(root), "overlay", 0, f"lowerdir={layers},upperdir={spec['layer']},workdir={spec['work']}")
    _mount_kernel(root, spec["hugepages_mib"])
    for source, target in spec["binds"]:
        (root / target).mkdir(parents=True, exist_ok=True)
        mount(source, str(root / target), "none", MS_BIND)
    with IPRoute() as route:
        route.link("set", index=1, state="up")
    _pivot(root)
    Path("/etc/hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for n, a in spec["hosts"]))
    Path("/etc/hostname").write_text(spec["name"] + "\n")
    # No name leads out of a node: a look-up fails at once instead of after a time-out.
    Path("/etc/resolv.conf").unlink(missing_ok=True)
    Path("/etc/resolv.conf").write_text("")
    marks = {name: value for name, value in os.environ.items() if name.startswith("NFVBED_")}
    os.execve("/usr/bin/python3", ["nfvbed-node", "-I", SUPERVISOR], {"PATH": "/usr/bin:/bin", **marks})


def _mount_kernel(root: Path, hugepages_mib: int) -> None:
    """Mount the kernel's file systems, and a /dev without this machine's devices, above all without /dev/kvm."""
    mount("proc", str(root / "proc"), "proc")
    mount("sysfs", str(root / "sys"), "sysfs")
    for name, options in (("run", "mode=755"), ("tmp", "mode=1777"), ("dev", "mode=755")):
        mount("tmpfs", str(root / name), "tmpfs", 0, options)
    for name, major, minor in _DEVICES:
        _device(root / "dev" / name, major, minor)
    (root / "dev/net").mkdir()
    _device(root / "dev/net/tun", *_TUN)
    for name, target in _LINKS:
        (root / "dev" / name).symlink_to(target)
    for name, kind, options in (
        ("pts", "devpts", "newinstance,ptmxmode=0666,mode=0620,gid=5"),
        ("shm", "tmpfs", "mode=1777"),
        ("hugepages", "hugetlbfs", f"pagesize=2M,size={hugepages_mib}M,mode=1777"),
    ):
        (root / "dev" / name).mkdir()
        mount(kind, str(root / "dev" / name), kind, 0, options)
    (root / "run/lock").mkdir(mode=0o1777)


def _device(path: Path, major: int, minor: int) -> None:
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
    path.chmod(0o666)


def _pivot(root: Path) -> None:
    os.chdir(root)
    if libc.pivot_root(b".", b".") != 0:
        raise OSError("pivot_root failed")
    # Both are at "." now, this machine's on top (pivot_root(2)).
    unmount(".", MNT_DETACH)
    os.chdir("/")


if __name__ == "__main__":
    main()
