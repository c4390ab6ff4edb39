"""Pages: what they show of runs of known content, escaped, shareable, saved as one file."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from sqlalchemy import event
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.store import Store
from tests.dashboard_runs import ELSEWHERE, EVIL
from tests.sample_records import RUN

PAGES = (
    "/",
    "/runs",
    f"/runs/{RUN}",
    f"/runs/{RUN}?cell=ovs-dpdk/p2p/64&page=1",
    f"/runs/{RUN}/why?cell=ovs-dpdk/p2p/64",
    f"/runs/{RUN}/doctor",
    "/method",
    f"/compare?runs={RUN}",
    "/trend",
    "/published",
    "/recommend",
    "/recommend?need=raw-ethernet",
)


class Outline(HTMLParser):
    """Collects what a policy forbids, headings, and tables."""

    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.scripts = 0
        self.headings: list[str] = []
        self.loads: list[str] = []
        self.landmarks: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inline += [name for name, _ in attrs if name == "style" or name.startswith("on")]
        self.scripts += tag == "script"
        self.inline += ["script"] if tag == "script" and "src" not in dict(attrs) else []
        self.loads += [value or "" for name, value in attrs if name in ("src", "srcset", "href")]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)
        if tag in ("main", "nav", "header", "footer"):
            self.landmarks.append(tag)


def outline(text: str) -> Outline:
    found = Outline()
    found.feed(text)
    return found


@pytest.mark.parametrize("address", PAGES)
def test_every_page_is_sound(client: TestClient, address: str):
    answer = client.get(address)
    assert answer.status_code == 200
    found = outline(answer.text)
    assert found.inline == []
    assert found.headings[0] == "h1" and found.headings.count("h1") == 1
    assert found.landmarks.count("main") == 1 and "nav" in found.landmarks
    assert EVIL not in answer.text
    assert all(target.startswith(("/", "#", "data:,")) for target in found.loads)


@pytest.mark.parametrize("address", PAGES)
def test_every_page_can_be_saved_as_one_file(client: TestClient, address: str):
    answer = client.get(address + ("&" if "?" in address else "?") + "export=1")
    assert answer.status_code == 200
    assert re.fullmatch(r'attachment; filename="nfvbed-[A-Za-z0-9._-]+\.html"', answer.headers["content-disposition"])
    found = outline(answer.text)
    assert found.scripts == 0 and found.inline == []
    assert all(target.startswith(("#", "data:")) for target in found.loads)
    style = re.search(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"style-src &#39;sha256-{digest}&#39;" in answer.text


def test_the_overview_is_the_answer_of_the_host(client: TestClient):
    page = client.get("/").text
    assert "2 runs; the newest began 2 d ago." in page
    grid = page[page.index('<table class="grid">') : page.index("</table>")]
    assert re.search(r'<tr class="base"><th scope="row">[a-z-]+</th>', grid), "the baseline's row is known"
    assert re.search(r'title="9\d\.?\d* % interval [\d.]+–[\d.]+ Mpps; \d+ rounds', grid), "intervals at hover"
    assert re.search(r'<td class="(higher|lower)"', grid) and f"/runs/{RUN}/why?cell=" in grid
    for need in ("throughput", "latency", "jitter", "cpu", "raw-ethernet"):
        assert f'<a href="/recommend?need={need}">{need}</a>' in page
    assert page.count("Never measured: 1 variant<") == 1 and "sriov (no NIC has virtual functions)" in page
    assert "Since this answer" in page and '<td class="heat fresh">' in page


def test_a_click_changes_the_baseline_of_the_overview(client: TestClient):
    for name, other in (("linux-bridge", "ovs-dpdk"), ("ovs-dpdk", "linux-bridge")):
        page = client.get(f"/?baseline={name}").text
        assert f'<tr class="base"><th scope="row">{name}</th>' in page
        assert f'<a href="/?baseline={other}" title="judge against {other}">' in page
        assert f"of {name}; " in page, "ratios are of the baseline"
    assert '<tr class="base"' in client.get("/?baseline=none").text, "another one is taken"
    assert client.get("/?host=ffff").status_code == 404 and client.get("/?size=big").status_code == 422


def test_a_run_shows_cells_warnings_and_environment(client: TestClient):
    page = client.get(f"/runs/{RUN}").text
    assert "failed" in page and "alert(&#39;why&#39;)" in page
    assert "cpu-stolen" in page
    assert "Example CPU &lt;E5&gt;" in page
    assert "<h3>Onboarding</h3>" in page


def test_trials_come_by_the_page(client: TestClient):
    first = client.get(f"/runs/{RUN}").text
    last = int(re.search(r"Page 1 of (\d+), (\d+) rows", first)[1])
    assert last > 1 and 'rel="next"' in first and 'rel="prev"' not in first
    end = client.get(f"/runs/{RUN}?page={last}").text
    assert 'rel="prev"' in end and 'rel="next"' not in end
    of_cell = client.get(f"/runs/{RUN}?cell=ovs-dpdk/p2p/1518").text
    trials = of_cell[of_cell.index('id="trials"') :]
    assert "ovs-dpdk/p2p/1518" in trials and "linux-bridge/pvp" not in trials[: trials.index("</table>")]


def test_why_says_of_each_trial_what_became_of_it(client: TestClient):
    page = client.get(f"/runs/{RUN}/why?cell=ovs-dpdk/p2p/64").text
    assert "in the rate, and in its round&#39;s pair in class near" in page
    assert "Visits, one a round." in page and "Scope system" in page
    assert re.search(r'class="headline">11\.75 Mpps: . higher ×10\.9 against linux-bridge/p2p/64<', page)
    assert "not sent: refused" in page and "lost after sending" in page
    assert "Matched in" in page
    assert "Throughput searches, a line for each goal." in page and "irregular, generator-limited" in page
    assert "csit-quick (all trials) leaves out: frames that the generator was late with" in page
    assert "Matched in" not in client.get(f"/runs/{RUN}/why?cell=linux-bridge/p2p/64").text, "a baseline has no pairs"


def test_relative_throughput_is_on_every_page_that_has_searches(client: TestClient):
    for address in (f"/compare?runs={RUN}", f"/compare?runs={RUN}&variants=ovs-dpdk"):
        page = client.get(address).text
        assert re.search(r"0\.7\d\d \[0\.7\d\d, 0\.7\d\d\] of testpmd", page), "the headline of the search"
        assert "11 to 19 % void" in page
        assert "for more than 100 us, whatever they lost" in page
        assert "Relative throughput" in page
    why = client.get(f"/runs/{RUN}/why?cell=ovs-dpdk/p2p/64").text
    assert "paired with reference:vhost-user/p2p/64" in why and "13 of 70" in why
    assert "irregular, void-trials: more than half of the trials were void" in why
    method = client.get("/method").text
    assert (
        "As delivered: nothing is left out, and the result is the range over 5 searches" in " ".join(method.split())
        and "Relative throughput is the ratio to testpmd" in method
        and "100 µs" in method
    )


def test_the_doctors_report_is_the_stored_one(client: TestClient):
    page = client.get(f"/runs/{RUN}/doctor").text
    assert "512 of 2 MiB" in page and "no NIC has virtual functions" in page
    assert "No report of the doctor" in client.get(f"/runs/{ELSEWHERE}/doctor").text


def test_a_comparison_has_the_reports_tables_and_its_figures(client: TestClient):
    page = client.get(f"/compare?runs={RUN}&variants=ovs-dpdk&variants=linux-bridge&baseline=ovs-dpdk").text
    assert '<table id="comparison"' in page and "What the verdicts rest on" in page
    assert "/compare/figures/rate.svg?theme=dark&amp;runs=" in page
    assert '<option value="ovs-dpdk" selected>' in page
    assert re.search(r'<svg class="bar[^"]*" width="100.0%" color="#D55E00"', page)


def test_figures_can_be_touched_and_their_marks_lead_to_their_trials(client: TestClient):
    page = client.get(f"/compare?runs={RUN}").text
    assert f'data-live="/compare/figures/rate.json?runs={RUN}' in page
    assert page.count('<details name="figure" open>') == 1, "one figure is open"
    cpu = client.get(f"/compare?runs={RUN}&figure=cpu").text
    assert cpu.index('<details name="figure" open>') > cpu.index("rate.json")
    found = client.get(f"/compare/figures/rate.json?runs={RUN}").json()
    assert found["spec"]["spec"]["layer"][0]["params"][0]["bind"] == "scales"
    (record, *_) = [one for values in found["spec"]["datasets"].values() for one in values if one["kind"] == "median"]
    assert re.fullmatch(r"[\d.]+ to [\d.]+", record["interval"])
    (row,) = [one for one in found["rows"] if (one["variant"], one["point"]) == ("ovs-dpdk", "p2p, 64 B")]
    assert client.get(row["href"]).status_code == 200
    assert client.get(f"/compare/figures/none.json?runs={RUN}").status_code == 404
    library = client.get("/static/vega.js")
    assert "vegaEmbed" in library.text and "max-age" in library.headers["cache-control"]
    assert "data-live" not in client.get(f"/compare?runs={RUN}&export=1").text


@pytest.mark.parametrize(
    ("page", "live"),
    [
        (f"/runs/{RUN}", f"/runs/{RUN}/figures/rate.json"),
        (f"/runs/{RUN}/why?cell=ovs-dpdk/p2p/64", f"/runs/{RUN}/why/figures/trials.json?cell=ovs-dpdk%2Fp2p%2F64"),
        ("/published", "/published/figures/kisti-2017-vswitches.json"),
    ],
)
def test_figures_of_other_pages_can_be_touched_too(client: TestClient, page: str, live: str):
    assert f'data-live="{live}"' in client.get(page).text and "/static/figures.js" in client.get(page).text
    assert client.get(live).json()["spec"]["datasets"]
    assert "data-live" not in client.get(f"{page}{'&' if '?' in page else '?'}export=1").text


def test_runs_are_found_by_their_words_and_ordered(client: TestClient):
    def ids(query: str) -> list[str]:
        return re.findall(r'<a href="/runs/([0-9a-f-]{36})"', client.get(f"/runs?{query}").text)

    both = ids("")
    assert set(both) == {RUN, ELSEWHERE} and ids("order=experiment") and set(ids("order=site")) == set(both)
    assert ids(f"find={RUN[:9]}") == [RUN] and ids("find=demo+2025-12") == [ELSEWHERE]
    assert ids("find=nothing-like-it") == [] and set(ids("state=ok")) == set(both) and ids("state=running") == []
    assert client.get("/runs?order=colour").status_code == 422


def test_a_form_names_no_further_run_or_one_by_its_digits(client: TestClient):
    assert client.get(f"/compare?runs={RUN}&runs=").status_code == 200
    page = client.get(f"/compare?runs={ELSEWHERE}&runs={RUN[:8]}&variants=ovs-dpdk").text
    assert RUN in page and f'<option value="{RUN}">' in page


def test_each_figure_has_its_own_numbers_as_csv(client: TestClient):
    figures = client.get(f"/api/compare?runs={RUN}").json()["figures"]
    assert {"rate", "by-frame-size", "cpu", "cycles-per-packet", "throughput"} <= {found["name"] for found in figures}
    for found in figures:
        answer = client.get(found["csv"])
        assert answer.headers["content-type"].startswith("text/csv"), found["name"]
        assert len(answer.text.splitlines()) > 1, found["name"]
    cpu = client.get(f"/compare/figures/cpu.csv?runs={RUN}").text
    assert cpu.splitlines()[0] == "variant,point,kind,role,time,part,cores,place,label"
    assert client.get(f"/compare/figures/none.csv?runs={RUN}").status_code == 404


def test_another_share_of_chains_is_asked_for_in_the_address(client: TestClient):
    page = client.get(f"/compare?runs={RUN}&share=0.8&of=p2p").text
    assert '<input type="number" name="share" min="0.01" max="1" step="0.01" value="0.8">' in page
    assert '<option value="p2p" selected>' in page
    assert "share=0.8&amp;of=p2p" in page, "figures and files are of the same comparison"
    assert "share=" not in client.get(f"/api/compare?runs={RUN}").json()["csv"]
    for wrong in ("share=0", "share=1.1", "share=nan", "of=pvp"):
        assert client.get(f"/compare?runs={RUN}&{wrong}").status_code == 422, wrong


def test_rows_are_grouped_by_what_is_asked_for(client: TestClient):
    page = client.get(f"/compare?runs={RUN}&by=variant").text
    assert re.findall(r'<tr class="point"><th[^>]*>([a-z-]+)', page) == ["linux-bridge", "ovs-dpdk"]
    assert client.get("/compare?by=colour").status_code == 422


def test_hosts_that_differ_have_no_verdict_and_their_differences(client: TestClient):
    page = client.get(f"/compare?runs={RUN}&runs={ELSEWHERE}&variants=ovs-dpdk").text
    assert "What differs between the hosts" in page
    apart = page[page.index("What differs between the hosts") :]
    assert "6.18.0" in apart and "6.12.9" in apart[: apart.index("</table>")]
    assert "not comparable" in page


def test_a_comparison_leads_to_why(client: TestClient):
    page = client.get(f"/compare?runs={RUN}").text
    links = re.findall(rf'href="(/runs/{RUN}/why\?cell=[^"]+)"', page)
    assert links and all(client.get(link).status_code == 200 for link in links[:2])


READING = (("/", 0), (f"/runs/{ELSEWHERE}", 0), (f"/api/runs/{ELSEWHERE}/trials", 0), (f"/compare?runs={ELSEWHERE}", 1))


@pytest.mark.parametrize(("address", "reads"), READING)
def test_histograms_are_read_for_a_comparison_alone(store: Store, address: str, reads: int, monkeypatch):
    monkeypatch.setattr("nfvbed.dashboard.evidence.frontpage.AT_ONCE", 1)  # With many trials the page comes first.
    asked: list[str] = []

    def note(_connection, _cursor, statement: str, *_: object) -> None:
        asked.append(statement)

    client = TestClient(make_app(store, Access(hosts=("localhost",))), base_url="http://localhost")
    event.listen(store._engine, "before_cursor_execute", note)
    try:
        assert client.get(address).status_code == 200
    finally:
        event.remove(store._engine, "before_cursor_execute", note)
    found = [statement for statement in asked if "FROM histogram" in statement]
    assert len(found) == reads and all("cell.variant IN" in statement for statement in found)


def test_figures_are_pictures(client: TestClient):
    light = client.get(f"/compare/figures/rate.svg?runs={RUN}&theme=light")
    dark = client.get(f"/compare/figures/rate.svg?runs={RUN}&theme=dark")
    assert light.headers["content-type"] == "image/svg+xml" and light.text.startswith("<svg")
    assert light.text != dark.text and "#e8eaed" in dark.text
    assert client.get(f"/compare/figures/rate.png?runs={RUN}").content.startswith(b"\x89PNG")
    assert client.get(f"/compare/rows.csv?runs={RUN}").text.startswith("run,cell,")
    assert client.get(f"/compare/tests.csv?runs={RUN}").status_code == 200
    assert client.get(f"/compare/figures/nothing.svg?runs={RUN}").status_code == 404


def test_the_style_sheet_is_served(client: TestClient):
    answer = client.get("/static/dashboard.css")
    assert answer.headers["content-type"].startswith("text/css") and ":root{" in answer.text
