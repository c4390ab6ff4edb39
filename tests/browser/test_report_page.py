"""The page in a real browser: from disk, without a network, without errors, accessible."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.records import QualityWarning, Status
from nfvbed.report.context import ReportContext
from nfvbed.report.page.page import render_page
from tests.chromium import chromium
from tests.sample_records import BRIDGE, CEILINGS, CHAIN, OVS, PVP, SIMULATED, Scenario, build
from tests.sample_results import with_tests

pytestmark = pytest.mark.xdist_group("chromium")

SERIOUS = ("serious", "critical")
SCENARIOS = {
    "measured": Scenario(
        far_rounds=(1, 2, 3, 4, 5, 6, 7, 8),
        changing=(),
        blocked=(("linux-bridge/p2p/1518", Status.FAILED, "<img src=x onerror=alert(1)>"),),
    ),
    "simulated": Scenario(systems=(SIMULATED,)),
    "vnfs": Scenario(systems=(BRIDGE, OVS, *CEILINGS, *PVP, *CHAIN), far_rounds=(), changing=()),
    "tests": Scenario(far_rounds=(), changing=()),
    "demo": Scenario(
        systems=(BRIDGE, OVS, *CEILINGS, *PVP),
        common_load=True,
        warnings=(("", QualityWarning.CPU_STOLEN), ("", QualityWarning.UNSENT), ("pvp", QualityWarning.CORES_SHARED)),
    ),
}
FIGURES = {"measured": 7, "simulated": 6, "vnfs": 8, "tests": 11, "demo": 7}
ROWS = {"measured": 4, "simulated": 2, "vnfs": 12, "tests": 4, "demo": 8}


@pytest.fixture(scope="module", name="browser")
def _browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module", name="pages")
def _pages(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = {}
    for name, scenario in SCENARIOS.items():
        data = with_tests(build(scenario)) if name == "tests" else build(scenario)
        comparison = compare([data], ComparisonOptions(baseline=scenario.systems[0].name))
        context = ReportContext(comparison, (data.run,), {data.run.host_hash: data.host}, data.rigs)
        written[name] = folder / f"{name}.html"
        written[name].write_text(render_page(context))
    return written


@pytest.fixture(name="opened", params=[(n, s, w) for n in SCENARIOS for s, w in (("light", 1280), ("dark", 400))])
def _opened(request, browser: Browser, pages: dict[str, Path]) -> Iterator[tuple[str, Page, list[str], list[str]]]:
    name, scheme, width = request.param
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    requests: list[str] = []
    errors: list[str] = []
    page.on("request", lambda sent: requests.append(sent.url))
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(pages[name].as_uri())
    page.wait_for_selector("html[data-figures=drawn]", timeout=30_000)
    yield name, page, requests, errors
    page.close()


def test_the_page_is_sound(opened: tuple[str, Page, list[str], list[str]]):
    name, page, requests, errors = opened
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in requests if url.startswith("file:")]) == 1
    assert errors == []
    figures = page.locator("figure .chart")
    assert figures.count() == FIGURES[name]
    for index in range(figures.count()):
        assert figures.nth(index).locator("svg path").count() > 5
        assert figures.nth(index).get_attribute("aria-label")
    assert page.locator("#comparison tr.row").count() == ROWS[name]
    assert page.locator("img").count() == 0
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    violations = Axe().run(page).response["violations"]
    serious = [
        (found["id"], [node["html"][:120] for node in found["nodes"][:3]])
        for found in violations
        if found["impact"] in SERIOUS
    ]
    assert serious == []


def test_the_answer_is_on_the_first_screen(browser: Browser, pages: dict[str, Path]):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(pages["measured"].as_uri())
    tiles = page.locator(".tile")
    assert tiles.count() == 2
    box = tiles.last.bounding_box()
    assert box is not None and box["y"] + box["height"] < 800
    assert "times that of linux-bridge (whole systems compared" in page.locator(".headline, .tile").all_inner_texts()[1]
    page.close()


def test_table_and_figures_use_the_width(browser: Browser, pages: dict[str, Path]):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(pages["measured"].as_uri())
    page.wait_for_selector("html[data-figures=drawn]", timeout=30_000)
    limits = page.locator("#comparison td.limits").first.bounding_box()
    assert limits is not None and limits["width"] >= 16 * 13
    assert page.locator(".scroll").first.evaluate("(box) => box.scrollWidth - box.clientWidth") == 0
    for index in range(page.locator("figure .chart > svg").count()):
        box = page.locator("figure .chart > svg").nth(index).bounding_box()
        assert box is not None and 900 <= box["width"] <= 1200
    page.close()


CUT = """() => {
  const found = [];
  const wider = (inner, outer) => inner.left < outer.left - 1 || inner.right > outer.right + 1;
  document.querySelectorAll("td, th, caption, p, li, h1, h2, h3, figcaption, .scroll").forEach((box) => {
    const hidden = box.closest(".unseen, details:not([open])");
    if (!hidden && box.clientWidth && box.scrollWidth > box.clientWidth + 1)
      found.push(box.tagName + " " + box.className + ": " + box.textContent.slice(0, 60));
  });
  document.querySelectorAll(".chart > svg").forEach((picture) => {
    const outer = picture.getBoundingClientRect();
    if (wider(outer, picture.closest("figure").getBoundingClientRect())) found.push("figure " + picture.parentNode.id);
    picture.querySelectorAll("text").forEach((text) => {
      const inner = text.getBoundingClientRect();
      if (inner.width && wider(inner, outer)) found.push(picture.parentNode.id + ": " + text.textContent);
    });
  });
  return found;
}"""
"""What does not fit its box, or lies outside of its figure."""


@pytest.mark.parametrize("name", [*SCENARIOS])
def test_nothing_is_cut_off_at_1400_pixels(browser: Browser, pages: dict[str, Path], name: str):
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(pages[name].as_uri())
    page.wait_for_selector("html[data-figures=drawn]", timeout=30_000)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert page.evaluate(CUT) == []
    page.close()


def test_a_simulation_says_so_first(browser: Browser, pages: dict[str, Path]):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(pages["simulated"].as_uri())
    box = page.locator(".simulated").bounding_box()
    assert box is not None and box["y"] < 100
    assert page.title().startswith("SIMULATED")
    page.close()


def test_loss_and_latency_against_load_are_drawn_with_every_point(browser: Browser, pages: dict[str, Path]):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(pages["tests"].as_uri())
    page.wait_for_selector("html[data-figures=drawn]", timeout=30_000)
    # Two variants: three loads of a curve; of latency six loads with three percentiles each; loss and P99 of a soak.
    for name, points in (("loss-by-load", 2 * 3), ("latency-by-load", 2 * 6 * 3), ("soak", 2 * 2 * 2)):
        box = page.locator(f"#figure-{name}")
        assert box.locator("svg .mark-symbol.role-mark path").count() == points
        assert "ovs-dpdk at p2p, 64 B" in (box.get_attribute("aria-label") or "")
    assert page.locator("#tests").count() == 1
    # Beside the loads that lost frames alone: of the curve, of latency (and in both of its directions), of the soak.
    tables = page.locator("section[aria-labelledby=tests] table")
    marked = [table.locator("td.limits", has_text="reordered").count() for table in tables.all()]
    assert [count for count in marked if count] == [3, 2]
    page.close()
