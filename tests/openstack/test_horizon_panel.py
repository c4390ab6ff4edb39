"""nfvbed's panel in the cloud's Horizon, in a real browser: what is deployed, runs, and links into the dashboard."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from demo.horizon import CHROMIUM, FLAGS, HORIZON, STACKS, log_in
from nfvbed.cloud.devcloud import access
from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.services.settings import DASHBOARD_PORT, LOOPBACK
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.host.ledger.entries import ProcessEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.sites.openstack import storeddeployment
from nfvbed.sites.openstack.vnfs import CloudVnfState
from tests.dashboard_runs import two_variants
from tests.openstack.cloud_driver import ROOT, nfvbed, verb
from tests.sample_records import RUN

pytestmark = pytest.mark.timeout(900)
PANEL = f"{HORIZON}/project/nfvbed/"
ADDRESS = f"http://{LOOPBACK}:{DASHBOARD_PORT}"
PATIENCE_MS = 60_000
CONNECT = """
import socket
try:
    socket.socket(socket.AF_UNIX).connect("/run/nfvbed/dashboard.socket")
    print("connected")
except PermissionError:
    print("refused")
"""


@pytest.fixture(scope="module", name="store")
def _store(tmp_path_factory):
    path = tmp_path_factory.mktemp("panel") / "nfvbed.sqlite"
    two_variants(path)
    return path


@pytest.fixture(scope="module", name="browser")
def _browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module", name="administrator")
def _administrator(onboarding_cloud, browser):
    """A context of the browser that is logged in."""
    context = browser.new_context(viewport={"width": 1400, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    log_in(page, onboarding_cloud.auth)
    page.close()
    yield context
    context.close()


@pytest.fixture(name="page")
def _page(administrator):
    page = administrator.new_page()
    yield page
    page.close()


@contextmanager
def dashboard(store):
    """Serve a store where the cloud's Horizon looks for it, with what is deployed on this checkout's sites."""
    argv = [sys.executable, "-m", "nfvbed", "dashboard", "--store", str(store), "--port", str(DASHBOARD_PORT)]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout.readline().split()[-1] == f"{ADDRESS}/"
            # The first answers take as long as its libraries take to be imported: not what is looked at here.
            for path in ("/api/deployments", "/api/overview"):
                with urllib.request.urlopen(ADDRESS + path, timeout=120) as answer:
                    assert answer.status == 200
            yield
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


def relays(cloud):
    """Return the relays to the dashboard that were started, the last one last."""
    entries = Ledger.open(cloud.places.run / "ledger.jsonl").entries
    return [one for one in entries if isinstance(one, ProcessEntry) and one.name == "relay-dashboard"]


def opened(page):
    """Open the panel; return its text."""
    answer = page.goto(PANEL)
    assert answer.status == 200
    return page.locator("#content_body").inner_text()


def followed(page, link):
    """Click a link that opens another page, which cannot reach back; return the address that it leads to."""
    assert set(link.get_attribute("rel").split()) == {"noopener", "noreferrer"}
    with page.expect_popup() as popup:
        link.click()
    other = popup.value
    other.wait_for_load_state()
    assert other.evaluate("window.opener") is None
    assert other.title().endswith("nfvbed")
    address = other.url
    other.close()
    return address


def test_a_run_is_shown_with_its_verdicts_and_leads_into_the_dashboard(store, page):
    with dashboard(store):
        opened(page)
        assert page.locator("#main_content a[href='/project/nfvbed/']").count() >= 1
        row = page.locator("#nfvbed-runs tbody tr").filter(has=page.locator(f"a[href='{ADDRESS}/runs/{RUN}']"))
        assert "ovs-dpdk" in row.inner_text() and "×" in row.inner_text()
        assert followed(page, row.locator("th a")) == f"{ADDRESS}/runs/{RUN}"
        assert followed(page, row.get_by_text("compare", exact=True)) == f"{ADDRESS}/compare?runs={RUN}"
        verdict = row.locator("td div a").first
        assert followed(page, verdict) == verdict.get_attribute("href")
        assert followed(page, page.locator("#nfvbed-dashboard")) == f"{ADDRESS}/"


def test_without_a_dashboard_the_panel_says_so_and_horizon_goes_on(page):
    said = opened(page)
    assert f"nfvbed's dashboard at {ADDRESS} does not answer" in said and "nfvbed dashboard" in said
    assert page.locator("table").count() == 0
    page.goto(HORIZON + STACKS)
    assert page.locator("table#stacks").count() == 1


def test_no_secret_is_in_the_page(onboarding_cloud, store, page):
    secrets = re.findall(r'": "([0-9a-f]{32})"', onboarding_cloud.places.secrets.read_text())
    assert secrets
    with dashboard(store):
        opened(page)
    assert [secret for secret in secrets if secret in page.content()] == []


def test_horizon_alone_reaches_the_dashboard_from_the_cloud(onboarding_cloud):
    def tried(user):
        return onboarding_cloud.channel.check(Command(("/usr/bin/python3", "-c", CONNECT), user)).strip()

    assert [tried(user) for user in ("www-data", "glance", "nova", "nobody")] == ["connected", *["refused"] * 3]
    status = Path(f"/proc/{relays(onboarding_cloud)[-1].pid}/status").read_text()
    own = access.HORIZON_UID
    assert re.findall(r"^(?:Uid|Gid|Groups):(.*)$", status, re.MULTILINE) == [*[f"\t{own}" * 4] * 2, "\t "], (
        "what comes through it must not come from root"
    )


@pytest.mark.on_demand
def test_a_relay_that_was_killed_is_started_again(onboarding_cloud, store, page):
    os.kill(relays(onboarding_cloud)[-1].pid, signal.SIGKILL)
    assert "relay-dashboard" in nfvbed("status").stdout
    assert not open_cloud(ROOT).relay_runs(access.DASHBOARD)
    assert nfvbed("start").returncode == 0
    with dashboard(store):
        opened(page)
        assert page.locator("#nfvbed-runs").count() == 1


def test_an_ordinary_user_has_no_panel(store, browser, member):
    context = browser.new_context()
    page = context.new_page()
    log_in(page, {"username": "test-member", "password": member.password})
    assert page.locator("a[href='/project/instances/']").count() >= 1
    assert page.locator("a[href='/project/nfvbed/']").count() == 0
    with dashboard(store):
        page.goto(PANEL)
    assert RUN not in page.content() and page.locator("#nfvbed-runs").count() == 0
    context.close()


@pytest.mark.on_demand
@pytest.mark.usefixtures("nothing_onboarded")
def test_what_is_deployed_is_shown_and_leads_to_its_instance_and_its_stack(onboarding_cloud, store, page):
    done = verb("onboard", "vloop", "--variant", "ovs-dpdk", "--site", "devcloud", "--flavor", "hugepages")
    assert done.returncode == 0, done.stderr
    (vnf,) = storeddeployment.find(onboarding_cloud.places.run).deployment.vnfs
    state = CloudVnfState.of(vnf)
    with dashboard(store):
        opened(page)
        row = page.locator("#nfvbed-deployments tbody tr").filter(has_text="this cloud")
        for word in ("ovs-dpdk", "pvp", "controller", "vnf1 (vm, io)", f"legacy {state.tacker_id}"):
            assert word in row.inner_text()
        links = {link.inner_text(): link.get_attribute("href") for link in row.locator("a").all()}
        assert links == {
            "instance": f"/project/instances/{state.instance}/",
            "stack": f"/project/stacks/stack/{state.stack}/",
        }
        for link in links.values():
            assert page.goto(HORIZON + link).status == 200
            assert page.url == HORIZON + link, "Horizon sends away who asks for what is not there"
        assert verb("offboard", "--site", "devcloud").returncode == 0
        opened(page)
        assert "none" in page.locator("#nfvbed-deployments tbody tr").filter(has_text="this cloud").inner_text()
