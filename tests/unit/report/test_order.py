"""What is said of an order follows from the numbers beside it: every order of three variants, in every output."""

import dataclasses
import itertools
import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Final

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.differences.ranking import Standing
from nfvbed.compare.recommendation.needs import Need
from nfvbed.compare.recommendation.recommendation import RecommendationRequest, recommend, unchecked
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.verdict import Rules
from nfvbed.dashboard.evidence.recommendationpage import order_table
from nfvbed.records import Preset, QualityWarning, Status
from nfvbed.report.answer import answer
from nfvbed.report.context import ReportContext
from nfvbed.report.csv.export import to_json
from nfvbed.report.page.page import render
from nfvbed.report.page.sections import page_values
from nfvbed.report.terminal.recommendation import screen as recommended
from nfvbed.report.terminal.screen import ScreenContext, screen
from tests.golden.test_report_golden import table
from tests.sample_records import BRIDGE, HOST, OVS, Scenario, build
from tests.sample_results import with_tests
from tests.sample_runs import examined, plane
from tests.sample_runs import run_of as run_of_systems

RATES: Final = (1.0e6, 2.0e6, 3.0e6)
NAMES: Final = ("alpha", "beta", "gamma")
ROUNDS: Final = 3
APART, TOUCHING, WIDE = 0.02, 0.25, 0.8
"""How far the rounds of a variant scatter: no ranges overlap, those of the upper two do, all of them do."""
SPECIAL: Final = (None, "bound", "emulated", "failed")
NUMBER: Final = r"\d+\.\d+"
ORDERED: Final = rf"(≥ )?({NUMBER})  +({NUMBER})–({NUMBER})  +(first|overlaps|may be higher|below|emulated)\b"


@dataclasses.dataclass(frozen=True)
class Case:
    """Three variants at one traffic point."""

    rates: tuple[float, ...]
    """Rates of `NAMES`, in the order in which they were declared."""
    scatter: float = APART
    baseline: str | None = None
    special: str | None = None
    """State of the last declared variant: a lower bound, emulated, failed."""

    @property
    def special_name(self) -> str:
        """Return the variant that is so."""
        return NAMES[-1] if self.special else ""


def cases() -> list[Case]:
    """Return every order, with and without overlaps, with and without a baseline, with rows that are no plain rate."""
    orders = list(itertools.permutations(RATES))
    return [
        Case(rates, scatter, baseline, special)
        for rates, scatter, baseline, special in itertools.product(
            orders, (APART, TOUCHING, WIDE), (None, *NAMES, "best"), SPECIAL
        )
    ]


def run_of(case: Case) -> RunData:
    """Build the run of a case; who the baseline is does not change it."""
    return _run_of(dataclasses.replace(case, baseline=None))


@cache
def _run_of(case: Case) -> RunData:
    systems = tuple(
        dataclasses.replace(
            OVS,
            name=name,
            capacity={64: (rate, rate)},
            noise=0.0,
            topology="pvp",
            vnf="process-io",
            vnf_resolved="process-io",
            emulated=(name, case.special) == (case.special_name, "emulated"),
        )
        for name, rate in zip(NAMES, case.rates, strict=True)
    )
    stopped = ((f"{case.special_name}/pvp+process-io/64", Status.FAILED, "it ended"),)
    bound = ((case.special_name, QualityWarning.GENERATOR_LIMITED),)
    data = build(
        Scenario(
            systems=systems,
            rounds=ROUNDS,
            far_rounds=(),
            changing=(),
            blocked=stopped if case.special == "failed" else (),
            warnings=bound if case.special == "bound" else (),
        )
    )
    shares = (1 - case.scatter, 1.0, 1 + case.scatter)
    trials = tuple(
        trial.model_copy(update={"forwarded_rate_pps": round(trial.forwarded_rate_pps * shares[trial.round])})
        if trial.preset is Preset.MRR
        else trial
        for trial in data.trials
    )
    return dataclasses.replace(data, trials=trials)


def surveyed(case: Case) -> Comparison:
    """Compare as a survey does."""
    return compare(
        [run_of(case)], ComparisonOptions(baseline=case.baseline, rules=Rules(purpose="survey", needed=ROUNDS))
    )


