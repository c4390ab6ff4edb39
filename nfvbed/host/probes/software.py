"""Probes of programs: DPDK, QEMU and nfvbed's own generator; those of data planes are in their rooms."""

import re
import shutil
from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.host.native import native_binary
from nfvbed.host.probes.commands import ask
from nfvbed.host.probes.findings import VersionFinding
from nfvbed.host.qemu.binaries import locate
from nfvbed.records.findings import State


def probe_dpdk() -> VersionFinding:
    """Find DPDK's library by pkg-config, and testpmd."""
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


def probe_qemu(root: Path) -> VersionFinding:
    """Find the version of the QEMU for virtual machines."""
    try:
        binaries = locate(root)
        version = binaries.version
    except PrerequisiteError as error:
        return absent("QEMU", error.observed or error.what, error.fix)
    return VersionFinding(
        topic="QEMU",
        state=State.PRESENT,
        summary=f"{version} ({binaries.program})",
        probed="asked for its version",
        path=str(binaries.program),
        version=version,
    )


def probe_nfvgen(root: Path) -> VersionFinding:
    """Find the built generator."""
    try:
        path = native_binary("nfvgen", root)
    except PrerequisiteError as error:
        return absent("nfvgen", error.observed or error.what, error.fix)
    return asked("nfvgen", [str(path), "--version"], "make build")


def absent(topic: str, observed: str, fix: str) -> VersionFinding:
    """Return the finding of a program that was not found."""
    return VersionFinding(topic=topic, state=State.ABSENT, summary=observed, probed="looked for the program", fix=fix)


def asked(topic: str, argv: list[str], fix: str) -> VersionFinding:
    """Return the finding of a program asked for its version; without an answer it is limited."""
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
