"""VSPERF without a switch: its packet forwarder TestPMD has the switch's place, on the same two vhost-user ports."""

from pathlib import Path
from typing import Final

from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.testpmd import command
from nfvbed.vsperf.conf.testcase import TestCase
from nfvbed.vsperf.driver import ports
from nfvbed.vsperf.driver.configuration import Additions

NO_SWITCH: Final = "none"
"""VSPERF's own word in VSWITCH for a test without a switch."""
FORWARDER: Final = "TestPMD"
"""The one packet forwarder of VSPERF."""
DEPLOYMENTS: Final = ("p2p",)
"""Deployments in which it forwards on nfvgen's ports alone."""
OPTIONS: Final = ("--no-mlockall", "--disable-link-check")
"""Options of testpmd, before the user's own: nfvgen opens its ends of the ports after testpmd has been started."""


def forwarder_ports(
    case: TestCase, directory: Path, hugepages: Path, arrangement: Arrangement, given: tuple[str, ...] = ()
) -> Additions:
    """Return VSPERF's settings for testpmd between two vhost-user ports.

    Args:
        directory: for the sockets.
        hugepages: a hugetlbfs for testpmd.
        given: TESTPMD_ARGS of the user's files.

    Raises:
        PrerequisiteError: there is no testpmd.
    """
    lcores = [f"0@{arrangement.control_cores[0]}"]
    lcores += [f"{number}@{core}" for number, core in enumerate(arrangement.switch_cores, 1)]
    words = ["--lcores", ",".join(lcores), "--main-lcore", "0", "--no-pci", "--iova-mode=va"]
    words += ["--huge-dir", str(hugepages), f"--file-prefix=nfvbed-{directory.name}-vsperf"]
    for device in ports.devices(directory):
        words += ["--vdev", device]
    forced = {
        "VSWITCH": NO_SWITCH,
        "PKTFWD": FORWARDER,
        "WHITELIST_NICS": [],
        "VSWITCHD_DPDK_ARGS": words,
        "TESTPMD_ARGS": [*OPTIONS, f"--nb-cores={len(arrangement.switch_cores)}", *given],
        "DPDK_SOCKET_MEM": [str(ports.SOCKET_MEMORY_MIB), "0"],
    }
    paths = ports.sections(case, directory, NO_SWITCH, {"type": "src", "src": {}}, command.program())
    return Additions(forced=forced, paths=paths, parameters={"NICS": ports.nics(directory)})
