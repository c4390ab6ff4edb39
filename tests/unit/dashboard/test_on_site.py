"""What leads nowhere on a site is said on the form, and refused before a job is started; for every kind of site."""

import json
import shutil
import warnings

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.audit import Audit, Outcome
from nfvbed.dashboard.jobs import files
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.jobs.records import ENDED, LOG, OUTPUT, RUNNING, SPEC, Job, JobEnd, JobSpec, RunningJob, State
from nfvbed.dashboard.operations import Operations
from nfvbed.dashboard.results.doctor import printed
from nfvbed.dashboard.starting.on_site import changes_of, refusals, require
from nfvbed.dashboard.starting.planning import Planner
from nfvbed.dashboard.starting.starting import Action, RunChoices, arguments_of
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError, UsageError
from nfvbed.plan.onsite import lacks
from nfvbed.plan.plan import expand
from nfvbed.records import CellRole
from nfvbed.store import Store

HERE = "http://localhost"
PROJECT = open_project(None)
LASTING = {Action.DEPLOY, Action.ONBOARD, Action.OFFBOARD, Action.DESTROY}
NAME = "20260102-030405-000007"
OLD = "2026-01-02T03:04:05+00:00"
REFUSED = """deploying
nfvbed: no data plane is deployed to onboard on
  where: site lab
  fix: nfvbed deploy VARIANT first
"""
REPORT = {
    "cpu": {"topic": "cpu", "state": "present", "summary": "2 cores", "probed": "read"},
    "topics": [{"topic": "cloud", "state": "absent", "summary": "no clouds.yaml", "probed": "read", "fix": "write it"}],
    "variants": [{"variant": "existing", "readiness": "unsupported", "reason": "no cloud", "fix": "write it"}],
}


@pytest.fixture(name="operations")
def _operations(tmp_path) -> Operations:
    audit = Audit(tmp_path / "audit.jsonl")
    return Operations(PROJECT, audit, Jobs(tmp_path / "jobs", PROJECT.root, "", audit, frozenset({0})))


@pytest.fixture(name="mouse")
def _mouse(store: Store, operations: Operations) -> TestClient:
    access = Access(hosts=("localhost",), operate=True, user_of=lambda scope: 0)
    return TestClient(make_app(store, access, operations=operations), base_url=HERE, headers={"origin": HERE})


@pytest.mark.parametrize(
    ("site", "refused"),
    [
        ("lab", set()),
        ("devcloud", set()),
        ("devcloud-sol", set()),
        ("cloud", {Action.ONBOARD, Action.OFFBOARD}),
        ("guest-node", LASTING),
        ("guest-node-igb", LASTING),
        ("guest-node-cables", LASTING),
    ],
)
def test_what_leads_nowhere_on_a_site_is_off_and_refused_before_it_is_started(
    mouse: TestClient, operations: Operations, site: str, refused: set[Action]
):
    assert set(refusals(PROJECT.load_site(site))) == refused
    page = mouse.get(f"/start?site={site}&vnf=vloop&plan=1").text
    buttons = {action: page.split(f'name="action" value="{action}"')[1].split(">")[0] for action in LASTING}
    assert {action for action, button in buttons.items() if "disabled" in button} == refused
    assert ('id="off"' in page) == bool(refused)
    token = page.split('name="csrf" value="')[1].split('"')[0]
    for action in refused:
        answer = mouse.post("/jobs", data={"csrf": token, "site": site, "action": action, "vnf": "vloop"})
        assert answer.status_code == 409 and "Not supported" in answer.text
        assert f"deploy/sites/{site}.yml" in answer.text
        with pytest.raises(UnsupportedError, match=f"site {site} has no {action}"):
            require(action, PROJECT.load_site(site))
    assert operations.jobs.newest(1) == ()


