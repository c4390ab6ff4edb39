"""Tests beside trials at maximum load in VSPERF's columns: none is lost, and none passes for another one."""

import csv
import dataclasses
import io

import pytest

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import Preset, Status
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, ResultRecord, TablePayload
from nfvbed.vsperf.export.rows import to_vsperf_csv
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.sample_results import BRIDGE as BRIDGE_CELL
from tests.sample_results import OVS as CELL
from tests.sample_results import with_tests

Line = dict[str, str]
START, END = "2026-01-02T03:10:00Z", "2026-01-02T04:11:05Z"
TIMES = ("01:01:05", "2026-01-02 03:10:00", "2026-01-02 04:11:05")


def lines(data: RunData) -> list[Line]:
    found = csv.DictReader(io.StringIO(to_vsperf_csv(compare([data], ComparisonOptions()), [data])))
    return [line for line in found if line["nfvbed_cell"] == CELL]


def timed(line: Line) -> tuple[str, ...]:
    return tuple(line[name] for name in ("test_execution_time", "start_time", "stop_time"))


def bare(results: tuple[ResultRecord, ...] = ()) -> RunData:
    """Return a run of one cell in which the MRR is none of the tests."""
    data = with_tests(build(Scenario(systems=(BRIDGE, OVS), rounds=1, far_rounds=(), changing=())), rounds=1)
    trials = tuple(trial for trial in data.trials if trial.preset not in (Preset.MRR, Preset.PACED))
    return dataclasses.replace(data, trials=trials, results=results or data.results)


def table(kind: ResultKind, figures: dict[str, float | None], **changed: object) -> ResultRecord:
    quantities = tuple(Quantity(name=name, value=value, unit="") for name, value in figures.items())
    rows = (
        MeasuredRow(
            label="first", quantities=quantities, reason="a lower bound", sequence=changed.get("first_sequence")
        ),
    )
    payload = TablePayload(rows=rows).model_dump(mode="json")
    plain = {"run": RUN, "cell": CELL, "round": 1, "test": kind.value, "kind": kind, "started_at": START}
    return ResultRecord.model_validate(plain | {"ended_at": END, "payload": payload} | changed)


def test_a_loss_curve_is_the_forwarding_rate_where_it_was_made_as_such():
    data = with_tests(bare(), rounds=1)
    curve = next(one for one in data.results if one.kind is ResultKind.LOSS_CURVE and one.cell == CELL)
    made = curve.model_copy(update={"test": "forwarding-rate"})
    assert not [line for line in lines(dataclasses.replace(data, results=(curve,))) if line["forwarding_rate_fps"]]
    (line,) = [line for line in lines(dataclasses.replace(data, results=(made,))) if line["forwarding_rate_fps"]]
    best = max(point["forwarded_rate_pps"] for point in made.payload["points"])
    assert (line["type"], line["id"]) == ("rfc2889_forwarding", "phy2phy_forwarding")
    assert float(line["forwarding_rate_fps"]) == float(line["throughput_rx_fps"]) == best
    # What arrived at maximum load was more than at any part of it.
    reference = {**made.payload["reference"], "of": "mrr", "load_pps": 90_000_000}
    more = made.model_copy(update={"payload": {**made.payload, "reference": reference}})
    (line,) = [line for line in lines(dataclasses.replace(data, results=(more,))) if line["forwarding_rate_fps"]]
    assert (float(line["forwarding_rate_fps"]), float(line["throughput_rx_fps"])) == (90_000_000, best)


@pytest.mark.parametrize(
    ("kind", "figures", "expected"),
    [
        (
            ResultKind.BACK_TO_BACK,
            {"longest burst": 512.5, "burst rate": 1e6},
            ("rfc2544_back2back", "back2back", {"b2b_frames": "512.5", "b2b_frame_loss_percent": "0.0"}),
        ),
        (
            ResultKind.ADDRESS_CACHING,
            {"addresses held": 8192},
            ("rfc2889_caching", "phy2phy_caching", {"caching_capacity_addrs": "8192.0"}),
        ),
        (
            ResultKind.ADDRESS_LEARNING,
            {"learning rate": 50_000},
            ("rfc2889_learning", "phy2phy_learning", {"optimal_learning_rate_fps": "50000.0"}),
        ),
    ],
)
def test_figures_are_in_vsperfs_columns(kind: ResultKind, figures: dict, expected: tuple):
    (line,) = lines(bare((table(kind, figures),)))
    columns = ("b2b_frames", "b2b_frame_loss_percent", "caching_capacity_addrs", "optimal_learning_rate_fps")
    assert (line["type"], line["id"]) == expected[:2]
    assert {name: line[name] for name in columns if line[name]} == expected[2]
    assert (line["nfvbed_preset"], line["nfvbed_status"], line["nfvbed_reason"]) == (kind.value, "ok", "a lower bound")
    assert (line["throughput_rx_fps"], timed(line)) == ("", TIMES)


def test_a_burst_is_counted():
    data = bare()
    trial = next(trial for trial in data.trials if trial.cell == CELL and sum(way.lost for way in trial.directions))
    at = {"first_sequence": trial.sequence, "last_sequence": trial.sequence}
    (line,) = lines(bare((table(ResultKind.BURST, {"sent": None}, **at),)))
    sent, received = (sum(getattr(way, name) for way in trial.directions) for name in ("sent", "received"))
    assert (line["type"], line["id"], line["nfvbed_trials"]) == ("burst", "phy2phy_burst", "1")
    assert (line["tx_frames"], line["rx_frames"]) == (str(sent), str(received))
    assert (line["tx_bytes"], line["payload_err"], line["seq_err"]) == (str(64 * sent), "0", "0")
    assert float(line["frame_loss_percent"]) == pytest.approx(100 * (sent - received) / sent)
    assert timed(line) == TIMES


