"""Parses `dpif-netdev/pmd-stats-show` and `pmd-perf-show`, which are text: Open vSwitch has no other form of them.

Read as 2.15, 3.1, 3.5 and 4.0 write it. An unknown line is set aside; a missing number is an error, as a silent zero
would be taken for a measurement. Open vSwitch 4.0 has no `pmd-stats-show` any more (the name gives `pmd-perf-show`),
and so no exact busy cycles. It gives their share of all cycles to 0.1 %, and those of a packet as a whole number.
Source: `lib/dpif-netdev-perf.c` of Open vSwitch, `pmd_perf_format_overall_stats`.
"""

import contextlib
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nfvbed.dataplanes.ovs import unixctl
from nfvbed.dataplanes.ovs.userspace import ROUNDED_SOURCE, SOURCE
from nfvbed.errors import InternalError

"""Where the switch has no exact busy cycles: they are the middle of what its rounded figures leave open."""
STATISTICS = "dpif-netdev/pmd-stats-show"
PERFORMANCE = "dpif-netdev/pmd-perf-show"
_TRIES = 5
_COUNTER_BITS = 64
_MOMENT_S = 0.002

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
    "idle iterations": "idle_iterations",
    "busy iterations": "busy_iterations",
    "Rx packets": "rx_packets",
    "Tx packets": "tx_packets",
    "Tx batches": "tx_batches",
    "Lost upcalls": "lost_upcalls",
}
_PACKETS = {
    "Datapath passes": "passes",
    "Simple Match hits": "simple_match_hits",
    "EMC hits": "emc_hits",
    "SMC hits": "smc_hits",
    "Megaflow hits": "megaflow_hits",
    "Upcalls": "upcalls",
    "Lost upcalls": "failed_upcalls",
}
"""Lines of `pmd-perf-show` that are written once a thread has had a packet."""
_OPTIONAL = frozenset({"simple_match_hits", "idle_cycles", "busy_cycles", "tx_batches", "lost_upcalls"})
"""Simple match came with Open vSwitch 3.0; the others are not shown before a thread has run or has had a packet."""
_BUSY_SHARE = re.compile(r"^\s+- busy iterations:\s+\d+\s+\(\s*(?P<percent>[\d.]+) % of used cycles\)")
_PER_PACKET = re.compile(r"^\s+Rx packets:.*, (?P<cycles>\d+) cycles/pkt\)")


@dataclass(frozen=True)
class _Counts:
    """What one thread has counted since it started, or since its counters were cleared."""

    core: int
    numa: int

    def since(self, first: Self) -> Self:
        """Return what was counted after another reading; the thread's place stays, and roundings add up."""
        signs = {"core": 0, "numa": 0, "rounding_cycles": 1}
        before, now = vars(first), {name: value for name, value in vars(self).items() if value is not None}
        return type(self)(**{name: value + signs.get(name, -1) * before[name] for name, value in now.items()})


@dataclass(frozen=True)
class PmdStatistics(_Counts):
    """One poll-mode thread's packets and cycles. Cycles are TSC cycles."""

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
    rounding_cycles: int | None = None
    """Busy cycles are known to so many above or below; None: they are exact, as `pmd-stats-show` gives them."""


@dataclass(frozen=True)
class PmdPerformance(_Counts):
    """One poll-mode thread's loop: how often it ran, how often with packets, how large its batches were."""

    iterations: int
    used_cycles: int
    idle_iterations: int
    busy_iterations: int
    rx_packets: int
    tx_packets: int
    tx_batches: int = 0
    lost_upcalls: int = 0


def read_statistics(socket: Path) -> tuple[PmdStatistics, ...]:
    """Read what a switch's poll-mode threads have counted: exactly, where it has a command for that.

    Raises:
        DeployError: it does not answer.
        InternalError: it writes another form than is known.
    """
    if STATISTICS in commands_of(unixctl.command(socket, "list-commands")):
        return parse_statistics(unixctl.command(socket, STATISTICS))
    # A thread goes on while Open vSwitch reads its counts one by one, and such a text contradicts itself at times.
    for _ in range(_TRIES - 1):
        with contextlib.suppress(InternalError):
            return statistics_of_performance(_performance(socket))
        time.sleep(_MOMENT_S)
    return statistics_of_performance(_performance(socket))


def read_performance(socket: Path) -> tuple[PmdPerformance, ...]:
    """Read how a switch's poll-mode threads' loops ran.

    Raises:
        DeployError: it does not answer.
        InternalError: it writes another form than is known.
    """
    return parse_performance(_performance(socket))


def _performance(socket: Path) -> str:
    """Ask until every thread has counted for a millisecond: before that, `pmd-perf-show` writes only its name."""
    text = unixctl.command(socket, PERFORMANCE)
    for _ in range(_TRIES):
        if all(block.lines for block in _blocks(text)):
            break
        time.sleep(_MOMENT_S)
        text = unixctl.command(socket, PERFORMANCE)
    return text


def commands_of(text: str) -> frozenset[str]:
    """Return the commands that `list-commands` names, without aliases that it does not document."""
    return frozenset(line.split()[0] for line in text.splitlines() if line[:1].isspace() and line.strip())


def source_of(threads: Iterable[PmdStatistics]) -> str:
    """Return the name of the source of busy cycles."""
    return SOURCE if all(thread.rounding_cycles is None for thread in threads) else ROUNDED_SOURCE


