"""The whole job by mouse, in a real browser, on the real host: plan, deploy, run, watch, cancel, compare."""

import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from nfvbed.dashboard.audit import Audit, AuditSubject
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.operations import STATE
from nfvbed.host.workspace.trialsign import trial_is_going
from nfvbed.records import Role, Status
from nfvbed.store import Store
from nfvbed.units import NS_PER_S
from tests.browser.test_report_page import SERIOUS
from tests.chromium import chromium
from tests.functional.disturbed import wait_until
from tests.functional.lab_host import MARK, ROOT, assert_back_to
from tests.mouse import PATIENCE_MS, ended, opened, pressed, serving

pytestmark = pytest.mark.dashboard
SHORT = "experiment=demo&topology=p2p&sizes=64&purpose=survey&ceilings=no"
THROUGH = "experiment=demo&variant=ovs-dpdk&vnf=vloop&kind=process&sizes=64&purpose=survey&rounds=1&ceilings=no"
LONG = "experiment=demo&topology=p2p&variant=linux-bridge"
SMALL = (
    *("--topology", "p2p", "--frame-size", "64", "--variant", "ovs-dpdk"),
    *("--purpose", "survey", "--repetitions", "1", "--max-rounds", "1", "--set", "trials.mrr_duration_s=0.8"),
)
TRIALS = 4
"""Trials of a round."""
SHARE = 0.6
"""Share of what fifty looks a second of this test use, which the server may take during trials: it takes 0.22 to 0.25
of that, 0.6 to 0.8 % of a core. A slow host makes both slower."""
LATE_S = 0.05
"""Time that an event may take from the server to who reads it, beside what threads waited for a core meanwhile."""


@pytest.fixture(name="browser")
def _browser(before) -> Iterator[Browser]:
    """A browser, after the host was looked at: a thread with Playwright's event loop cannot do that."""
    with chromium() as browser:
        yield browser


@pytest.fixture(autouse=True)
def _no_job_left():
    """A test that failed leaves no job to the next one."""
    yield
    folder = ROOT / STATE
    jobs = Jobs(folder / "jobs", ROOT, "", Audit(folder / "audit.jsonl"), frozenset())
    for job in jobs.alive():
        jobs.cancel(job.spec.id, AuditSubject(role="test"))
    wait_until(lambda: not jobs.alive())


def assert_sound(browser: Browser, address: str, pictures: Path, name: str) -> None:
    """Look at a page in both themes: accessible, no wider than its window, without errors."""
    errors: list[str] = []
    for scheme in ("light", "dark"):
        page = opened(browser, "about:blank", scheme)
        page.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
        page.goto(address)
        found = [v["id"] for v in Axe().run(page).response["violations"] if v["impact"] in SERIOUS]
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        page.screenshot(path=pictures / f"{name}-{scheme}.png", full_page=True)
        assert (found, errors, wider <= 0) == ([], [], True), (name, scheme, wider)
        page.close()


def measured(page: Page, address: str, variant: str, rounds: int = 1) -> str:
    """Run a variant by mouse, and return the id of its run; of several rounds it is watched on the page of the run."""
    page.goto(f"{address}/start?{SHORT}&variant={variant}&rounds={rounds}&plan=1")
    pressed(page, "Run the experiment")
    job = page.url
    if rounds > 1:
        page.locator("#job-state a.measured").click()
        page.locator("[data-events] .headline", has_text="of the trials are done").wait_for()
        page.locator("[data-events] tbody tr").nth(TRIALS).wait_for()
        page.locator("strong", has_text=re.compile("^ok$")).wait_for()
        page.goto(job)
    ended(page, "done")
    return page.locator("#job-state a.measured").get_attribute("href").removeprefix("/runs/")


@pytest.mark.path
def test_the_whole_mouse_path(before, mark, browser: Browser, tmp_path: Path):
    with serving(tmp_path / "results.sqlite", mark) as (address, _):
        page = opened(browser, f"{address}/start")
        page.get_by_role("checkbox", name=re.compile("^ovs-dpdk:")).check()
        page.locator("select[name=experiment]").select_option("demo")
        page.get_by_text("Part of the experiment").click()
        page.locator("input[name=topology]").fill("p2p")
        page.locator("input[name=sizes]").fill("64")
        page.locator("select[name=purpose]").select_option("survey")
        page.locator("input[name=rounds]").fill("1")
        page.get_by_role("button", name="Show the plan").click()
        assert page.get_by_role("rowheader", name="ovs-dpdk/p2p/64").count() == 1
        assert "would be deployed" in page.get_by_text("nfvbed deploy ovs-dpdk --dry-run").locator("..").inner_text()
        # A shared address is the same plan for another user.
        other = opened(browser, page.url)
        assert other.locator(".headline").inner_text() == page.locator(".headline").inner_text()
        other.close()
        pressed(page, "Deploy")
        ended(page, "done")
        assert "ovs-dpdk (p2p) deployed" in page.locator("pre.log").inner_text()
        runs = [measured(page, address, "ovs-dpdk")]
        pressed(page, "Destroy")
        ended(page, "done")
        # The page may be late by two of the times between rounds; with the end of the run its rows are gone.
        runs.append(measured(page, address, "linux-bridge", rounds=8))
        page.goto(f"{address}/compare?runs={runs[0]}&runs={runs[1]}")
        headings = page.locator("#comparison tr.row th").all_inner_texts()
        assert {text.split()[0] for text in headings} == {"ovs-dpdk", "linux-bridge"}
        page.goto(f"{address}/audit")
        said = page.locator("main").inner_text()
        assert all(words in said for words in ("start deploy", "start run", "start destroy", "exit status 0"))
        page.close()
    _assert_nothing_left(before, mark)


