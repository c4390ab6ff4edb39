"""Tests beside the MRR in terminal, page and figures: throughput only where it is regular, reasons with advice."""

import csv
import io
import json
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from rich.console import Console

from nfvbed.cli.main import main
from nfvbed.cli.results import load_runs
from nfvbed.compare.advice.advice import advice_for
from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.rows.latency import LatencySummary, due_latency, merge_latency
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.compare.verdict import Rules
from nfvbed.records import QualityWarning, Status
from nfvbed.records.results import MeasuredRow, Quantity, Reference, ResultKind, TablePayload
from nfvbed.report.answer import OF_EMULATED_GUESTS, TESTS_ALONE, answer
from nfvbed.report.context import ReportContext
from nfvbed.report.csv.export import to_json
from nfvbed.report.csv.tests import tests_to_csv as csv_of
from nfvbed.report.figures.catalogue import figures, to_svg
from nfvbed.report.irregular import ADVICE
from nfvbed.report.loadtables import due_lines
from nfvbed.report.measured import measured_tables
from nfvbed.report.page.page import render_page
from nfvbed.report.terminal.screen import ScreenContext, screen
from nfvbed.report.terminal.table import render
from nfvbed.report.throughput import throughput_rows
from nfvbed.search.stop import Irregularity

ROOT = Path(__file__).parents[3]
TESTS = (
    "tests=[{kind: mrr}, {kind: search, preset: csit-quick}, {kind: loss-curve, duration_s: 0.1},"
    " {kind: latency, duration_s: 0.1}, {kind: soak, load_pps: 1000, duration_s: 1, interval_s: 0.5},"
    " {kind: search, name: bounded, preset: rfc2544-quick, max_load_pps: 500000},"
    " {kind: search, name: lost, preset: csit-quick, min_load_pps: 7000000},"
    " {kind: continuous, name: after, fraction: 0.5, of: NDR, duration_s: 0.1}]"
)


@pytest.fixture(scope="module", name="comparison")
def _comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    store = str(tmp_path_factory.mktemp("report") / "x.sqlite")
    options = ("--root", str(ROOT), "--store", store)
    assert main(["run", "simulated", "--frame-size", "64", "--repetitions", "1", "--set", TESTS, *options]) == 0
    return compare(load_runs(ROOT, store, ("latest",), simulated=True).data, ComparisonOptions(rules=Rules(needed=1)))


def shown(comparison: Comparison, width: int = 150) -> str:
    output = io.StringIO()
    Console(file=output, width=width, color_system=None).print(render(comparison, width))
    return output.getvalue()


def test_every_search_says_what_it_conforms_to_and_what_deviates(comparison: Comparison):
    """On the terminal and its last screen, on the page, in JSON as the API gives it, and in CSV."""
    page = render_page(ReportContext(comparison=comparison, runs=(), title="Conformance"))
    last = " ".join(line.plain.strip() for line in screen(comparison, ScreenContext()))
    for text in (" ".join(shown(comparison).split()), page, last):
        assert "NDR of rfc2544-quick" in text and "RFC 2544 section 24: conditional" in text
        assert "deviates: simulated: no frame was sent; no pause after" in text
    document = json.loads(to_json(comparison))
    searches = [test["result"]["payload"] for test in document["tests"] if test["result"]["kind"] == "search"]
    assert searches and all(payload["deviations"][0] == "simulated: no frame was sent" for payload in searches)
    limited = next(payload for payload in searches if payload["search"]["preset"] == "rfc2544-quick")
    (first, *_) = limited["goals"][0]["conformance"]
    # Its goal is conditional; it was not reached.
    assert first["level"] == "none" and first["reasons"][0].startswith("no regular result")
    rows = [row for row in csv.DictReader(io.StringIO(csv_of(comparison))) if row["goal"]]
    assert rows and all("RFC 9971: conditional" in row["conformance"] and row["deviations"] for row in rows)


