"""No output states a load for a row that did not have it: one load only where it is common, else each row's own."""

import csv
import dataclasses
import io
import json
import re
from collections.abc import Callable
from typing import Final

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.recommendation.candidates import ExaminedRun
from nfvbed.compare.recommendation.needs import Need
from nfvbed.compare.recommendation.recommendation import Recommendation, RecommendationRequest, recommend, unchecked
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.verdict import Rules
from nfvbed.dashboard.evidence.recommendationpage import order_table
from nfvbed.records import Preset, TrialRecord
from nfvbed.report.captions import loads
from nfvbed.report.csv.export import to_csv, to_json
from nfvbed.report.figures.catalogue import figures
from nfvbed.report.page.comparison import comparison_grid
from nfvbed.report.page.page import render
from nfvbed.report.page.survey import survey_grid
from nfvbed.report.recommendation import reasons
from nfvbed.report.terminal.recommendation import screen as recommended
from nfvbed.report.terminal.screen import ScreenContext, screen
from tests.golden.test_report_golden import table
from tests.sample_records import BRIDGE, HOST, OVS, Scenario, System, build
from tests.sample_runs import began, examined, plane, run_of

SMALL: Final = tuple(dataclasses.replace(system, capacity={64: system.capacity[64]}) for system in (BRIDGE, OVS))
RATES: Final = {"linux-bridge": 540_000, "ovs-dpdk": 5_900_000}
"""Half of what each forwards where the host is near; the slower one's, far, is what both can carry."""
SHARED: Final = 490_000


def run(keep: Callable[[TrialRecord], bool] = lambda _: True) -> RunData:
    """Build a run of both in one state of the host, without the trials that are not to be kept."""
    data = build(Scenario(systems=SMALL, rounds=8, far_rounds=(), changing=(), common_load=True))
    return dataclasses.replace(data, trials=tuple(trial for trial in data.trials if keep(trial)))


def is_common_of(name: str) -> Callable[[TrialRecord], bool]:
    """Return what keeps all trials but those of one variant at the common load."""
    return lambda trial: not (trial.preset is Preset.COMMON and trial.cell.startswith(name))


def common() -> Comparison:
    return compare([run()], ComparisonOptions(baseline="linux-bridge"))


def mixed() -> Comparison:
    """Compare rows of which one has no trials at the common load: as its partner's fell behind meanwhile."""
    return compare([run(is_common_of("ovs-dpdk"))], ComparisonOptions(baseline="linux-bridge"))


def surveyed() -> Comparison:
    """Compare rows that share no load."""
    data = run(lambda trial: trial.preset is not Preset.COMMON)
    return compare([data], ComparisonOptions(rules=Rules(purpose="survey", needed=8)))


OWN: Final = {"linux-bridge": "0.540 half", "ovs-dpdk": "5.900 half"}
CASES: Final = (
    (common, {"linux-bridge": "0.490", "ovs-dpdk": "0.490"}),
    (mixed, {"linux-bridge": "0.490", "ovs-dpdk": "5.900 half"}),
    (surveyed, OWN),
)


@pytest.mark.parametrize(("make", "right"), CASES)
def test_the_screen_states_a_load_once_or_beside_each_row(
    make: Callable[[], Comparison], right: dict[str, str]
) -> None:
    lines = [line.plain for line in screen(make(), ScreenContext())]
    stated = [line for line in lines if "missing frames at" in line]
    if make is common:
        (line,) = stated
        assert "latency and missing frames at 0.490 Mpps" in line
        assert "at Mpps" not in "\n".join(lines)
        return
    assert not stated
    heading = next(line for line in lines if "at Mpps" in line)
    ends = heading.index("at Mpps") + len("at Mpps")
    for name, load in right.items():
        (line,) = [line for line in lines if re.search(rf"\b{name} ", line) and "–" in line]
        assert line[:ends].endswith(f"  {load}"), line