@dataclasses.dataclass(frozen=True)
class Printed:
    """What a reader sees of one row."""

    name: str
    rate: float
    low: float
    high: float
    bound: bool
    said: str


def expected(rows: Sequence[Printed], emulated: str) -> dict[str, str]:
    """Say how each row stands, from nothing but what is printed of them."""
    first = max((row for row in rows if row.name != emulated), key=lambda row: row.rate)

    def said(row: Printed) -> str:
        if row.name == emulated:
            return "emulated"
        if row is first:
            return "first"
        if row.low <= first.high and first.low <= row.high:
            return "overlaps"
        return "may be higher" if row.bound else "below"

    return {row.name: said(row) for row in rows}


def printed(lines: Sequence[str]) -> list[Printed]:
    """Read the rows of a screen."""
    found = []
    for line in lines:
        match = re.search(rf"\b({'|'.join(NAMES)})  +{ORDERED}", line)
        if match:
            name, bound, rate, low, high, said = match.groups()
            found.append(Printed(name, float(rate), float(low), float(high), bool(bound), said))
    return found


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_order_is_that_of_the_numbers_beside_it(case: Case) -> None:
    comparison = surveyed(case)
    emulated = case.special_name if case.special == "emulated" else ""
    rows = printed([line.plain for line in screen(comparison, ScreenContext())])
    assert len(rows) == len(NAMES) - (case.special == "failed")
    right = expected(rows, emulated)
    assert {row.name: row.said for row in rows} == right
    # In a list by rate the highest is the first, and who is emulated comes last.
    assert [row.name for row in rows] == sorted(right, key=lambda name: (name == emulated, -rate_of(rows, name)))

    told = json.loads(to_json(comparison))["order"]
    names = {entry["cell"].partition("/")[0]: entry["standing"].replace("-", " ") for entry in told}
    assert names == right
    assert list(names) == [row.name for row in rows]

    first = next(name for name, said in right.items() if said == "first")
    words = (("ranges overlap", "overlaps"), ("may be higher", "may be higher"))
    others = {text: {name for name, said in right.items() if said == word} for text, word in words}
    headline = answer(comparison).headline
    assert re.match(rf"Highest rates: pvp process-io {first}\b|Highest rates, at every.*: {first}\b", headline)
    assert {text: set(named(headline, text)) for text in others} == others

    values = page_values(ReportContext(comparison, ()), {})
    (tile,) = values.first.tiles
    assert tile.leader == f"{first} highest"
    assert {text: set(named(tile.sentence, text)) for text in others} == others
    section = next(part for part in values.sections if part.key == "table")
    html = render("table", values=section.values, is_folded=False)
    assert on_the_page(html) == right
    details = table(comparison, 150)
    assert all(re.search(rf"{name} .*\b{said}", details) for name, said in right.items())


def rate_of(rows: Sequence[Printed], name: str) -> float:
    """Return the rate that is printed of a variant."""
    return next(row.rate for row in rows if row.name == name)


def named(sentence: str, words: str) -> list[str]:
    """Return the variants that a sentence names after these words."""
    found = re.search(rf"{words}: ([^;).]*)", sentence)
    return re.findall("|".join(NAMES), found[1]) if found else []


def on_the_page(html: str) -> dict[str, str]:
    """Read the variants of the page's table, each with what is said of it."""
    rows = re.findall(r'<tr class="row">(.*?)</tr>', html)
    cells = {name[1]: re.search(r'class="verdict[^>]*>\s*(?:<[^>]*>)*([a-z ]+)', row)
             for row in rows if (name := re.search(r'<th scope="row">(\w+)', row))}  # fmt: skip
    return {name: found[1].strip() for name, found in cells.items() if found}


