"""Traffic of paths with a VNF at one or both ends, counted at the VNF, or at the generator's port.

A source is DPDK's testpmd, which sends at its own pace, without sequence numbers or stamps: such a trial has a rate and
nothing else. Where the generator sends (`p2v`) it is known what was sent, and so what was lost.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from nfvbed.errors import ConfigurationError, GeneratorError, InternalError
from nfvbed.records import DirectionCounts, Engine, GeneratorPort, Hop
from nfvbed.traffic.generator import Generator, GeneratorInfo, TrafficRequest, TrafficResult
from nfvbed.traffic.nfvgen import NfvgenOptions
from nfvbed.units import NS_PER_S

_SETTLE_S = 0.1
"""Frames of an earlier trial, and a source's start, have passed by then."""
_LISTEN_PPS = 1
"""A generator only counts during a trial, and a trial sends: one frame a second, into the source."""

Restart = Callable[[int], None]
"""Starts the source again with frames of that size."""


@dataclass(frozen=True)
class VnfEnds:
    """The functions by which the VNFs at the ends are read."""

    source: Callable[[], Hop] | None = None
    restart: Restart | None = None
    sink: Callable[[], Hop] | None = None


class EndTraffic(Generator):
    """A generator's interface over a source or sink that is a VNF.

    Args:
        generator: generator at the other end; None: both ends are VNFs.
        core: core of a source, which is the generator then.
        frame_size: what the source sends now, in bytes, FCS included.
    """

    def __init__(self, ends: VnfEnds, generator: Generator | None, core: int, frame_size: int = 64) -> None:
        self.ports: tuple[GeneratorPort, ...] = generator.ports if generator else ()
        self._ends = ends
        self._generator = generator
        self._frame_size = frame_size
        self._core = core

    def hello(self) -> GeneratorInfo:
        """Return the generator's description; where both ends are VNFs, the source's."""
        if self._generator is not None:
            info = self._generator.hello()
            # The port that leads nowhere has no link that would matter.
            return replace(info, link_up=(True, True)) if any(info.link_up) else info
        return GeneratorInfo(
            engine=Engine(name="testpmd-flowgen", version="of the source VNF"),
            pid=0,
            thread_id=0,
            core=self._core,
            tsc_hz=0,
            min_frame_size_bytes=64,
            max_frame_size_bytes=1518,
            max_flows=1_000_000,
            link_up=(True, True),
        )

    def run(self, request: TrafficRequest) -> TrafficResult:
        """Run one trial: at maximum load, from end 0 to end 1.

        Raises:
            ConfigurationError: a source cannot be paced, nor mix sizes.
        """
        request = replace(request, bidirectional=False)
        if self._ends.source is None:
            return self._into_sink(request)
        self._prepare_source(request)
        return self._out_of_source(request) if self._generator else self._between(request)

    def close(self) -> None:
        """End the generator; the VNFs end with the deployment."""
        if self._generator is not None:
            self._generator.close()

    def _prepare_source(self, request: TrafficRequest) -> None:
        if request.rate_pps is not None or isinstance(request.frame_size, str):
            raise ConfigurationError(
                "a source VNF sends at its own pace, frames of one size",
                observed=f"rate {request.rate_pps}, frame size {request.frame_size}",
                fix="ask for the maximum load of one frame size, or let the generator send (p2v, pvp)",
            )
        if request.frame_size != self._frame_size:
            if self._ends.restart is None:
                raise InternalError("the source cannot be restarted", where="onboard/ends.py")
            self._ends.restart(request.frame_size)
            self._frame_size = request.frame_size
        time.sleep(_SETTLE_S)

    def _into_sink(self, request: TrafficRequest) -> TrafficResult:
        if self._generator is None or self._ends.sink is None:
            raise InternalError("a path without a source", where="onboard/ends.py")
        before = _received(self._ends.sink())
        result = self._generator.run(replace(request, learning_frames=0))
        way, back = result.directions[0], _received(self._ends.sink()) - before
        return replace(result, directions=(_counted(way.sent, back, way),), latency_hdr=(None,))

    def _out_of_source(self, request: TrafficRequest) -> TrafficResult:
        if self._generator is None or self._ends.source is None:
            raise InternalError("a path without a generator", where="onboard/ends.py")
        began, before = time.monotonic_ns(), _sent(self._ends.source())
        result = self._generator.run(replace(request, rate_pps=_LISTEN_PPS, learning_frames=0))
        sent, elapsed = _sent(self._ends.source()) - before, time.monotonic_ns() - began
        # What the generator did not make is foreign to it: here, the source's frames.
        received = max(result.foreign)
        # They are counted until the generator has waited for its own late frames.
        window = result.duration_ns + NfvgenOptions.drain_ns
        within = sent * window // elapsed
        return replace(
            result,
            duration_ns=window,
            directions=(_of_two_times(within, received, sent - within),),
            latency_hdr=(None,),
            foreign=(0, 0),
        )

    def _between(self, request: TrafficRequest) -> TrafficResult:
        if self._ends.source is None or self._ends.sink is None:
            raise InternalError("a path without ends", where="onboard/ends.py")
        reading = time.monotonic_ns()
        first_sent, first_received = _sent(self._ends.source()), _received(self._ends.sink())
        began = time.monotonic_ns()
        time.sleep(request.duration_ns / NS_PER_S)
        ending = time.monotonic_ns()
        sent, received = _sent(self._ends.source()) - first_sent, _received(self._ends.sink()) - first_received
        ended = time.monotonic_ns()
        elapsed, apart = ended - began, ended - ending + began - reading
        return TrafficResult(
            duration_ns=elapsed,
            busy_ns=elapsed,
            directions=(_of_two_times(sent, received, sent * apart // elapsed + 1),),
            foreign=(0, 0),
            latency_hdr=(None,),
        )


def _of_two_times(sent: int, back: int, passing: int) -> DirectionCounts:
    """Return the counts from two readings at different times.

    Args:
        back: frames that the sink, or the generator, counted.
        passing: frames that pass between the readings; a difference of so many is no surplus.
    """
    return _counted(back if sent < back <= sent + passing else sent, back)


def _counted(sent: int, back: int, sending: DirectionCounts | None = None) -> DirectionCounts:
    """Return the counts from two places.

    Args:
        sending: counts of the generator that sent; None: a VNF did, which counts what it sent alone.

    Raises:
        GeneratorError: they cannot be: a counter ran backwards.
    """
    try:
        if sending is None:
            return DirectionCounts.counted(sent, back)
        return DirectionCounts.counted(
            sent,
            back,
            unsent=sending.unsent,
            late=sending.late,
            refused=sending.refused,
            sent_bytes=sending.sent_bytes,
        )
    except ValueError as error:
        raise GeneratorError(
            "counters at the ends of the path cannot be",
            observed=str(error),
            fix="see whether a VNF at an end was started again during the trial",
        ) from error


def _sent(hop: Hop) -> int:
    return hop.tx_packets or 0


def _received(hop: Hop) -> int:
    return hop.rx_packets or 0
