"""Breakdowns: the newest run's figures by row, what rows differ by, and the reason where there is nothing."""

import dataclasses
from pathlib import Path

from nfvbed.records import QualityWarning, Status
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, ResultRecord, TablePayload
from nfvbed.records.segments import ALL, CORES_BUSY, SWITCH, UNIT, cycles_of
from nfvbed.report.papers.breakdowns import BreakdownTable, breakdown_tables
from nfvbed.report.papers.text import _breakdown
from nfvbed.spec.published import Breakdown, publications
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.stored_runs import put

NAMES = ("throughput", cycles_of(SWITCH), cycles_of(ALL), CORES_BUSY)
BREAKDOWN = Breakdown(
    title="Where the cycles are",
    experiment="seed-x",
    rows=({"variant": "linux-bridge"}, {"variant": "ovs-dpdk"}),
    quantities=NAMES,
    reads=("A segment is 1,448 B.",),
)
PAPER = next(iter(publications())).model_copy(update={"breakdowns": (BREAKDOWN,)})


def result(variant: str, number: int, values: tuple[float, ...], **changed: object) -> ResultRecord:
    units = ("bit/s", UNIT, UNIT, "cores")
    figures = tuple(Quantity(name=n, value=v, unit=u) for n, v, u in zip(NAMES, values, units, strict=True))
    row = MeasuredRow(
        label="1 stream", parameters={"tool": "iperf3", "streams": 1}, quantities=figures, sequences=(number,)
    )
    entry = ResultRecord(
        run=RUN, cell=f"{variant}/p2p/1518", round=number, test="tcp-throughput", kind=ResultKind.TCP_THROUGHPUT,
        payload=TablePayload(rows=(row,)).model_dump(mode="json"),
        started_at="2026-01-02T03:10:00Z", ended_at="2026-01-02T03:10:00Z",
    )  # fmt: skip
    return entry.model_copy(update=changed)


def table(path: Path, *results: ResultRecord) -> BreakdownTable:
    with Store.open(path) as store:
        data = build(Scenario(run=RUN, systems=(BRIDGE, OVS), rounds=1))
        record = data.run.model_copy(update={"experiment": "seed-x"})
        put(store, dataclasses.replace(data, run=record, results=results))
    with Store.open(path, read_only=True, migrated=False) as store:
        return breakdown_tables(store, PAPER)[0]


def test_rows_are_medians_of_rounds_and_differences_are_made_of_cycles_and_cores(tmp_path: Path):
    bridge = [result("linux-bridge", n, (8e9 + n, 1000, 4000, 2.0)) for n in (1, 2, 3)]
    found = table(tmp_path / "x.sqlite", *bridge, result("ovs-dpdk", 1, (1e9, 9000, 16000, 1.0)))
    first, second = found.rows
    assert (first.values["throughput"].value, first.values["throughput"].high, first.rounds) == (8e9 + 2, 8e9 + 3, 3)
    assert second.rounds == 1
    assert found.compared == (
        "ovs-dpdk/p2p beside linux-bridge/p2p: 0.125 times the throughput, by 4 times the cycles a segment on 0.5 times"
        " the cores; of the 12,000 cycles more, +8,000 are of the part switch.",
    )
    lines = "\n".join(_breakdown(found))
    assert "| linux-bridge/p2p | 8 Gbit/s | 1000 cycles/segment | 4000 cycles/segment | 2 cores | 3 |" in lines
    assert "A segment is 1,448 B." in lines


def test_emulated_guests_are_never_in_it(tmp_path: Path):
    emulated = {"warnings": (QualityWarning.EMULATED_ACCELERATOR,)}
    bridge = result("linux-bridge", 1, (8e9, 1, 2, 2.0))
    found = table(tmp_path / "x.sqlite", bridge, result("ovs-dpdk", 1, (1e9, 1, 2, 1.0), **emulated))
    assert not found.rows[1].values and found.compared == ()
    assert found.rows[1].reason == "not measured"


def test_a_row_without_figures_has_the_reason(tmp_path: Path):
    lost = {"status": Status.UNSUPPORTED, "reason": "no iperf3", "payload": {}}
    found = table(
        tmp_path / "x.sqlite", result("linux-bridge", 1, (8e9, 1, 2, 2.0)), result("ovs-dpdk", 1, (0, 0, 0, 0), **lost)
    )
    assert "| ovs-dpdk/p2p | no iperf3 |  |  |  | 0 |" in "\n".join(_breakdown(found))


def test_nothing_has_run():
    (found,) = breakdown_tables(None, PAPER)
    assert not found.run
    assert "- Nothing has run: `make run-seed-x`." in list(_breakdown(found))