def test_a_cancelled_job_outlives_its_server_leaves_nothing_and_keeps_its_rows(
    before, mark, browser: Browser, tmp_path: Path
):
    store = tmp_path / "results.sqlite"
    with serving(store, mark) as (address, server):
        page = opened(browser, f"{address}/start?{LONG}&plan=1")
        pressed(page, "Run the experiment")
        job = page.url.removeprefix(address)
        page.locator("#job-state a.measured").wait_for()
        second = opened(browser, f"{address}/start")
        second.locator("details.confirm > summary", has_text="Destroy").click()
        second.get_by_role("button", name="Destroy").click()
        assert "Another job runs on site lab" in second.locator(".headline").inner_text()
        assert "nfvbed run demo" in second.locator("main").inner_text()
        second.close()
        _wait_for_trials(store, 4)
        server.kill()
        server.wait(30)
    with serving(store, mark) as (address, _):
        page.goto(address + job)
        assert page.locator("#job-state .headline").first.inner_text().startswith("Running")
        assert_sound(browser, address + page.locator("#job-state a.measured").get_attribute("href"), tmp_path, "live")
        page.get_by_role("button", name="Cancel").click()
        ended(page, "cancelled")
        page.close()
    _assert_nothing_left(before, mark)
    with Store.open(store, read_only=True) as opened_store:
        run = opened_store.runs()[0]
        kept = opened_store.trials(run.id)
        assert run.status is Status.INTERRUPTED
        assert len([trial for trial in kept if trial.status is Status.OK]) >= 4
        assert [trial.sequence for trial in kept] == list(range(1, len(kept) + 1))


def failed(page: Page, what: str, fix: str) -> None:
    """Wait until a job was refused; its page says why, and what to do."""
    ended(page, "failed")
    said = page.locator(".notice").inner_text()
    assert what in said and fix in said, said


def examined(page: Page, site: str) -> None:
    """Have a site examined; its job's page has the report, and leads to what can be started there."""
    pressed(page, "Destroy")
    ended(page, "done")
    page.get_by_role("link", name="Start something else").click()
    pressed(page, "Examine the site")
    ended(page, "done")
    assert page.get_by_role("rowheader", name="CPU", exact=True).count() == 1
    assert page.get_by_role("row", name=re.compile("^ovs-dpdk ready")).count() == 1
    page.get_by_role("link", name="What can be started there").click()
    assert f"The doctor examined {site} last at" in page.locator("main").inner_text()


def test_a_vnf_is_onboarded_measured_through_and_offboarded_by_mouse(before, mark, browser: Browser, tmp_path: Path):
    with serving(tmp_path / "results.sqlite", mark) as (address, _):
        page = opened(browser, f"{address}/start?vnf=vloop&plan=1")
        pressed(page, "Onboard the VNF")
        failed(page, "no data plane is deployed", "nfvbed deploy")
        assert_sound(browser, page.url, tmp_path, "refused")
        pressed(page, "Offboard the VNFs")
        failed(page, "no VNF is onboarded on site lab", "nfvbed onboard")
        page.goto(f"{address}/start?variant=ovs-dpdk&plan=1")
        pressed(page, "Deploy")
        ended(page, "done")
        page.goto(f"{address}/start?{THROUGH}")
        page.locator("input[name=topology]").fill("pvp")
        page.get_by_role("button", name="Show the plan").click()
        planned = page.get_by_role("rowheader", name="ovs-dpdk/pvp+process-io/64").count()
        pressed(page, "Onboard the VNF")
        ended(page, "done")
        assert "ovs-dpdk (pvp) with 1 VNFs deployed" in page.locator("pre.log").inner_text()
        page.goto(f"{address}/start?{THROUGH}&topology=pvp&plan=1")
        pressed(page, "Run the experiment")
        ended(page, "done")
        job = page.url
        page.locator("#job-state a.measured").click()
        cells = page.locator("section[aria-labelledby=cells] tbody tr")
        cell = cells.filter(has_text="ovs-dpdk/pvp+process-io/64").inner_text()
        assert planned == 1 and cell.split()[-1] == "ok"
        page.goto(job)
        pressed(page, "Offboard the VNFs")
        ended(page, "done")
        assert "are offboarded; the data plane is running" in page.locator("pre.log").inner_text()
        examined(page, "lab")
        page.close()
    _assert_nothing_left(before, mark)
    with Store.open(tmp_path / "results.sqlite", read_only=True) as opened_store:
        (run,) = opened_store.runs()
        trials = opened_store.trials(run.id)
    assert run.status is Status.OK and {trial.status for trial in trials} == {Status.OK}
    assert all(one.received for trial in trials for one in trial.directions)


