"""The page: self-contained, escaped, marked, the answer first."""

import dataclasses
import html
import json
import re
from html.parser import HTMLParser

import pytest

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.errors import DrawingError
from nfvbed.records import FactRecord, Status
from nfvbed.report.context import ReportContext, flat
from nfvbed.report.csv.export import to_csv
from nfvbed.report.figures.catalogue import figures, to_png, to_svg
from nfvbed.report.files import write_report
from nfvbed.report.page.head import machine
from nfvbed.report.page.notes import TableNotes
from nfvbed.report.page.page import embedded_json, render_page
from tests.sample_records import BRIDGE, CEILINGS, CHAIN, OVS, PVP, SIMULATED, Scenario, build

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


def test_the_first_screen_names_experiment_machine_and_all_rates():
    found = render_page(dataclasses.replace(context(), title="Two <planes>"))
    head = found[found.index("<h1>") : found.index("<nav")]
    assert "<h1>Two &lt;planes&gt;</h1>" in head
    assert "Example CPU &lt;E5&gt;, 2 cores, virtual machine, 24 GiB, Linux 6.18.0" in head
    assert "2026-01-02 03:04 UTC to 2026-01-02 03:09 UTC" in head
    assert head.index('class="machine"') < head.index('class="headline"') < head.index('class="tile"')
    assert head.count('class="bar') == 4
    assert "Two &lt;planes&gt;: ovs-dpdk forwards" in found


def test_without_a_plan_the_name_of_the_experiment_is_the_title(page: str):
    assert "<h1>demo</h1>" in page


def test_what_is_not_known_of_a_machine_is_left_out():
    assert machine({"kernel": "6.1"}) == "Linux 6.1"
    assert machine({"topology": {"allowed": [0]}, "cpu": {}}) == "1 core"


def test_what_was_not_measured_has_its_status_on_the_tile(page: str):
    assert '<td class="warning" colspan="3">failed</td>' in page[: page.index("<nav")]


def test_long_texts_of_the_table_are_notes_below_it(page: str):
    table, below = page.split("</table></div>", 2)[0], page.split('<ul class="notes">', 1)[1].split("</ul>", 1)[0]
    assert "PMD statistics" in below
    assert "PMD statistics" not in re.sub('title="[^"]*"', "", table)
    letters = re.findall('href="#(comparison-note-[a-z])"', table)
    assert letters and all(f'id="{letter}"' in below for letter in letters)


def test_equal_notes_share_a_letter_and_letters_end():
    notes = TableNotes("t")
    assert notes.mark("") is None and notes.all() == ()
    assert notes.mark("one") == notes.mark("one")
    marks = [notes.mark(f"text {number}") for number in range(26)]
    assert marks[-1] is not None and marks[-1].letter == "27"
    assert len(notes.all()) == 27


def test_mitigations_are_folded(page: str):
    folded = page[page.index("Mitigations (1 of 2 concern this CPU)") :]
    assert "Retpolines" in folded.split("</details>", 1)[0]
    assert "Retpolines" not in page[: page.index("Mitigations (1 of 2")]


def test_an_exceeded_ceiling_is_named_in_the_table_of_ceilings():
    fast = dataclasses.replace(OVS, capacity={64: (24e6, 8.0e6)})
    found = compare([build(Scenario(systems=(BRIDGE, fast, *CEILINGS), far_rounds=(), changing=()))])
    page = render_page(ReportContext(found, (build().run,)))
    assert "exceeded: one core serves both ends; by ovs-dpdk (15" in page
    assert "loopback exceeded" in page


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
    assert set(json.loads(text[1])) == {
        "rate",
        "by-frame-size",
        "latency",
        "cpu",
        "cycles-per-packet",
        "switching-overhead",
        "core-distance",
    }


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
        assert "lacement" in caption or name == "core-distance"
        assert "Scope" in caption or name == "core-distance"


def test_a_limited_row_is_striped_and_marked():
    data = build(Scenario(far_rounds=tuple(range(9)), changing=()))
    spec = json.dumps(figures(compare([data]))["rate"], ensure_ascii=False)
    assert '"gradient": "linear"' in spec
    assert "≥ " in spec


