"""A run is never silent, on a terminal or in a log."""

import io
import time
from dataclasses import replace

import pytest
from rich.console import Console

from nfvbed.cli import progress
from nfvbed.cli.progress import BarProgress, PlainProgress, Timer, begun, progress_on, round_line, span
from nfvbed.plan.cells import DeploymentKey
from nfvbed.plan.completeness import Completeness, MissingTrials
from nfvbed.plan.plan import PlannedTrial
from nfvbed.records import CellRole, Preset, RunRecord, Status
from nfvbed.records.results import ResultKind, ResultRecord
from nfvbed.run.observer import RoundEnd

KEY = DeploymentKey("ovs-dpdk", CellRole.REFERENCE, "p2p")
ID = "01890a5d-ac96-774b-bcce-b302099a8057"
RUN = RunRecord(id=ID, experiment="demo", site="lab", host_hash="", plan_hash="", started_at="", status=Status.OK)
RESULT = ResultRecord(
    run=ID, cell="ovs-dpdk/p2p/64", round=1, test="search", kind=ResultKind.SEARCH, started_at="", ended_at=""
)
LACK = MissingTrials(1, 3, "repetitions of search in class near", of_a_test=True)
STANDING = Completeness("near", ("near",), 0, {"a": LACK, "b": MissingTrials(1, 2, "rounds")}, frozenset())
END = RoundEnd(number=1, of=(8, 12), completeness=STANDING, points=4, decided=1, ends=False, left_s=12)


def drive(shown: PlainProgress | BarProgress) -> None:
    with shown:
        shown.run_started(RUN, False, lambda: 90)
        shown.cell_excluded("vpp/p2p/64", "no vpp\nwhere: x")
        shown.deployment_started(KEY, 1)
        shown.trial_started(PlannedTrial(1, 1, "ovs-dpdk/p2p/64", Preset.MRR), 0.5)
        shown.deployment_ended(KEY)
        shown.round_ended(END)
        shown.run_ended(RUN)


@pytest.mark.parametrize("terminal", [False, True])
def test_both_kinds_tell_the_same(terminal: bool) -> None:
    output = io.StringIO()
    shown = progress_on(Console(file=output, force_terminal=terminal, width=200))
    assert isinstance(shown, BarProgress if terminal else PlainProgress)
    drive(shown)
    for text in (
        f"run {ID} of demo begins, about 1 min 30 s",
        "vpp/p2p/64 is left out: no vpp",
        f"run {ID} ended: ok",
        "round 1 of 8 to 12, 1 of 4 points decided, 1 cell lacks repetitions "
        "(1 of 3 repetitions of search in class near), about 12 s left",
    ):
        assert text in output.getvalue()


def test_a_long_step_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENCE_S", 0.1)
    monkeypatch.setattr(progress, "TICK_S", 0.02)
    output = io.StringIO()
    with PlainProgress(Console(file=output, width=200)) as shown:
        shown.deployment_started(KEY, 1)
        deadline = time.monotonic() + 20
        while "still round 1" not in output.getvalue() and time.monotonic() < deadline:
            time.sleep(0.02)
    assert "still round 1: deploying ovs-dpdk (reference) p2p (" in output.getvalue()


def test_elapsed_and_left_come_from_the_newest_estimate() -> None:
    now = [100.0]
    timer = Timer(lambda: now[0])
    assert (timer.words, timer.share) == ("0 s", 0.0)
    timer.expect(90)
    now[0] += 30
    assert (timer.words, timer.share) == ("30 s, about 1 min 0 s left", pytest.approx(1 / 3))
    timer.expect(10)
    assert timer.share == pytest.approx(3 / 4)
    now[0] += 11
    assert (timer.words, timer.share) == ("41 s, longer than estimated", 1.0)


def test_the_bar_shows_time_and_estimates_again_when_a_trial_or_test_ends() -> None:
    now, left = [0.0], [100.0]
    output = io.StringIO()
    shown = BarProgress(Console(file=output, force_terminal=True, width=120), lambda: now[0])
    with shown:
        shown.run_started(RUN, False, lambda: left[0])
        shown.trial_started(PlannedTrial(1, 1, "ovs-dpdk/p2p/64", Preset.MRR), 0.5)
        now[0], left[0] = 20.0, 45.0
        shown.test_ended(RESULT)
    assert "about 1 min 40 s" in output.getvalue()
    assert "20 s, about 45 s left" in output.getvalue()


def test_words() -> None:
    assert span(59.4) == "59 s"
    assert span(61) == "1 min 1 s"
    assert span(3 * 3600 + 125) == "3 h 2 min"
    assert begun(RUN, True, 0) == f"run {ID} of demo goes on"
    none = Completeness("far", ("far",), 0, {}, frozenset())
    assert round_line(RoundEnd(3, (3, 3), none, 0, 0, True, 9.0)) == "round 3 of 3"
    assert round_line(RoundEnd(12, (8, 12), none, 4, 3, True, 0.0)) == "round 12 of 8 to 12, 3 of 4 points decided"


def test_without_a_terminal_there_is_a_line_a_round() -> None:
    output = io.StringIO()
    with PlainProgress(Console(file=output, width=200)) as shown:
        shown.run_started(RUN, False, lambda: 90)
        for number in (1, 2):
            for _ in range(20):
                shown.deployment_started(KEY, number)
                shown.trial_started(PlannedTrial(1, number, "ovs-dpdk/p2p/64", Preset.MRR), 0.5)
                shown.test_ended(RESULT)
                shown.deployment_ended(KEY)
            shown.round_ended(replace(END, number=number))
        shown.test_ended(RESULT.model_copy(update={"status": Status.FAILED, "reason": "it died"}))
        shown.run_ended(RUN)
    lines = output.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"run {ID} of demo begins",
        "round 1 of 8 to 12",
        "round 2 of 8 to 12",
        "round 1: ovs-dpdk/p2p/64 search ended failed: it died",
        f"run {ID} ended: ok",
    ]
