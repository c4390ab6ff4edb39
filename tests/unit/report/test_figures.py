"""Figures of rates by traffic, of searches and of cost: what they draw, what they leave out, and their rows as CSV."""

import csv
import dataclasses
import io
from functools import cache
from typing import Any

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.rows.cost import CpuSplit
from nfvbed.compare.verdict import Rules
from nfvbed.records import NOT_SEPARABLE, Role
from nfvbed.report.csv.figure import figure_to_csv
from nfvbed.report.figures.bytraffic import by_flows_figure, by_frame_size_figure
from nfvbed.report.figures.catalogue import drawings, to_svg
from nfvbed.report.figures.cost import cpu_figure, cycles_figure
from nfvbed.report.figures.searches import relative_figure, throughput_figure
from nfvbed.report.figures.theme import Drawing
from tests.sample_records import BRIDGE, CEILINGS, OVS, PVP, Scenario, build
from tests.sample_results import with_tests

OPTIONS = ComparisonOptions(baseline="linux-bridge", rules=Rules(needed=3))


@cache
def stored():
    return with_tests(build(Scenario(systems=(BRIDGE, OVS, *CEILINGS, *PVP), rounds=8)))


@pytest.fixture(scope="module", name="comparison")
def _comparison() -> Comparison:
    return compare([stored()], OPTIONS)


def rows_of(drawing: Drawing | None) -> list[dict[str, str]]:
    assert drawing is not None
    return list(csv.DictReader(io.StringIO(figure_to_csv(drawing.make(checked=True)))))


def test_rates_are_drawn_over_the_frame_size(comparison: Comparison):
    rows = rows_of(by_frame_size_figure(comparison))
    found = {(row["variant"], row["at"]): float(row["mpps"]) for row in rows if row["panel"].startswith("MRR, p2p")}
    expected = {
        (row.variant, str(row.frame_size)): row.mrr.median_pps / 1e6
        for row in comparison.rows
        if row.topology == "p2p" and row.mrr
    }
    assert found == pytest.approx(expected) and len({size for _, size in found}) > 1
    assert not any("NDR" in row["panel"] for row in rows), "searches have one size only"


def test_one_number_of_flows_is_no_line(comparison: Comparison):
    assert by_flows_figure(comparison) is None


def test_rates_are_drawn_over_flows_that_differ():
    cells, trials = list(stored().cells), list(stored().trials)
    for cell in stored().cells:
        if cell.id.endswith("/p2p/64"):
            more = f"{cell.id}/1000"
            cells.append(cell.model_copy(update={"id": more, "flows": 1000}))
            trials += [t.model_copy(update={"cell": more, "sequence": t.sequence + 10_000}) for t in stored().trials
                       if t.cell == cell.id]  # fmt: skip
    data = dataclasses.replace(stored(), cells=tuple(cells), trials=tuple(trials))
    rows = rows_of(by_flows_figure(compare([data], OPTIONS)))
    assert {(row["panel"], row["at"]) for row in rows} == {("MRR, p2p, 64 B", "1"), ("MRR, p2p, 64 B", "1000")}


def test_searches_are_drawn_with_what_they_leave_out(comparison: Comparison):
    drawing = throughput_figure(comparison)
    assert (
        drawing is not None
        and "csit-quick (all trials) leaves out: frames that the generator was late with" in drawing.caption
    )
    rows = {(row["variant"], row["goal"]): row for row in rows_of(drawing)}
    assert rows["ovs-dpdk", "NDR"]["regular"] == "True"
    irregular = rows["ovs-dpdk", "PDR"]
    assert irregular["regular"] == "False" and irregular["label"].startswith("no result; from 11.2")
    assert relative_figure(comparison) is None, "none was relative"


def test_roles_are_stacked_and_what_cannot_be_separated_is_no_part(comparison: Comparison):
    rows = rows_of(cpu_figure(comparison))
    pvp = [row for row in rows if row["variant"] == "ovs-dpdk" and row["point"].startswith("pvp native")]
    assert [row["role"] for row in pvp if row["kind"] == "part"] == ["switch", "VNF", "generator"]
    moved = _with_rows(comparison, "ovs-dpdk", {"vnf": NOT_SEPARABLE})
    shared = [row for row in rows_of(cpu_figure(moved)) if row["variant"] == "ovs-dpdk"]
    assert "VNF" not in {row["role"] for row in shared}
    assert any("VNF n/s" in row["label"] for row in shared)


def test_roles_are_divided_by_the_kind_of_their_time(comparison: Comparison):
    split = CpuSplit(user=0.0, guest=0.0, system=0.3, softirq=0.66)
    moved = _with_rows(comparison, "linux-bridge", {"splits": {Role.SWITCH: split}})
    drawing = cpu_figure(moved)
    parts = [row for row in rows_of(drawing) if row["variant"] == "linux-bridge" and row["kind"] == "part"]
    of_p2p = [row for row in parts if row["point"].startswith("p2p, 64")]
    assert [(row["part"], row["cores"]) for row in of_p2p] == [
        ("switch: system", "0.3"), ("switch: softirq", "0.66"), ("generator: not split", "1.0"),
    ]  # fmt: skip
    assert drawing is not None and "switch 0.96 (system 0.30, softirq 0.66)" in drawing.description
    colors = _colors(drawing.spec)
    assert len(colors) == len(set(colors)), "no two parts look the same"


def _colors(spec: dict[str, Any]) -> list[str]:
    (layer,) = (one for one in spec["spec"]["layer"] if "color" in one["encoding"])
    return list(layer["encoding"]["color"]["scale"]["range"])


def _with_rows(comparison: Comparison, variant: str, cpu: dict[str, Any]) -> Comparison:
    rows = [
        row.model_copy(update={"cpu": row.cpu.model_copy(update=cpu)}) if row.variant == variant else row
        for row in comparison.rows
    ]
    return comparison.model_copy(update={"rows": tuple(rows)})


def test_cycles_name_their_source_and_who_has_none(comparison: Comparison):
    drawing = cycles_figure(comparison)
    assert drawing is not None
    assert "ovs-dpdk: PMD statistics" in drawing.caption
    assert "Not separable, or not known: linux-bridge" in drawing.caption
    assert {row["variant"] for row in rows_of(drawing)} == {"ovs-dpdk"}


def test_every_figure_can_be_drawn_and_has_rows(comparison: Comparison):
    found = drawings(comparison)
    assert {"rate", "throughput", "by-frame-size", "latency", "cpu", "cycles-per-packet"} <= set(found)
    for name, drawing in found.items():
        assert to_svg(drawing.spec).startswith(b"<svg"), name
        assert len(figure_to_csv(drawing.spec).splitlines()) > 1, name
