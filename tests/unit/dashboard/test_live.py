"""What follows a run: events between trials alone, and how far the run is."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.responses import Response

from nfvbed.dashboard.live import MOST, OF_CLIENT, OF_OPERATORS, Streams
from nfvbed.dashboard.people.roles import CURRENT, Requester, Role
from nfvbed.dashboard.rendering import render
from nfvbed.dashboard.results.progress import Plans, Progress, RequiredMeasurements, left_s, live_of, progress_of
from nfvbed.dashboard.results.rounds import rates_after
from nfvbed.dashboard.results.source import Source
from nfvbed.errors import BusyError
from nfvbed.host.workspace import trialsign
from nfvbed.host.workspace.trialsign import going_trial, remove_signs_of_the_dead, trial_going, trial_is_going
from nfvbed.store import Store

pytestmark = pytest.mark.xdist_group("live")  # One worker makes what they share.

ASKING = SimpleNamespace(url=SimpleNamespace(path="/runs/1/events"))
"""A request."""


class Enough(Exception):
    """A reader has gone away."""


def events(parts, going) -> list[tuple[str, object]]:
    """Return what is sent while parts come one after the other, and trials as said; then its reader goes away."""
    shown, trials = iter(parts), iter(going)

    def part() -> tuple[str, bool]:
        for found in shown:
            return found
        raise Enough

    streams = Streams(is_going=lambda: next(trials, False), look_s=0, going_s=0, fresh_s=0)
    sent: list[str] = []

    async def read() -> None:
        async for chunk in streams.follow(ASKING, part).body_iterator:
            sent.append(chunk.encode().decode())

    with suppress(Enough):
        asyncio.run(read())
    lines = [chunk.split("\n") for chunk in sent]
    return [(one[0].removeprefix("event: "), json.loads(one[1].removeprefix("data: "))) for one in lines]


def test_a_part_is_sent_when_it_has_changed_and_the_end_once():
    sent = events([("a", False), ("a", False), ("b\n<i>", False), ("c", True)], [])
    assert sent == [("part", "a"), ("part", "b\n<i>"), ("part", "c"), ("end", {})]


def test_nothing_is_read_or_sent_while_a_trial_is_going():
    assert events([("a", True)], [True] * 10 + [False] * 2) == [("part", "a"), ("end", {})]
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
        return [chunk.encode().decode() async for chunk in streams.follow(ASKING, part).body_iterator]

    assert asyncio.run(read()) == asyncio.run(read()) == ['event: part\ndata: "a"\n\n', "event: end\ndata: {}\n\n"]
    assert len(asked) == 1


def asked_by(client: str, role: Role = Role.VIEWER, **more) -> None:
    CURRENT.set(Requester(role=role, place=client, **more))


async def sent(response: Response, method: str = "GET") -> list[dict]:
    """Answer a request of which the reader goes away at once."""
    messages: list[dict] = []

    async def send(message) -> None:
        messages.append(message)

    async def receive() -> dict:
        return {"type": "http.disconnect"}

    await response({"type": "http", "method": method}, receive, send)
    return messages


def test_places_are_taken_before_anything_is_sent_and_given_back_in_any_case():
    streams = Streams(is_going=lambda: False, look_s=0, fresh_s=0)
    token = CURRENT.set(None)

    async def many() -> None:
        taken = []
        for _ in range(OF_CLIENT):
            asked_by("one")
            taken.append(streams.follow(ASKING, lambda: ("a", False)))
        with pytest.raises(BusyError, match="one client"):
            streams.follow(ASKING, lambda: ("a", False))
        for number in range(MOST - OF_OPERATORS - OF_CLIENT):
            asked_by(f"other {number}")
            taken.append(streams.follow(ASKING, lambda: ("a", False)))
        asked_by("somebody")
        with pytest.raises(BusyError) as error:
            streams.follow(ASKING, lambda: ("a", False))
        assert "kept for operators" in error.value.observed
        for number in range(OF_OPERATORS):
            asked_by(f"operator {number}", Role.OPERATOR)
            taken.append(streams.follow(ASKING, lambda: ("a", False)))
        asked_by("one more", Role.OPERATOR)
        with pytest.raises(BusyError, match=f"at most {MOST} "):
            streams.follow(ASKING, lambda: ("a", False))
        for number, response in enumerate(taken):
            messages = await sent(response, "HEAD" if number % 2 else "GET")
            assert messages[0]["type"] == "http.response.start"
        asked_by("somebody")
        streams.follow(ASKING, lambda: ("a", False))

    asyncio.run(many())
    CURRENT.reset(token)


def test_events_end_with_the_session():
    streams, looks = Streams(is_going=lambda: False, look_s=0, fresh_s=0), iter([True, True, False])

    async def read() -> list[object]:
        asked_by("one", may_go_on=lambda: next(looks))
        return [chunk async for chunk in streams.follow(ASKING, lambda: ("a", False)).body_iterator]

    assert len(asyncio.run(read())) == 1 and next(looks, None) is None


def test_a_trial_is_seen_from_another_process_and_ends_with_its_process():
    held = "with trialsign.trial_going('01-02'):\n    print(flush=True)\n    sys.stdin.read()"
    place = f"from pathlib import Path\ntrialsign.RUN_DIRECTORY = Path({str(trialsign.RUN_DIRECTORY)!r})"
    script = f"import sys\nfrom nfvbed.host.workspace import trialsign\n{place}\n{held}"
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


PAIR = """\
name: pair
title: Two simulated systems, one of them faster
variants: [simulated, faster]
altered: {faster: {variant: simulated, title: Faster, options: {capacity_pps: 8000000, far_capacity_pps: 4000000}}}
topologies: [p2p]
frame_sizes: [64]
"""


@pytest.fixture(scope="module", name="measured")
def _measured(tmp_path_factory) -> Path:
    """The store of a run of the simulated site that compared, with its plan."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "pair.yml").write_text(PAIR)
    argv = ["run", str(folder / "pair.yml"), "--store", str(folder / "results.sqlite"), "--no-doctor"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    subprocess.run([sys.executable, "-m", "nfvbed", *argv], check=True, capture_output=True, env=environment)
    return folder / "results.sqlite"


def test_how_far_a_run_is(measured: Path):
    path = measured
    with Store.open(path, read_only=True) as opened:
        source = Source(opened)
        run = opened.run("latest")
        needs = Plans().of(source, run)
        assert needs is not None
        found = progress_of(source, run, needs)
        assert found.cells_done == found.cells > 1 and found.trials >= found.trials_least > 0 and found.share == 1
        lacking = RequiredMeasurements(trials=dict.fromkeys(needs.trials, 10**6), tests={}, trials_of_tests={})
        assert progress_of(source, run, lacking).cells_done == 0 and progress_of(source, run, lacking).share < 0.001
    with Store.open(path) as writing:
        source = Source(writing)
        live = live_of(source, Plans(), run.model_copy(update={"status": None, "ended_at": None}))
        assert live is not None and live.progress == found
        shown = render("run-progress", live=live)
        assert "100 % of the trials are done" in shown and f"{found.cells} of {found.cells} cells" in shown
        assert "Newest trials" in shown
        assert live.left_s is None, "its time is virtual"
        assert live.rates is not None and "Rate so far" in shown
        assert live.compares == ("where verdicts are not decided" in shown) == ("Verdict" in shown)


NEEDS = RequiredMeasurements(trials={"a": 100}, tests={}, trials_of_tests={}, length_s=1000.0)


@pytest.mark.parametrize(
    ("done", "elapsed_s", "left"),
    [
        (0, 0.0, 1000),
        (50, 500.0, 500),
        (50, 1020.0, 1000),
        (50, 40_000.0, 500),
        (100, 900.0, 0),
    ],
)
def test_the_time_left_is_the_plans_at_the_pace_so_far(done, elapsed_s, left):
    progress = Progress(
        cells_done=0, cells=1, trials=done, trials_least=100, tests=0, tests_least=0, done=done, whole=100
    )
    assert left_s(NEEDS, progress, elapsed_s) == pytest.approx(left)
    assert left_s(NEEDS.model_copy(update={"length_s": 0.0}), progress, elapsed_s) is None


def test_rates_and_verdicts_are_those_of_whole_rounds(measured: Path, monkeypatch):
    """What the last round has, which may go on, is not among them."""
    with Store.open(measured, read_only=True) as opened:
        source, plans = Source(opened), Plans()
        run = opened.run("latest")
        found = plans.with_plan(source, run)
        assert found is not None
        table = plans.rounds.of(source, run, found[1])
        assert table is not None and table.mark and "whole rounds" in table.caption
        last = max(visit.round for visit in opened.visit_rates(run.id))
        rows = {row[0].text: [cell.text for cell in row] for row in table.rows}
        assert {int(row[2]) for row in rows.values()} == {last - 1}
        assert any(row[3] == "baseline" for row in rows.values())
        faster = rows["faster/p2p/64"]
        assert faster[5] == "simulated/p2p/64" and faster[4].startswith("\u00d7") and "undecided" in faster[3]
        ended = rates_after(source, run, found[1], last)
        assert "higher" in [row[3].text for row in ended.rows if row[0].text == "faster/p2p/64"][0]
        monkeypatch.setattr(opened, "trials", lambda *_, **__: pytest.fail("it is read once a round"))
        assert plans.rounds.of(source, run, found[1]) is table
        monkeypatch.setattr("nfvbed.dashboard.results.rounds.MOST_TRIALS", 1)
        assert plans.rounds.of(source, run, found[1]) is None
