"""Probes of programs: DPDK, Open vSwitch, VPP, QEMU and nfvbed's own generator."""

import re
import shutil
from pathlib import Path

from nfvbed.dataplanes.ovs.binaries import locate
from nfvbed.dataplanes.vpp.binaries import VPP_VARIABLE
from nfvbed.dataplanes.vpp.binaries import locate as locate_vpp
from nfvbed.errors import PrerequisiteError
from nfvbed.host.native import native_binary
from nfvbed.host.probes.commands import ask
from nfvbed.host.probes.findings import State, VersionFinding
from nfvbed.host.qemu.binaries import locate as locate_qemu


def probe_dpdk() -> VersionFinding:
    """Ask pkg-config for the library and look for testpmd."""
    answer = ask(["pkg-config", "--modversion", "libdpdk"])
    version = answer[1] if answer and answer[0] == 0 else None
    path = shutil.which("dpdk-testpmd")
    missing = [name for name, found in (("libdpdk", version), ("dpdk-testpmd", path)) if not found]
    return VersionFinding(
        topic="DPDK",
        state=State.ABSENT if missing else State.PRESENT,
        summary=f"{', '.join(missing)} missing" if missing else f"{version}, {path}",
        probed="asked pkg-config, looked for dpdk-testpmd",
        fix="make setup" if missing else "",
        path=path,
        version=version,
    )


def probe_ovs(root: Path) -> VersionFinding:
    """Ask the Open vSwitch that a deployment would use for its version."""
    try:
        path = str(locate(root).vswitchd)
    except PrerequisiteError as error:
        return _absent("Open vSwitch", error.observed or error.what, error.fix or "make setup")
    return _asked("Open vSwitch", [path, "--version"], "make clean setup")


def probe_vpp() -> VersionFinding:
    """Look for VPP where VPP_BIN says, or on PATH. nfvbed does not bring it."""
    try:
        path = str(locate_vpp())
    except PrerequisiteError as error:
        return _absent("VPP", error.observed, error.fix)
    return _asked("VPP", [path, "--version"], f"name a working program in {VPP_VARIABLE}")


def probe_qemu(root: Path) -> VersionFinding:
    """Ask the QEMU that virtual machines would run in for its version."""
    try:
        binaries = locate_qemu(root)
        version = binaries.version
    except PrerequisiteError as error:
        return _absent("QEMU", error.observed or error.what, error.fix)
    return VersionFinding(
        topic="QEMU",
        state=State.PRESENT,
        summary=f"{version} ({binaries.program})",
        probed="asked for its version",
        path=str(binaries.program),
        version=version,
    )


def probe_nfvgen(root: Path) -> VersionFinding:
    """Look for the built generator."""
    try:
        path = native_binary("nfvgen", root)
    except PrerequisiteError as error:
        return _absent("nfvgen", error.observed or error.what, error.fix)
    return _asked("nfvgen", [str(path), "--version"], "make build")


def _absent(topic: str, observed: str, fix: str) -> VersionFinding:
    return VersionFinding(topic=topic, state=State.ABSENT, summary=observed, probed="looked for the program", fix=fix)


def _asked(topic: str, argv: list[str], fix: str) -> VersionFinding:
    answer = ask(argv)
    first = answer[1].splitlines()[0] if answer and answer[1] else ""
    version = re.search(r"\d+\.\d+[\w.~-]*", first)
    works = answer is not None and answer[0] == 0
    return VersionFinding(
        topic=topic,
        state=State.PRESENT if works else State.LIMITED,
        summary=f"{first or 'no answer'} ({argv[0]})",
        probed="asked for its version" if works else f"asked for its version: exit {answer[0] if answer else 'none'}",
        fix="" if works else fix,
        path=argv[0],
        version=version[0] if version else None,
    )
