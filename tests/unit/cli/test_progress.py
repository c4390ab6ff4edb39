"""A run is never silent, on a terminal or in a log."""

import io
import time

import pytest
from rich.console import Console

from nfvbed.cli import progress
from nfvbed.cli.progress import BarProgress, PlainProgress, progress_on, remaining, span
from nfvbed.plan.cells import DeploymentKey
from nfvbed.plan.plan import PlannedTrial
from nfvbed.plan.standing import Standing
from nfvbed.records import CellRole, Preset, RunRecord, Status

KEY = DeploymentKey("ovs-dpdk", CellRole.REFERENCE, "p2p")
RUN = RunRecord(id="0189", experiment="demo", site="lab", host_hash="", plan_hash="", started_at="", status=Status.OK)
STANDING = Standing("near", ("near",), 0, {}, {"a": 2, "b": 1}, frozenset())


def drive(shown: PlainProgress | BarProgress) -> None:
    with shown:
        shown.run_started(RUN, False, 90)
        shown.cell_set_aside("vpp/p2p/64", "no vpp\nwhere: x")
        shown.deployment_started(KEY, 1)
        shown.trial_started(PlannedTrial(1, 1, "ovs-dpdk/p2p/64", Preset.MRR), 0.5)
        shown.deployment_ended(KEY)
        shown.round_ended(1, STANDING, 12)
        shown.run_ended(RUN)


@pytest.mark.parametrize("terminal", [False, True])
def test_both_kinds_tell_the_same(terminal: bool) -> None:
    output = io.StringIO()
    shown = progress_on(Console(file=output, force_terminal=terminal, width=200))
    assert isinstance(shown, BarProgress if terminal else PlainProgress)
    drive(shown)
    for text in (
        "run 0189 of demo begins, about 1 min 30 s",
        "vpp/p2p/64 is left out: no vpp",
        "run 0189 ended: ok",
        "round 1 is complete; 2 cells need up to 2 more in class near, about 12 s",
    ):
        assert text in output.getvalue()


def test_a_long_step_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SILENCE_S", 0.1)
    monkeypatch.setattr(progress, "TICK_S", 0.02)
    output = io.StringIO()
    with PlainProgress(Console(file=output, width=200)) as shown:
        shown.deployment_started(KEY, 1)
        time.sleep(0.3)
    assert "still round 1: deploying ovs-dpdk (reference) p2p (" in output.getvalue()


def test_words() -> None:
    assert span(59.4) == "59 s"
    assert span(61) == "1 min 1 s"
    assert remaining(Standing("far", ("far",), 0, {}, {}, frozenset()), 0) == "every cell has enough in class far"
    assert remaining(Standing("far", ("far",), 0, {}, {"a": 1}, frozenset()), 0).startswith("1 cell needs up to 1 more")