def test_throughput_is_the_word_for_regular_results_only(comparison: Comparison):
    rows = {(row.test, row.goal.name): row for row in throughput_rows(comparison) if row.goal}
    regular, limited = rows["search", "NDR"], rows["bounded", "NDR"]
    assert regular.throughput_pps is not None
    assert regular.lower_pps - 1 <= regular.throughput_pps < regular.upper_pps
    assert (regular.preset, regular.regular, regular.irregular) == ("csit-quick (clean 0.05 s trials, 0 % void)", 1, ())
    assert (limited.throughput_pps, limited.lower_pps, limited.upper_pps) == (None, 500_000, None)
    assert [reason for reason, _ in limited.irregular] == [Irregularity.MAX_LOAD]
    assert [reason for reason, _ in rows["lost", "NDR"].irregular] == [Irregularity.MIN_LOAD]


def test_the_terminal_gives_bounds_goals_and_advice(comparison: Comparison):
    text = shown(comparison)
    for part in ("throughput searches", "csit-quick", "0 of 1", "exceed ratio 0.5", "max-load", "tests at given loads"):
        assert part in text
    flat = " ".join(text.split())
    assert ADVICE[Irregularity.MAX_LOAD].remedy in flat
    assert "100% mrr" in flat
    assert "90% PDR" in flat


