"""Turns a variant's options into Open vSwitch's settings (ovs-vswitchd.conf.db(5)): threads, queues, caches, flows."""

import re
import subprocess
from collections.abc import Sequence

from nfvbed.dataplanes.ovs.binaries import OvsBinaries
from nfvbed.dataplanes.ovs.options import OvsOptions
from nfvbed.dataplanes.ovs.packagesets import PackageSetOptions
from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions
from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.spec.layout import each_of
from nfvbed.spec.variant import Variant

_TIMEOUT_S = 10.0
_FIX = "make setup; of a release, make releases"
_VERSION = re.compile(r"\(Open vSwitch\) (\d+)\.(\d+)")


def bridge_settings(options: OvsOptions) -> dict[str, str]:
    """Return the bridge's settings (`other_config` of its row)."""
    return {} if options.mac_table_size is None else {"mac-table-size": str(options.mac_table_size)}


def flow_settings(options: OvsOptions) -> dict[str, str]:
    """Return how many flows the datapath may keep, and how long; what is not given is left to Open vSwitch."""
    asked = {
        "flow-limit": options.flow_limit,
        "max-idle": options.max_idle_ms,
        "max-revalidator": options.max_revalidator_ms,
    }
    return {key: str(value) for key, value in asked.items() if value is not None}


def userspace_settings(options: OvsUserspaceOptions) -> dict[str, str]:
    """Return the settings of threads, caches and flows; defaults are not written."""
    found = flow_settings(options)
    found |= {"smc-enable": "true"} if options.smc else {}
    found |= {} if options.emc else {"emc-insert-inv-prob": "0"}
    found |= {} if options.rxq_assignment == "cycles" else {"pmd-rxq-assign": options.rxq_assignment}
    found |= {"pmd-maxsleep": str(options.pmd_maxsleep_us)} if options.pmd_maxsleep_us else {}
    balance = options.auto_load_balance
    if balance is not None:
        found |= {
            "pmd-auto-lb": "true",
            "pmd-auto-lb-rebal-interval": str(balance.interval_min),
            "pmd-auto-lb-load-threshold": str(balance.load_percent),
            "pmd-auto-lb-improvement-threshold": str(balance.improvement_percent),
        }
    return found


def interface_settings(name: str, options: OvsUserspaceOptions, cores: Sequence[int]) -> dict[str, str]:
    """Return an interface's settings (`other_config` of its row).

    Args:
        cores: those of the polling threads, in the order of the threads.
    """
    threads = options.rxq_affinity.get(name, ())
    pairs = ",".join(f"{queue}:{cores[thread]}" for queue, thread in enumerate(threads))
    return {"pmd-rxq-affinity": pairs} if pairs else {}


def check_affinity(variant: Variant) -> None:
    """Check that a variant's affinity is possible on at least one of its topologies.

    Raises:
        UnsupportedError: on none; with what is wrong on the first.
    """
    misfits = variant.misfits
    if misfits and len(misfits) == len(each_of(variant.topologies)):
        raise next(iter(misfits.values()))


def check_version(options: PackageSetOptions, binaries: OvsBinaries) -> None:
    """Check that this Open vSwitch has what is asked for; one that lacks a setting accepts it silently.

    Raises:
        UnsupportedError: it is older, or too new.
        PrerequisiteError: it does not say its version.
    """
    needs = options.version_needs
    if not needs:
        return
    found = version(binaries)
    for need in needs:
        until = f"; it went with {_written(need.until)}" if need.until else ""
        since = f"; it came with {_written(need.since)}" if need.since > (0, 0) else ""
        if found < need.since or (need.until is not None and found >= need.until):
            raise UnsupportedError(
                f"this Open vSwitch has no {need.of_switch}",
                where=need.setting,
                observed=f"version {_written(found)}{since}{until}",
                fix=f"{need.instead}, or another Open vSwitch (release)",
            )


def _written(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def version(binaries: OvsBinaries) -> tuple[int, int]:
    """Return ovs-vswitchd's version.

    Raises:
        PrerequisiteError: it does not run, or does not say.
    """
    program, argv = str(binaries.vswitchd), [*binaries.command(binaries.vswitchd), "--version"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise PrerequisiteError(
            "Open vSwitch does not run",
            where=program,
            observed=str(failure),
            fix=_FIX,
        ) from failure
    match = _VERSION.search(done.stdout)
    if match is None:
        observed = (done.stdout or done.stderr).strip()[:200]
        raise PrerequisiteError(
            "Open vSwitch does not say its version",
            where=program,
            observed=observed,
            fix=_FIX,
        )
    return int(match[1]), int(match[2])
