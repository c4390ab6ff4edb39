"""Runs on a machine of a rack, as `python3 - [ADDRESS]`: prints the files and answers with its facts, as JSON.

It changes nothing, and needs Python's standard library alone (3.9 or later): nothing of nfvbed is there.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MAX_BYTES = 65536
TIME_LIMIT_S = 8
DISCARD = 9
RESOLVED_WITHIN_S, RESOLVED_EVERY_S = 9.0, 0.2
FILES = (
    "proc/sys/kernel/random/boot_id",
    "proc/sys/kernel/hostname",
    "proc/sys/kernel/osrelease",
    "etc/os-release",
    "sys/devices/system/cpu/isolated",
    "sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list",
    "sys/devices/system/node/node[0-9]*/cpulist",
    "sys/devices/system/node/node[0-9]*/meminfo",
    "sys/devices/system/node/node[0-9]*/hugepages/hugepages-*kB/*_hugepages",
    "sys/kernel/mm/hugepages/hugepages-*kB/nr_hugepages",
    # What two machines that are alike have in common (nfvbed.host.facts.lasting).
    "proc/cpuinfo",
    "proc/cmdline",
    "proc/meminfo",
    "sys/devices/system/cpu/vulnerabilities/*",
    "sys/devices/system/cpu/smt/control",
    "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
    "sys/devices/system/clocksource/clocksource0/current_clocksource",
    # What its first process may hand on, and settings of the kernel that Kolla writes.
    "proc/1/limits",
    "proc/1/status",
    "proc/sys/net/ipv4/neigh/default/gc_thresh[123]",
    "proc/sys/net/ipv4/ip_nonlocal_bind",
    "proc/sys/net/unix/max_dgram_qlen",
    "proc/sys/net/bridge/bridge-nf-call-ip*tables",
)
MODULE_LISTS = ("proc/modules", "lib/modules/{kernel}/modules.builtin")
"""Ansible's module for the kernel's opens both."""
OF_NICS = ("class", "vendor", "device", "numa_node", "sriov_totalvfs", "sriov_numvfs")
OF_MEMBERS = ("class", "driver", "iommu_group")
# The last three are there of taps (Open vSwitch's bridges too), bridges and bonds alone.
OF_INTERFACES = ("address", "mtu", "carrier", "flags", "tun_flags", "bridge/bridge_id", "bonding/mode")
MODULES = (
    "vfio-pci",
    "uio_pci_generic",
    "mlx4_core",
    "mlx5_core",
    "af_packet",
    "openvswitch",
    "macvtap",
    "br_netfilter",
    "8021q",
)
# Where a part of the kernel is seen that has no folder below /sys/module when it is built in.
SEEN_AT = {"af_packet": "/proc/net/packet", "8021q": "/proc/net/vlan"}
# Of linux/genetlink.h and linux/netdev.h.
NETLINK_GENERIC, GENL_ID_CTRL = 16, 16
CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 3, 1, 2
NETDEV_CMD_DEV_GET, NETDEV_A_DEV_IFINDEX, NETDEV_A_DEV_XDP_FEATURES = 1, 1, 3
NLM_F_REQUEST, NLM_F_DUMP, NLMSG_ERROR, NLMSG_DONE = 1, 0x300, 2, 3
QUESTIONS = {
    "links": ("ip", "-o", "-d", "link", "show"),
    "addresses": ("ip", "-o", "-4", "address", "show"),
    "routes": ("ip", "-o", "route", "show", "default"),
    "sudo": ("sudo", "-n", "true"),
}


def text(path: Path) -> str | None:
    """Return a file's text; None where it is missing or cannot be read."""
    try:
        with path.open(errors="replace") as file:
            return file.read(MAX_BYTES).strip()
    except OSError:
        return None


def is_nic(device: Path) -> bool:
    """Return whether a PCI device is a network controller."""
    return (text(device / "class") or "").startswith("0x02")


def recorded_files(root: Path = Path("/")) -> dict[str, Any]:
    """Return texts by path; links are `{"link": target}`."""
    paths = [path for pattern in FILES for path in root.glob(pattern)]
    nics = [device for device in root.glob("sys/bus/pci/devices/*") if is_nic(device)]
    for device in nics:
        paths += [device / name for name in (*OF_NICS, "driver", "iommu_group", "physfn")]
    # VFIO gives an IOMMU group away as a whole: what else is in it, of any kind.
    for member in {member for device in nics for member in (device / "iommu_group" / "devices").glob("*")}:
        paths += [root / "sys/bus/pci/devices" / member.name / name for name in OF_MEMBERS]
    for interface in root.glob("sys/class/net/*"):
        paths += [interface, *(interface / name for name in OF_INTERFACES)]
        paths += interface.glob("lower_*")
    paths += [group / "type" for group in root.glob("sys/kernel/iommu_groups/*")]
    found: dict[str, Any] = {}
    for path in paths:
        name = str(path.relative_to(root))
        if name.startswith("sys/") and path.is_symlink():
            found[name] = {"link": str(path.readlink())}
            continue
        content = text(path)
        if content is not None:
            found[name] = content
    return found


