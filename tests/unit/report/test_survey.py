"""Reports of many variants: in order of their rates, nothing missing without a word, each warning and reason once."""

import io
import json
import re
from functools import cache

import pytest
from rich.console import Console

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.verdict import Rules
from nfvbed.report import wording
from nfvbed.report.context import ReportContext
from nfvbed.report.figures.catalogue import figures, to_svg
from nfvbed.report.holes import counted, holes
from nfvbed.report.page.page import render_page
from nfvbed.report.terminal.table import render
from tests.sample_many import EMULATED, KERNEL, UNSUPPORTED, USERSPACE, many_variants

pytestmark = pytest.mark.xdist_group("survey")  # One worker makes what they share.


@cache
def data():
    return many_variants()


@pytest.fixture(scope="module", name="comparison")
def _comparison() -> Comparison:
    return compare([data()], ComparisonOptions(baseline="best", rules=Rules(needed=4)))


@pytest.fixture(scope="module", name="page")
def _page(comparison: Comparison) -> str:
    return render_page(ReportContext(comparison=comparison, runs=(data().run,), rigs=data().rigs, title="All"))


def terminal(comparison: Comparison, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(render(comparison, width))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 140])
def test_the_terminal_has_a_line_for_each_variant_at_each_point_and_stays_within_its_width(
    comparison: Comparison, width: int
) -> None:
    lines = terminal(comparison, width).splitlines()
    assert max(len(line) for line in lines) <= width
    if width == 140:
        block = lines[lines.index(next(line for line in lines if line.startswith("p2p, 64 B"))) :]
        names = [line.split()[0] for line in block[4:18]]
        measured = [name for name in {**KERNEL, **USERSPACE} if not name.startswith("macvtap")]
        assert sorted(names) == sorted(measured)
        assert names[0] == "ovs-dpdk-memif"
        assert set(names[-2:]) == set(EMULATED), "an emulated rate means nothing, so it is not ranked"
        assert len(lines) < 260


def test_each_reason_is_once(comparison: Comparison) -> None:
    found = {(hole.variant, hole.status.value): hole for hole in holes(comparison.rows)}
    assert all(found[name, "unsupported"].where == "everywhere" for name in UNSUPPORTED)
    assert found["macvtap-bridge", "not-applicable"].points == ("p2p, 64 B", "p2p, 1518 B")
    assert found["xdp-generic", "blocked"].reason.startswith("budget: ")
    assert found["ovs-kernel", "skipped"].points == ("pv3p native, 64 B", "pv4p native, 64 B")
    text = re.sub(r"\s+", " ", terminal(comparison, 140))
    assert all(text.count(reason[:30]) == 1 for reason in UNSUPPORTED.values())


def test_the_page_says_of_every_variant_what_came_of_it(comparison: Comparison, page: str) -> None:
    for row in comparison.rows:
        assert row.variant in page
    for reason in UNSUPPORTED.values():
        assert page.count(f"<td>{reason}</td>") == 1
    assert page.count('<tr class="row">') == sum(row.mrr is not None for row in comparison.rows)
    assert "not measured: lagopus" in page


def test_what_sets_each_rate_and_its_part_of_the_bare_ports_is_shown(comparison: Comparison, page: str) -> None:
    best = next(row for row in comparison.rows if row.cell == "ovs-dpdk-memif/p2p/64")
    assert best.of_bare_ports is not None and best.of_bare_ports.interval is not None
    low, high = best.of_bare_ports.interval.low, best.of_bare_ports.interval.high
    assert f"{best.of_bare_ports.ratio:.2f} ({low:.2f}–{high:.2f})" in page
    emulated = next(row for row in comparison.rows if row.cell == "ovs-kernel/p2p/64")
    assert emulated.of_bare_ports is None


def test_figures_have_a_panel_for_each_point_and_can_be_drawn(comparison: Comparison) -> None:
    drawn = figures(comparison)
    assert list(drawn) == ["rate", "bare-ports", "chain", "latency", "core-distance"]
    for name in ("rate", "bare-ports", "latency", "chain"):
        assert b"<svg" in to_svg(drawn[name])
    points = {wording.row_point(row) for row in comparison.rows if row.mrr is not None}
    assert set(re.findall(r'"point": "([^"]+)"', json.dumps(drawn["rate"]))) == points


def test_names_are_counted() -> None:
    assert counted(["a", "b", "a"]) == "a (2), b"