def rounding_of(threads: Sequence[PmdStatistics]) -> int | None:
    """Return to how many cycles the busy cycles of all threads are known; None: exactly."""
    known = [thread.rounding_cycles for thread in threads if thread.rounding_cycles is not None]
    return sum(known) if known else None


def parse_statistics(text: str) -> tuple[PmdStatistics, ...]:
    """Parse `pmd-stats-show`: one entry for each poll-mode thread, without the main thread.

    Raises:
        InternalError: a thread lacks a count, so this version of Open vSwitch writes something else.
    """
    return tuple(
        PmdStatistics(core=block.core, numa=block.numa, **block.counts(_STATISTICS, STATISTICS))
        for block in _blocks(text)
    )


def parse_performance(text: str) -> tuple[PmdPerformance, ...]:
    """Parse `pmd-perf-show`: one entry for each poll-mode thread, without the main thread.

    Raises:
        InternalError: a thread lacks a count, so this version of Open vSwitch writes something else.
    """
    return tuple(
        PmdPerformance(core=block.core, numa=block.numa, **block.counts(_PERFORMANCE, PERFORMANCE))
        for block in _blocks(text)
    )


def statistics_of_performance(text: str) -> tuple[PmdStatistics, ...]:
    """Return what `pmd-stats-show` would say, from `pmd-perf-show`; packets, hits and upcalls are exact there too.

    Raises:
        InternalError: a thread lacks a count, so this version of Open vSwitch writes something else.
    """
    return tuple(_statistics(block) for block in _blocks(text))


@dataclass(frozen=True)
class _Block:
    """One poll-mode thread's part of a text."""

    core: int
    numa: int
    lines: Sequence[str]

    def counts(self, names: Mapping[str, str], command: str) -> dict[str, int]:
        """Return the counts by field; names: the field of each line.

        Raises:
            InternalError: one is missing that is always written.
        """
        values: dict[str, int] = {}
        for line in self.lines:
            match = _VALUE.match(line)
            if match and (field := names.get(match["name"])):
                values[field] = _signed(int(match["value"]))
        missing = set(names.values()) - set(values) - _OPTIONAL
        if missing:
            raise self.unknown(f"lacks {', '.join(sorted(missing))}", command)
        return values

    def figure(self, form: re.Pattern[str]) -> re.Match[str]:
        """Return the match of the one line of this form.

        Raises:
            InternalError: there is none.
        """
        for line in self.lines:
            if match := form.match(line):
                return match
        raise self.unknown(f"has no line of the form {form.pattern}", PERFORMANCE)

    def unknown(self, what: str, command: str) -> InternalError:
        """Return an error that says that Open vSwitch writes another form."""
        return InternalError(
            f"{command} {what}",
            where=f"PMD thread on core {self.core}",
            observed="\n".join(self.lines),
            fix="report this with the version of Open vSwitch",
        )


def _signed(value: int) -> int:
    """Return a counter as it was meant: cycles below zero are written as if they were beyond 2^63.

    Open vSwitch adds up differences of the TSC; where a virtual machine's cores disagree about it, one is negative.
    """
    return value - (1 << _COUNTER_BITS) if value >> (_COUNTER_BITS - 1) else value


def _statistics(block: _Block) -> PmdStatistics:
    loop = block.counts(_PERFORMANCE, PERFORMANCE)
    had = block.counts(_PACKETS, PERFORMANCE) if loop["rx_packets"] else dict.fromkeys(_PACKETS.values(), 0)
    passes = had.pop("passes")
    least, most = _busy_cycles(block, loop)
    busy = (least + most) // 2
    return PmdStatistics(
        core=block.core,
        numa=block.numa,
        packets=loop["rx_packets"],
        recirculations=max(0, passes - loop["rx_packets"]),
        idle_cycles=loop["used_cycles"] - busy,
        busy_cycles=busy,
        rounding_cycles=most - busy,
        **had,
    )


def _busy_cycles(block: _Block, loop: Mapping[str, int]) -> tuple[int, int]:
    """Return the least and the most that a thread's busy cycles can be, from all that is written of them.

    Raises:
        InternalError: there are none that fit all of it.
    """
    used, packets = loop["used_cycles"], loop["rx_packets"]
    if not loop["busy_iterations"]:
        return 0, 0
    if not loop["idle_iterations"]:
        return used, used
    # In thousandths of all cycles: 92.2 % is 921.5 to 922.5.
    tenths = round(float(block.figure(_BUSY_SHARE)["percent"]) * 10)
    least, most = used * (2 * tenths - 1) // 2000, min(used, -(-used * (2 * tenths + 1) // 2000))
    if packets:
        cycles = int(block.figure(_PER_PACKET)["cycles"])
        least, most = max(least, packets * (2 * cycles - 1) // 2), min(most, -(-packets * (2 * cycles + 1) // 2))
    if least > most:
        raise block.unknown("contradicts itself about busy cycles", PERFORMANCE)
    return max(0, least), most


def _blocks(text: str) -> list[_Block]:
    """Split the text into the poll-mode threads' parts; an unindented line, as the main thread's, ends one."""
    blocks: list[_Block] = []
    lines: list[str] | None = None
    for line in text.splitlines():
        match = _THREAD.match(line)
        if match:
            lines = []
            blocks.append(_Block(int(match["core"]), int(match["numa"]), lines))
        elif line and not line[0].isspace():
            lines = None
        elif lines is not None and line.strip():
            lines.append(line)
    return blocks
