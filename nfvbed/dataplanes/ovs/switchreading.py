"""Readings of the Open vSwitch on a cloud's machine: the forms of its database and tables are known here."""

import json
import re
from typing import Any

from nfvbed.cloud.verify.commands import MachineCommands
from nfvbed.dataplanes.ovs.rxq import COMMAND, QueueLoad, parse_loads
from nfvbed.errors import InternalError
from nfvbed.records import Record

_OF_GUESTS = re.compile(r"file=\S*(?:libvirt|qemu|memory-backend)")
_NUMA_MAPS = (
    # Some images have no pidof; a process is named as its file is, which Debian calls ovs-vswitchd-dpdk.
    'for one in /proc/[0-9]*; do case "$(cat "$one/comm" 2>/dev/null)" in ovs-vswitchd*) cat "$one/numa_maps";; esac;'
    " done"
)


class InterfaceReading(Record):
    """An interface of Open vSwitch's."""

    name: str
    type: str
    error: str = ""
    status: dict[str, str] = {}

    @property
    def numa_node(self) -> int | None:
        """NUMA node of its NIC, or of its guest's memory; None: the switch does not say, or says -1."""
        said = self.status.get("numa_id", self.status.get("numa", ""))
        return int(said) if said.isdigit() else None


class SwitchReading(Record):
    """Open vSwitch of a machine."""

    bridges: dict[str, str]
    """Datapath type by bridge; empty: the kernel's."""
    settings: dict[str, str]
    """`other_config` of the whole switch."""
    interfaces: tuple[InterfaceReading, ...]
    threads: tuple[int, ...]
    """Cores of the polling threads that run."""
    queues: tuple[QueueLoad, ...]
    queues_unread: str = ""
    """Why the queues could not be read; empty: they were."""
    held_pages: dict[int, dict[int, int]] = {}
    """Hugepages that its daemon holds, by NUMA node and size in KiB; without guests' memory, which it maps too."""
    pages_unread: str = ""
    """Why those could not be read; empty: they were, or were not asked for."""


def read_switch(commands: MachineCommands, *, with_pages: bool = False) -> SwitchReading:
    """Read a machine's Open vSwitch.

    Args:
        with_pages: read the hugepages of its daemon, too.

    Raises:
        DeployError: it does not answer.
    """
    bridges = rows(commands.vsctl("--columns=name,datapath_type", "list", "Bridge"))
    (whole,) = rows(commands.vsctl("--columns=other_config", "list", "Open_vSwitch"))
    interfaces = rows(commands.vsctl("--columns=name,type,error,status", "list", "Interface"))
    shown = commands.appctl(COMMAND)
    queues, unread = _queues(shown)
    maps = commands.by_switch(("sh", "-c", _NUMA_MAPS)) if with_pages else None
    return SwitchReading(
        bridges={one["name"]: one["datapath_type"] for one in bridges},
        settings=whole["other_config"],
        interfaces=tuple(
            InterfaceReading(name=one["name"], type=one["type"], error=one["error"] or "", status=one["status"])
            for one in interfaces
        ),
        threads=tuple(
            int(core) for core in re.findall(r"^pmd thread numa_id -?\d+ core_id (\d+):", shown, re.MULTILINE)
        ),
        queues=queues,
        queues_unread=unread,
        held_pages=pages_of(maps.out) if maps else {},
        pages_unread=(maps.said.strip() or "no process of its name") if maps and not maps.out.strip() else "",
    )


def pages_of(maps: str) -> dict[int, dict[int, int]]:
    """Return the hugepages in a process's `numa_maps` (proc_pid_numa_maps(5)), by NUMA node and size in KiB.

    Memory of guests is left out: libvirt has it in a folder of its own, or QEMU names it.
    """
    found: dict[int, dict[int, int]] = {}
    for line in maps.splitlines():
        size = re.search(r"\bkernelpagesize_kB=(\d+)", line)
        if size is None or not re.search(r"\bhuge\b", line) or _OF_GUESTS.search(line):
            continue
        for node, count in re.findall(r"\bN(\d+)=(\d+)", line):
            sizes = found.setdefault(int(node), {})
            sizes[int(size[1])] = sizes.get(int(size[1]), 0) + int(count)
    return found


def _queues(shown: str) -> tuple[tuple[QueueLoad, ...], str]:
    """Return the queues, or why they cannot be read: all else is checked nevertheless."""
    try:
        return parse_loads(shown).queues, ""
    except InternalError as failure:
        return (), f"{failure.what}: {failure.observed.strip()}"


def rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of a table of Open vSwitch's database, in the JSON that `ovs-vsctl` writes (RFC 7047, 5.1)."""
    table = json.loads(text)
    return [dict(zip(table["headings"], map(_value, row), strict=True)) for row in table["data"]]


def _value(value: Any) -> Any:
    """Return a map as a dict, a set of one value or none as that value or None, and others unchanged."""
    if isinstance(value, list) and value[:1] == ["map"]:
        return {str(key): _value(one) for key, one in value[1]}
    if isinstance(value, list) and value[:1] == ["set"]:
        values = [_value(one) for one in value[1]]
        return values if len(values) > 1 else (values[0] if values else None)
    return value
