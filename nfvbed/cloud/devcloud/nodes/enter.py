"""Becomes the first process of a node: `python -m nfvbed.cloud.devcloud.nodes.enter SPEC`, in new namespaces.

It mounts the node's root, leaves this machine's root, and then runs the supervisor on the node's own Python.
"""

import json
import os
import socket
import sys
from pathlib import Path

from pyroute2 import IPRoute

from nfvbed.cloud.rootmounts import change_root, fill_dev
from nfvbed.host.network.namespaces import MS_BIND, MS_PRIVATE, MS_REC, mount

SUPERVISOR = "/run/nfvbed/supervisor.py"


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
    change_root(root)
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
    fill_dev(root, f"pagesize=2M,size={hugepages_mib}M,mode=1777")
    (root / "run/lock").mkdir(mode=0o1777)


if __name__ == "__main__":
    main()
