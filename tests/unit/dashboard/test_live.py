"""What follows a run: events between trials alone, and how far the run is."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nfvbed.dashboard.live import MOST, Streams
from nfvbed.dashboard.progress import Needs, Plans, live_of, progress_of
from nfvbed.dashboard.rendering import render
from nfvbed.dashboard.source import Source
from nfvbed.errors import BusyError
from nfvbed.host import trialsign
from nfvbed.host.trialsign import going_trial, remove_signs_of_the_dead, trial_going, trial_is_going
from nfvbed.store import Store


class Asking:
    """A browser that goes away after some looks between trials."""

    def __init__(self, looks: int) -> None:
        self._looks = looks
        self.url = SimpleNamespace(path="/runs/1/events")

    async def is_disconnected(self) -> bool:
        """Count down."""
        self._looks -= 1
        return self._looks < 0


def events(parts, going, looks=20) -> list[tuple[str, object]]:
    """Return what is sent while parts come one after the other, and trials as said."""
    shown, trials = iter(parts), iter(going)
    streams = Streams(is_going=lambda: next(trials, False), look_s=0, going_s=0, fresh_s=0)

    async def read() -> list[str]:
        answer = streams.follow(Asking(looks), lambda: next(shown))
        return [chunk async for chunk in answer.body_iterator]

    sent = [chunk.split("\n") for chunk in asyncio.run(read())]
    return [(lines[0].removeprefix("event: "), json.loads(lines[1].removeprefix("data: "))) for lines in sent]


def test_a_part_is_sent_when_it_has_changed_and_the_end_once():
    sent = events([("a", False), ("a", False), ("b\n<i>", False), ("c", True)], [])
    assert sent == [("part", "a"), ("part", "b\n<i>"), ("part", "c"), ("end", {})]


def test_nothing_is_read_or_sent_while_a_trial_is_going():
    assert events([("a", True)], [True] * 10 + [False] * 2, looks=9) == [("part", "a"), ("end", {})]
    # One that begins while the part is read.
    sent = events([("a", False), ("b", True)], [False, True, True, False, False, False])
    assert sent == [("part", "a"), ("part", "b"), ("end", {})]


def test_times_between_trials_that_are_shorter_than_reading_show_what_was_read_before():
    short = [False, True, True, False, False, True] * 2
    parts = [(name, False) for name in "abcdefgh"] + [("z", True)]
    sent = [text for kind, text in events(parts, short) if kind == "part"]
    assert sent[:2] == ["a", "b"], "every part that was read is sent, in order"


def test_what_several_connections_show_is_read_once():
    streams, asked = Streams(is_going=lambda: False, look_s=0, fresh_s=60), []

    def part() -> tuple[str, bool]:
        asked.append(1)
        return "a", True

    async def read() -> list[str]:
        return [chunk async for chunk in streams.follow(Asking(9), part).body_iterator]

    assert asyncio.run(read()) == asyncio.run(read()) == ['event: part\ndata: "a"\n\n', "event: end\ndata: {}\n\n"]
    assert len(asked) == 1


def test_connections_are_bounded():
    streams = Streams(is_going=lambda: False, look_s=0, fresh_s=0)

    async def many() -> None:
        open_ones = [streams.follow(Asking(9), lambda: ("a", False)).body_iterator for _ in range(MOST)]
        for one in open_ones:
            await anext(one)
        with pytest.raises(BusyError):
            streams.follow(Asking(9), lambda: ("a", False))
        for one in open_ones:
            await one.aclose()
        streams.follow(Asking(9), lambda: ("a", False))

    asyncio.run(many())


def test_a_trial_is_seen_from_another_process_and_ends_with_its_process():
    held = "with trialsign.trial_going('01-02'):\n    print(flush=True)\n    sys.stdin.read()"
    place = f"from pathlib import Path\ntrialsign.RUN_DIRECTORY = Path({str(trialsign.RUN_DIRECTORY)!r})"
    script = f"import sys\nfrom nfvbed.host import trialsign\n{place}\n{held}"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script, "demo"], env=environment, **pipes) as process:
        process.stdout.readline()
        said = str(going_trial())
        assert all(part in said for part in ("run 01-02", f"pid {process.pid} (-c demo)", "since 20"))
        process.kill()
    assert not trial_is_going() and list(trialsign.RUN_DIRECTORY.iterdir()), "a kill leaves its file behind"
    remove_signs_of_the_dead()
    with trial_going(), trial_going():
        assert trial_is_going()
    assert not trialsign.RUN_DIRECTORY.exists()


def test_a_trial_goes_on_where_nothing_can_be_written(monkeypatch, tmp_path):
    monkeypatch.setattr(trialsign, "RUN_DIRECTORY", tmp_path / "a file" / "below")
    (tmp_path / "a file").touch()
    with trial_going():
        assert not trial_is_going()


def test_a_run_that_ended_is_not_followed(store: Store):
    source = Source(store)
    run = source.run("latest")
    assert live_of(source, Plans(), run) is None


def test_how_far_a_run_is(tmp_path: Path):
    """Of a run of the simulated site, which has a plan."""
    path = tmp_path / "results.sqlite"
    argv = ["run", "simulated", "--store", str(path), "--no-doctor", "--purpose", "survey", "--repetitions", "1"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    subprocess.run(
        [sys.executable, "-m", "nfvbed", *argv, "--max-rounds", "1"], check=True, capture_output=True, env=environment
    )
    with Store.open(path, read_only=True) as opened:
        source = Source(opened)
        run = opened.run("latest")
        needs = Plans().of(source, run)
        assert needs is not None
        found = progress_of(source, run, needs)
        assert found.cells_done == found.cells > 3 and found.trials >= found.trials_least > 0 and found.share == 1
        lacking = Needs(trials=dict.fromkeys(needs.trials, 10**6), tests={}, trials_of_tests={})
        assert progress_of(source, run, lacking).cells_done == 0 and progress_of(source, run, lacking).share < 0.001
    with Store.open(path) as writing:
        source = Source(writing)
        live = live_of(source, Plans(), run.model_copy(update={"status": None, "ended_at": None}))
        assert live is not None and live.progress == found
        shown = render("run-progress", live=live)
        assert "100 % of the trials are done" in shown and f"{found.cells} of {found.cells} cells" in shown
        assert "Newest trials" in shown
