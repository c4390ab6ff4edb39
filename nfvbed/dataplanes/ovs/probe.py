"""Whether this host can run Open vSwitch with DPDK: the program is run, and its memory reserved, to find out."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from nfvbed.dataplanes.ovs.binaries import OvsBinaries, locate
from nfvbed.errors import PrerequisiteError
from nfvbed.host.fitness import Fitness
from nfvbed.host.native import native_binary
from nfvbed.host.probes.findings import VersionFinding
from nfvbed.host.probes.software import absent, asked
from nfvbed.host.workspace.workspace import try_memory
from nfvbed.patience import patient
from nfvbed.spec.variant import Variant

_TIMEOUT_S = patient(10.0)
FIX = "make setup; of a release, make releases"


def try_open_vswitch(variant: Variant, binaries: OvsBinaries, least_mib: int) -> Fitness:
    """Run the switch's program, reserve its hugepages, and release them.

    On a CPU that DPDK was not built for, the program ends before it writes its version, so this finds that too.

    Args:
        least_mib: the least hugepage memory with which it still works.

    Raises:
        PrerequisiteError: this host cannot.
    """
    if os.geteuid() != 0:
        raise PrerequisiteError("Open vSwitch with DPDK needs root", fix="run it with sudo")
    run_version(binaries.command(binaries.vswitchd))
    native_binary("nfvgen")
    return try_memory(variant.hugepages_mib, least_mib)


def run_version(command: Sequence[str]) -> None:
    """Run Open vSwitch's program with DPDK, asking for its version.

    Args:
        command: that starts it.

    Raises:
        PrerequisiteError: it does not run, or is built without DPDK.
    """
    try:
        argv = [*command, "--version"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise PrerequisiteError(
            "Open vSwitch does not run", where=" ".join(command), observed=str(failure), fix=FIX
        ) from failure
    if done.returncode or "DPDK" not in done.stdout:
        observed = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
        raise PrerequisiteError(
            "Open vSwitch with DPDK does not run", where=" ".join(command), observed=observed, fix=FIX
        )


def probe_ovs(root: Path) -> VersionFinding:
    """Ask the Open vSwitch that a deployment would use for its version."""
    try:
        path = str(locate(root).vswitchd)
    except PrerequisiteError as error:
        return absent("Open vSwitch", error.observed or error.what, error.fix or "make setup")
    return asked("Open vSwitch", [path, "--version"], "make clean setup")
