"""Every kind of test has a headline that its code gives, and no output loses a mark or reads something else first."""

import ast
import csv
import dataclasses
import importlib
import io
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Final

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.rows.rowwarnings import DERIVED
from nfvbed.compare.verdict import Rules
from nfvbed.records import Preset, headlines
from nfvbed.records.headlines import HEADLINES
from nfvbed.records.quality import QualityWarning
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, TablePayload
from nfvbed.report import marks as marking
from nfvbed.report.context import ReportContext
from nfvbed.report.csv.export import to_csv, to_json
from nfvbed.report.csv.tests import tests_to_csv as csv_of
from nfvbed.report.figures.catalogue import figures
from nfvbed.report.page.page import render
from nfvbed.report.page.sections import page_values
from nfvbed.report.page.tests import tests_section as section_of
from nfvbed.report.terminal.screen import HEIGHT, ScreenContext, screen
from nfvbed.run.kinds.catalogue import KINDS
from nfvbed.vsperf.conf import columns
from nfvbed.vsperf.driver import importing
from tests.golden.test_report_golden import table
from tests.sample_records import BRIDGE, OVS, Scenario, build
from tests.sample_results import DECOY, headline_value, of_every_kind

EVERY: Final = pytest.mark.parametrize("kind", list(ResultKind), ids=lambda kind: kind.value)
MARKS: Final = (QualityWarning.EMULATED_ACCELERATOR, QualityWarning.CPU_STOLEN, QualityWarning.GENERATOR_LIMITED)
SMALL: Final = tuple(dataclasses.replace(system, capacity={64: system.capacity[64]}) for system in (BRIDGE, OVS))
SURVEY: Final = ComparisonOptions(baseline="linux-bridge", rules=Rules(purpose="survey", needed=1))
LEAST_LITERAL: Final = 4
"""Characters of its own that the pattern of a formatted name must have."""


def one_kind(kind: ResultKind, warnings: tuple[QualityWarning, ...] = MARKS) -> Comparison:
    """Compare a run that has a result of this kind alone."""
    data = of_every_kind(build(Scenario(systems=SMALL, rounds=1, far_rounds=(), changing=())), warnings)
    results = tuple(result for result in data.results if result.kind is kind)
    trials = tuple(trial for trial in data.trials if trial.preset not in (Preset.MRR, Preset.PACED))
    return compare([dataclasses.replace(data, results=results, trials=trials)], SURVEY)


@EVERY
def test_a_kind_has_a_headline(kind: ResultKind) -> None:
    names = HEADLINES[kind]
    assert names and len(set(names)) == len(names)
    assert all(known.headline == HEADLINES[known.result] for known in KINDS.values())


@pytest.mark.parametrize("kind", [kind for kind in ResultKind if kind.is_table], ids=lambda kind: kind.value)
def test_the_code_of_a_kind_gives_its_headline(kind: ResultKind) -> None:
    """A name that nothing produces would leave its kind without a headline."""
    known = KINDS[kind.value].execute.__module__ if kind.value in KINDS else importing.__name__
    patterns = list(_patterns(known)) if kind.value in KINDS else [*_patterns(known), *_patterns(columns.__name__)]
    assert [name for name in HEADLINES[kind] if not any(re.fullmatch(found, name) for found in patterns)] == []


