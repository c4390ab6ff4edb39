"""Pages for operators in a real browser: accessible in both themes, and a simulated experiment by mouse."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.test_dashboard import PATIENCE_MS, SHOWN, opened, serious
from tests.chromium import chromium
from tests.dashboard_runs import two_variants

pytestmark = pytest.mark.dashboard

CHOICE = "/start?experiment=simulated&purpose=survey&rounds=1"
PAGES = {
    "start": "/start",
    "plan": f"{CHOICE}&plan=1",
    "jobs": "/jobs",
    "audit": "/audit",
    "refusals": "/audit?kind=refusal",
    "no-job": "/jobs/none",
}
PAGES |= {"chain": "/chain", "chain-of-guest": "/chain?site=guest-node-cables"}
"""Chain pages without a deployment, and of a site on which nothing stays; tests that deploy look at one with a path."""


@pytest.fixture(scope="module", name="address")
def _address(tmp_path_factory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("operated") / "nfvbed.sqlite"
    two_variants(path)
    argv = [sys.executable, "-m", "nfvbed", "dashboard", "--operate", "--store", str(path), "--port", "0"]
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


@pytest.mark.parametrize("scheme", SHOWN)
def test_a_simulated_experiment_by_mouse(browser: Browser, address: str, tmp_path: Path, scheme: str):
    """On a wide screen with the mouse, on a narrow one with the keyboard."""
    page, requests, errors = opened(browser, scheme)
    page.goto(address + CHOICE)
    for name in ("Show the plan", "Run the experiment"):
        button = page.get_by_role("button", name=name)
        if scheme == "light":
            button.click()
        else:
            button.focus()
            page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/2*")
    page.locator(".headline", has_text=re.compile("^Done, exit status 0")).wait_for(timeout=PATIENCE_MS)
    assert page.locator("#job-state a.measured").count() == 1
    page.wait_for_load_state()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    page.screenshot(path=tmp_path / f"job-{scheme}.png", full_page=True)
    page.locator("#job-state a.measured").click()
    assert page.locator("h1").inner_text() == "Run of simulated"
    assert errors == [] and [url for url in requests if not url.startswith((address, "data:"))] == []
    page.close()


FEW = 10
COUNTED = (
    """addEventListener("pointerdown", () => sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1, true)"""
)


def test_few_clicks_lead_from_the_first_page_to_a_run(browser: Browser, address: str, capsys):
    """By mouse, through variants that are searched, topology, suite and plan; a choice from a list counts as two."""
    page, _, errors = opened(browser, "light")
    page.add_init_script(COUNTED)
    page.goto(address)
    page.get_by_role("link", name="Start", exact=True).click()
    page.locator("input[data-search=variants]").click()
    page.keyboard.type("simulated")
    page.locator("#variants input:visible").first.click()
    page.locator("input[name=topology]").click()
    page.keyboard.type("p2p")
    page.locator("select[name=experiment]").select_option("simulated")
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_role("button", name="Run the experiment").click()
    page.wait_for_url("**/jobs/2*")
    page.locator("#job-state a.measured").wait_for(timeout=PATIENCE_MS)
    clicks = int(page.evaluate("sessionStorage.clicks")) + 2
    with capsys.disabled():
        print(f"\n{clicks} clicks from the first page to a run that started")
    assert clicks <= FEW
    cancel = page.get_by_role("button", name="Cancel")
    if cancel.count():
        cancel.click()
    page.locator(".headline", has_text=re.compile("exit status")).wait_for(timeout=PATIENCE_MS)
    assert errors == []
    page.close()


@pytest.mark.parametrize("scheme", SHOWN)
@pytest.mark.parametrize("name", PAGES)
def test_every_page_for_operators_is_sound(browser: Browser, address: str, tmp_path: Path, name: str, scheme: str):
    page, requests, errors = opened(browser, scheme)
    page.goto(address + PAGES[name])
    assert [url for url in requests if not url.startswith((address, "data:"))] == []
    assert len(errors) == (1 if name == "no-job" else 0), errors  # The browser says itself that it got a 404 or 422.
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert serious(page) == []
    page.screenshot(path=tmp_path / f"{name}-{scheme}.png", full_page=True)
    page.close()


def test_nothing_is_started_without_the_pages_own_form(browser: Browser, address: str):
    page, _, _ = opened(browser, "light")
    page.goto(f"{address}/start")
    page.locator("form[method=post] input[name=csrf]").evaluate("(field) => { field.value = 'x' }")
    page.locator("details.confirm > summary", has_text="Destroy").click()
    page.get_by_role("button", name="Destroy").click()
    assert page.locator("h1").inner_text() == "Not allowed"
    assert "does not come from a page" in page.locator(".headline").inner_text()
    page.close()