def _assert_nothing_left(before, mark) -> None:
    with ThreadPoolExecutor(1) as beside:
        beside.submit(assert_back_to, before, mark).result()


def _wait_for_trials(store: Path, number: int) -> None:
    until = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < until:
        with Store.open(store, read_only=True) as opened_store:
            runs = opened_store.runs()
            if runs and len(opened_store.trials(runs[0].id)) >= number:
                return
        time.sleep(0.2)
    raise AssertionError("no trials")


def _cpu_ns(pid: int) -> int:
    """CPU time of a process, in ns (/proc/PID/task/TID/schedstat)."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))


class _Listener(threading.Thread):
    """Follows a run as a browser does, and notes when events came."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self.came: list[float] = []

    def run(self) -> None:
        """Read to the end."""
        with urllib.request.urlopen(self._address, timeout=60) as answer:
            for line in answer:
                if line.startswith((b"event:", b":")):
                    self.came.append(time.time())


def _waited_s(pid: int) -> float:
    """How long threads of the server and of this process could have run and did not, and what was stolen, in s."""
    waits = (Path(f"/proc/{each}/task").glob("*/schedstat") for each in (pid, os.getpid()))
    stolen = int(Path("/proc/stat").read_text().splitlines()[0].split()[8]) / os.sysconf("SC_CLK_TCK")
    return stolen + sum(int(path.read_text().split()[1]) for paths in waits for path in paths) / NS_PER_S


@dataclass
class _Watched:
    """What a server used during trials, in ns, how long they took, and by time how long threads had waited by then."""

    used: int = 0
    going: int = 0
    own: int = 0
    """What this thread used for fifty looks a second meanwhile, in ns."""
    waits: list[tuple[float, float]] = field(default_factory=list)

    def waited(self, since: float, until: float) -> float:
        """Seconds between two times, those of the looks around them."""
        before = max((look for look in self.waits if look[0] <= since), default=self.waits[0])
        after = min((look for look in self.waits if look[0] >= until), default=self.waits[-1])
        return after[1] - before[1]


def _during_trials(pid: int, process: subprocess.Popen[str]) -> _Watched:
    """Watch a server until a process ends."""
    watched = _Watched()
    at, spent, own, quiet = time.monotonic_ns(), _cpu_ns(pid), time.thread_time_ns(), trial_is_going()
    while process.poll() is None:
        watched.waits.append((time.time(), _waited_s(pid)))
        time.sleep(0.02)
        now, cpu, mine, still = time.monotonic_ns(), _cpu_ns(pid), time.thread_time_ns(), trial_is_going()
        if quiet and still:
            watched.used, watched.going = watched.used + cpu - spent, watched.going + now - at
            watched.own += mine - own
        at, spent, own, quiet = now, cpu, mine, still
    watched.waits.append((time.time(), _waited_s(pid)))
    return watched


def test_the_server_is_still_while_trials_run(before, mark, tmp_path: Path):
    store = tmp_path / "results.sqlite"
    measuring = [sys.executable, "-m", "nfvbed", "run", "demo", *SMALL, "--store", str(store)]
    with serving(store, mark) as (address, server):
        environment = os.environ | {MARK: mark, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(measuring, stdout=subprocess.PIPE, text=True, env=environment) as process:
            _wait_for_trials(store, 1)
            with Store.open(store, read_only=True) as opened_store:
                run = opened_store.runs()[0].id
            listeners = [_Listener(f"{address}/runs/{run}/events") for _ in range(3)]
            for listener in listeners:
                listener.start()
            watched = _during_trials(server.pid, process)
            cores = os.sched_getaffinity(server.pid)
            for listener in listeners:
                listener.join(20)
    with Store.open(store, read_only=True) as opened_store:
        trials = opened_store.trials(run)
    came = sorted(at for listener in listeners for at in listener.came)
    begun = [(datetime.fromisoformat(trial.started_at).timestamp(), trial.duration_ns / NS_PER_S) for trial in trials]
    within = [(at - start, start, at) for at in came for start, length in begun if start + LATE_S < at < start + length]
    unexplained = [late for late, start, at in within if late > LATE_S + watched.waited(start - LATE_S, at)]
    switch = {cpu.core for trial in trials for cpu in trial.cpu if cpu.role is Role.SWITCH}
    assert watched.going, f"no trial was seen to go on, though {len(trials)} are stored"
    share = f"{watched.used / watched.going:.3%} of {watched.going / NS_PER_S:.1f} s"
    share += f", {watched.used / watched.own:.2f} of what the test used"
    late = f"{len(within)} of them within {len(trials)} trials, {len(unexplained)} though nothing waited for a core"
    print(f"{len(came)} events, {late}; {share}")
    assert len(came) >= 3 * 2 and unexplained == []
    assert watched.going > 4 * NS_PER_S and watched.used < SHARE * watched.own
    assert switch and not cores & switch
    assert_back_to(before, mark)
