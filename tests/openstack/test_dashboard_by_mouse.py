"""The dashboard by mouse on a cloud, in a real browser: deploy, onboard through Tacker, run, offboard."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from nfvbed.records import Status
from nfvbed.store import Store
from tests.chromium import chromium
from tests.mouse import ended, opened, pressed, serving

pytestmark = [pytest.mark.timeout(1500), pytest.mark.on_demand]
CELL = "ovs-dpdk/pvp+vm-io-hugepages/64"
LONG_MS = 600_000
"""Time limit of a job that boots an emulated guest."""


@pytest.fixture(name="browser")
def _browser(nothing_onboarded) -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def chosen(page: Page, address: str, site: str) -> None:
    """Choose what a cloud is measured with, and have the plan shown."""
    page.goto(f"{address}/start?site={site}")
    page.get_by_role("checkbox", name=re.compile("^ovs-dpdk:")).check()
    page.locator("select[name=experiment]").select_option("openstack")
    page.locator("select[name=vnf]").select_option("vloop")
    page.locator("select[name=flavor]").select_option("hugepages")
    page.get_by_text("Part of the experiment").click()
    page.locator("input[name=topology]").fill("pvp")
    page.locator("input[name=rounds]").fill("1")
    page.get_by_role("button", name="Show the plan").click()
    page.get_by_role("rowheader", name=CELL).wait_for()


@pytest.mark.parametrize("site", ["devcloud", "devcloud-sol"])
def test_a_clouds_data_plane_is_measured_by_mouse(browser: Browser, tmp_path: Path, site: str):
    store = tmp_path / "results.sqlite"
    with serving(store, "") as (address, _):
        page = opened(browser, f"{address}/start?site={site}&variant=ovs-dpdk&plan=1")
        assert "Destroy takes the whole cloud down" in page.locator("main").inner_text()
        pressed(page, "Deploy")
        ended(page, "done", LONG_MS)
        chosen(page, address, site)
        pressed(page, "Onboard the VNF")
        ended(page, "done", LONG_MS)
        assert "ovs-dpdk (pvp) with 1 VNFs deployed" in page.locator("pre.log").inner_text()
        chosen(page, address, site)
        pressed(page, "Run the experiment")
        ended(page, "done", LONG_MS)
        job = page.url
        page.locator("#job-state a.measured").click()
        cell = page.locator("section[aria-labelledby=cells] tbody tr", has_text=CELL).inner_text()
        assert cell.split()[-1] == "ok"
        assert "EMULATED" in page.locator("main").inner_text().upper()
        page.screenshot(path=tmp_path / "run.png", full_page=True)
        page.goto(job)
        pressed(page, "Offboard the VNFs")
        ended(page, "done", LONG_MS)
        page.close()
    with Store.open(store, read_only=True) as found:
        (run,) = found.runs()
        trials = found.trials(run.id)
    assert (run.site, run.status) == (site, Status.OK)
    assert trials and all(0 < one.received <= one.sent for trial in trials for one in trial.directions)
