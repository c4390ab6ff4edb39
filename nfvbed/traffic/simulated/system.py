"""The simulated system under test: its forwarding, loss and delay are known, so methods can be checked."""

import math
import random
from dataclasses import dataclass

from nfvbed.records import CellRole
from nfvbed.spec.layout import layout
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.traffic.simulated.memory import MemoryOptions, SystemMemory
from nfvbed.traffic.simulated.options import SimulatedOptions
from nfvbed.traffic.simulated.outage import SimulatedCourse, TrialEvents, burst_losses
from nfvbed.traffic.simulated.steal import StolenTime
from nfvbed.traffic.simulated.tables import SimulatedTables
from nfvbed.traffic.simulated.world import HiddenState
from nfvbed.units import NS_PER_S, FrameSize, frame_mix, mean_frame_size_bytes

CEILING_FACTOR = {CellRole.SUBJECT: 1.0, CellRole.REFERENCE: 1.4, CellRole.LOOPBACK: 4.0}
"""How much more than the variant a ceiling can: nothing is limited by it."""
BURST_FACTOR = CEILING_FACTOR[CellRole.LOOPBACK]
"""How much faster than the variant the generator sends bursts."""
MIN_CAPACITY_FACTOR = 0.01
TSC_HZ = 2_500_000_000
FAR_LATENCY_FACTOR = 3.5
LATENCY_SAMPLES = 400
LATENCY_SPREAD = 0.2
MAX_LOAD_SHARE = 0.98
"""Share of the capacity up to which the queue's delay still grows in the model."""


@dataclass(frozen=True)
class TrialEffect:
    """The effect of one trial on the system, both directions together."""

    capacity: int
    """Frames that it could have forwarded in that time."""
    sent: int
    lost: int
    latencies_ns: tuple[int, ...]


