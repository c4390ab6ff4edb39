"""A row taken apart, in text: every trial with what became of it, then visits, rate, limits and verdict."""

from functools import cache

import pytest

from nfvbed.compare.comparison import ComparisonOptions
from nfvbed.compare.explain import Explanation, explain
from nfvbed.records import QualityWarning, Status
from nfvbed.report.explanation import headline
from nfvbed.report.figures.trials import trials_figure
from nfvbed.report.terminal.explained import explained
from tests.sample_records import BRIDGE, CEILINGS, OVS, PVP, Scenario, build
from tests.sample_results import with_tests

OPTIONS = ComparisonOptions(baseline="linux-bridge")


@cache
def stored():
    return build(
        Scenario(
            systems=(BRIDGE, OVS, *CEILINGS, *PVP),
            rounds=8,
            common_load=True,
            warnings=(("ovs", QualityWarning.CPU_STOLEN),),
            blocked=(("linux-bridge/p2p/1518", Status.FAILED, "the switch died"),),
        )
    )


@pytest.fixture(scope="module", name="found")
def _found() -> Explanation:
    return explain([stored()], "ovs-dpdk/p2p/64", OPTIONS)


def text_of(found: Explanation, width: int = 100) -> list[str]:
    return [line.plain for line in explained(found, width)]


def test_every_trial_has_a_line_with_its_use(found: Explanation) -> None:
    lines = text_of(found)
    at = lines.index("Trials")
    trials = lines[at + 2 : at + 2 + len(found.trials)]
    assert len(found.trials) == 8 * 3
    assert all(" yes " in line and line.endswith(" A") for line in trials)
    assert [line.split()[2] for line in trials[:3]] == ["maximum", "half", "common"]
    assert any("A cpu-stolen: measuring threads had to wait" in line for line in lines)
    assert any("in the rate, and in its round's pair in class near" in line for line in lines)
    assert any(line.split()[4] == "mixed" for line in trials)


def test_visits_rate_limits_and_verdict_follow(found: Explanation) -> None:
    lines = text_of(found)
    headings = [line for line in lines if line and not line.startswith(" ")][1:]
    assert headings == ["Trials", "Visits, one a round", "Rate", "Limits", "Warnings", "Verdict", "Notes"]
    text = " ".join(" ".join(lines).split())
    assert "Mpps: median of 8 rounds, 8 trials, 99.2 % interval" in text
    assert "At the common load (0.490 Mpps): 0 of the frames missing, P50 " in text
    assert "At its own half load (" in text
    assert "8 of 8 pairs of rounds, " in text and "error of this look 2.34 %" in text
    assert "By class: near ×" in text
    assert "cpu-stolen: measuring threads had to wait for their cores (" in text
    assert "Scope system: whole native stacks" in text


@pytest.mark.parametrize("width", [80, 140])
def test_searches_have_a_line_for_each_goal_and_say_what_they_leave_out(width: int) -> None:
    data = with_tests(stored())
    lines = text_of(explain([data], "ovs-dpdk/p2p/64", OPTIONS), width)
    at = lines.index("Throughput searches")
    searches = [line for line in lines[at + 2 : lines.index("Searches leave out")] if line]
    assert sum(line.split()[0].isdigit() and " NDR " in line for line in searches) == 3
    assert any("csit-quick (all trials)" in line for line in searches) == (width == 140), "the narrow one has no room"
    irregular = [line for line in searches if "irregular, generator-limited" in line]
    assert len(irregular) == 3, "each PDR is the generator's ceiling"
    assert "csit-quick (all trials) leaves out: frames that the generator was late with" in " ".join(
        " ".join(lines).split()
    )
    assert max(map(len, searches)) <= width


def test_the_baseline_names_who_is_judged_against_it() -> None:
    text = " ".join(text_of(explain([stored()], "linux-bridge/pvp+native/64", OPTIONS)))
    assert "ovs-dpdk is judged against this row: higher: ×" in text


def test_a_row_that_was_not_measured_says_why() -> None:
    text = " ".join(text_of(explain([stored()], "linux-bridge/p2p/1518", OPTIONS)))
    assert "failed: the switch died" in text


def test_no_line_is_wider_than_the_terminal(found: Explanation) -> None:
    for width in (70, 100):
        assert max(len(line) for line in text_of(found, width)) <= width


def test_a_rows_trials_at_maximum_load_are_drawn_with_its_rate(found: Explanation) -> None:
    drawing = trials_figure(found)
    assert drawing is not None
    spec = drawing.make(checked=True)
    rate, trials = sorted(spec["datasets"].values(), key=len)
    assert [record["median"] for record in rate] == [found.row.mrr.median_pps / 1e6]
    assert len(trials) == sum(trial.preset == "mrr" for trial in found.trials) == 8
    assert all(record["used"] for record in trials)
    assert "8 trials at maximum load" in drawing.description


def test_a_row_that_was_not_measured_says_why_first_and_is_not_drawn() -> None:
    failed = explain([stored()], "linux-bridge/p2p/1518", OPTIONS)
    assert trials_figure(failed) is None
    assert headline(failed) == "failed: the switch died"
    assert headline(explain([stored()], "linux-bridge/p2p/64", OPTIONS)).endswith(" Mpps, the baseline")