def test_goals_are_lines_in_vsperfs_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    options = ("--root", str(ROOT), "--store", str(tmp_path / "z.sqlite"))
    tests = "tests=[{kind: search, preset: csit-quick}, {kind: search, name: low, max_load_pps: 300000}]"
    only = ("--frame-size", "64", "--repetitions", "1", "--quick", "--set", tests)
    assert main(["run", "simulated", *only, *options]) == 0
    capsys.readouterr()
    assert main(["export", "--simulated", "--format", "vsperf-csv", *options]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    label = "csit-quick (clean 0.05 s trials, 0 % void)"
    assert [line["nfvbed_preset"] for line in lines] == [f"{label} NDR", f"{label} PDR"] * 2
    assert {(line["type"], line["id"]) for line in lines} == {("rfc2544_throughput", "phy2phy_tput")}
    first, *_, last = lines
    assert float(first["throughput_rx_fps"]) == pytest.approx(float(first["nfvbed_rx_low_fps"]), abs=1)
    assert (last["throughput_rx_fps"], last["nfvbed_limits"], last["nfvbed_rx_low_fps"]) == ("", "max-load", "300000")


def test_the_csv_has_a_line_for_each_goal_and_each_load(comparison: Comparison):
    lines = list(csv.DictReader(io.StringIO(csv_of(comparison))))
    by_test = {name: [line for line in lines if line["test"] == name] for name in ("search", "bounded", "loss-curve")}
    assert [line["goal"] for line in by_test["search"][:2]] == ["NDR", "PDR"]
    assert all(line["conditional_throughput_pps"] for line in by_test["search"])
    assert {line["conditional_throughput_pps"] for line in by_test["bounded"]} == {""}
    assert {line["irregularity"] for line in by_test["bounded"]} == {"max-load"}
    assert len(by_test["loss-curve"]) % 11 == 0
    assert all(int(line["latency_p99_ns"]) >= int(line["latency_min_ns"]) for line in by_test["loss-curve"])
    assert {line["simulated"] for line in lines} == {"1"}


def test_without_the_mrr_the_class_is_that_of_the_results(tmp_path: Path):
    store = str(tmp_path / "w.sqlite")
    only = ("--frame-size", "64", "--repetitions", "3", "--set", "tests=[{kind: search, preset: csit-quick}]")
    assert main(["run", "simulated", *only, "--root", str(ROOT), "--store", store]) == 0
    found = compare(load_runs(ROOT, store, ("latest",), simulated=True).data)
    classes = [test.placement_class for test in found.tests]
    assert found.placement[0].choice.name == max(set(classes), key=classes.count)
    rows = throughput_rows(found)
    assert [(row.goal.name, row.repetitions >= 3, row.status) for row in rows if row.goal] == [
        ("NDR", True, ""),
        ("PDR", True, ""),
    ]
    assert all(row.spread_pps[0] <= row.throughput_pps <= row.spread_pps[1] for row in rows)


def test_warnings_are_beside_the_numbers(comparison: Comparison):
    """A warning that only a test has gets its advice too; unsent frames are what a search judges by."""
    warning = (QualityWarning.CPU_STOLEN, QualityWarning.UNSENT)
    tests = tuple(
        test.model_copy(update={"result": test.result.model_copy(update={"warnings": warning})})
        for test in comparison.tests
        if test.result.test == "search"
    )
    doubted = comparison.model_copy(update={"tests": tests})
    assert {row.warnings for row in throughput_rows(doubted)} == {(QualityWarning.CPU_STOLEN,)}
    remedy = advice_for(QualityWarning.CPU_STOLEN).remedy
    assert remedy in " ".join(shown(doubted).split())
    assert remedy not in " ".join(shown(comparison).split())
    page = render_page(ReportContext(comparison=doubted, runs=()))
    assert '<td class="limits">cpu-stolen</td>' in page
    assert remedy in page


def test_every_reason_has_advice():
    assert set(ADVICE) == set(Irregularity)


def test_the_page_has_the_section_and_the_figures(comparison: Comparison):
    page = render_page(ReportContext(comparison=comparison, runs=()))
    for part in (
        'id="tests"',
        "Throughput searches",
        "loss ratio 0.005",
        "Tests at given loads",
        "figure-loss-by-load",
    ):
        assert part in page
    drawn = figures(comparison)
    assert {"loss-by-load", "latency-by-load"} <= set(drawn)
    for name in ("loss-by-load", "latency-by-load"):
        assert "SIMULATED" in drawn[name]["title"]["text"]
        assert to_svg(drawn[name]).startswith(b"<svg")
    (values,) = drawn["loss-by-load"]["datasets"].values()
    assert max(value["percent"] for value in values) > 5
    assert min(value["percent"] for value in values) == 0


def test_a_soak_is_a_series_in_time_everywhere(comparison: Comparison):
    (soak,) = (test for test in comparison.tests if test.result.kind is ResultKind.SOAK)
    assert [load.from_s for load in soak.loads] == [0, 0.5]
    assert all(load.from_s is None for test in comparison.tests if test is not soak for load in test.loads)
    lines = list(csv.DictReader(io.StringIO(csv_of(comparison))))
    assert [line["interval_from_s"] for line in lines if line["kind"] == "soak"] == ["0.0", "0.5"]
    assert {line["interval_from_s"] for line in lines if line["kind"] != "soak"} == {""}
    page = render_page(ReportContext(comparison=comparison, runs=()))
    assert '<th scope="col">From, s</th>' in page
    row = '<td>soak</td><td>{}</td><td class="n">{}</td><td class="n">0.001</td>'
    assert all(row.format(soak.placement_class, start) in page for start in ("0", "0.5"))
    without = comparison.model_copy(update={"tests": tuple(test for test in comparison.tests if test is not soak)})
    assert "From, s" not in render_page(ReportContext(comparison=without, runs=()))
    assert "soak" not in figures(without)
    assert "soak: frames missing in 0 of 2 intervals; the first is listed." in " ".join(shown(comparison).split())


def test_a_soak_is_drawn_with_its_loss_and_p99_over_time(comparison: Comparison):
    (soak,) = (test for test in comparison.tests if test.result.kind is ResultKind.SOAK)
    first, second = soak.loads
    lossy = second.model_copy(update={"missing_ratio": 0.02, "latency": None})
    found = soak.model_copy(update={"loads": (first, lossy)})
    changed = comparison.model_copy(update={"tests": (found,)})
    spec = figures(changed)["soak"]
    loss, p99 = spec["concat"]
    assert (loss["encoding"]["y"]["field"], p99["encoding"]["y"]["field"]) == ("percent", "microseconds")
    (values,) = spec["datasets"].values()
    assert [(value["from_s"], value["percent"], value["microseconds"] is None) for value in values] == [
        (0, 0, False),
        (0.5, 2, True),
    ]
    assert "frames missing in 1 of 2 intervals, most 2 % at 0.5 s" in spec["description"]
    assert to_svg(spec).startswith(b"<svg")
    assert "frames missing in 1 of 2 intervals; the worst is listed, from 0.5 s." in " ".join(shown(changed).split())
    never = found.model_copy(update={"loads": (lossy,)})
    (panel,) = figures(comparison.model_copy(update={"tests": (never,)}))["soak"]["concat"]
    assert panel["encoding"]["y"]["field"] == "percent", "no frame came back: there is no P99 to draw"


def irregular(test: MeasuredTest, load_pps: int) -> MeasuredTest:
    """Return a test whose reference is the lower bound of a search that ended at `max_load_pps`."""
    base = Reference(of="NDR", load_pps=load_pps, regular=False, placement_class="single")
    if test.table is None:
        return test.model_copy(update={"reference": base})
    return test.model_copy(update={"table": test.table.model_copy(update={"reference": base})})


def test_a_part_of_a_lower_bound_is_marked_everywhere(comparison: Comparison):
    """The search `bounded` found 500,000 frames/s: a lower bound, as that was the most it was allowed to try."""
    reported = "whose result is irregular; what was searched for may lie higher: simulated, p2p, 64 B, NDR: max-load."
    regular = (" ".join(shown(comparison).split()), render_page(ReportContext(comparison=comparison, runs=())))
    assert all("≤ 90% NDR" not in text and "irregular; what" not in text for text in regular)
    tests = tuple(
        irregular(test, 500_000) if test.reference and test.result.test == "latency" else test
        for test in comparison.tests
    )
    changed = comparison.model_copy(update={"tests": tests})
    terminal = " ".join(shown(changed, 200).split())
    page = render_page(ReportContext(comparison=changed, runs=()))
    for text in (terminal, page):
        assert "≤ 90% NDR" in text
        assert text.count(reported) == 1, "one note, however many loads are marked"
    lines = [line for line in csv.DictReader(io.StringIO(csv_of(changed))) if line["kind"] in ("latency", "loss-curve")]
    assert {(line["kind"], line["of"], line["reference_regular"]) for line in lines} == {
        ("latency", "", ""),
        ("latency", "NDR", "0"),
        ("loss-curve", "mrr", "1"),
    }


def test_a_test_at_a_part_of_a_lower_bound_says_so_below_its_table(comparison: Comparison):
    first = comparison.tests[0]
    rows = (MeasuredRow(label="110% to 50% of NDR", quantities=(Quantity(name="recovery", value=0.1, unit="s"),)),)
    update = {"kind": ResultKind.SYSTEM_RECOVERY, "test": "recovery"}
    result = first.result.model_copy(update=update)
    test = first.model_copy(update={"result": result, "shown": True, "table": TablePayload(rows=rows)})
    searches = [other for other in comparison.tests if other.result.kind is ResultKind.SEARCH]

    def found(one: MeasuredTest) -> Comparison:
        return comparison.model_copy(update={"tests": (*searches, one)})

    assert measured_tables(found(test))[0].notes == ()
    bounded = found(irregular(test, 500_000).model_copy(update={"cell": searches[0].cell}))
    (note,) = measured_tables(bounded)[0].notes
    assert note.endswith("NDR: max-load.")
    lines = list(csv.DictReader(io.StringIO(csv_of(bounded))))
    assert lines[-1]["reference_regular"] == "0"


def test_a_dash_for_a_percentile_is_explained_where_there_is_one(comparison: Comparison):
    reported = "P99.9 is - where fewer than 10 frames lie above it: chance would decide it. It takes 10,000 frames"
    (test,) = (one for one in comparison.tests if one.result.test == "latency" and one.variant == "simulated")
    full, few = merge_latency([encoded(10_000)]), merge_latency([encoded(9_999)])

    def texts(*latencies: LatencySummary | None) -> tuple[str, str]:
        first = test.loads[0].model_copy(update={"latency": latencies[0], "latency_directions": latencies[1:]})
        changed = test.model_copy(update={"loads": (first,)})
        found = comparison.model_copy(update={"tests": (changed,)})
        return " ".join(shown(found).split()), render_page(ReportContext(comparison=found, runs=()))

    assert full is not None and few is not None
    assert all(text.count(reported) == 1 for text in texts(few, few, few))
    assert all(text.count(reported) == 1 for text in texts(full, few, few)), "each direction has half of the frames"
    assert all(reported not in text for text in texts(full, full, full))
    assert all(reported not in text for text in texts(full, full, None)), "a direction without frames has no percentile"


def encoded(frames: int) -> str:
    histogram = HdrHistogram(1, 1_000_000, 3)
    histogram.record_value(1000, frames)
    return histogram.encode().decode("ascii")


def test_the_document_has_every_result_with_its_payload(comparison: Comparison):
    tests = json.loads(to_json(comparison))["tests"]
    assert {test["result"]["test"] for test in tests} >= {"search", "loss-curve", "latency", "soak", "after"}
    latency = next(test for test in tests if test["result"]["test"] == "latency")
    assert all(len(load["latency_directions"]) == 2 for load in latency["loads"])


def test_a_run_without_the_mrr_is_shown_and_ends_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    options = ("--root", str(ROOT), "--store", str(tmp_path / "y.sqlite"))
    only = ("--frame-size", "64", "--repetitions", "1", "--set", "tests=[{kind: search, preset: csit-quick}]")
    assert main(["run", "simulated", *only, *options]) == 0
    assert main(["compare", "--simulated", *options]) == 0
    screen = capsys.readouterr().out
    assert "Tests without a maximum receive rate" in screen and "Not measured" not in screen
    assert "Throughput searches" in screen
    assert main(["compare", "--simulated", "--details", *options]) == 0
    text = capsys.readouterr().out
    assert "the MRR is none of this run's tests" in text
    assert "1 of 1" in text


def test_results_of_emulated_guests_alone_are_said_to_be_theirs(comparison: Comparison):
    alone = comparison.model_copy(update={"rows": (), "chains": ()})
    assert answer(alone).headline == TESTS_ALONE
    first, *others = alone.tests
    warnings = (QualityWarning.EMULATED_ACCELERATOR,)
    emulated = first.model_copy(update={"result": first.result.model_copy(update={"warnings": warnings})})
    found = answer(alone.model_copy(update={"tests": (emulated, *others)})).headline
    assert found == f"{TESTS_ALONE} {OF_EMULATED_GUESTS}"


def test_quantities_under_conditions_are_lines_everywhere(comparison: Comparison):
    """A kind of test needs no code of its own to be shown: its rows are lines, its quantities columns."""
    first = comparison.tests[0]
    rate = Quantity(name="rate", value=2e6, unit="frames/s", low=1.5e6, high=2.5e6)
    rows = (
        MeasuredRow(label="10 flows", parameters={"flows": 10}, quantities=(rate,)),
        MeasuredRow(label="1,000,000 flows", status=Status.UNSUPPORTED, reason="the table holds 1,000"),
    )
    payload = TablePayload(rows=rows, notes=("Flows differ in their addresses.",))
    update = {"kind": ResultKind.FLOW_SCALING, "test": "flows", "payload": payload.model_dump(mode="json")}
    again = rows[0].model_copy(update={"quantities": (rate.model_copy(update={"value": 3e6}),)})
    tests = tuple(
        first.model_copy(update={"result": first.result.model_copy(update=update), "table": table})
        for table in (payload, payload.model_copy(update={"rows": (again, rows[1])}))
    )
    found = comparison.model_copy(update={"tests": tests})
    line, unsupported = measured_tables(found)[0].lines
    assert line.quantities == {"rate": "2.5 Mpps (1.5 to 3 Mpps)"}
    assert (line.repetitions, unsupported.reason) == (2, "unsupported: the table holds 1,000")
    text = " ".join(shown(found, 200).split())
    page = render_page(ReportContext(comparison=found, runs=()))
    for part in ("flow-scaling", "10 flows", "2.5 Mpps (1.5 to 3 Mpps)", "the table holds 1,000", "Flows differ"):
        assert part in text
        assert part in page
    lines = list(csv.DictReader(io.StringIO(csv_of(found))))
    assert [(line["condition"], line["value"]) for line in lines[:2]] == [
        ("10 flows", "2000000.0"),
        ("1,000,000 flows", ""),
    ]


def test_conditions_that_are_numbers_make_a_line_of_rates(comparison: Comparison):
    first = comparison.tests[0]
    entries = Quantity(name="in the table", value=5, unit="")
    rows = tuple(
        MeasuredRow(
            label=f"{flows} flows",
            parameters={"flows": flows},
            quantities=(entries, Quantity(name="rate", value=2e6 / flows, unit="frames/s")),
        )
        for flows in (1, 100, 10_000)
    )
    update = {"kind": ResultKind.FLOW_SCALING, "test": "flows"}
    result = first.result.model_copy(update=update)

    def drawn(count: int) -> dict[str, object]:
        table = TablePayload(rows=rows[:count])
        test = first.model_copy(update={"result": result, "shown": True, "table": table})
        return figures(comparison.model_copy(update={"tests": (test,)}))

    spec = drawn(3)["by-condition"]
    assert '"condition": 10000.0, "value": 200.0' in json.dumps(spec)
    assert "by-condition" not in drawn(2), "two conditions are no line"


def test_many_quantities_are_below_each_other_and_a_bound_is_reported(comparison: Comparison):
    first = comparison.tests[0]
    quantities = [Quantity(name=f"q{number}", value=float(number), unit="ns/packet") for number in range(7)]
    quantities.append(Quantity(name="cycles", value=None, unit="cycles/packet", low=0.0, high=250.0))
    payload = TablePayload(rows=(MeasuredRow(label="VNF 1", quantities=tuple(quantities)),))
    update = {"kind": ResultKind.COST, "test": "cost", "payload": payload.model_dump(mode="json")}
    test = first.model_copy(update={"result": first.result.model_copy(update=update), "table": payload})
    (table,) = measured_tables(comparison.model_copy(update={"tests": (test,)}))
    assert table.names == ("cycles", "measured")
    lines = table.lines[0].quantities["measured"].splitlines()
    assert lines[1] == "q1 1 ns/packet;"
    assert lines[-1] == "q6 6 ns/packet"
    assert table.lines[0].quantities["cycles"] == "at most 250 cycles/packet"


def test_percentiles_over_due_frames_count_one_that_never_came_as_infinitely_late(comparison: Comparison):
    assert due_latency([], 10) is None
    whole = due_latency([encoded(9_900)], 9_900)
    assert whole is not None
    assert (whole.frames, whole.p50_ns, whole.p99_ns) == (9_900, 1000, 1000)
    few = due_latency([encoded(9_899)], 10_000)
    assert few is not None
    assert (few.came, few.p50_ns, few.p99_ns) == (9_899, 1000, None)
    assert due_latency([encoded(9_900)], 10_000).p99_ns == 1000
    test = next(one for one in comparison.tests if one.result.test == "latency" and one.variant == "simulated")
    first = test.loads[0].model_copy(update={"due": few})
    lines = due_lines([test.model_copy(update={"loads": (first,)})])
    assert lines[0].startswith("P99 over all frames that were due")
    assert lines[0].endswith(": infinite.")
    changed = comparison.model_copy(update={"tests": (test.model_copy(update={"loads": (first,)}),)})
    assert "that were due" in " ".join(shown(changed).split())
    (line,) = csv.DictReader(io.StringIO(csv_of(changed)))
    assert (line["due_frames"], line["due_p50_ns"], line["due_p99_ns"]) == ("10000", "1000", "inf")


def test_a_page_without_a_maximum_rate_begins_with_its_results(comparison: Comparison):
    rows = tuple(row.model_copy(update={"mrr": None}) for row in comparison.rows)
    page = render_page(ReportContext(comparison.model_copy(update={"rows": rows}), ()))
    assert page.index('<h2 id="tests">Results') < page.index('<h2 id="figures">')
    assert "Maximum receive rate (both" not in page and 'href="#tests">Skip' in page
