"""What holds for every generator, whatever sends: each check takes one that is open and leaves it as good as before.

Run over nfvgen's engines on real ports by `tests/functional/test_generators.py`, over the simulated one and TRex's
double by `tests/unit/traffic/test_generators_conform.py`.
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.conservation import fault_of
from nfvbed.errors import GeneratorError, NfvbedError
from nfvbed.records import DirectionCounts
from nfvbed.traffic.generator import Generator, TrafficRequest, TrafficResult
from nfvbed.units import NS_PER_S
from tests.functional.disturbed import retried


@dataclass(frozen=True)
class Engine:
    """What a generator is known to do otherwise."""

    lost_of: int = 0
    """One of so many frames is lost on its way, as its double has it; 0: none."""
    stamps: bool = True
    """Whether it measures latency at all."""
    samples_latency: bool = False
    """Whether its histogram holds some of the frames, and not each that came back."""
    own_time: bool = False
    """Whether nothing on this machine can keep a frame from being sent when it is due."""
    refuses_too_long: bool = True
    """Whether a frame beyond its limit is refused; one that sends nothing has no limit."""
    most_pps: int = 1_000_000_000
    """A rate that it cannot keep, frames/s in one direction."""


@dataclass(frozen=True)
class Opened:
    """A generator under test."""

    generator: Generator
    engine: Engine = Engine()

    def run(self, **keys: Any) -> TrafficResult:
        """Run a trial, whose counts keep the laws."""
        request = replace(PACED, **keys)
        result = retried(lambda: self.generator.run(request), self._all_came)
        assert self._all_came(result), result
        assert len(result.directions) == len(result.latency_hdr) == request.directions
        for way in result.directions:
            self._keeps_laws(way, request)
        assert 0 <= result.busy_ns <= result.duration_ns
        return result

    def _keeps_laws(self, way: DirectionCounts, request: TrafficRequest) -> None:
        assert fault_of(way.model_dump() | {"surplus": way.surplus}) == ""
        assert way.sent + way.unsent == way.intended
        assert not self.engine.own_time or way.unsent == 0 or request.rate_pps == self.engine.most_pps
        assert way.received + way.lost == way.sent
        assert way.late <= way.unsent
        assert (way.duplicated, way.corrupted, way.reordered) == (0, 0, 0)
        if isinstance(request.frame_size, int):
            assert way.sent_bytes == way.sent * request.frame_size

    def _all_came(self, result: TrafficResult) -> bool:
        """Whether no frame came later than it was waited for, as on a host that is disturbed."""
        return all(way.received == self.arrived(way) for way in result.directions)

    def arrived(self, way: DirectionCounts) -> int:
        """Return how many frames come back of those sent."""
        return way.sent - (way.sent // self.engine.lost_of if self.engine.lost_of else 0)


PACED = TrafficRequest(duration_ns=NS_PER_S // 10, frame_size=64, rate_pps=10_000, learning_frames=0)


def a_paced_load_is_sent_whole_and_comes_back(opened: Opened) -> None:
    result = opened.run()
    assert [way.intended for way in result.directions] == [1000, 1000]
    assert all(way.sent > 0 for way in result.directions)
    assert [way.received for way in result.directions] == [opened.arrived(way) for way in result.directions]


def maximum_load_has_no_pace_to_miss(opened: Opened) -> None:
    result = opened.run(rate_pps=None)
    assert all(way.intended == way.sent > 0 for way in result.directions)
    assert all(way.late == 0 for way in result.directions)


def what_it_cannot_send_is_unsent_and_never_lost(opened: Opened) -> None:
    result = opened.run(rate_pps=opened.engine.most_pps, bidirectional=False)
    (way,) = result.directions
    assert way.intended == opened.engine.most_pps // 10
    assert 0 < way.sent < way.intended
    assert way.received == opened.arrived(way)


def so_many_frames_are_sent_and_no_more(opened: Opened) -> None:
    for rate in (None, 50_000):
        result = opened.run(frames=700, rate_pps=rate, duration_ns=5 * NS_PER_S)
        assert [way.intended for way in result.directions] == [700, 700]
        assert rate or [way.sent for way in result.directions] == [700, 700]


def one_direction_leaves_the_other_alone(opened: Opened) -> None:
    for backward in (False, True):
        (way,) = opened.run(bidirectional=False, backward=backward).directions
        assert (way.intended, way.received) == (1000, opened.arrived(way))
        assert way.received > 0


def a_mix_of_sizes_keeps_its_weights(opened: Opened) -> None:
    for way in opened.run(frames=1200, rate_pps=None, frame_size="imix", duration_ns=5 * NS_PER_S).directions:
        assert (way.sent, way.sent_bytes) == (1200, 100 * (7 * 64 + 4 * 570 + 1518))


def latencies_are_of_the_frames_that_came_back(opened: Opened) -> None:
    result = opened.run()
    for way, encoded in zip(result.directions, result.latency_hdr, strict=True):
        counted = 0 if encoded is None else HdrHistogram.decode(encoded).get_total_count()
        least = 1 if opened.engine.samples_latency else way.received
        assert not opened.engine.stamps or least <= counted <= way.received
    assert opened.run(stamp=False).latency_hdr == (None, None)
    assert opened.run(stamp=False, check=False).latency_hdr == (None, None)


def late_frames_of_an_earlier_trial_do_not_count(opened: Opened) -> None:
    for _ in range(5):
        result = opened.generator.run(replace(PACED, duration_ns=2_000_000, rate_pps=None, drain_ns=0))
        for way in result.directions:
            assert fault_of(way.model_dump() | {"surplus": way.surplus}) == ""
            assert (way.duplicated, way.corrupted) == (0, 0)
    result = opened.run()
    assert [way.received for way in result.directions] == [opened.arrived(way) for way in result.directions]


def what_is_refused_does_not_end_it(opened: Opened) -> None:
    longest = opened.generator.hello().max_frame_size_bytes
    if opened.engine.refuses_too_long:
        with pytest.raises(NfvbedError):
            opened.generator.run(replace(PACED, frame_size=longest + 1))
    opened.run()


def it_says_what_it_is(opened: Opened) -> None:
    told = opened.generator.hello()
    assert told.engine.name and told.engine.version
    assert told.link_up == (True, True)
    assert 64 <= told.min_frame_size_bytes < told.max_frame_size_bytes
    assert told.max_flows > 0
    opened.generator.wait_until_ready()


def closed_it_runs_no_more(opened: Opened) -> None:
    """The last one: it ends it."""
    opened.generator.close()
    opened.generator.close()
    with pytest.raises(GeneratorError):
        opened.generator.run(PACED)


LAWS = (
    it_says_what_it_is,
    a_paced_load_is_sent_whole_and_comes_back,
    maximum_load_has_no_pace_to_miss,
    what_it_cannot_send_is_unsent_and_never_lost,
    so_many_frames_are_sent_and_no_more,
    one_direction_leaves_the_other_alone,
    a_mix_of_sizes_keeps_its_weights,
    latencies_are_of_the_frames_that_came_back,
    late_frames_of_an_earlier_trial_do_not_count,
    what_is_refused_does_not_end_it,
    closed_it_runs_no_more,
)
"""In the order in which one generator stands them."""