@dataclass(frozen=True)
class SimulatedPath:
    """The path of frames: the switch once more than there are VNFs behind each other."""

    crossings: int = 1
    vnfs: int = 0
    """Behind each other on a frame's way."""
    ways: int = 1
    """Side by side, each with VNFs of its own."""

    @classmethod
    def of(cls, topology: str) -> "SimulatedPath":
        """Return the path of a topology between two generator ports."""
        plan = layout(topology)
        return cls(crossings=plan.vnfs // plan.ways + 1, vnfs=plan.vnfs // plan.ways, ways=plan.ways)


class SimulatedSystem:
    """One deployed simulated variant (or a ceiling of it).

    Args:
        options: the known answer.
        seed: equal seeds give equal trials.
    """

    def __init__(
        self,
        options: SimulatedOptions,
        role: CellRole,
        state: HiddenState,
        seed: str,
        path: SimulatedPath = SimulatedPath(),
    ) -> None:
        self._options = options
        self._path = path
        self._role = role
        self._state = state
        self._random = random.Random(f"system {seed}")
        self._memory = SystemMemory(_memory_options(options))
        self._outage: tuple[int, int] | None = None
        self.stolen_time = StolenTime(options, seed)
        self.tables = SimulatedTables(options)
        self.packets = 0
        self.busy_cycles = 0

    def true_capacity_pps(self, frame_size: FrameSize, far: bool) -> float:
        """Return the known answer: aggregate frames/s without noise, in a hidden state."""
        options = self._options
        base = options.far_capacity_pps if far and options.far_capacity_pps else options.capacity_pps
        extra = mean_frame_size_bytes(frame_size) - 64
        by_size = max(MIN_CAPACITY_FACTOR, 1 - options.byte_cost * extra)
        vnfs = options.vnf_capacity_pps * self._path.ways * by_size
        if self._role is CellRole.VNF:
            return vnfs
        switch = base * by_size * CEILING_FACTOR[self._role] / self._path.crossings
        return min(switch, vnfs) if self._path.vnfs else switch

    def forwards(self, frame_size: FrameSize) -> bool:
        """Return whether frames of a size come through; of a mix, whether its smallest frames do."""
        largest = self._options.largest_frame
        # Ceilings are what they are whatever the variant does with its frames.
        return (
            largest is None
            or self._role is not CellRole.SUBJECT
            or min(length for length, _ in frame_mix(frame_size)) <= largest
        )

    @property
    def late_share(self) -> float:
        """Part of a given load that the generator is too late to send."""
        return self._options.late_share

    def carry(self, duration_ns: int, frame_size: FrameSize, offered: int | None, flows: int = 1) -> TrialEffect:
        """Forward frames for a time.

        A full ring is back-pressure: what exceeds the capacity is not sent.

        Args:
            offered: frames in that time, both directions; None: as many as the system takes.
            flows: per direction.
        """
        noise = max(MIN_CAPACITY_FACTOR, self._random.gauss(1, self._options.noise))
        capacity_frames = 0.0
        far_ns = 0
        for stretch in self._state.pass_time(duration_ns):
            rate = self.true_capacity_pps(frame_size, stretch.far) * noise
            capacity_frames += rate * stretch.duration_ns / NS_PER_S
            far_ns += stretch.duration_ns if stretch.far else 0
        share = self._memory.capacity_share(duration_ns) * self.tables.capacity_share(flows)
        whole = max(1, round(capacity_frames * share))
        load_pps = (whole if offered is None else offered) * NS_PER_S / duration_ns
        stalls = self.stolen_time.strike(duration_ns, load_pps, whole * NS_PER_S / duration_ns)
        capacity = max(1, round(whole * (1 - stalls.stolen_ns / duration_ns)))
        self._memory.note(duration_ns, offered, capacity)
        sent = capacity if offered is None else min(offered - stalls.refused, capacity)
        lost = min(sent, self._burst_losses(duration_ns))
        self.packets += sent
        self.busy_cycles += round(TSC_HZ * duration_ns / NS_PER_S * sent / capacity)
        return TrialEffect(capacity, sent, lost, self._latencies(sent / capacity, far_ns / duration_ns))

    def schedule_outage(self, after_ns: int) -> None:
        """Schedule a reset, so long after its start, in the next trial that keeps a timeline."""
        self._outage = (after_ns, after_ns + round(self._options.outage_s * NS_PER_S))

    def course(self, request: TrafficRequest) -> SimulatedCourse:
        """Return the course of a paced trial: both directions go alike."""
        ways = request.directions
        passage = self.carry(request.total_ns, request.frame_size, (request.rate_pps or 1) * ways)
        outage, self._outage = self._outage, None
        return SimulatedCourse(
            request,
            TrialEvents(
                capacity_pps=passage.capacity * NS_PER_S / request.total_ns / ways,
                congestion_ns=round(self._options.congestion_s * NS_PER_S),
                outage=outage,
            ),
        )

    def burst(self, request: TrafficRequest, frames: int) -> tuple[int, int] | None:
        """Forward a burst at the generator's full speed, or more slowly where the system holds it back.

        Args:
            frames: per direction.

        Returns:
            Frames lost in each direction, and how long the burst took in ns; None: it is held back for so long that
            the trial ends before.
        """
        ways, buffer_frames = request.directions, self._options.buffer_frames
        factor = 1.0 if buffer_frames is None else BURST_FACTOR
        ceiling = self.true_capacity_pps(request.frame_size, self._state.far()) * factor / ways
        duration_ns = max(1, round(frames * NS_PER_S / ceiling))
        if duration_ns > request.duration_ns:
            return None
        passage = self.carry(duration_ns, request.frame_size, frames * ways)
        if buffer_frames is None:
            return passage.lost // ways, duration_ns
        forwarded = passage.capacity * NS_PER_S / duration_ns / ways
        return burst_losses(frames, (ceiling, forwarded), buffer_frames), duration_ns

    def _burst_losses(self, duration_ns: int) -> int:
        rate = self._options.burst_probability_per_s
        if not rate:
            return 0
        lost, at_s, end_s = 0, self._random.expovariate(rate), duration_ns / NS_PER_S
        while at_s < end_s:
            lost += self._random.randint(1, self._options.burst_max_frames)
            at_s += self._random.expovariate(rate)
        return lost

    def _latencies(self, load: float, far_share: float) -> tuple[int, ...]:
        """Return random latencies: log-normal about a mean that grows with load as a queue's (M/M/1)."""
        base = self._options.latency_ns * (1 + (FAR_LATENCY_FACTOR - 1) * far_share)
        median = base / (1 - min(load, MAX_LOAD_SHARE))
        return tuple(
            max(1, round(median * math.exp(self._random.gauss(0, LATENCY_SPREAD)))) for _ in range(LATENCY_SAMPLES)
        )


def _memory_options(options: SimulatedOptions) -> MemoryOptions:
    return MemoryOptions(
        warm_up_s=options.warm_up_s,
        cold_share=options.cold_share,
        hysteresis=options.hysteresis,
        recovery_s=options.recovery_s,
    )
