"""Choices by mouse, what they mean on the command line, and what they would do."""

import json
import os
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.audit import Audit, AuditSubject
from nfvbed.dashboard.jobs import files
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.jobs.processes import process_of
from nfvbed.dashboard.jobs.records import CANCELLED, ENDED, LOG, RUNNING, SPEC, Cancelled, JobEnd, JobSpec, RunningJob
from nfvbed.dashboard.operations import Operations
from nfvbed.dashboard.results.source import Source
from nfvbed.dashboard.starting.choices import Experiments, choices_of
from nfvbed.dashboard.starting.on_site import changes_of
from nfvbed.dashboard.starting.planning import Planner
from nfvbed.dashboard.starting.starting import Action, RunChoices, arguments_of
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import BusyError, UsageError
from nfvbed.host.workspace.trialsign import going_trial, trial_going
from nfvbed.store import Store

HERE = "http://localhost"
OLD = "2026-01-02T03:04:05+00:00"
ME = AuditSubject(role="operator", client="127.0.0.1")
CHOSEN = {
    "site": ["lab"],
    "variant": ["ovs-dpdk", "", "ovs-dpdk"],
    "experiment": ["demo"],
    "topology": ["p2p"],
    "vnf": ["vloop"],
    "kind": ["process"],
    "sizes": ["64, 128"],
    "purpose": ["survey"],
    "rounds": ["1"],
    "budget": ["60"],
    "ceilings": ["no"],
}


class NoJobs(Jobs):
    """Starts nothing, and says what was to be started."""

    def start(self, action, site, arguments, who, document=False):
        """Refuse."""
        raise BusyError("not in a unit test", observed=json.dumps([action, site, *arguments]))


@pytest.fixture(scope="session", name="operations")
def _operations(tmp_path_factory) -> Operations:
    path = tmp_path_factory.mktemp("operations")
    project, audit = open_project(None), Audit(path / "audit.jsonl")
    return Operations(project, audit, NoJobs(path / "jobs", project.root, str(path / "r"), audit, frozenset({0})))


@pytest.fixture(name="mouse")
def _mouse(store: Store, operations: Operations) -> TestClient:
    access = Access(hosts=("localhost",), operate=True, user_of=lambda scope: 0)
    return TestClient(make_app(store, access, operations=operations), base_url=HERE, headers={"origin": HERE})


def test_a_choice_becomes_arguments(operations: Operations):
    wanted = RunChoices.of(CHOSEN, operations.project)
    assert arguments_of(Action.RUN, wanted) == (
        "run",
        "demo",
        "--site",
        "lab",
        "--variant",
        "ovs-dpdk",
        "--frame-size",
        "64",
        "--frame-size",
        "128",
        "--topology",
        "p2p",
        "--purpose",
        "survey",
        "--max-rounds",
        "1",
        "--repetitions",
        "1",
        "--budget",
        "60",
        "--set",
        "vnfs=[{vnf: vloop, kind: process}]",
        "--set",
        "ceilings=false",
    )
    assert arguments_of(Action.DEPLOY, wanted) == ("deploy", "ovs-dpdk", "--site", "lab", "--topology", "p2p")
    assert arguments_of(Action.ONBOARD, wanted)[:4] == ("onboard", "vloop", "--variant", "ovs-dpdk")
    assert arguments_of(Action.RESUME, wanted, "abc") == ("run", "--resume=abc")
    assert arguments_of(Action.EXAMINE, wanted) == ("doctor", "--site", "lab", "--json")
    assert [arguments_of(action, wanted) for action in (Action.OFFBOARD, Action.DESTROY)] == [
        ("offboard", "--site", "lab"),
        ("destroy", "--site", "lab"),
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("site", "../lab"),
        ("variant", "--help"),
        ("vnf", "none"),
        ("experiment", "/etc/passwd"),
        ("kind", "x"),
        ("topology", "p2p;"),
        ("sizes", "64 -1"),
        ("purpose", "fun"),
        ("rounds", "1e9"),
        ("budget", "-5"),
    ],
)
def test_what_the_project_does_not_have_is_refused(operations: Operations, field: str, value: str):
    with pytest.raises(UsageError):
        RunChoices.of({field: [value]}, operations.project)


@pytest.mark.parametrize(
    ("action", "said"), [("deploy", "one variant"), ("onboard", "a VNF"), ("run", "an experiment")]
)
def test_a_choice_that_lacks_something_is_refused(action: str, said: str):
    with pytest.raises(UsageError, match=said):
        arguments_of(Action(action), RunChoices())