def test_a_figure_that_could_not_be_had_is_empty():
    (line,) = lines(bare((table(ResultKind.BACK_TO_BACK, {"longest burst": None}),)))
    assert (line["b2b_frames"], line["b2b_frame_loss_percent"], line["nfvbed_reason"]) == ("", "", "a lower bound")


def test_streams_of_one_test_share_a_line():
    data = bare()
    # The two trials of a soak, as two repetitions of a stream.
    (soak,) = [result for result in data.results if (result.cell, result.kind) == (CELL, ResultKind.SOAK)]
    streams = tuple(
        soak.model_copy(
            update={
                "kind": ResultKind.CONTINUOUS,
                "test": "half",
                "round": number + 1,
                "first_sequence": point["sequence"],
                "last_sequence": point["sequence"],
                "payload": soak.payload | {"points": [point]},
            }
        )
        for number, point in enumerate(soak.payload["points"])
    )
    (line,) = lines(bare(streams))
    assert (line["type"], line["id"], line["nfvbed_preset"]) == ("rfc2544_continuous", "phy2phy_cont", "half")
    assert int(line["nfvbed_trials"]) == len(streams) == 2
    mean = sum(point["forwarded_rate_pps"] for point in soak.payload["points"]) / 2
    assert float(line["throughput_rx_fps"]) == pytest.approx(mean)
    assert 0 < float(line["frame_loss_percent"]) < 0.01
    assert int(line["min_latency_ns"]) < float(line["avg_latency_ns"]) < int(line["max_latency_ns"])
    assert line["start_time"] == "2026-01-02 03:10:00"


@pytest.mark.parametrize("kind", [ResultKind.CONTINUOUS, ResultKind.SEARCH, ResultKind.ADDRESS_CACHING])
def test_a_test_that_came_to_nothing_says_why(kind: ResultKind):
    blocked = table(kind, {}, payload={}, status=Status.BLOCKED, reason="no NDR to go by")
    (line,) = lines(bare((blocked,)))
    assert (line["nfvbed_status"], line["nfvbed_reason"]) == ("blocked", "no NDR to go by")
    assert (line["throughput_rx_fps"], line["caching_capacity_addrs"], timed(line)) == ("", "", TIMES)
    assert line["type"].startswith("rfc")


def test_searches_have_their_times():
    found = [line for line in lines(bare()) if line["type"] == "rfc2544_throughput"]
    assert [line["nfvbed_preset"] for line in found] == ["csit-quick (all trials) NDR", "csit-quick (all trials) PDR"]
    assert all(line["nfvbed_excludes"].startswith("frames that the generator was late with") for line in found)
    assert {timed(line) for line in found} == {("00:00:00", "2026-01-02 03:10:00", "2026-01-02 03:10:00")}


def test_tests_that_vsperf_lacks_are_named_and_never_pass_for_a_stream():
    (line,) = lines(bare((table(ResultKind.FLOW_SCALING, {"rate": 1.0}),)))
    assert (line["type"], line["id"], line["throughput_rx_fps"]) == ("", "demo", "")
    assert line["nfvbed_reason"] == "VSPERF has no columns for: flow-scaling"


def test_a_test_of_another_class_is_not_shown():
    data = build(Scenario(systems=(BRIDGE, OVS), rounds=6, far_rounds=(2, 4), changing=()))
    mine = [trial for trial in data.trials if trial.cell == CELL and trial.preset is Preset.MRR]
    near, far = (next(t.sequence for t in mine if (t.round == 2) is other) for other in (False, True))
    results = tuple(
        table(ResultKind.ADDRESS_CACHING, {"addresses held": held}, first_sequence=at, last_sequence=at, test=str(held))
        for held, at in ((5, near), (6, far))
    )
    (line,) = [line for line in lines(dataclasses.replace(data, results=results)) if line["type"] == "rfc2889_caching"]
    assert (line["caching_capacity_addrs"], line["nfvbed_placement_class"]) == ("5.0", "near")


def test_where_all_tests_are_of_another_class_the_line_names_them():
    data = build(Scenario(systems=(BRIDGE, OVS), rounds=6, far_rounds=(2, 4), changing=()))
    trials = tuple(
        trial.model_copy(update={"preset": ResultKind.ADDRESS_CACHING})
        for trial in data.trials
        if trial.preset is Preset.MRR
    )
    far = next(trial.sequence for trial in trials if trial.cell == CELL and trial.round == 2)
    near = [trial for trial in trials if trial.cell == BRIDGE_CELL and trial.round not in (2, 4)]
    results = (
        table(ResultKind.ADDRESS_CACHING, {"addresses held": 6}, first_sequence=far, last_sequence=far),
        *(
            table(
                ResultKind.ADDRESS_CACHING,
                {"addresses held": 7},
                cell=BRIDGE_CELL,
                round=trial.round,
                first_sequence=trial.sequence,
                last_sequence=trial.sequence,
            )
            for trial in near
        ),
    )
    (line,) = lines(dataclasses.replace(data, trials=trials, results=results))
    assert (line["type"], line["id"], line["caching_capacity_addrs"]) == ("rfc2889_caching", "phy2phy_caching", "")
    assert line["nfvbed_status"] == "blocked"
    assert line["nfvbed_reason"] == "placement: no test in class near (1 far)"