def answer(argv: Sequence[str]) -> dict[str, Any]:
    """Run a program that only reads; status 127: it is not there or did not end."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIME_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        return {"status": 127, "out": "", "said": str(failure)}
    said = done.stderr.decode(errors="replace").strip()
    return {"status": done.returncode, "out": done.stdout.decode(errors="replace").strip(), "said": said}


def netlink(family: int, command: int, flags: int, attribute: bytes) -> list[tuple[int, bytes]]:
    """Ask generic netlink; return the attributes of its answers, each with its number, in their order."""
    found: list[tuple[int, bytes]] = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC) as asked:
        asked.settimeout(TIME_LIMIT_S)
        body = struct.pack("=BBH", command, 1, 0) + attribute
        asked.send(struct.pack("=IHHII", 16 + len(body), family, flags, 1, 0) + body)
        while True:
            answer = asked.recv(MAX_BYTES)
            while len(answer) >= 16:
                size, kind = struct.unpack_from("=IH", answer)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    return found
                found += attributes(answer[20:size])
                answer = answer[(size + 3) & ~3 :]
                if flags != NLM_F_REQUEST | NLM_F_DUMP:
                    return found


def attributes(data: bytes) -> list[tuple[int, bytes]]:
    """Split netlink's attributes."""
    found = []
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        if size < 4:
            break
        found.append((kind, data[4:size]))
        data = data[(size + 3) & ~3 :]
    return found


def xdp_features() -> dict[str, int]:
    """Return what XDP can do with each device (`xdp-features` of the kernel's netdev family, 6.3 or later)."""
    name = b"netdev\0"
    by_name = struct.pack("=HH", 4 + len(name), CTRL_ATTR_FAMILY_NAME) + name + b"\0"
    try:
        numbers = dict(netlink(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_REQUEST, by_name))
        family = numbers.get(CTRL_ATTR_FAMILY_ID)
        if family is None:
            return {}
        answers = netlink(struct.unpack("=H", family)[0], NETDEV_CMD_DEV_GET, NLM_F_REQUEST | NLM_F_DUMP, b"")
    except OSError:
        return {}
    found, device = {}, ""
    for kind, value in answers:
        if kind == NETDEV_A_DEV_IFINDEX:
            device = socket.if_indextoname(struct.unpack("=I", value)[0])
        elif kind == NETDEV_A_DEV_XDP_FEATURES:
            found[device] = struct.unpack("=Q", value)[0]
    return found


def has_driver(name: str) -> bool:
    """Return whether the kernel has a driver, or its module can be loaded."""
    there = any((Path(folder) / name).is_dir() for folder in ("/sys/bus/pci/drivers", "/sys/module"))
    there = there or (name in SEEN_AT and Path(SEEN_AT[name]).exists())
    return there or answer(("modprobe", "-n", "-q", name))["status"] == 0


def neighbour(address: str) -> str:
    """Return what the kernel knows of an address in its networks after it has asked for it (ARP).

    An empty datagram to the port of the service discard makes it ask. A free address is FAILED after three seconds; one
    that was known before is asked again after five.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        try:
            datagrams.sendto(b"", (address, DISCARD))
        except OSError:
            return ""
    found = ""
    for _ in range(int(RESOLVED_WITHIN_S / RESOLVED_EVERY_S)):
        found = answer(("ip", "-o", "-4", "neigh", "show", "to", address))["out"]
        # None: the address is its own, or behind a router.
        if not found or found.endswith(("REACHABLE", "PERMANENT", "FAILED")):
            break
        time.sleep(RESOLVED_EVERY_S)
    return found


def runs(program: str) -> bool:
    """Return whether a process of this name runs here, in a container or not."""
    return any(text(comm) == program for comm in Path("/proc").glob("[0-9]*/comm"))


def opens(path: str) -> bool:
    """Return whether a program of Python's opens a file, as Ansible's modules do."""
    return bool(answer((sys.executable, "-c", "import sys; open(sys.argv[1]).close()", path))["status"] == 0)


def main() -> None:
    """Print all recorded files and answers."""
    # An account that is not root's often has no folders for administration in its path.
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    os.environ["LC_ALL"] = "C"
    answers = {name: answer(argv) for name, argv in QUESTIONS.items() if name != "sudo" or os.getuid() != 0}
    modules = {name: has_driver(name) for name in MODULES}
    came_in = os.environ.get("SSH_CONNECTION", "").split()
    release = os.uname().release
    document = {
        "files": recorded_files(),
        "answers": answers,
        "modules": modules,
        "module_lists": {name: opens(f"/{name}") for name in (one.format(kernel=release) for one in MODULE_LISTS)},
        "features": xdp_features(),
        "address": came_in[2] if len(came_in) == 4 else "",
        "uid": os.getuid(),
    }
    if len(sys.argv) > 1:
        document["virtual"] = {"neighbour": neighbour(sys.argv[1]), "keepalived": runs("keepalived")}
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main()