def _patterns(name: str) -> Iterator[str]:
    """Yield patterns of the texts of a module and of those that it imports."""
    trees = [_tree(name)]
    trees += [_tree(imported) for imported in _imported(trees[0]) if imported.startswith("nfvbed.")]
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield re.escape(node.value)
            elif isinstance(node, ast.JoinedStr):
                literals = [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
                if sum(map(len, literals)) >= LEAST_LITERAL:
                    parts = node.values
                    yield "".join(re.escape(str(p.value)) if isinstance(p, ast.Constant) else ".+" for p in parts)


def _tree(name: str) -> ast.Module:
    source = importlib.import_module(name).__file__
    assert source is not None
    return ast.parse(Path(source).read_text())


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for alias in node.names:
                if importlib.util.find_spec(node.module) and _is_module(f"{node.module}.{alias.name}"):
                    yield f"{node.module}.{alias.name}"


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def values_of(kind: ResultKind) -> list[str]:
    """Return what a reader must see first of the result in `one_kind`, as it is written."""
    if kind is ResultKind.SEARCH:
        return ["5.395", "5.395 .. 5.438"]
    if kind.has_loads:
        shown = {headlines.FORWARDED: "2.250", headlines.MISSING: "25.0 %", headlines.P50: "9.2", headlines.P99: "206"}
        # Columns of loads are the same for all kinds, so they are in one order.
        return [text for name, text in shown.items() if name in HEADLINES[kind]]
    return [f"{headline_value(kind, place):g}" for place in range(len(HEADLINES[kind]))]


@EVERY
@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_screen_has_the_headline_with_its_marks_and_nothing_else_first(kind: ResultKind, width: int) -> None:
    lines = [line.plain for line in screen(one_kind(kind), ScreenContext(), width)]
    assert len(lines) <= HEIGHT
    text = " ".join(" ".join(lines).split())
    assert DECOY not in text
    places = [text.index(value) for value in values_of(kind)]
    assert places == sorted(places), "in the order of the headline"
    assert re.search(r"\bemulated [A-Z]{1,3}\b", text), "the word and the letters stand in the result's line"
    marks = re.search(r"\bemulated ([A-Z]{1,3})\b", text)
    assert marks is not None
    expected = {kind.value for kind in MARKS if kind is not QualityWarning.EMULATED_ACCELERATOR}
    if kind is ResultKind.SEARCH:
        # A search judges its trials by this one itself: where it decides a bound the result is irregular.
        expected -= {QualityWarning.GENERATOR_LIMITED.value}
    explained = dict(re.findall(r"\b([A-Z]) ([a-z-]+):", text))
    assert expected <= {explained[letter] for letter in marks[1]}
    assert "emulated (emulated-accelerator): a guest was emulated" in text


@EVERY
def test_every_other_output_has_the_headline_first_and_its_marks(kind: ResultKind) -> None:
    comparison = one_kind(kind)
    expected = {warning.value for warning in MARKS}
    if kind is ResultKind.SEARCH:
        expected -= {QualityWarning.GENERATOR_LIMITED.value}
    for width in (80, 120, 150):
        details = " ".join(table(comparison, width).split())
        assert all(value in details for value in values_of(kind))
        assert all(name in details for name in expected)
    section = render("tests", values=section_of(comparison))
    rows = [unescape(re.sub(r"<[^>]+>", " ", row)) for row in re.findall(r"<tr>(.*?)</tr>", section)]
    (row,) = [row for row in rows if values_of(kind)[0] in row][:1]
    places = [row.index(value) for value in values_of(kind)]
    assert places == sorted(places)
    assert all(name in row for name in expected)
    values = page_values(ReportContext(comparison, ()), {})
    assert all(any(name in line for line in values.first.marks) for name in expected)
    assert "No warnings were raised" not in values.first.confidence
    warnings = next(part for part in values.sections if part.key == "warnings")
    assert "no warning was raised" not in render("warnings", values=warnings.values)

    told = json.loads(to_json(comparison))["tests"][0]
    assert told["headline"] == list(HEADLINES[kind])
    assert {warning.value for warning in MARKS} <= set(told["result"]["warnings"])
    lines = list(csv.DictReader(io.StringIO(csv_of(comparison))))
    assert all({warning.value for warning in MARKS} <= set(line["warnings"].split()) for line in lines)
    if kind.is_table:
        flagged = {line["quantity"] for line in lines if line["headline"] == "1"}
        assert flagged == set(HEADLINES[kind])


@pytest.mark.parametrize("warning", [kind for kind in QualityWarning if kind not in DERIVED])
def test_no_output_of_a_rate_loses_a_mark(warning: QualityWarning) -> None:
    systems = [dataclasses.replace(s, topology="pvp", vnf="process-io", vnf_resolved="process-io") for s in SMALL]
    data = build(Scenario(systems=tuple(systems), rounds=3, far_rounds=(), changing=(), warnings=(("ovs", warning),)))
    for purpose in ("survey", "compare"):
        comparison = compare([data], ComparisonOptions(baseline="linux-bridge", rules=Rules(purpose=purpose, needed=3)))
        lines = [line.plain for line in screen(comparison, ScreenContext())]
        mark = marking.SPELT_OUT.get(warning)
        if mark is None:
            legend = next(line for line in lines if re.match(rf"[A-Za-z] {warning.value}: ", line))
            mark = legend.split()[0]
        (row,) = [line for line in lines if re.search(r"\bovs-dpdk ", line) and "–" in line]
        assert mark in row.partition("–")[2]
        values = page_values(ReportContext(comparison, ()), {})
        assert any(warning.value in line for line in values.first.marks)
        for tile in values.first.tiles:
            (bar,) = [bar for bar in tile.bars if bar.name == "ovs-dpdk"]
            assert mark in bar.marks
        grid = next(part for part in values.sections if part.key == "table")
        rows = re.findall(r'<tr class="row">(.*?)</tr>', render("table", values=grid.values, is_folded=False))
        (of_row,) = [found for found in rows if "ovs-dpdk" in found]
        assert warning.value in of_row
        assert warning.value in table(comparison, 150)
        (line,) = [line for line in csv.DictReader(io.StringIO(to_csv(comparison))) if line["variant"] == "ovs-dpdk"]
        assert warning.value in f"{line['limits']} {line['warnings']}"
        (told,) = [row for row in json.loads(to_json(comparison))["rows"] if row["variant"] == "ovs-dpdk"]
        assert warning.value in {entry["kind"] for entry in (*told["limits"], *told["warnings"])}


def test_a_limit_of_few_trials_and_one_that_may_be_are_marked_apart() -> None:
    data = build(Scenario(systems=SMALL, rounds=5, far_rounds=(), changing=()))
    few = tuple(
        trial.model_copy(update={"warnings": (QualityWarning.GENERATOR_LIMITED,)})
        if trial.preset is Preset.MRR and trial.round == 0 and "ovs" in trial.cell
        else trial
        for trial in data.trials
    )
    text = " ".join(
        line.plain for line in screen(compare([dataclasses.replace(data, trials=few)], SURVEY), ScreenContext())
    )
    assert "partly generator-limited: in a part of the trials, too few to bound the median (ovs-dpdk)" in text
    assert "≥" not in text


def test_a_figure_draws_the_headline_and_names_its_warnings() -> None:
    """Datagrams that came are drawn, and not those that were sent."""
    rows = tuple(
        MeasuredRow(
            label=f"{size} B",
            parameters={"message_bytes": size},
            quantities=(
                Quantity(name="sent", value=1e6, unit="messages/s"),
                Quantity(name="received", value=1e5, unit="messages/s"),
                Quantity(name="throughput", value=1e5 * size * 8, unit="bit/s"),
            ),
        )
        for size in (64, 512, 1400)
    )
    data = build(Scenario(systems=SMALL, rounds=1, far_rounds=(), changing=()))
    every = of_every_kind(data, MARKS)
    (result,) = [entry for entry in every.results if entry.kind is ResultKind.UDP_THROUGHPUT]
    measured = result.model_copy(update={"payload": TablePayload(rows=rows).model_dump(mode="json")})
    comparison = compare([dataclasses.replace(data, results=(measured,))], SURVEY)
    drawn = figures(comparison)["by-condition"]
    (records,) = drawn["datasets"].values()
    assert [record["value"] for record in records] == [1e5 * size * 8 for size in (64, 512, 1400)]
    assert {record["warnings"] for record in records} == {"emulated-accelerator, cpu-stolen, generator-limited"}


def test_what_is_found_wrong_with_a_result_that_ended_well_is_on_every_screen() -> None:
    data = build(Scenario(systems=SMALL, rounds=1, far_rounds=(), changing=()))
    every = of_every_kind(data, ())
    (found,) = [entry for entry in every.results if entry.kind is ResultKind.CONTINUOUS]
    refused = found.model_copy(update={"reason": "not accepted: 3 of 4 frames that were sent are lost"})
    comparison = compare([dataclasses.replace(every, results=(refused,))], SURVEY)
    for text in (
        " ".join(line.plain for line in screen(comparison, ScreenContext())),
        " ".join(table(comparison, 150).split()),
        render("tests", values=section_of(comparison)),
    ):
        assert "not accepted: 3 of 4 frames" in text


@pytest.mark.parametrize("kind", [ResultKind.LATENCY, ResultKind.REQUEST_RESPONSE], ids=lambda kind: kind.value)
def test_results_of_a_class_that_is_not_shown_are_not_silent(kind: ResultKind) -> None:
    comparison = one_kind(kind)
    elsewhere = tuple(test.model_copy(update={"shown": False, "placement_class": "mixed"}) for test in comparison.tests)
    hidden = comparison.model_copy(update={"tests": elsewhere})
    for text in (
        " ".join(line.plain for line in screen(hidden, ScreenContext())),
        " ".join(table(hidden, 150).split()),
        render("tests", values=section_of(hidden)),
    ):
        assert "placement: results in class mixed only" in text
        assert not any(value in text for value in values_of(kind))