@pytest.mark.parametrize(
    ("site", "rest"), [("devcloud", ()), ("devcloud-sol", ()), ("rack", ("--yes", "rack")), ("lab", ()), ("cloud", ())]
)
def test_a_whole_cloud_goes_when_its_name_is_typed(
    mouse: TestClient,
    store: Store,
    operations: Operations,
    monkeypatch: pytest.MonkeyPatch,
    site: str,
    rest: tuple[str, ...],
):
    started: list[tuple[str, ...]] = []

    def start(self: Jobs, action: str, at: str, arguments: tuple[str, ...], *_: object, **__: object) -> Job:
        started.append(arguments)
        who = {"role": "operator"}
        asked = {"id": NAME, "action": action, "site": at, "arguments": arguments, "asked_at": OLD, "who": who}
        return Job(spec=JobSpec.model_validate(asked), state=State.RUNNING)

    monkeypatch.setattr(Jobs, "start", start)
    access = Access(hosts=("localhost",), operate=True, token="t" * 32)
    bearer = {"authorization": f"Bearer {access.token}"}
    program = TestClient(make_app(store, access, operations=operations), base_url=HERE, headers=bearer)
    page = mouse.get(f"/start?site={site}").text
    token = page.split('name="csrf" value="')[1].split('"')[0]
    is_asked = site not in ("lab", "cloud")
    assert (f'required pattern="{site}"' in page) == is_asked
    assert page.count('value="destroy"') == 1
    form = {"csrf": token, "site": site, "action": "destroy"}
    for typed in ({}, {"confirmed": "Devcloud"}, {"confirmed": f" {site}"}) if is_asked else ():
        answer = mouse.post("/jobs", data=form | typed)
        assert answer.status_code == 400 and "was not confirmed" in answer.text and f"type {site} beside" in answer.text
        assert operations.audit.newest(1)[0].outcome is Outcome.FAILED
        asked = program.post("/api/jobs/destroy", json={"site": site}, params=typed)
        assert asked.status_code == 400 and "was not confirmed" in asked.json()["what"]
    assert started == []
    answer = mouse.post("/jobs", data=form | {"confirmed": site}, follow_redirects=False)
    assert answer.headers["location"] == f"/jobs/{NAME}"
    assert started == [("destroy", "--site", site, *rest)]
    entry = operations.audit.newest(1)[0]
    assert (entry.outcome, entry.action, entry.said) == (Outcome.DONE, "start destroy", f"job {NAME}")
    assert program.post("/api/jobs/destroy", json={"site": site}, params={"confirmed": site}).status_code == 201
    assert started[1:] == started[:1]


@pytest.mark.parametrize(
    ("site", "topology", "said"),
    [
        ("lab", "p2p", ""),
        ("guest-node", "pvpv", ""),
        ("devcloud", "p2p", "chains of 1 or 2 or 3 VNFs"),
        ("devcloud", "pvpv", "no path pvpv"),
        ("devcloud-sol", "pv4p", "no path pv4p"),
        ("devcloud", "pv3p", ""),
        ("cloud", "pvp", ""),
        ("cloud", "pvvp", "chains of 1 VNFs"),
    ],
)
def test_a_path_that_a_site_has_not_is_known_before(site: str, topology: str, said: str):
    found = PROJECT.load_site(site).lacks(topology)
    assert said in found and bool(said) == bool(found)


def test_the_plan_says_which_cells_a_cloud_cannot_have(operations: Operations):
    cloud = PROJECT.load_site("devcloud")
    study = PROJECT.load_study("openstack")
    cell = expand(study.experiment, study.variants, study.choices).cells[0]
    changed = {
        "": {},
        "of kind vm": {"vnf": "native", "vnf_resolved": "process-bridge"},
        "ceilings are not measured": {"role": CellRole.LOOPBACK},
        "no path p2p": {"vnf": "", "vnf_resolved": "", "topology": "p2p"},
    }
    for said, update in changed.items():
        found = lacks(cloud, cell.model_copy(update=update))
        assert said in found and bool(said) == bool(found)
    found = Planner(operations.jobs, PROJECT).plan(RunChoices(site="devcloud", experiment="demo"))
    assert not any(cell.lacks for cell in found.cells)
    assert any(line.startswith("no p2p: frames come through site devcloud") for line in found.left_out)


