"""Stolen time of a simulated host: stalls in which the system under test has no core, known to the nanosecond.

What is counted of them may be coarser, as a hypervisor's time is in a real guest.
"""

import random
from dataclasses import dataclass

from nfvbed.records import Role, WorkThread
from nfvbed.records.readings import CoreSample, CpuSample, ThreadSample
from nfvbed.traffic.simulated.options import SimulatedOptions
from nfvbed.units import NS_PER_S

RING_FRAMES = 1024
"""Frames that wait while a stall lasts; those that come then are refused."""
LOAD_EXPONENT = 8
"""Where load causes stalls their rate grows with this power of it, so that it differs between loads that are near."""
THREAD = WorkThread(role=Role.SWITCH, pid=1, tid=1, core=0, name="simulated", polling=True)


@dataclass(frozen=True)
class Stalls:
    """The stalls of one trial."""

    refused: int
    """Frames that came while a ring was full."""
    stolen_ns: int


class StolenTime:
    """Steals time from one simulated system.

    Args:
        seed: equal seeds give equal stalls.
    """

    def __init__(self, options: SimulatedOptions, seed: str) -> None:
        self._options = options
        self._random = random.Random(f"steal {seed}")
        self._stolen_ns = 0

    def strike(self, duration_ns: int, offered_pps: float, capacity_pps: float) -> Stalls:
        """Return the stalls of one trial, drawn at random."""
        options = self._options
        if not options.stolen_share:
            return Stalls(0, 0)
        share = options.stolen_share
        if options.stolen_by == "load":
            share *= min(1.0, offered_pps / capacity_pps) ** LOAD_EXPONENT
        refused, stolen_ns, at_ns = 0, 0, 0.0
        # Between two stalls: of all time, the share is stolen.
        apart_ns = options.stall_s * NS_PER_S * (1 / max(share, 1e-12) - 1)
        while (at_ns := at_ns + self._random.expovariate(1 / apart_ns)) < duration_ns:
            length_ns = min(self._random.expovariate(1 / (options.stall_s * NS_PER_S)), duration_ns - at_ns)
            refused += max(0, round(offered_pps * length_ns / NS_PER_S) - RING_FRAMES)
            stolen_ns += round(length_ns)
            at_ns += length_ns
        self._stolen_ns += stolen_ns
        return Stalls(refused, stolen_ns)

    def threads(self) -> tuple[WorkThread, ...]:
        """Return the thread that time is stolen from; none if there is none."""
        return (THREAD,) if self._options.stolen_share else ()

    def sample(self, now_ns: int) -> CpuSample:
        """Return the simulated host's counts so far."""
        step_ns = round(self._options.steal_step_s * NS_PER_S)
        told_ns = self._stolen_ns // step_ns * step_ns if step_ns else self._stolen_ns
        run_ns = now_ns - self._stolen_ns
        thread = ThreadSample(user_ns=run_ns, system_ns=0, guest_ns=0, run_ns=run_ns, wait_ns=0)
        return CpuSample(
            at_ns=now_ns,
            threads={(THREAD.pid, THREAD.tid): thread},
            cores={0: CoreSample(softirq_ns=0, steal_ns=told_ns)},
            steal_step_ns=step_ns,
        )
