"""The dashboard by mouse: served with jobs, opened in a browser, its buttons pressed, its jobs watched to their end."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.functional.lab_host import MARK, ROOT

PATIENCE_MS = 60_000


@contextmanager
def serving(store: Path, mark: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve a store with jobs; the server may be killed meanwhile."""
    argv = [sys.executable, "-m", "nfvbed", "dashboard", "--operate", "--store", str(store), "--port", "0"]
    environment = os.environ | {MARK: mark, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[-1].rstrip("/"), server
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


def opened(browser: Browser, address: str, scheme: str = "light") -> Page:
    """Open an address: on a wide screen in light, on a narrow one in dark colours."""
    page = browser.new_page(viewport={"width": 1280 if scheme == "light" else 400, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address)
    return page


def ended(page: Page, state: str, patience_ms: float = PATIENCE_MS) -> None:
    """Wait until a job has ended; the page follows by itself."""
    page.locator(".headline", has_text=re.compile("exit status")).wait_for(timeout=patience_ms)
    said = page.locator(".headline").inner_text()
    assert said.startswith(f"{state.capitalize()}, exit status"), f"{said}: {page.locator('pre.log').inner_text()}"


def pressed(page: Page, button: str) -> None:
    """Press a button that starts a job, and follow to its page."""
    before = page.url
    folded = page.locator("details.confirm:not([open]) > summary", has_text=button)
    if folded.count():
        folded.click()  # It ends something, and says what before the second click.
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_url(lambda address: "/jobs/2" in address and address != before)
