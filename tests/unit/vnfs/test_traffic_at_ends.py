"""Traffic between VNFs: what a sink counts beyond what its source sent came more than once, and is in no rate."""

from itertools import chain, repeat
from typing import Any

import pytest

from nfvbed.errors import GeneratorError
from nfvbed.records import DirectionCounts, GeneratorPort, Hop, PortKind
from nfvbed.traffic.generator import Generator, GeneratorInfo, TrafficRequest, TrafficResult
from nfvbed.vnfs import ends
from nfvbed.vnfs.ends import EndTraffic, VnfEnds

SECOND = 1_000_000_000
REQUEST = TrafficRequest(duration_ns=SECOND, frame_size=64)
MILLION = 1_000_000


class Clock:
    """Time that passes with sleep alone, and a millisecond with every reading of a VNF."""

    def __init__(self) -> None:
        self.now_ns = 0

    def monotonic_ns(self) -> int:
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        self.now_ns += round(seconds * SECOND)

    def reads(self, *counts: int) -> Any:
        left = chain(counts, repeat(counts[-1]))

        def read() -> Hop:
            self.now_ns += SECOND // 1000
            count = next(left)
            return Hop(name="vnf", rx_packets=count, tx_packets=count)

        return read


@pytest.fixture(name="clock")
def _clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(ends, "time", clock)
    return clock


class Beside(Generator):
    """A generator that sends a million frames, or counts them as none's."""

    def __init__(self, clock: Clock, foreign: int = 0) -> None:
        self.ports = tuple(GeneratorPort(engine="dpdk", spec=name, kind=PortKind.VHOST_USER) for name in "ab")
        self._clock, self._foreign = clock, foreign

    def hello(self) -> GeneratorInfo:
        raise NotImplementedError

    def run(self, request: TrafficRequest) -> TrafficResult:
        self._clock.sleep(request.duration_ns / SECOND + 0.06)  # with its drain
        way = DirectionCounts.counted(MILLION, MILLION, in_time=MILLION, refused=7, received_bytes=64 * MILLION)
        return TrafficResult(request.duration_ns, 0, (way,), (self._foreign, 0), (None,))

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("back", "lost", "surplus"), [(900_000, 100_000, 0), (MILLION, 0, 0), (2 * MILLION, 0, MILLION)]
)
def test_what_a_sink_counts(clock, back, lost, surplus):
    vnfs = VnfEnds(sink=clock.reads(50, 50 + back))
    (way,) = EndTraffic(vnfs, Beside(clock), 1).run(REQUEST).directions
    assert (way.sent, way.received, way.lost) == (MILLION, MILLION - lost, lost)
    assert (way.duplicated, way.surplus, way.refused, way.received_in_time) == (surplus, surplus, 7, None)


@pytest.mark.parametrize(
    ("back", "sent", "surplus"),
    [(900_000, MILLION, 0), (1_002_000, 1_002_000, 0), (2 * MILLION, MILLION, MILLION)],
)
def test_between_vnfs_what_passes_while_counters_are_read_is_no_surplus(clock, back, sent, surplus):
    vnfs = VnfEnds(source=clock.reads(0, MILLION), sink=clock.reads(0, back))
    (way,) = EndTraffic(vnfs, None, 1).run(REQUEST).directions
    assert (way.sent, way.received, way.surplus) == (sent, min(sent, back), surplus)


@pytest.mark.parametrize(("foreign", "surplus"), [(900_000, False), (1_000_000, False), (2_000_000, True)])
def test_out_of_a_vnf_what_it_sent_outside_of_the_trial_is_no_surplus(clock, foreign, surplus):
    vnfs = VnfEnds(source=clock.reads(0, MILLION))
    (way,) = EndTraffic(vnfs, Beside(clock, foreign), 1).run(REQUEST).directions
    assert bool(way.surplus) is surplus and way.received + way.lost == way.sent <= MILLION


def test_a_counter_that_runs_backwards_is_no_count(clock):
    with pytest.raises(GeneratorError, match="counters at the ends of the path cannot be"):
        EndTraffic(VnfEnds(sink=clock.reads(50, 10)), Beside(clock), 1).run(REQUEST)