def test_each_choice_says_what_it_is_unsupported_for(store: Store, operations: Operations):
    source, experiments = Source(store), Experiments(operations.project)
    found = choices_of(operations, source, experiments, RunChoices(topology="p2p", experiment="demo"))
    variants = {one.value: one for one in found.variants}
    assert not variants["sriov"].possible or "p2p" in variants["sriov"].note
    assert not variants["macvtap"].possible and "p2p" in variants["macvtap"].note
    assert [one.value for one in found.experiments if one.chosen] == ["demo"]
    cloud = choices_of(operations, source, experiments, RunChoices(site="cloud"))
    assert [one.value for one in cloud.variants if one.possible] == ["existing"]
    assert "takes existing alone" in {one.value: one for one in cloud.variants}["vpp"].note


def test_the_plan_is_the_command_lines(operations: Operations):
    found = Planner(operations.jobs, operations.project).plan(RunChoices(experiment="simulated"))
    assert found.simulated and len(found.cells) > 3 and found.seconds[0] > 0
    assert found.command == "nfvbed plan simulated --site lab"
    refused = Planner(operations.jobs, operations.project).plan(RunChoices(experiment="simulated", topology="pv11p"))
    assert refused.cells == () and "fix" in refused.problem


def test_a_plan_waits_for_the_end_of_a_trial_and_names_one_that_lasts(operations: Operations, monkeypatch):
    with trial_going("01-02"), pytest.raises(BusyError, match="while a trial is running") as raised:
        Planner(operations.jobs, operations.project, patience_s=0).plan(RunChoices(experiment="simulated"))
    assert "run 01-02, pid" in raised.value.observed
    going = iter([going_trial, lambda: None])
    with trial_going():
        monkeypatch.setattr("nfvbed.dashboard.starting.planning.going_trial", lambda: next(going)())
        found = Planner(operations.jobs, operations.project).plan(RunChoices(experiment="simulated"))
    assert found.cells


def test_pages_of_jobs(mouse: TestClient, operations: Operations):
    page = mouse.get("/start?experiment=demo&variant=ovs-dpdk")
    assert page.status_code == 200 and 'value="ovs-dpdk" checked' in page.text and "Run the experiment" not in page.text
    other = mouse.get("/start?experiment=demo&plan=1", headers={"sec-fetch-site": "cross-site"})
    assert "Another site led here" in other.text
    assert "Choose an experiment" in mouse.get("/start?plan=1").text
    assert "None was started yet" in mouse.get("/jobs").text
    assert mouse.get("/jobs/20260102-030405-000006").status_code == 404
    assert mouse.get("/api/jobs").json() == {"jobs": []}
    assert mouse.get("/api/start?experiment=demo").json()["wanted"]["experiment"] == "demo"
    assert any("ovs-dpdk" in line for line in changes_of(operations.project, RunChoices(variants=("ovs-dpdk",))))


def test_a_wrong_value_is_told_beside_its_field_and_the_rest_is_kept(mouse: TestClient):
    answer = mouse.get("/start?experiment=demo&variant=ovs-dpdk&rounds=many&sizes=64&topology=p2p;&plan=1")
    assert answer.status_code == 422
    assert 'name="rounds" value="many" aria-invalid="true" aria-describedby="wrong-rounds"' in answer.text
    assert "This is not a number of rounds (&#39;many&#39;); correct it." in answer.text
    assert 'id="wrong-topology"' in answer.text and 'id="wrong-sizes"' not in answer.text
    assert 'value="ovs-dpdk" checked' in answer.text and 'name="sizes" value="64"' in answer.text
    beginning, _ = answer.text.split("<form", 1)
    assert "2 values are not valid" in beginning and '<a href="#wrong-rounds">At most rounds</a>' in beginning
    assert "Show the plan" in answer.text and 'id="plan"' not in answer.text


def test_acts_that_end_something_take_two_clicks(mouse: TestClient):
    page = mouse.get("/start").text
    for action in ("destroy", "offboard"):
        assert page.index('<details class="confirm">') < page.index(f'value="{action}"')
    assert "This takes down all that is deployed on lab." in page


def test_a_form_starts_a_job_and_is_logged(mouse: TestClient, operations: Operations):
    token = mouse.get("/start").text.split('name="csrf" value="')[1].split('"')[0]
    form = {"csrf": token, "site": "lab", "variant": "ovs-dpdk", "action": "deploy"}
    answer = mouse.post("/jobs", data=form, headers={"accept": "text/html"})
    assert answer.status_code == 503 and "ovs-dpdk" in answer.text
    entry = operations.audit.newest(1)[0]
    assert (entry.action, entry.asked) == ("start deploy", "nfvbed deploy ovs-dpdk --site lab")
    assert entry.said.startswith("not in a unit test")
    assert mouse.post("/jobs", data=form | {"action": "rm"}).status_code == 400
    assert mouse.post("/jobs", data=form | {"csrf": "x"}).status_code == 403
    body = {"site": "lab", "variants": ["vpp"]}
    answer = mouse.post("/api/jobs/deploy", json=body, headers={"x-csrf-token": token})
    assert answer.status_code == 503 and json.loads(answer.json()["observed"]) == [
        "deploy",
        "lab",
        "deploy",
        "vpp",
        "--site",
        "lab",
    ]


