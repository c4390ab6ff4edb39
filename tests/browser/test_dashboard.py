"""The dashboard in a real browser, served by the command: without errors, accessible, saved as files."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.test_report_page import SERIOUS
from tests.chromium import chromium
from tests.dashboard_runs import ELSEWHERE, SERIES, STEP_AT, STEPPED, two_variants, with_many, with_series
from tests.diff_runs import LATER, before_and_after
from tests.sample_records import RUN

pytestmark = pytest.mark.dashboard

PAGES = {
    "overview": "/",
    "compare": f"/compare?runs={RUN}",
    "choose": "/compare?runs=latest",
    "hosts": f"/compare?runs={ELSEWHERE}&runs={RUN}&variants=ovs-dpdk",
    "diff": f"/diff?before=baseline&after={LATER}",
    "choose-before": f"/diff?after={LATER}",
    "runs": "/runs",
    "run": f"/runs/{RUN}",
    "why": f"/runs/{RUN}/why?cell=ovs-dpdk/p2p/64",
    "doctor": f"/runs/{RUN}/doctor",
    "method": "/method",
    "trends": "/trend",
    "trend": f"/trend?{urlencode({'setting': STEPPED})}",
    "published": "/published",
    "recommend": "/recommend",
    "raw-ethernet": "/recommend?need=raw-ethernet",
    "problem": "/runs/none",
}
SAVED = sorted(PAGES.keys() - {"choose", "choose-before", "problem"})
"""Views: a form that nothing was chosen in is none."""
SHOWN = {"light": 1280, "dark": 400}
PATIENCE_MS = 120_000
UNFOLDED = """(one) => {
  for (let part = one.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  one.scrollIntoView();
}"""
"""Opens what a figure is folded in, and shows it."""


@pytest.fixture(scope="module", name="address")
def _address(tmp_path_factory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("served") / "nfvbed.sqlite"
    two_variants(path)
    with_many(path)
    with_series(path)
    before_and_after(path)
    with served(path) as address:
        yield address


@contextmanager
def served(path: Path, *options: str) -> Iterator[str]:
    argv = [sys.executable, "-m", "nfvbed", "dashboard", "--store", str(path), "--port", "0", *options]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[-1].rstrip("/")
        finally:
            server.send_signal(signal.SIGINT)
            ended = server.wait(30)
    assert ended == 130


@pytest.fixture(scope="module", name="browser")
def _browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def opened(browser: Browser, scheme: str) -> tuple[Page, list[str], list[str]]:
    page = browser.new_page(viewport={"width": SHOWN[scheme], "height": 900}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE_MS)
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda sent: requests.append(sent.url))
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    return page, requests, errors


def serious(page: Page) -> list[tuple[str, list[str]]]:
    violations = Axe().run(page).response["violations"]
    return [
        (found["id"], [node["html"][:120] for node in found["nodes"][:3]])
        for found in violations
        if found["impact"] in SERIOUS
    ]


@pytest.mark.parametrize("scheme", SHOWN)
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_sound(browser: Browser, address: str, tmp_path: Path, name: str, scheme: str):
    page, requests, errors = opened(browser, scheme)
    page.goto(address + PAGES[name])
    assert [url for url in requests if not url.startswith((address, "data:"))] == []
    expected = 1 if name == "problem" else 0  # The browser says itself that it got a 404.
    assert len(errors) == expected, errors
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert (
        page.evaluate("[...document.images].filter((image) => image.checkVisibility() && !image.naturalWidth).length")
        == 0
    )
    assert page.locator("nav[aria-label=Pages] a").count() == 8
    assert serious(page) == []
    picture = tmp_path / f"{name}-{scheme}.png"
    page.screenshot(path=picture, full_page=True)
    assert picture.stat().st_size > 10_000
    page.close()


@pytest.mark.parametrize("name", ["runs", "doctor", "trends", "published"])
def test_what_a_row_says_is_seen_on_a_narrow_screen(browser: Browser, address: str, name: str):
    """Its cells are below each other there, and nothing of them is beyond the edge."""
    page, _, _ = opened(browser, "dark")
    page.goto(address + PAGES[name])
    rows = page.locator(".stacked tbody tr").first
    tables = page.locator(".scroll:has(.stacked), .stacked .scroll")
    assert tables.count() and tables.evaluate_all("(all) => all.every((box) => box.scrollWidth <= box.clientWidth)")
    assert rows.locator("td").first.is_visible() and rows.evaluate("(row) => getComputedStyle(row).display") == "block"
    page.close()


def test_a_legend_makes_no_narrow_figure_smaller(browser: Browser, address: str):
    page, _, _ = opened(browser, "dark")
    page.goto(address + PAGES["compare"])
    figure = page.locator("figure[data-live]").first
    figure.scroll_into_view_if_needed()
    figure.and_(page.locator("[data-drawn=yes]")).wait_for()
    shown = figure.locator("svg.marks")
    assert shown.evaluate("(svg) => svg.getBoundingClientRect().width >= 0.95 * Number(svg.getAttribute('width'))")
    page.close()


def test_a_search_without_a_hit_says_so(browser: Browser, address: str):
    page, _, errors = opened(browser, "light")
    page.goto(address + PAGES["choose"])
    page.locator("input[data-search=variants]").fill("no such words")
    assert page.get_by_text("None has these words.").is_visible()
    page.locator("input[data-search=variants]").fill("vpp")
    assert page.get_by_text("None has these words.").count() == 0 and errors == []
    page.close()


def test_bars_have_their_length_and_colour(browser: Browser, address: str):
    page, _, _ = opened(browser, "light")
    page.goto(address + PAGES["compare"])
    bars = page.locator(".tile").first.locator("svg.bar")
    small, large = (bars.nth(index).bounding_box() for index in (0, 1))
    assert small is not None and large is not None and 5 < small["width"] < large["width"] / 5
    assert bars.nth(1).evaluate("(bar) => getComputedStyle(bar).backgroundColor") == "rgb(213, 94, 0)"
    page.close()


def test_a_figure_is_touched(browser: Browser, address: str):
    """Values with their interval at hover, a variant that is left out, another figure, and a click to Why."""
    page, _, errors = opened(browser, "light")
    page.goto(address + PAGES["compare"])
    figure = page.locator("figure[data-drawn=yes]").first
    bars = figure.locator("svg .mark-rect path")
    figure.wait_for()

    def longest() -> dict[str, float]:
        boxes = [box for bar in bars.all() if (box := bar.bounding_box()) and box["height"] < 40]
        return max(boxes, key=lambda box: box["width"])

    figure.scroll_into_view_if_needed()
    box = longest()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 3)
    assert "interval" in page.locator("#vg-tooltip-element.visible").inner_text()
    before = bars.count()
    figure.locator(".toggles input").first.uncheck()
    page.wait_for_function(f"document.querySelectorAll('figure[data-drawn=yes] svg .mark-rect path').length < {before}")
    figure.locator(".toggles input").first.check()
    page.locator("details[name=figure] summary", has_text="CPU by role").click()
    page.locator("details[name=figure][open] figure[data-drawn=yes]").wait_for()
    page.locator("details[name=figure] summary").first.click()
    box = longest()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 3)
    page.wait_for_url("**/why?cell=*")
    assert errors == []
    page.close()


@pytest.mark.parametrize("name", ["run", "why", "trend", "published"])
def test_figures_of_other_pages_are_drawn_to_be_touched(browser: Browser, address: str, name: str):
    """All of a page, each when it comes into view; a mark of a run among others leads to what takes it apart."""
    page, requests, errors = opened(browser, "light")
    page.goto(address + PAGES[name])
    figures = page.locator("figure[data-live]")
    for place in range(figures.count()):
        figure = figures.nth(place)
        figure.evaluate(UNFOLDED)
        figure.and_(page.locator("[data-drawn=yes]")).wait_for()
    assert errors == [] and [url for url in requests if not url.startswith((address, "data:"))] == []
    if name == "trend":
        figures.first.locator("svg .mark-symbol path").first.click()
        page.wait_for_url("**/why?cell=*")
    page.close()


def test_a_comparison_is_two_screens(browser: Browser, address: str):
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(address + PAGES["compare"])
    page.locator("figure[data-drawn=yes]").wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * 900
    page.locator(".scroll:has(#comparison)").evaluate("(table) => { table.scrollTop = 200 }")
    head, table = (
        page.locator(one).bounding_box() for one in ("#comparison thead th >> nth=0", ".scroll:has(#comparison)")
    )
    assert head is not None and table is not None and abs(head["y"] - table["y"]) < 4, "its head stays"
    page.close()


def test_a_figure_is_a_picture_without_scripts(browser: Browser, address: str):
    page = browser.new_page(java_script_enabled=False)
    page.goto(address + PAGES["compare"])
    assert page.locator("details[name=figure][open] picture img").bounding_box()["width"] > 300
    page.close()


def test_a_comparison_is_chosen_with_the_keyboard_and_shared_by_its_address(browser: Browser, address: str):
    page, _, errors = opened(browser, "light")
    page.goto(address + PAGES["choose"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    if page.locator("details.choose:not([open])").count():
        # A run with an answer is shown at once; what is compared is chosen above it.
        page.locator("details.choose summary").press("Enter")
    for name in ("ovs-dpdk", "vpp"):
        page.locator(f"input[name=variants][value={name}]").focus()
        page.keyboard.press("Space")
    page.locator("select[name=baseline]").select_option("vpp")
    page.keyboard.press("Enter")
    page.locator("form button").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?runs=*")
    headings = page.locator("#comparison tr.row th").all_inner_texts()
    assert {text.split()[0] for text in headings} == {"ovs-dpdk", "vpp"}
    assert errors == []
    other, _, _ = opened(browser, "light")
    other.goto(page.url)
    assert other.locator("h1").inner_text() == page.locator("h1").inner_text()
    assert other.locator(".headline").inner_text() == page.locator(".headline").inner_text()
    other.close()
    page.close()


def test_before_and_after_are_found_by_words_with_the_keyboard(browser: Browser, address: str):
    """From the page of a run: the side before by a part of its label, then the run that has it."""
    page, _, errors = opened(browser, "dark")
    page.goto(f"{address}/runs/{LATER}")
    page.get_by_role("link", name="Before and after").press("Enter")
    page.locator("input[name=before]").fill("base:ovs-dpdk")
    page.keyboard.press("Enter")
    page.wait_for_url("**before=base*")
    page.locator("#offered-before ~ ul a", has_text="baseline").press("Enter")
    verdict = page.locator("td.verdict").first
    assert "lower" in verdict.inner_text() and "Not interleaved" in page.locator(".notice").first.inner_text()
    left, right = (verdict.bounding_box()[key] for key in ("x", "width"))
    assert left + right <= SHOWN["dark"], "the verdict is seen without scrolling"
    assert errors == []
    page.close()


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_page_opens_from_disk(browser: Browser, address: str, tmp_path: Path, name: str):
    page, _, _ = opened(browser, "light")
    page.goto(address + PAGES[name])
    with page.expect_download(timeout=PATIENCE_MS) as download:
        page.get_by_role("link", name="Save this page as one file").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    page.close()
    page, requests, errors = opened(browser, "dark")
    page.goto(path.as_uri())
    assert errors == []
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    assert page.locator("h1").count() == 1
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
    assert (
        page.evaluate("[...document.images].filter((image) => image.checkVisibility() && !image.naturalWidth).length")
        == 0
    )
    assert serious(page) == []
    page.close()


def test_a_step_is_acknowledged_with_the_keyboard(browser: Browser, tmp_path: Path):
    path = tmp_path / "nfvbed.sqlite"
    with_series(path)
    with served(path, "--operate") as address:
        page, _, errors = opened(browser, "dark")
        page.goto(address + PAGES["trend"])
        assert serious(page) == []
        page.screenshot(path=tmp_path / "acknowledge.png", full_page=True)
        page.locator("select[name=run]").select_option(SERIES[STEP_AT])
        page.locator("input[name=reason]").focus()
        page.keyboard.type("the new kernel")
        page.keyboard.press("Enter")
        page.wait_for_url("**#steps")
        assert "acknowledged until" in page.locator("#steps ~ .scroll").first.inner_text()
        assert "the new kernel" in page.locator("#steps ~ .scroll").first.inner_text()
        assert errors == []
        page.close()
