"""A connection to a generator on another host that is lost: what is asked again, and what a trial is then worth."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfvbed.errors import GeneratorError
from nfvbed.measure.warnings import traffic_warnings
from nfvbed.records import QualityWarning
from nfvbed.traffic import nfvgen_control
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.traffic.nfvgen import NfvgenClient
from nfvbed.traffic.nfvgen_channel import ChannelClosed, NfvgenChannel, connect
from nfvbed.traffic.nfvgen_control import ControlPath, GeneratorProcess
from tests.unit.traffic.fake_nfvgen import FakeNfvgen, encode
from tests.unit.traffic.test_nfvgen_client import options

REQUEST = TrafficRequest(duration_ns=1_000_000, frame_size=64)


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nfvgen_control, "AGAIN_INTERVAL_S", 0.01)


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeNfvgen]:
    server = FakeNfvgen(tmp_path / "s")
    yield server
    server.stop()


def far_away(
    fake: FakeNfvgen,
    reach: Callable[[], NfvgenChannel] | None = None,
    again_s: float = 5.0,
    process: GeneratorProcess | None = None,
) -> NfvgenClient:
    """Return the client of a generator that counts as on another host."""
    way = ControlPath(reach or (lambda: connect(fake.path)), again_s=again_s)
    return NfvgenClient(options(fake.path), lambda argv: process or fake, way=way)


def lost_once(fake: FakeNfvgen, command: str) -> None:
    """Close the connection in place of the first answer to a command."""

    def close(_: object) -> None:
        del fake.replies[command]

    fake.replies[command] = close


def asked(fake: FakeNfvgen) -> list[str]:
    return [request["command"] for request in fake.requests]


def test_a_result_is_fetched_over_a_new_connection(fake: FakeNfvgen):
    generator = far_away(fake)
    lost_once(fake, "stats")
    result = generator.run(REQUEST)
    assert result.reconnections == 1
    assert result.busy_ns == 90_000_000
    assert asked(fake).count("start") == 1, "the trial went on"
    assert traffic_warnings(result) == (QualityWarning.RECONNECTED,)
    again = generator.run(REQUEST)
    assert again.reconnections == 0
    assert traffic_warnings(again) == ()


def test_a_start_of_which_nothing_is_known_is_stopped_and_begins_again(fake: FakeNfvgen):
    generator = far_away(fake)
    lost_once(fake, "start")
    assert generator.run(REQUEST).reconnections == 1
    assert asked(fake)[1:4] == ["start", "stop", "start"]


def test_a_start_that_nobody_heard_has_nothing_to_stop(fake: FakeNfvgen):
    generator = far_away(fake)
    lost_once(fake, "start")
    fake.refuse("stop", "idle", "no trial is running")
    assert generator.run(REQUEST).reconnections == 1


def test_a_connection_that_ends_during_the_trial_is_made_again_and_the_rest_slept(fake: FakeNfvgen):
    def close_after_the_answer(request: dict[str, object]) -> bytes:
        fake.running = False  # ends the conversation, as the fake does it
        return encode({"schema": "nfvgen/1", "id": request["id"], "ok": True, "result": {}})

    def come_back() -> NfvgenChannel:
        fake.running = True
        return connect(fake.path)

    generator = far_away(fake, come_back, process=AlwaysAlive(fake))
    fake.replies["start"] = close_after_the_answer
    begun = time.monotonic()
    result = generator.run(TrafficRequest(duration_ns=300_000_000, frame_size=64))
    assert time.monotonic() - begun >= 0.3
    assert result.reconnections == 1
    assert asked(fake).count("stats") == 2, "one when it was back, one at the end"


class AlwaysAlive:
    """The process of a fake whose conversations end."""

    def __init__(self, fake: FakeNfvgen) -> None:
        self.pid = fake.pid
        self.exit_status = None
        self.stop = fake.stop
        self.log_tail = fake.log_tail

    def alive(self) -> bool:
        return True


def test_a_host_that_does_not_come_back_in_time_is_an_error_that_says_how_to_go_on(fake: FakeNfvgen):
    lost = []

    def reach() -> NfvgenChannel:
        if lost:
            raise ChannelClosed("a host cannot be reached", observed="No route to host")
        return connect(fake.path)

    generator = far_away(fake, reach, again_s=0.05)
    lost_once(fake, "stats")
    lost.append(1)
    with pytest.raises(GeneratorError, match="did not come back within") as caught:
        generator.run(REQUEST)
    assert "No route to host" in caught.value.observed
    assert "run --resume" in caught.value.fix


def test_a_generator_that_ended_meanwhile_is_not_waited_for(fake: FakeNfvgen):
    reached = []

    def reach() -> NfvgenChannel:
        reached.append(1)
        return connect(fake.path)

    generator = far_away(fake, reach)

    def die(_: object) -> None:
        fake.log = "killed"
        fake.die(-9)

    fake.replies["stats"] = die
    with pytest.raises(GeneratorError, match="nfvgen ended during stats") as caught:
        generator.run(REQUEST)
    assert "exit status -9" in caught.value.observed
    assert len(reached) == 1, "no new connection is tried"


def test_a_generator_that_never_answers_is_stuck_whatever_the_connection(
    fake: FakeNfvgen, monkeypatch: pytest.MonkeyPatch
):
    generator = far_away(fake)
    monkeypatch.setattr(nfvgen_control, "ANSWER_TIMEOUT_S", 0.1)
    fake.replies["stats"] = lambda _: b""
    with pytest.raises(GeneratorError, match="did not answer stats"):
        generator.run(REQUEST)
    assert asked(fake).count("stats") == nfvgen_control.SILENCES


def test_processes_of_another_host_are_none_of_this_machine(fake: FakeNfvgen):
    info = far_away(fake).hello()
    assert (info.pid, info.thread_id) == (0, 0)
    assert info.raw["pid"] == 4711
