"""What `dpif-netdev/pmd-stats-show` and `pmd-perf-show` say: text, as Open vSwitch has no other form of it.

Checked against Open vSwitch 3.1. A line that is not known is kept out of the way, a number that is missing is an error:
a silent zero would be taken for a measurement.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from nfvbed.errors import InternalError

SOURCE = "PMD statistics"

_THREAD = re.compile(r"^pmd thread numa_id (?P<numa>-?\d+) core_id (?P<core>\d+):$")
_VALUE = re.compile(r"^\s+(?:- )?(?P<name>[A-Za-z][^:]*):\s+(?P<value>\d+)(?![\d.])")

_STATISTICS = {
    "packets received": "packets",
    "packet recirculations": "recirculations",
    "simple match hits": "simple_match_hits",
    "emc hits": "emc_hits",
    "smc hits": "smc_hits",
    "megaflow hits": "megaflow_hits",
    "miss with success upcall": "upcalls",
    "miss with failed upcall": "failed_upcalls",
    "idle cycles": "idle_cycles",
    "processing cycles": "busy_cycles",
}

_PERFORMANCE = {
    "Iterations": "iterations",
    "Used TSC cycles": "used_cycles",
    "busy iterations": "busy_iterations",
    "Rx packets": "rx_packets",
    "Tx packets": "tx_packets",
    "Tx batches": "tx_batches",
    "Lost upcalls": "lost_upcalls",
}
_OPTIONAL = frozenset({"simple_match_hits", "idle_cycles", "busy_cycles", "tx_batches", "lost_upcalls"})
"""Simple match came with Open vSwitch 3.0; the others are not shown before a thread has run or has had a packet."""


@dataclass(frozen=True)
class PmdStatistics:
    """One poll-mode thread's counts since its start, or since they were cleared. Cycles are TSC cycles."""

    core: int
    numa: int
    packets: int
    recirculations: int
    emc_hits: int
    smc_hits: int
    megaflow_hits: int
    upcalls: int
    failed_upcalls: int
    simple_match_hits: int = 0
    idle_cycles: int = 0
    busy_cycles: int = 0


@dataclass(frozen=True)
class PmdPerformance:
    """One poll-mode thread's loop: how often it ran, how often with packets, how large its batches were."""

    core: int
    numa: int
    iterations: int
    used_cycles: int
    busy_iterations: int
    rx_packets: int
    tx_packets: int
    tx_batches: int = 0
    lost_upcalls: int = 0


def parse_statistics(text: str) -> tuple[PmdStatistics, ...]:
    """Read `pmd-stats-show`: one entry a poll-mode thread, the main thread left out.

    Raises:
        InternalError: a thread lacks a count, so this version of Open vSwitch writes something else.
    """
    return tuple(
        PmdStatistics(core=core, numa=numa, **values)
        for core, numa, values in _threads(text, _STATISTICS, "dpif-netdev/pmd-stats-show")
    )


def parse_performance(text: str) -> tuple[PmdPerformance, ...]:
    """Read `pmd-perf-show`: one entry a poll-mode thread.

    Raises:
        InternalError: a thread lacks a count, so this version of Open vSwitch writes something else.
    """
    return tuple(
        PmdPerformance(core=core, numa=numa, **values)
        for core, numa, values in _threads(text, _PERFORMANCE, "dpif-netdev/pmd-perf-show")
    )


def _threads(text: str, names: dict[str, str], command: str) -> Iterable[tuple[int, int, dict[str, int]]]:
    """Yield (core, numa, values by field name) of each poll-mode thread."""
    for core, numa, lines in _blocks(text):
        values: dict[str, int] = {}
        for line in lines:
            match = _VALUE.match(line)
            if match and (field := names.get(match["name"])):
                values[field] = int(match["value"])
        missing = set(names.values()) - set(values) - _OPTIONAL
        if missing:
            raise InternalError(
                f"{command} lacks {', '.join(sorted(missing))}",
                where=f"PMD thread on core {core}",
                observed="\n".join(lines),
                fix="report this with the version of Open vSwitch",
            )
        yield core, numa, values


def _blocks(text: str) -> list[tuple[int, int, list[str]]]:
    """Cut the text into the poll-mode threads' parts; an unindented line ends one."""
    blocks: list[tuple[int, int, list[str]]] = []
    inside = False
    for line in text.splitlines():
        match = _THREAD.match(line)
        if match:
            blocks.append((int(match["core"]), int(match["numa"]), []))
            inside = True
        elif line and not line[0].isspace():
            inside = False
        elif inside and line.strip():
            blocks[-1][2].append(line)
    return blocks
