"""Sessions are opened until the switch has them established, a few times at most, and only where they are not."""

from dataclasses import replace
from typing import Any

import pytest

from nfvbed.dataplanes.connections import Connections, ConnectionTracker
from nfvbed.errors import DeployError
from nfvbed.measure.sessions import ATTEMPTS, LONGEST_S, PASSES, open_sessions, opening, told
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.records import Preset, Sessions
from nfvbed.traffic.generator import LoadPhase, TrafficRequest
from tests.sample_records import RUN
from tests.unit.measure.fake_site import FakeGenerator, FakeSite

REQUEST = TrafficRequest(duration_ns=10**8, frame_size=64, flows=10, sessions=Sessions.MIRRORED, bidirectional=False)


def seen(replied: int, entries: int = 20, **changes: object) -> Connections:
    usual: dict[str, object] = {
        "where": "h1", "ports": 2, "entries": entries, "replied": replied, "masks": 3, "packets": 0,
        "recirculations": 0, "established": {}, "not_established": {},
    }  # fmt: skip
    return Connections.model_validate(usual | changes)


class Tracker(ConnectionTracker):
    """Shows one picture after the other, and the last one for ever."""

    def __init__(self, *pictures: Connections) -> None:
        self.pictures = list(pictures)

    def look(self) -> tuple[Connections, ...]:
        return (self.pictures.pop(0) if len(self.pictures) > 1 else self.pictures[0],)


def opened(*pictures: Connections) -> list[TrafficRequest]:
    sent: list[TrafficRequest] = []
    open_sessions(sent.append, Tracker(*pictures), REQUEST)
    return sent


def test_what_is_established_is_left_alone_and_what_is_not_is_opened_until_it_is() -> None:
    assert opened(seen(20)) == []
    assert opened(seen(0, 0), seen(19), seen(20)) == [opening(REQUEST), opening(REQUEST, 2 * PASSES)]


def test_after_a_few_attempts_it_is_an_error_that_counts() -> None:
    sent: list[TrafficRequest] = []
    with pytest.raises(DeployError, match="not established") as caught:
        open_sessions(sent.append, Tracker(seen(0, 40)), REQUEST)
    frames = [request.frames or 0 for request in sent]
    assert frames == [PASSES * 10 * 2**attempt for attempt in range(ATTEMPTS)], "one that leaves some out gets further"
    assert all(request.duration_ns <= 2.1 * LONGEST_S * 10**9 for request in sent), "all attempts end soon"
    assert caught.value.observed == "h1: 0 of 20 connections, 40 unreplied"


@pytest.mark.parametrize("flows", [1, 10, 1_000_000])
def test_opening_is_paced_in_both_directions_whatever_the_trial_is(flows: int) -> None:
    trial = replace(REQUEST, flows=flows, rate_pps=5, then=LoadPhase(1, 1), timeline_ns=10_000, backward=True)
    found = opening(trial)
    assert found.frames == PASSES * flows and found.bidirectional and not found.backward
    assert found.rate_pps is not None and found.frames <= 6 * found.rate_pps, "an unused entry ends after 30 s"
    assert found.duration_ns * found.rate_pps >= found.frames * 10**9, "there is time for all of them"
    assert (found.then, found.timeline_ns, found.sessions) == (None, None, Sessions.MIRRORED)


def test_what_is_kept_is_of_the_trial_alone() -> None:
    before = seen(20, packets=100, recirculations=150, established={"a": 50, "b": 7}, not_established={"n": 9})
    after = seen(20, packets=300, recirculations=450, established={"a": 90, "b": 2, "c": 5}, not_established={"n": 9})
    assert told([before], [after])["h1"] == {
        "entries": 20, "replied": 20, "unreplied": 0, "masks": 3, "packets": 200, "recirculations": 300,
        "recirculations_per_packet": 1.5, "looked_up_established": 40 + 2 + 5, "looked_up_new": 0,
    }  # fmt: skip
    assert told([after], [after])["h1"]["recirculations_per_packet"] is None, "of no packets"


class TrackingSite(FakeSite):
    """A site whose switch tracks connections."""

    def __init__(self, *pictures: Connections) -> None:
        super().__init__()
        self.tracker = Tracker(*pictures)

    def connections(self, deployment: object) -> ConnectionTracker:
        return self.tracker


def record_of(site: FakeSite, sessions: Sessions) -> tuple[dict[str, Any], list[TrafficRequest]]:
    generator = FakeGenerator()
    request = replace(REQUEST, sessions=sessions)
    task = TrialTask(run=RUN, cell="c", sequence=1, round=1, preset=Preset.MRR, request=request)
    record = Measurement(site, site.deployment, generator).measure(task)
    return record.switch_counters, generator.requests


def test_a_trial_opens_its_sessions_first_and_tells_what_became_of_them() -> None:
    counters, sent = record_of(TrackingSite(seen(0, 0), seen(20)), Sessions.MIRRORED)
    assert [request.frames for request in sent] == [PASSES * 10, None]
    found = counters["connections"]
    assert found["sessions"] == "mirrored" and found["h1"]["replied"] == 20


def test_unreplied_ones_are_not_opened_and_a_switch_that_tracks_none_is_not_asked() -> None:
    counters, sent = record_of(TrackingSite(seen(0, 40)), Sessions.UNREPLIED)
    assert len(sent) == 1 and counters["connections"]["h1"]["unreplied"] == 40
    counters, sent = record_of(FakeSite(), Sessions.MIRRORED)
    assert len(sent) == 1 and "connections" not in counters
