"""How long the hypervisor, and others, keep this machine's cores from a polling thread.

A thread on each core only reads the clock, all at the same time: during a gap between readings it did not run. FD.io
CSIT publishes the same of its testbeds (the jitter tool of pma_tools).
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from nfvbed.errors import PrerequisiteError
from nfvbed.host.probes.commands import ask
from nfvbed.records.findings import Finding, State

TOPIC = "cores kept away"
MEASURED_S = 2.0
STALL_NS = 1_000_000
"""A gap that no ring of 1,024 frames bridges at 1 Mpps."""
TOLERATED = 0.001
"""Part of the time: a fifth of the loss ratio of PDR."""
MOST_CORES = 8
"""The most cores that are looked at together."""


@dataclass(frozen=True)
class Stalls:
    """Gaps of at least 1 ms that one thread saw."""

    core: int
    count: int
    total_ns: int
    longest_ns: int
    measured_ns: int

    @property
    def share(self) -> float:
        """The share of the time in which the thread did not run."""
        return self.total_ns / self.measured_ns


def probe_stalls() -> Finding:
    """Poll for two seconds on the cores that this process may use."""
    try:
        return stalls_finding(measure_stalls())
    except PrerequisiteError as failure:
        return Finding(topic=TOPIC, state=State.UNKNOWN, summary=failure.observed, probed="polled the clock")


def measure_stalls() -> tuple[Stalls, ...]:
    """Poll for two seconds on the cores that this process may use, all at once.

    Raises:
        PrerequisiteError: a core gave no answer.
    """
    cores = sorted(os.sched_getaffinity(0))[:MOST_CORES]
    with ThreadPoolExecutor(len(cores)) as pool:
        found = tuple(stalls for stalls in pool.map(_measure, cores) if stalls is not None)
    if len(found) < len(cores):
        raise PrerequisiteError(
            "cores could not be watched",
            where=TOPIC,
            observed=f"{len(cores) - len(found)} of {len(cores)} cores gave no answer",
            fix="try again when less runs on this host",
        )
    return found


def stalls_finding(found: tuple[Stalls, ...]) -> Finding:
    """Return the worst core's stalls as a finding."""
    worst = max(found, key=lambda stalls: stalls.share)
    fine = worst.share <= TOLERATED
    summary = (
        f"core {worst.core} was away {worst.share:.2%} of the time: {worst.count} times for 1 ms or more, at most"
        f" {worst.longest_ns / 1e6:.1f} ms"
    )
    return Finding(
        topic=TOPIC,
        state=State.PRESENT if fine else State.LIMITED,
        summary=summary if worst.count else f"never for 1 ms or more, on {len(found)} cores",
        probed=f"polled the clock on {len(found)} cores at once for {MEASURED_S:g} s",
        fix=""
        if fine
        else "isolate the cores (isolcpus); on a virtual machine, one with cores of its own: without, searches"
        " measure trials again and rates scatter",
    )


def _measure(core: int) -> Stalls | None:
    """Measure in a process of its own, as Python's threads would wait for each other. None: it did not work."""
    answer = ask([sys.executable, "-m", __spec__.name, str(core)])
    return Stalls(**json.loads(answer[1])) if answer is not None and answer[0] == 0 else None


def watch(core: int, duration_ns: int) -> Stalls:
    """Read the clock repeatedly; the caller is on the core."""
    count = total_ns = longest_ns = 0
    clock = time.monotonic_ns
    began = last = clock()
    end = began + duration_ns
    while last < end:
        now = clock()
        gap_ns = now - last
        if gap_ns >= STALL_NS:
            count, total_ns, longest_ns = count + 1, total_ns + gap_ns, max(longest_ns, gap_ns)
        last = now
    return Stalls(core, count, total_ns, longest_ns, last - began)


if __name__ == "__main__":
    CORE = int(sys.argv[1])
    os.sched_setaffinity(0, {CORE})
    print(json.dumps(asdict(watch(CORE, int(MEASURED_S * 1e9)))))