@pytest.mark.parametrize("width", range(50, 110, 5))
def test_no_width_leaves_latency_or_missing_frames_without_their_load(width: int) -> None:
    heading = next(line.plain for line in screen(mixed(), ScreenContext(), width) if "variant" in line.plain)
    if re.search("P50|P99|missing", heading):
        assert "at Mpps" in heading


@pytest.mark.parametrize(("make", "right"), CASES)
def test_every_other_output_has_each_row_s_own_load(make: Callable[[], Comparison], right: dict[str, str]) -> None:
    comparison = make()
    for grid in (comparison_grid(comparison, ()), survey_grid(comparison, ())):
        rows = re.findall(r'<tr class="row">(.*?)</tr>', render("table", values=grid, is_folded=False))
        assert {
            name: f"at {load} Mpps" in row for name, load in right.items() for row in rows if name in row
        } == dict.fromkeys(right, True)
    for width in (80, 120, 150):
        details = table(comparison, width)
        assert all(details.count(f" {load}") >= list(right.values()).count(load) for load in right.values())
    rows = {row["variant"]: row for row in csv.DictReader(io.StringIO(to_csv(comparison)))}
    told = {row["variant"]: row for row in json.loads(to_json(comparison))["rows"]}
    for name, load in right.items():
        at = "paced" if "half" in load else "common"
        number = float(load.split()[0])
        assert float(rows[name][f"{at}_load_pps"]) / 1e6 == pytest.approx(number)
        assert told[name][at]["load_pps"] / 1e6 == pytest.approx(number)
    assert ("at one load" in loads(comparison.rows)) is (make is common)
    (data,) = figures(comparison)["latency"]["datasets"].values()
    assert {record["variant"]: record["load"] for record in data} == right


def test_trials_at_several_loads_have_the_least_and_the_greatest() -> None:
    data = run()
    trials = tuple(
        trial.model_copy(update={"intended_load_pps": SHARED + 5_000 * trial.round})
        if trial.preset is Preset.COMMON
        else trial
        for trial in data.trials
    )
    comparison = compare([dataclasses.replace(data, trials=trials)], ComparisonOptions(baseline="linux-bridge"))
    assert any("missing frames at 0.49–0.525 Mpps" in line.plain for line in screen(comparison, ScreenContext()))


def recommended_at(*loads_of_runs: float) -> Recommendation:
    """Recommend by latency from runs of two variants; the values are of the newest run that has each of them."""
    found: list[ExaminedRun] = []
    for number, rate in enumerate(loads_of_runs):
        systems: list[System] = [plane("fast", 9e6), plane("slow", 2 * rate)]
        data = began(
            run_of(*systems, run=f"01940000-0000-7000-8000-00000000000{number}"), f"2026-01-0{9 - number}T03:04:05Z"
        )
        if number == 0 and len(loads_of_runs) > 1:
            # The newest run has no latency of the other: its value comes from the run before.
            data = dataclasses.replace(
                data, trials=tuple(trial for trial in data.trials if not trial.cell.startswith("slow"))
            )
        found.append(examined(data))
    return recommend(found, RecommendationRequest(need=Need.LATENCY), HOST, unchecked)


def test_a_recommendation_names_one_load_only_where_all_values_are_of_it() -> None:
    together = recommended_at(1.5e6)
    assert "load: 1.500 Mpps, all directions together" in reasons(together)
    assert not any("at Mpps" in line.plain for line in recommended(together, "", 100))
    apart = recommended_at(2.5e6, 1.5e6)
    assert apart.answer is not None
    assert {entry.variant: entry.load_pps for entry in apart.answer.ranked} == {"fast": 2.5e6, "slow": 1.5e6}
    assert not any(line.startswith("load:") for line in reasons(apart))
    text = "\n".join(line.plain for line in recommended(apart, "", 100))
    assert re.search(r"fast +[\d.]+ +2\.500 ", text) and re.search(r"slow +[\d.]+ +1\.500 ", text)
    table_of = order_table(apart, apart.answer)
    place = [heading.text for heading in table_of.headings].index("at Mpps")
    assert {row[0].text: row[place].text for row in table_of.rows} == {"fast": "2.500", "slow": "1.500"}
