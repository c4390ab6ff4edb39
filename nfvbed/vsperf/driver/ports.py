"""VSPERF without NICs: its switch gets vhost-user ports in their place, with nfvgen at their ends.

VSPERF's classes stay as they are. It adds its "physical" ports with the PCI address of a NIC as DPDK's device argument;
a vhost device is there instead, and nothing is bound to a driver. (Not memif: its frames came into Open vSwitch
3.1 and none came out.)
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nfvbed.dataplanes.ovs.binaries import OvsBinaries
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.errors import PrerequisiteError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.records import GeneratorPort
from nfvbed.vsperf.conf.testcase import TestCase
from nfvbed.vsperf.driver.configuration import Additions

SWITCH: Final = "OvsDpdkVhost"
"""The one switch of VSPERF whose ports are DPDK devices of any kind."""
SOCKET_MEMORY_MIB: Final = 256
QUEUE_SIZE: Final = 1024
UTILITIES: Final = ("ovs-vsctl", "ovs-ofctl", "ovs-dpctl", "ovs-appctl")


def generator_ports(directory: Path) -> tuple[GeneratorPort, GeneratorPort]:
    """Return nfvgen's ends of the two ports; it serves their sockets, and the switch connects to it."""
    first, second = vhost_user.server_ports(_sockets(directory), QUEUE_SIZE)
    return first, second


def _sockets(directory: Path) -> tuple[Path, Path]:
    found = vhost_user.sockets(directory)
    return found["p0"], found["p1"]


def virtual_ports(
    case: TestCase, directory: Path, hugepages: Path, arrangement: Arrangement, binaries: OvsBinaries
) -> Additions:
    """Return VSPERF's settings for a switch with two vhost-user ports.

    Args:
        directory: for sockets, database and logs of the switch.
        hugepages: a hugetlbfs for the switch.
        binaries: of the Open vSwitch under test.
    """
    forced = {
        "VSWITCH": SWITCH,
        "WHITELIST_NICS": [],
        "VSWITCHD_DPDK_CONFIG": {
            "dpdk-init": "true",
            "dpdk-lcore-mask": _mask(arrangement.control_cores[:1]),
            "dpdk-hugepage-dir": str(hugepages),
            "per-port-memory": "true",
            "dpdk-extra": f"--no-pci --iova-mode=va --file-prefix=nfvbed-{directory.name}-vsperf",
        },
        "VSWITCH_PMD_CPU_MASK": _mask(arrangement.switch_cores).removeprefix("0x"),
        "VSWITCH_AFFINITIZATION_ON": 1,
        "DPDK_SOCKET_MEM": [str(SOCKET_MEMORY_MIB), "0"],
    }
    return Additions(
        forced=forced,
        paths=_paths(case, directory, binaries),
        parameters={"NICS": nics(directory)},
    )


def devices(directory: Path, first: int = 0) -> tuple[str, ...]:
    """Return the two vhost devices of the switch, as DPDK names them; nfvgen serves their sockets.

    Args:
        first: number in the name of the first one.
    """
    sockets = enumerate(_sockets(directory), first)
    return tuple(f"net_vhost{number},iface={path},client=1,queues=1" for number, path in sockets)


def nics(directory: Path, first: int = 0) -> list[dict[str, Any]]:
    """Return the setting NICS, in which DPDK's devices have the place of PCI addresses."""
    return [
        {"pci": device, "type": "pf", "mac": None, "driver": None, "device": None}
        for device in devices(directory, first)
    ]


def _paths(case: TestCase, directory: Path, binaries: OvsBinaries) -> dict[str, Any]:
    """Return the sections of PATHS: nfvbed's Open vSwitch, and nothing that binds NICs to drivers."""
    ovs = {
        "type": "bin",
        "bin": {
            "ovs-vswitchd": str(binaries.vswitchd),
            "ovsdb-server": str(binaries.ovsdb_server),
            "ovsdb-tool": str(binaries.ovsdb_tool),
            "ovsschema": str(binaries.schema),
            **{name: _utility(binaries, name) for name in UTILITIES},
        },
    }
    return sections(case, directory, SWITCH, ovs)


def sections(
    case: TestCase, directory: Path, switch: str, programs: Mapping[str, Any], testpmd: str = ""
) -> dict[str, Any]:
    """Return sections of PATHS in which nothing binds NICs to drivers.

    Args:
        switch: value of VSWITCH.
        programs: its own section.
        testpmd: the program; empty: none runs.
    """
    nothing = shutil.which("true") or "/bin/true"
    found: dict[str, Any] = {
        "vswitch": {
            switch: programs,
            "ovs_var_tmp": f"{directory / 'openvswitch'}/",
            "ovs_etc_tmp": f"{directory / 'openvswitch-etc'}/",
        },
        "dpdk": {
            "type": "bin",
            "bin": {"bind-tool": nothing, "modules": [], "testpmd": testpmd or nothing},
            "src": {"path": str(directory)},
        },
    }
    if "v" not in case.deployment:
        # VSPERF looks for QEMU also where no guest is started.
        found["qemu"] = {"type": "bin", "bin": {"qemu-system": nothing}}
    return found


def environment(directory: Path) -> Mapping[str, str]:
    """Return the variables that keep Open vSwitch's programs out of the system's own folders."""
    return {
        "OVS_RUNDIR": str(directory / "openvswitch"),
        "OVS_DBDIR": str(directory / "openvswitch-etc"),
        "OVS_LOGDIR": str(directory),
    }


def _utility(binaries: OvsBinaries, name: str) -> str:
    path = binaries.root / "usr" / "bin" / name
    if not path.is_file():
        raise PrerequisiteError(f"Open vSwitch's {name} is not there", where=str(path), fix="make setup")
    return str(path)


def _mask(cores: tuple[int, ...]) -> str:
    return hex(sum(1 << core for core in cores))
