"""The report of fixed records, byte by byte."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.records import Status
from nfvbed.report.csv.export import to_csv, to_json
from nfvbed.report.figures.catalogue import figures
from nfvbed.report.terminal.table import render
from tests.golden.kept import check
from tests.sample_records import BRIDGE, CEILINGS, CHAIN, OVS, PVP, SIMULATED, Scenario, build

FOLDER = Path(__file__).parent / "report"
FIGURES = (
    "rate",
    "by-frame-size",
    "latency",
    "cpu",
    "cycles-per-packet",
    "switching-overhead",
    "core-distance",
)


@pytest.fixture(scope="module", name="comparison")
def _comparison() -> Comparison:
    scenario = Scenario(
        rounds=9,
        far_rounds=(1, 2, 4, 5, 6, 7),
        changing=((2, "linux-bridge/p2p/64"),),
        blocked=(("linux-bridge/p2p/1518", Status.FAILED, "the switch ended [bold]early[/bold]"),),
    )
    return compare([build(scenario)], ComparisonOptions(baseline="linux-bridge"))


@pytest.fixture(scope="module", name="with_vnfs")
def _with_vnfs() -> Comparison:
    systems = (BRIDGE, OVS, *CEILINGS, *PVP, *CHAIN)
    return compare([build(Scenario(systems=systems, rounds=6, far_rounds=(), changing=()))])


def table(comparison: Comparison, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, force_terminal=False).print(render(comparison, width))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


@pytest.mark.parametrize("width", [80, 120, 150])
def test_table(comparison: Comparison, width: int):
    text = table(comparison, width)
    assert max(len(line) for line in text.splitlines()) <= width
    check(FOLDER / f"table-{width}.txt", text)


def test_table_of_a_simulation():
    text = table(compare([build(Scenario(systems=(SIMULATED,), rounds=6, far_rounds=()))]), 120)
    assert text.count("SIMULATED - NOT A MEASUREMENT") == 2
    check(FOLDER / "table-simulated.txt", text)


def test_table_with_vnfs(with_vnfs: Comparison):
    for width in (80, 120):
        text = table(with_vnfs, width)
        assert max(len(line) for line in text.splitlines()) <= width
        check(FOLDER / f"table-vnf-{width}.txt", text)


@pytest.mark.parametrize("name", ["rate", "chain"])
def test_figure_with_vnfs(with_vnfs: Comparison, name: str):
    text = json.dumps(figures(with_vnfs)[name], indent=1, ensure_ascii=False, sort_keys=True)
    check(FOLDER / f"vnf-{name}.vl.json", text + "\n")


def test_csv_with_vnfs(with_vnfs: Comparison):
    check(FOLDER / "comparison-vnf.csv", to_csv(with_vnfs))


def test_csv(comparison: Comparison):
    check(FOLDER / "comparison.csv", to_csv(comparison))


def test_json(comparison: Comparison):
    check(FOLDER / "comparison.json", to_json(comparison))


@pytest.mark.parametrize("name", FIGURES)
def test_figure(comparison: Comparison, name: str):
    check(
        FOLDER / f"{name}.vl.json",
        json.dumps(figures(comparison)[name], indent=1, ensure_ascii=False, sort_keys=True) + "\n",
    )


def test_every_figure_is_fixed_here(comparison: Comparison):
    assert tuple(figures(comparison)) == FIGURES
