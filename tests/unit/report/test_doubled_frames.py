"""Rows whose generator counted more frames back than were sent: bounds wherever they are shown, and never the best."""

import dataclasses
import io
from functools import cache

import pytest
from rich.console import Console

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.differences.ranking import leaders
from nfvbed.compare.differences.scope import Scope
from nfvbed.dashboard.results.runs import trial_table
from nfvbed.records import QualityWarning
from nfvbed.report.context import ReportContext
from nfvbed.report.page.page import render_page
from nfvbed.report.terminal.screen import ScreenContext, screen
from nfvbed.report.terminal.table import render
from tests.sample_records import BRIDGE, OVS, Scenario, build


@cache
def data():
    return build(Scenario(systems=(BRIDGE, dataclasses.replace(OVS, doubled=True))))


SENT = "more frames back than were sent"


@pytest.fixture(scope="module", name="comparison")
def _comparison() -> Comparison:
    return compare([data()], ComparisonOptions(baseline="best"))


def test_no_verdict_and_no_order_rests_on_them(comparison):
    doubled = [row for row in comparison.rows if row.variant == OVS.name]
    assert doubled and all(row.at_most and row.mrr.surplus for row in doubled)
    assert {entry.row.variant for entry in leaders(comparison.rows, comparison.rules)} == {BRIDGE.name}
    judged = [entry for entry in comparison.differences if entry.cell.startswith(OVS.name)]
    assert judged and {entry.scope.scope for entry in judged} == {Scope.NOT_COMPARABLE}
    assert all(SENT in entry.scope.reason for entry in judged)
    assert comparison.ranked(doubled[:1] + list(comparison.rows[:1]))[-1].variant == OVS.name


def test_every_screen_says_so(comparison):
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(render(comparison, 200))
    page = render_page(ReportContext(comparison=comparison, runs=(data().run,), rigs=data().rigs, title="Doubled"))
    last = "\n".join(line.plain for line in screen(comparison, ScreenContext()))
    for shown in (out.getvalue(), page, last):
        assert "≤ " in shown and "≥ 0" in shown and QualityWarning.LOSS_AT_LEAST.value in shown


def test_a_trial_says_so():
    table = trial_table([trial for trial in data().trials if trial.has_surplus][:1], "")
    (row,) = table.rows
    assert any(cell.text == "≥ 0" for cell in row) and "loss-at-least" in row[-2].text
