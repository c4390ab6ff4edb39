"""What the guest is: kernel, CPUs, NUMA nodes, hugepages, versions."""

import json
import os

from agent import cpus, hugepages
from agent.program import read
from agent.tools import FOLDER, PROGRAMS

_DESCRIPTION = "/etc/vloop.json"
_REPORTED = ("dpdk-dev", "iperf3", "netperf", "sockperf", "sysbench", "iproute2", "ethtool", "python3")
_CONGESTION = "/proc/sys/net/ipv4/tcp_available_congestion_control"
_NODES = "/sys/devices/system/node"


def version() -> str:
    """Return the image's version."""
    return json.loads(read(_DESCRIPTION, "{}")).get("version", "unknown")


def describe() -> dict:
    """Return what `info` answers."""
    packages = json.loads(read(_DESCRIPTION, "{}")).get("packages", {})
    memory = next((line.split()[1] for line in read("/proc/meminfo").splitlines() if line.startswith("MemTotal")), "0")
    return {
        "version": version(),
        "kernel": os.uname().release,
        "cpus": cpus.online(),
        "isolated": cpus.isolated(),
        "numa": _numa(),
        "hugepages": hugepages.state(),
        "memory_kib": int(memory),
        "cmdline": read("/proc/cmdline"),
        "tools": list(PROGRAMS),
        "tools_folder": FOLDER,
        "congestion_controls": read(_CONGESTION).split(),
        "versions": {name: packages[name] for name in _REPORTED if name in packages},
        "uptime_s": float(read("/proc/uptime", "0").split()[0]),
    }


def _numa() -> list[dict]:
    if not os.path.isdir(_NODES):
        return []
    nodes = sorted((entry for entry in os.listdir(_NODES) if entry[4:].isdigit()), key=lambda entry: int(entry[4:]))
    return [{"node": int(entry[4:]), "cpus": cpus.listed(read(f"{_NODES}/{entry}/cpulist"))} for entry in nodes]