def test_a_vnf_on_a_cloud_is_a_virtual_machine_and_has_its_flavor():
    fields = {"site": ["devcloud"], "vnf": ["vloop"], "flavor": ["hugepages"], "experiment": ["openstack"]}
    wanted = RunChoices.of(fields, PROJECT)
    assert arguments_of(Action.RUN, wanted)[-2:] == ("--set", "vnfs=[{vnf: vloop, kind: vm, flavor: hugepages}]")
    assert arguments_of(Action.ONBOARD, wanted)[-4:] == ("--kind", "vm", "--flavor", "hugepages")
    assert RunChoices.of(fields | {"site": ["lab"], "flavor": [""]}, PROJECT).kind == ""
    with pytest.raises(UsageError, match="no such flavor"):
        RunChoices.of(fields | {"flavor": ["none"]}, PROJECT)
    with pytest.raises(UsageError, match="those of a VNF"):
        arguments_of(Action.RUN, RunChoices.of(fields | {"vnf": [""]}, PROJECT))


def test_a_flavor_without_a_vnf_is_no_plan_and_no_error(mouse: TestClient):
    page = mouse.get("/start?site=devcloud&experiment=openstack&flavor=hugepages&plan=1")
    assert page.status_code == 200 and "choose the VNF too" in page.text
    assert '<option value="hugepages" selected>' in page.text


@pytest.mark.parametrize(
    ("site", "said"),
    [
        ("lab", "Hugepages, while it is deployed"),
        ("devcloud", "Destroy takes the whole cloud down"),
        ("cloud", "eth1 and eth2 of this machine"),
        ("guest-node", "boots for the command"),
    ],
)
def test_what_a_deployment_changes_is_the_sites_own(site: str, said: str):
    assert any(said in line for line in changes_of(PROJECT, RunChoices(site=site)))


@pytest.fixture(name="job")
def _job(operations: Operations):
    """Write down a job that has ended."""
    folder = operations.jobs.folder / NAME

    def make(action: str, status: int, log: str = "", output: str = "") -> str:
        folder.mkdir()
        asked = {"id": NAME, "action": action, "site": "cloud", "arguments": (action,), "asked_at": OLD}
        files.write(folder / SPEC, JobSpec.model_validate(asked | {"who": {"role": "operator"}}))
        process = {"pid": 4_000_000, "began": 1, "boot": "x"}
        files.write(folder / RUNNING, RunningJob.model_validate({"keeper": process, "command": process}))
        (folder / LOG).write_text(log)
        (folder / OUTPUT).write_text(output)
        files.write(folder / ENDED, JobEnd(status=status, at=OLD))
        return NAME

    yield make
    shutil.rmtree(folder, ignore_errors=True)


def test_a_refused_jobs_page_says_what_where_and_what_to_do(mouse: TestClient, job):
    name = job("onboard", 2, REFUSED)
    page = mouse.get(f"/jobs/{name}").text
    notice = page.split('<div class="notice">')[1].split("</div>")[0]
    assert all(word in notice for word in ("no data plane is deployed", "site lab", "nfvbed deploy VARIANT first"))
    found = mouse.get(f"/api/jobs/{name}").json()["problem"]
    assert (found["what"], found["status"]) == ("no data plane is deployed to onboard on", 400)
    assert "disabled" in page.split('value="offboard"')[1].split(">")[0], "nothing is offboarded on that site"


def test_an_examined_sites_report_is_on_its_jobs_page_and_known_on_the_form(mouse: TestClient, job):
    log = "nfvbed: no real variant can be measured\n  observed: every one of them\n  fix: see the table\n"
    page = mouse.get(f"/jobs/{job('examine', 11, log, json.dumps(REPORT))}").text
    notice = page.split('<div class="notice">')[1].split("</div>")[0]
    assert "see the table" in notice and "every one of them" not in notice, "the report has it"
    assert "no clouds.yaml" in page and "2 cores" in page and "write it" in page
    found = mouse.get(f"/api/jobs/{NAME}").json()["report"]
    assert [one["topic"] for one in found["findings"]] == ["cpu", "cloud"]
    start = mouse.get("/start?site=cloud").text
    assert "The doctor examined cloud last at 2026-01-02 03:04:05" in start and "unsupported: no cloud" in start


@pytest.mark.parametrize("output", [b"", b"[]", b"{", b'{"variants": [{"variant": 1}]}'])
def test_what_is_no_report_is_none(output: bytes):
    assert printed(output) is None


def test_the_application_is_made_without_warnings(store: Store, operations: Operations):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_app(store, Access(hosts=("localhost",), operate=True, user_of=lambda scope: 0), operations=operations)
