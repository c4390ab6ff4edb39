"""A comparison as JUnit's XML and as Markdown: what is decided, what is not, and what hinders a verdict."""

from xml.etree import ElementTree

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.verdict import Rules
from nfvbed.records import Status
from nfvbed.report.handover import HEADING, to_junit, to_markdown
from tests.sample_records import BRIDGE, OVS, SIMULATED, Scenario, build


def compared(rounds: int = 8, rules: Rules | None = None, **scenario: object) -> Comparison:
    data = build(Scenario(**{"systems": (BRIDGE, OVS), "far_rounds": (), "changing": (), **scenario}, rounds=rounds))
    return compare([data], ComparisonOptions(baseline="linux-bridge", rules=rules or Rules()))


def outcomes(comparison: Comparison) -> dict[str, str]:
    found = {}
    for case in ElementTree.fromstring(to_junit(comparison)).iter("testcase"):
        marks = [child.tag for child in case if child.tag != "system-out"]
        found[case.get("name")] = marks[0] if marks else "passed"
    return found


def test_rows_with_a_verdict_pass_and_have_their_figures():
    comparison = compared()
    assert set(outcomes(comparison).values()) == {"passed"}
    text = to_junit(comparison)
    assert "verdict: ▲ higher" in text and "ratio: " in text


def test_rows_without_one_are_skipped_with_the_reason():
    comparison = compared(rounds=3)
    assert {name: found for name, found in outcomes(comparison).items() if name.startswith("ovs")} == {
        "ovs-dpdk/p2p/64": "skipped",
        "ovs-dpdk/p2p/1518": "skipped",
    }
    assert 'skipped message="undecided: ' in to_junit(comparison)


def test_what_failed_is_a_failure_and_what_cannot_run_is_skipped():
    stopped = (
        ("ovs-dpdk/p2p/64", Status.FAILED, "the switch ended"),
        ("ovs-dpdk/p2p/1518", Status.UNSUPPORTED, "no hugepages"),
    )
    comparison = compared(blocked=stopped)
    found = outcomes(comparison)
    assert (found["ovs-dpdk/p2p/64"], found["ovs-dpdk/p2p/1518"]) == ("failure", "skipped")
    root = ElementTree.fromstring(to_junit(comparison))
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("4", "1", "1")


def test_a_survey_passes_without_verdicts():
    assert set(outcomes(compared(rules=Rules(purpose="survey"))).values()) == {"passed"}


def test_markdown_has_the_answer_and_a_line_for_each_row():
    lines = to_markdown(compared()).splitlines()
    assert lines[0].startswith("**") and lines[0].endswith("**")
    rows = [line for line in lines if line.startswith("| ")]
    assert rows[0] == f"| {' | '.join(HEADING)} |" and len(rows) == 6


@pytest.mark.parametrize("form", [to_junit, to_markdown])
def test_what_is_simulated_says_so(form):
    data = build(Scenario(systems=(SIMULATED,), rounds=8, far_rounds=(), changing=()))
    assert "simulated" in form(compare([data])).lower()
