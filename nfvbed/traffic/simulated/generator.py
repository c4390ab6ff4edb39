"""A generator that sends nothing: the simulated system says what would have happened."""

from dataclasses import replace

from nfvbed import __version__
from nfvbed.errors import GeneratorError
from nfvbed.records import DirectionCounts, Engine, GeneratorPort
from nfvbed.traffic.generator import Generator, GeneratorInfo, TrafficRequest, TrafficResult
from nfvbed.traffic.latency import encode_latency
from nfvbed.traffic.simulated.system import TSC_HZ, SimulatedSystem, TrialEffect
from nfvbed.traffic.simulated.tables import Burst
from nfvbed.units import MAX_FRAME_SIZE_BYTES, MIN_FRAME_SIZE_BYTES, NS_PER_S, mean_frame_size_bytes

ENGINE = Engine(name="simulated", version=__version__)
MAX_FLOWS = 1_000_000


class SimulatedGenerator(Generator):
    """A deterministic generator: the same system and the same requests give the same results."""

    def __init__(self, ports: tuple[GeneratorPort, ...], system: SimulatedSystem) -> None:
        self.ports = ports
        self._system = system
        self._open = True

    def hello(self) -> GeneratorInfo:
        """Return the simulation's description; process and thread 0 mean that no CPU time belongs to it."""
        return GeneratorInfo(
            engine=ENGINE,
            pid=0,
            thread_id=0,
            core=0,
            tsc_hz=TSC_HZ,
            min_frame_size_bytes=MIN_FRAME_SIZE_BYTES,
            max_frame_size_bytes=MAX_FRAME_SIZE_BYTES,
            max_flows=MAX_FLOWS,
            link_up=(True, True),
        )

    def run(self, request: TrafficRequest) -> TrafficResult:
        """Simulate one trial.

        Raises:
            GeneratorError: the generator was closed before.
        """
        if not self._open:
            raise GeneratorError("the simulated generator is closed", fix="open another one")
        result = self._passed(request)
        ways = result.directions
        if request.rate_pps is not None and self._system.late_share:
            ways = tuple(_late(way, self._system.late_share) for way in ways)
        if self._system.forwards(request.frame_size):
            return replace(result, directions=ways)
        lost = (way.model_copy(update={"received": 0, "lost": way.sent, "received_bytes": 0}) for way in ways)
        return replace(result, directions=tuple(lost), latency_hdr=(None,) * len(ways))

    def _passed(self, request: TrafficRequest) -> TrafficResult:
        ways = request.directions
        if request.timeline_ns or request.then:
            return self._in_time(request, ways)
        burst = request.frames if request.rate_pps is None else None
        fate = self._system.burst(request, burst) if burst else None
        if burst and fate:
            return _result(request, _even(burst, fate[0], request), fate[1])
        intended = _intended(request)
        total = None if intended is None else intended * ways
        passage = self._system.carry(request.duration_ns, request.frame_size, total, request.flows)
        self._move_addresses(request, passage)
        return TrafficResult(
            duration_ns=request.duration_ns,
            busy_ns=round(request.duration_ns * passage.sent / passage.capacity / 2),
            directions=tuple(_counts(request, passage, intended, (way, ways)) for way in range(ways)),
            foreign=(0, 0),
            latency_hdr=tuple(_latency(request, passage, (way, ways)) for way in range(ways)),
        )

    def _in_time(self, request: TrafficRequest, ways: int) -> TrafficResult:
        course = self._system.course(request)
        counts = _even(course.sent, course.lost, request, course.due)
        result = _result(request, counts, request.total_ns)
        if not request.timeline_ns:
            return result
        return replace(result, timelines=(course.timeline(request.timeline_ns),) * ways)

    def close(self) -> None:
        """End the generator."""
        self._open = False

    def _move_addresses(self, request: TrafficRequest, passage: TrialEffect) -> None:
        burst = Burst(request.flows, passage.sent, passage.lost, passage.sent * NS_PER_S / request.duration_ns)
        if "source" in request.addressing.flow_macs:
            self._system.tables.learn(burst)
        if "destination" in request.addressing.flow_macs:
            self._system.tables.ask(burst)


def _late(way: DirectionCounts, share: float) -> DirectionCounts:
    """Return a direction's counts where a part of its frames was not sent in time, and no other is missing."""
    late = min(round(way.intended * share), way.received)
    return way.model_copy(
        update={
            "sent": way.sent - late,
            "received": way.received - late,
            "unsent": way.unsent + late,
            "late": way.late + late,
        }
    )


def _result(request: TrafficRequest, counts: DirectionCounts, duration_ns: int) -> TrafficResult:
    """Return the result of a trial with equal directions, without latency."""
    ways = request.directions
    return TrafficResult(
        duration_ns=duration_ns, busy_ns=0, directions=(counts,) * ways, foreign=(0, 0), latency_hdr=(None,) * ways
    )


def _even(sent: int, lost: int, request: TrafficRequest, intended: int | None = None) -> DirectionCounts:
    # What is sent beyond what was due, as at the end of a stretch, was due as well.
    unsent = 0 if intended is None else max(0, intended - sent)
    return _counted(request, sent, sent - min(sent, lost), unsent)


def _counted(request: TrafficRequest, sent: int, back: int, unsent: int) -> DirectionCounts:
    """Return the counts of one direction; a full ring prevents sending, so a port refused what is unsent."""
    size = mean_frame_size_bytes(request.frame_size)
    return DirectionCounts.counted(
        sent,
        back,
        unsent=unsent,
        refused=unsent,
        sent_bytes=round(sent * size),
        received_bytes=round(back * size),
    )


def _intended(request: TrafficRequest) -> int | None:
    """Return the frames asked for per direction; None at maximum load."""
    if request.rate_pps is None:
        return request.frames
    frames = request.rate_pps * request.duration_ns // NS_PER_S
    return frames if request.frames is None else min(frames, request.frames)


def _counts(
    request: TrafficRequest, passage: TrialEffect, intended: int | None, place: tuple[int, int]
) -> DirectionCounts:
    sent = _share(passage.sent, place)
    back = sent - min(sent, _share(passage.lost, place))
    return _counted(request, sent, back, 0 if intended is None else max(0, intended - sent))


def _share(total: int, place: tuple[int, int]) -> int:
    """Return the frames of a direction; the first takes the odd one."""
    way, ways = place
    return total // ways + (1 if way < total % ways else 0)


def _latency(request: TrafficRequest, passage: TrialEffect, place: tuple[int, int]) -> str | None:
    if not request.stamp or not passage.sent:
        return None
    way, ways = place
    return encode_latency((value, 1) for value in passage.latencies_ns[way::ways])
