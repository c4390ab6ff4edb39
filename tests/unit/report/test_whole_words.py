"""No table breaks a name: columns are as wide as their longest word, or rows become paragraphs."""

import io

import pytest
from rich.console import Console, Group
from rich.table import Table

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.report.terminal.table import render
from nfvbed.report.terminal.whole_words import with_whole_words
from tests.sample_many import many_variants
from tests.sample_records import BRIDGE, CEILINGS, OVS, PVP, Scenario, build
from tests.sample_results import with_tests

LONG = "ovs-afxdp-interrupt"


def printed(part: object, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(part)
    return out.getvalue().splitlines()


def table(*cells: str) -> Table:
    found = Table(title="rates")
    for heading in ("variant", "traffic", "warnings"):
        found.add_column(heading, overflow="fold")
    found.add_row(*cells)
    return found


def test_a_column_is_as_wide_as_its_longest_word() -> None:
    lines = printed(Group(*with_whole_words([table(LONG, "p2p, 64 B", "cpu-stolen, unsent, reordered")], 52)), 52)
    assert any(LONG in line for line in lines)
    assert max(len(line) for line in lines) <= 52


def test_where_columns_do_not_fit_rows_are_paragraphs() -> None:
    lines = printed(Group(*with_whole_words([table(LONG, "p2p, 64 B", "too-few-repetitions")], 40)), 40)
    assert lines[1:4] == [f"{LONG}: traffic p2p, 64 B;", "  warnings too-few-repetitions", ""]


@pytest.fixture(scope="module", name="comparisons")
def _comparisons() -> list[Comparison]:
    with_vnfs = build(Scenario(systems=(BRIDGE, OVS, *CEILINGS, *PVP), rounds=3))
    tests = with_tests(build(Scenario(rounds=3, far_rounds=(), changing=())))
    return [compare([data], ComparisonOptions(baseline="best")) for data in (with_vnfs, tests, many_variants(rounds=2))]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_details_break_no_name(comparisons: list[Comparison], width: int) -> None:
    for comparison in comparisons:
        lines = printed(render(comparison, width), width)
        words = {word for line in lines for word in line.replace(":", " ").split()}
        words -= {word for row in comparison.rows for word in row.reason.split()}
        names = {row.variant for row in comparison.rows}
        halves = {word for word in words - names if len(word) > 3 and any(name.startswith(word) for name in names)}
        assert halves == set()
        assert max(len(line) for line in lines) <= width
