"""Variants in the order in which they came: each is judged against the one before it, with what changed beside."""

import dataclasses

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.verdict import Verdict
from nfvbed.report.context import ReportContext
from nfvbed.report.page.page import render_page
from nfvbed.report.page.successive import successive_section
from nfvbed.report.terminal.screen import HEIGHT, ScreenContext, screen
from tests.sample_runs import plane, run_of

VERSIONS = {"old": "2.15.0", "middle": "3.1.0", "new": "3.5.0"}


@pytest.fixture(scope="module", name="data")
def _data() -> RunData:
    found = run_of(plane("old", 4e6), plane("middle", 4e6), plane("new", 3e6))
    cells = tuple(cell.model_copy(update={"config_hash": f"c-{cell.variant}"}) for cell in found.cells)
    return dataclasses.replace(found, cells=cells)


def compared(data: RunData, *order: str) -> Comparison:
    return compare([data], ComparisonOptions(order=order))


def test_each_is_judged_against_the_one_before_it_whatever_the_baseline(data: RunData):
    found = compared(data, "old", "middle", "new").successive
    assert [(entry.baseline_variant, entry.variant) for entry in found] == [("old", "middle"), ("middle", "new")]
    assert [entry.judgement.verdict for entry in found] == [Verdict.SAME, Verdict.LOWER]
    assert all(entry.pairs for entry in found), "they were interleaved"


def test_one_that_was_not_measured_is_passed_over(data: RunData):
    (found,) = compared(data, "old", "not-there", "new").successive
    assert (found.baseline_variant, found.variant) == ("old", "new")


def test_without_an_order_there_is_no_step(data: RunData):
    comparison = compare([data])
    assert comparison.successive == ()
    assert successive_section(ReportContext(comparison=comparison, runs=(data.run,))) is None


def test_the_screen_has_a_line_for_each_step(data: RunData):
    comparison = compared(data, "old", "middle", "new")
    lines = [line.plain for line in screen(comparison, ScreenContext(title="Releases"))]
    steps = [line for line in lines if " → " in line]
    assert len(steps) == 2 and "= same" in steps[0] and "▼ lower" in steps[1] and len(lines) <= HEIGHT


def test_the_page_has_the_versions_and_the_defaults_that_changed_beside_each_step(data: RunData):
    configurations = {
        f"c-{name}": {
            "variant": {"options": {"dataplane": "ovs-dpdk"}},
            "versions": {"openvswitch": version, "dpdk": f"DPDK of {name}"},
        }
        for name, version in VERSIONS.items()
    }
    comparison = compared(data, *VERSIONS)
    context = ReportContext(
        comparison=comparison,
        runs=(data.run,),
        hosts={data.run.host_hash: data.host},
        rigs=data.rigs,
        variants=configurations,
    )
    section = successive_section(context)
    assert section is not None
    first, second = ([cell.text for cell in row] for row in section.changed.rows)
    assert first[0] == "old → middle"
    assert "dpdk: DPDK of old → DPDK of middle; openvswitch: 2.15.0 → 3.1.0" in first[1]
    assert "2.17: flows with a simple match" in first[2] and "checksum" not in first[2]
    assert "3.2: IP and L4 checksum offload is on by default" in second[2]
    page = render_page(context)
    assert "Step by step" in page and "of no part of it alone" in page
