"""The guest node's initial ramdisk: mounts the host's files below a layer of memory, and starts the agent there.

The host's root comes over 9p, for reading alone; what the guest writes stays in its memory (overlayfs over a tmpfs), so
nothing of the host changes, and every file has the path that it has on the host.
"""

from pathlib import Path

from nfvbed.host.qemu.initramfs import Member, archive
from nfvbed.sites.guest_node.files import NodeFiles

ROOT_TAG = "nfvbed-root"
AGENT = Path(__file__).with_name("agent.py")
PYTHON = "/usr/bin/python3"
FAILED = "nfvbed: guest node failed:"
"""On the console, before what failed."""

_FIRST_MODULES = ("netfs", "9pnet", "9p", "9pnet_virtio", "overlay")
"""Without which there is no root; each after those that it needs."""
_FOLDERS = ("bin", "dev", "proc", "sys", "modules", "lower", "upper", "whole")

_INIT = f"""#!/bin/busybox sh
B=/bin/busybox
fail() {{ echo "{FAILED} $*"; $B poweroff -f; }}
$B mount -t devtmpfs dev /dev
exec </dev/ttyS0 >/dev/ttyS0 2>&1
$B mount -t proc proc /proc && $B mount -t sysfs sys /sys || fail "no /proc and /sys"
for name in $($B cat /modules/order); do $B insmod /modules/$name.ko || fail "module $name"; done
$B mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose {ROOT_TAG} /lower || fail "the host's root"
$B mount -t tmpfs -o mode=0755 tmpfs /upper && $B mkdir /upper/files /upper/work || fail "no memory for files"
$B mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /whole || fail "overlay"
for name in dev proc sys; do $B mount --move /$name /whole/$name || fail "mount of /$name"; done
exec $B switch_root /whole @START@
"""


def ramdisk(files: NodeFiles, modules: tuple[str, ...]) -> bytes:
    """Make the ramdisk.

    Args:
        modules: modules that the agent loads before it says that it is ready.

    Raises:
        PrerequisiteError: the kernel lacks a module without which there is no root.
    """
    members = [Member(folder) for folder in _FOLDERS]
    members.append(Member("bin/busybox", files.busybox.read_bytes()))
    order = []
    for name in _FIRST_MODULES:
        content = files.module(name)
        if content is not None:
            members.append(Member(f"modules/{name}.ko", content))
            order.append(name)
    members.append(Member("modules/order", "".join(f"{name}\n" for name in order).encode()))
    words = [PYTHON, "-I", str(AGENT), str(files.modules), *modules]
    # The words are paths and module names: none holds a quote.
    command = " ".join(f"'{word}'" for word in words)
    members.append(Member("init", _INIT.replace("@START@", command).encode()))
    return archive(members)
