"""The page: self-contained, escaped, marked, the answer first."""

import html
import json
import re
from html.parser import HTMLParser

import pytest
from sample_records import SIMULATED, Scenario, build

from nfvbed.compare.comparison import Options, compare
from nfvbed.records import FactRecord, Status
from nfvbed.report.context import ReportContext, flat
from nfvbed.report.export import to_csv
from nfvbed.report.figures.catalogue import figures, to_png, to_svg
from nfvbed.report.files import write_report
from nfvbed.report.page import embedded_json, render_page

EVIL = "</script><script>alert(1)</script>"


def context(scenario: Scenario | None = None) -> ReportContext:
    data = build(scenario)
    facts = (FactRecord(run=data.run.id, cell=None, round=1, step=f"deploy {EVIL}", duration_ns=10**9),)
    return ReportContext(
        comparison=compare([data]),
        runs=(data.run,),
        hosts={data.run.host_hash: {**data.host, "note": EVIL}},
        rigs=data.rigs,
        facts=facts,
    )


@pytest.fixture(scope="module", name="page")
def _page() -> str:
    blocked = (("linux-bridge/p2p/1518", Status.FAILED, EVIL),)
    return render_page(context(Scenario(rounds=6, far_rounds=(), changing=(), blocked=blocked)))


class Outline(HTMLParser):
    """Collects what loads, what is executed, and the headings."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.scripts = 0
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]
        self.scripts += tag == "script"
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)


def test_nothing_is_loaded_from_anywhere(page: str):
    outline = Outline()
    outline.feed(page)
    assert all(target.startswith(("#", "data:")) for target in outline.loads)
    assert "default-src 'none'" in html.unescape(page)


def test_text_from_outside_is_not_executed(page: str):
    outline = Outline()
    outline.feed(page)
    assert outline.scripts == 3
    assert EVIL not in page
    assert "&lt;script&gt;alert(1)" in page


def test_headings_are_in_order_and_the_answer_comes_first(page: str):
    outline = Outline()
    outline.feed(page)
    assert outline.headings[0] == "h1"
    assert page.index('class="headline"') < page.index('id="comparison"') < page.index('id="figure-rate"')


def test_the_figures_data_is_json(page: str):
    text = re.search(r'id="figures-data">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    assert set(json.loads(text[1])) == {"rate", "latency", "price", "core-distance"}


def test_embedded_json_cannot_end_its_element():
    text = embedded_json({"a": "</script><!-- &\u2028"})
    assert "<" not in text and "&" not in text and "\u2028" not in text
    assert json.loads(text) == {"a": "</script><!-- &\u2028"}


def test_a_simulation_is_marked_in_title_page_table_and_figures():
    found = context(Scenario(systems=(SIMULATED,), rounds=6, far_rounds=(), changing=()))
    mark = "SIMULATED - NOT A MEASUREMENT"
    page = render_page(found)
    assert f"<title>{mark}" in page
    assert f'role="note">{mark}' in page
    assert f"<strong>{mark}.</strong>" in page
    assert all(spec["title"]["text"].startswith(mark) for spec in figures(found.comparison).values())


def test_the_page_is_reproducible(page: str):
    blocked = (("linux-bridge/p2p/1518", Status.FAILED, EVIL),)
    assert render_page(context(Scenario(rounds=6, far_rounds=(), changing=(), blocked=blocked))) == page


def test_every_figure_has_caption_and_description():
    for name, spec in figures(context().comparison).items():
        assert spec["description"], name
        caption = " ".join(spec["title"]["subtitle"])
        assert "lacement class" in caption or name == "core-distance"
        assert "Scope" in caption or name == "core-distance"


def test_a_limited_row_is_striped_and_marked():
    data = build(Scenario(far_rounds=tuple(range(1, 9)), changing=()))
    spec = json.dumps(figures(compare([data]))["rate"], ensure_ascii=False)
    assert '"gradient": "linear"' in spec
    assert "≥ " in spec


def test_figures_become_pictures(tmp_path):
    written = write_report(context(), tmp_path)
    names = {str(path.relative_to(tmp_path)) for path in written}
    assert {"index.html", "comparison.csv", "comparison.json", "figures/rate.svg", "figures/rate.png"} <= names
    assert (tmp_path / "figures" / "rate.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures" / "rate.svg").read_text().startswith("<svg")


def test_pictures_have_a_background():
    spec = figures(context().comparison)["core-distance"]
    assert 'fill="white"' in to_svg(spec)
    assert to_png(spec)


def test_several_runs_are_told_apart():
    second = build(Scenario(run="01940000-0000-7000-8000-000000000002", seed=2))
    found = compare([build(), second], Options(baseline="linux-bridge"))
    page = render_page(ReportContext(found, (build().run, second.run)))
    assert "run 00000002" in page
    assert "not interleaved" in page


def test_spreadsheets_get_no_formulas():
    blocked = (("ovs-dpdk/p2p/64", Status.FAILED, "=cmd()"),)
    assert ",'=cmd()," in to_csv(compare([build(Scenario(blocked=blocked))]))


def test_descriptions_become_readable_facts():
    assert flat({"a": {"b": None, "c": True}, "d": [1, 2], "e": [{"f": 1}], "g": []}) == {
        "a.b": "not known",
        "a.c": "yes",
        "d": "1, 2",
        "e[0].f": "1",
        "g": "none",
    }