def test_figures_become_pictures(tmp_path):
    written = write_report(context(), tmp_path)
    names = {str(path.relative_to(tmp_path)) for path in written.files}
    assert {"index.html", "comparison.csv", "comparison.json", "figures/rate.svg", "figures/rate.png"} <= names
    assert (tmp_path / "figures" / "rate.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures" / "rate.svg").read_text().startswith("<svg")


def test_a_report_does_without_a_picture_that_cannot_be_drawn(tmp_path, monkeypatch):
    rate = figures(context().comparison)["rate"]

    def dies(spec):
        if spec["title"] == rate["title"]:
            raise DrawingError("a figure could not be drawn", observed="it was ended by SIGKILL")
        return b"<svg/>"

    monkeypatch.setattr("nfvbed.report.files.to_svg", dies)
    monkeypatch.setattr("nfvbed.report.files.to_png", lambda spec: b"png")
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "rate.svg").write_text("of an earlier report")
    written = write_report(context(), tmp_path)
    assert written.not_drawn == {"figures/rate.svg": "it was ended by SIGKILL"}
    assert not (tmp_path / "figures" / "rate.svg").exists()
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == set(written.files)
    assert {tmp_path / "index.html", tmp_path / "figures" / "rate.png"} < set(written.files)


def test_pictures_have_a_background():
    spec = figures(context().comparison)["core-distance"]
    assert b'fill="white"' in to_svg(spec)
    assert to_png(spec)


def test_several_runs_are_distinguished():
    second = build(Scenario(run="01940000-0000-7000-8000-000000000002", seed=2))
    found = compare([build(), second], ComparisonOptions(baseline="linux-bridge"))
    page = render_page(ReportContext(found, (build().run, second.run)))
    assert "run 00000002" in page
    assert "judged unpaired" in page


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


def vnf_page() -> str:
    data = build(Scenario(systems=(BRIDGE, OVS, *CEILINGS, *PVP, *CHAIN), far_rounds=(), changing=()))
    comparison = compare([data], ComparisonOptions(baseline="linux-bridge"))
    return render_page(ReportContext(comparison, (data.run,), {data.run.host_hash: data.host}, data.rigs))


def test_rows_through_vnfs_are_in_groups_with_their_scope():
    page = vnf_page()
    groups = re.findall(r'<tr class="point"><th[^>]*>(.*?) <small>Scope: (.*?)</small>', page)
    assert [name for name, _ in groups[2:4]] == ["pvp native, 64 B", "pvp process-io, 64 B"]
    assert groups[2][1].startswith("system (") and "VNF" in groups[2][1]
    assert groups[3][1].startswith("controlled (the same VNF")
    assert all(not ("system" in scope and "controlled" in scope) for _, scope in groups)


def test_the_page_says_what_a_native_vnf_is_and_what_a_vnf_can_do_alone():
    page = vnf_page()
    assert "<small>VNF process-bridge</small>" in page
    assert "VNF looped back alone" in page
    assert "vnf-limited" in page


def test_the_longest_chain_is_said_above_the_table_and_at_its_figure():
    page = vnf_page()
    said = "The longest that holds half of the one-VNF rate has "
    assert said in page[: page.index('id="comparison"')]
    assert said in page[page.index('id="figure-chain"') :]


def test_times_of_onboarding_stand_by_variant():
    detail = {"variant": "ovs-dpdk", "role": "subject", "topology": "pvp", "vnf": EVIL}
    given = context()
    fact = FactRecord(
        run=given.runs[0].id, cell=None, round=1, step="onboard.first-frame", duration_ns=37 * 10**9, detail=detail
    )
    found = render_page(dataclasses.replace(given, facts=(fact,)))
    assert "<h3>Onboarding</h3>" in found
    assert "37.00 (n 1)" in found
    assert EVIL not in found
    assert "<h3>Onboarding</h3>" not in render_page(given)