def test_a_job_that_does_not_end_says_what_to_do_and_one_that_has_ended_is_told_once(
    mouse: TestClient, operations: Operations
):
    name, me = "20260102-030405-000006", process_of(os.getpid())
    folder = operations.jobs.folder / name
    folder.mkdir()
    try:
        asked = {"id": name, "action": "run", "site": "lab", "arguments": ("run", "demo"), "asked_at": OLD, "who": ME}
        files.write(folder / SPEC, JobSpec.model_validate(asked))
        files.write(folder / RUNNING, RunningJob(keeper=me, command=me))
        assert "Cancel" in mouse.get(f"/jobs/{name}").text
        files.write(folder / CANCELLED, Cancelled(who=ME, at=OLD))
        page = mouse.get(f"/jobs/{name}").text
        assert f"kill -9 {os.getpid()}" in page and "Ask it to end again" in page
        (folder / LOG).write_text("<script>\n")
        files.write(folder / ENDED, JobEnd(status=130, at=OLD))
        events = mouse.get(f"/jobs/{name}/events")
        assert events.headers["content-type"].startswith("text/event-stream")
        assert events.text.count("event: part") == 1 and events.text.endswith("event: end\ndata: {}\n\n")
        assert "&lt;script&gt;" in events.text and "<script>" not in events.text
        assert mouse.get(f"/api/jobs/{name}").json()["job"]["state"] == "cancelled"
    finally:
        shutil.rmtree(folder)


def test_viewers_see_no_jobs(store: Store, operations: Operations):
    access = Access(hosts=("localhost",), operate=True, user_of=lambda scope: 12345)
    client = TestClient(make_app(store, access, operations=operations), base_url=HERE)
    for address in ("/start", "/jobs", "/api/jobs", "/api/start"):
        assert client.get(address).status_code == 403
    assert 'href="/start"' not in client.get("/").text


def test_a_path_of_the_store_is_the_same_in_a_job(tmp_path: Path, monkeypatch):
    project = open_project(None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nfvbed.dashboard.operations.STATE", tmp_path / "state")
    assert Operations.of(project, "here.sqlite").jobs.store == str(tmp_path / "here.sqlite")
    assert Operations.of(project, "postgresql://host/db").jobs.store == "postgresql://host/db"


def test_job_run_and_comparison_lead_to_each_other_and_the_run_can_be_cancelled_where_it_is_watched(
    mouse: TestClient, client: TestClient, operations: Operations, store: Store
):
    name, me, run = "20260102-030405-000007", process_of(os.getpid()), store.runs()[0].id
    folder = operations.jobs.folder / name
    folder.mkdir()
    try:
        asked = {"id": name, "action": "run", "site": "lab", "arguments": ("run", "demo"), "asked_at": OLD, "who": ME}
        files.write(folder / SPEC, JobSpec.model_validate(asked))
        files.write(folder / RUNNING, RunningJob(keeper=me, command=me))
        (folder / LOG).write_text(f"run {run} of demo begins\n")
        page = mouse.get(f"/runs/{run}").text
        assert f'href="/jobs/{name}"' in page and f'action="/jobs/{name}/cancel"' in page
        job = mouse.get(f"/jobs/{name}").text
        assert f'href="/runs/{run}"' in job and f"/compare?runs={run}" not in job, "nothing is compared yet"
        assert "/jobs/" not in client.get(f"/runs/{run}").text, "viewers see no jobs"
        assert "/jobs/" not in mouse.get(f"/runs/{run}?export=1").text
        files.write(folder / ENDED, JobEnd(status=0, at=OLD))
        for address in (f"/jobs/{name}", "/jobs"):
            page = mouse.get(address).text
            assert f'href="/compare?runs={run}"' in page and f'href="/runs/{run}"' in page
        page = mouse.get(f"/runs/{run}").text
        assert f'href="/jobs/{name}"' in page and "/cancel" not in page
    finally:
        shutil.rmtree(folder)


def test_a_job_whose_run_the_store_does_not_have_is_shown_without_it(mouse: TestClient, operations: Operations):
    name, me = "20260102-030405-000008", process_of(os.getpid())
    folder = operations.jobs.folder / name
    folder.mkdir()
    try:
        asked = {"id": name, "action": "run", "site": "lab", "arguments": ("run", "demo"), "asked_at": OLD, "who": ME}
        files.write(folder / SPEC, JobSpec.model_validate(asked))
        files.write(folder / RUNNING, RunningJob(keeper=me, command=me))
        (folder / LOG).write_text("run 01900000-0000-7000-8000-000000000000 of demo begins\n")
        answer = mouse.get(f"/jobs/{name}")
        assert answer.status_code == 200 and "The run</a>" in answer.text
    finally:
        shutil.rmtree(folder)