@pytest.mark.parametrize("purpose", ["survey", "compare"])
@pytest.mark.parametrize("rates", list(itertools.permutations(RATES)))
def test_a_comparison_has_no_order_and_its_leader_is_the_highest(rates: tuple[float, ...], purpose: str) -> None:
    case = Case(rates, baseline="beta")
    comparison = compare([run_of(case)], ComparisonOptions(baseline="beta", rules=Rules(purpose=purpose)))
    highest = NAMES[rates.index(max(rates))]
    assert [point.row.variant for point in answer(comparison).points] == [highest]
    standings = {entry.cell.partition("/")[0]: entry.standing for entry in comparison.order}
    assert standings[highest] is Standing.FIRST
    assert [standings[name] for name in NAMES if name != highest] == [Standing.BELOW] * 2
    if purpose == "compare":
        shown = "\n".join(line.plain for line in screen(comparison, ScreenContext()))
        assert not re.search(r"\b(first|below|highest)\b", shown)


def test_two_rounds_have_no_order_but_the_highest() -> None:
    data = run_of(Case(RATES))
    few = dataclasses.replace(data, trials=tuple(trial for trial in data.trials if trial.round < 2))
    comparison = compare([few], ComparisonOptions(rules=Rules(purpose="survey")))
    assert [entry.standing for entry in comparison.order] == [Standing.FIRST, *[Standing.FEW_ROUNDS] * 2]
    assert "too few rounds: beta, alpha" in answer(comparison).headline


def test_hosts_are_not_ranked_with_each_other() -> None:
    here, there = run_of(Case(RATES)), run_of(Case((4.0e6, 5.0e6, 6.0e6)))
    moved = {"run": "01940000-0000-7000-8000-000000000002"}
    there = dataclasses.replace(
        there,
        run=there.run.model_copy(update={"id": moved["run"], "host_hash": "b" * 64}),
        cells=tuple(cell.model_copy(update=moved) for cell in there.cells),
        trials=tuple(trial.model_copy(update=moved) for trial in there.trials),
    )
    order = compare([here, there], ComparisonOptions(rules=Rules(purpose="survey"))).order
    assert {entry.standing for entry in order if entry.run == here.run.id} == {Standing.NOT_COMPARED}
    assert [entry.standing for entry in order if entry.run == moved["run"]] == [
        Standing.FIRST,
        Standing.BELOW,
        Standing.BELOW,
    ]


@pytest.mark.parametrize("need", [Need.THROUGHPUT, Need.LATENCY])
@pytest.mark.parametrize("rates", list(itertools.permutations(RATES)))
def test_places_of_a_recommendation_are_those_of_the_values_beside_them(rates: tuple[float, ...], need: Need) -> None:
    """The faster is the slower to answer here, so that both ways of an order are seen."""
    systems = [plane(name, rate, latency_ns=rate / 1e2) for name, rate in zip(NAMES, rates, strict=True)]
    found = recommend([examined(run_of_systems(*systems))], RecommendationRequest(need=need), HOST, unchecked)
    lines = [line.plain for line in recommended(found, "", 100)]
    rows = [match for line in lines if (match := re.match(rf"  +(\d|=)  +({'|'.join(NAMES)})  +({NUMBER})", line))]
    assert [place for place, _, _ in (row.groups() for row in rows)] == ["1", "2", "3"]
    values = [float(row[3]) for row in rows]
    assert values == sorted(values, reverse=need is Need.THROUGHPUT)
    assert re.search(rf"^For {need.value}: {rows[0][2]}, ", lines[0])
    assert found.answer is not None
    cells = [[cell.text for cell in row] for row in order_table(found, found.answer).rows]
    assert [(place, name, float(value)) for name, place, value, *_ in cells] == [
        (row[1], row[2], float(row[3])) for row in rows
    ]


def test_tests_take_no_room_from_the_two_rows_of_a_point() -> None:
    """What is compared is what the screen is for; tests have what is left, a result of each that is shown."""
    shown = [
        line.plain for line in screen(compare([with_tests(build(Scenario(systems=(BRIDGE, OVS))))]), ScreenContext())
    ]
    first = next(number for number, line in enumerate(shown) if line.startswith("Throughput searches"))
    rows = [line.split()[0] for line in shown[:first] if line.startswith("  ")]
    assert rows.count("linux-bridge") == rows.count("ovs-dpdk") > 0
    assert shown[first + 2].split()[0] in ("linux-bridge", "ovs-dpdk"), "a title, a heading, a result"
