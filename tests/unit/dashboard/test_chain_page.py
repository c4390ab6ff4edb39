"""The page of a chain: what it shows, which forms it has for whom, and which verb they call."""

import html
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard import app, commands
from nfvbed.dashboard.access.security import Access
from nfvbed.dashboard.audit import AuditSubject
from nfvbed.dashboard.chain.reading import Chains
from nfvbed.dashboard.chain.view import Draft
from nfvbed.dashboard.jobs.records import ALIVE, Job, JobEnd, JobSpec, State
from nfvbed.dashboard.operations import Operations
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import BusyError, DeployError, InternalError, UnsupportedError, UsageError
from nfvbed.host.workspace.trialsign import OngoingTrial
from nfvbed.records import Hop, HopKind
from nfvbed.records.chain import ChainCable, ChainReport, ChainVnf
from nfvbed.spec.layout import MAX_CHAIN

ID = "20260104-030405-000001"
HERE = "http://localhost"
PAGE = {"origin": HERE}
VNFS = tuple(ChainVnf(name=f"vnf{n}", kind="process", forwarding="io", cores=(1,)) for n in (1, 2, 3))


def report(path=("vnf1", "vnf2", "vnf3"), **more):
    return ChainReport(
        site="lab",
        variant="ovs-dpdk",
        topology="pv3p",
        since="yesterday: nfvbed onboard vloop",
        path=path,
        vnfs=VNFS,
        hops=(
            Hop(name="br0 port p0", kind=HopKind.SWITCH_PORT, port=0, rx_packets=1234567, tx_packets=None),
            Hop(name="br0 port v1a", vnf=0, port=0, rx_packets=7, tx_packets=8, drops={"rx_dropped": 3, "x": 0}),
        ),
        cables=(ChainCable(first="p0", second="v1a", forward_packets=41, backward_packets=42, cookies=(1, 2)),),
        **{"lengths": (1, 2, 4), **more},
    )


class Verbs:
    """In the place of the command line and of its jobs: notes what is called, and answers with what it was given."""

    root = Path("/project")

    def __init__(self):
        self.calls = []
        self.answer = report()
        self.state, self.status, self.said = State.DONE, 0, ""
        self.running = ()
        self.trial: OngoingTrial | None = None

    def __call__(self, root, arguments):
        assert root == self.root
        self.calls.append(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        if "--dry-run" in arguments:
            return "ovs-dpdk (pv3p) is taken down & set up again\n"
        return self.answer.model_dump_json()

    def start(self, action, site, arguments, who, document):
        assert (action, document, who.role) == ("steer", True, "operator")
        self.calls.append(list(arguments))
        if self.state is State.DONE and arguments[3].startswith("--order="):
            self.answer = report(tuple(arguments[3].removeprefix("--order=").split(",")))
        return self.make(arguments, site, State.STARTING)

    def make(self, arguments, site, state):
        spec = JobSpec(
            id=ID, action="steer", site=site, arguments=arguments, who=AuditSubject(role="operator"), asked_at="now"
        )
        ended = None if state in ALIVE else JobEnd(status=self.status, at="now")
        self.last = Job(spec=spec, state=state, ended=ended)
        return self.last

    def job(self, name):
        assert name == ID
        return self.make(self.last.spec.arguments, self.last.spec.site, self.state)

    def alive(self):
        return self.running

    def log(self, name, most):
        return self.said

    def output(self, name):
        return self.answer.model_dump_json().encode()


@pytest.fixture(name="verbs")
def _verbs(monkeypatch):
    made = Verbs()
    monkeypatch.setattr(app, "Chains", lambda jobs: Chains(made, made))
    monkeypatch.setattr("nfvbed.dashboard.chain.reading.FRESH_S", 0.0)
    monkeypatch.setattr("nfvbed.dashboard.chain.reading.going_trial", lambda: made.trial)
    return made


@pytest.fixture(name="asked")
def _asked(store, verbs, tmp_path, monkeypatch):
    monkeypatch.setattr("nfvbed.dashboard.operations.STATE", tmp_path / "state")
    operations = Operations.of(open_project(), "unused")

    def client(user=os.geteuid):
        access = Access(hosts=("localhost",), operate=True, user_of=lambda scope: user())
        made = app.make_app(store, access, operations=operations)
        return TestClient(made, base_url=HERE, follow_redirects=False, raise_server_exceptions=False)

    client.audit = operations.audit
    return client


def csrf_in(text):
    return re.search(r'name="csrf" value="([0-9a-f]+)"', text)[1]


def test_the_path_its_hops_and_its_flows_are_shown(asked, verbs):
    text = asked().get("/chain").text
    assert "<title>Chain: port 0, vnf1, vnf2, vnf3, port 1 - nfvbed</title>" in text
    assert "1,234,567" in text and "rx_dropped 3" in text and "x 0" not in text
    assert "<td>41</td><td>42</td><td>1, 2</td>" in text
    assert verbs.calls == [["steer", "--site", "lab", "--json"]]
    assert 'aria-current="page">Chain' in text


def test_buttons_hold_whole_orders_so_that_no_script_is_needed(asked):
    text = asked().get("/chain").text
    buttons = re.findall(r'<button [^>]*name="order" value="([^"]*)"[^>]*aria-label="([^"]*)"( disabled)?', text)
    assert buttons == [
        ("", "Move vnf1 up, towards port 0", " disabled"),
        ("vnf2,vnf1,vnf3", "Move vnf1 down, towards port 1", ""),
        ("vnf2,vnf1,vnf3", "Move vnf2 up, towards port 0", ""),
        ("vnf1,vnf3,vnf2", "Move vnf2 down, towards port 1", ""),
        ("vnf1,vnf3,vnf2", "Move vnf3 up, towards port 0", ""),
        ("", "Move vnf3 down, towards port 1", " disabled"),
    ]
    assert re.search(r'<button id="apply-button" disabled>', text)
    draft = asked().get("/chain?order=vnf2,vnf1,vnf3").text
    assert '<button id="apply-button">' in draft
    assert 'name="order" value="vnf2,vnf1,vnf3"' in draft
    assert "Not applied yet: vnf2, vnf1, vnf3." in draft


def test_an_address_with_an_order_that_cannot_be_shows_the_path_and_why(asked):
    text = asked().get("/chain?order=vnf1,vnf1,vnf9").text
    assert "vnf9 is not running; vnf1 is named 2 times; vnf2 is missing; vnf3 is missing" in text
    assert 'name="order" value="vnf1,vnf2,vnf3"' in text


def test_an_order_is_applied_logged_and_shown(asked, verbs):
    client = asked()
    fields = {"csrf": csrf_in(client.get("/chain").text), "site": "lab", "order": "vnf3,vnf1,vnf2"}
    answer = client.post("/chain/order", data=fields, headers=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/chain?site=lab")
    assert verbs.calls[-1] == ["steer", "--site", "lab", "--order=vnf3,vnf1,vnf2", "--json"]
    (entry,) = asked.audit.newest(10)
    assert (entry.action, entry.outcome, entry.said) == ("start steer", "done", f"job {ID}")
    assert entry.asked == "nfvbed steer --site lab --order=vnf3,vnf1,vnf2"
    assert client.get("/api/chain").json()["path"] == ["vnf3", "vnf1", "vnf2"]


def test_what_the_verb_refuses_is_shown(asked, verbs):
    client = asked()
    fields = {"csrf": csrf_in(client.get("/chain").text), "site": "lab", "order": "vnf1"}
    verbs.state, verbs.status = State.FAILED, 20
    verbs.said = "nfvbed: the bridge refused a rule\n  where: br0\n  observed: type 3\n  fix: read the log\n"
    answer = client.post("/chain/order", data=fields, headers=PAGE)
    assert answer.status_code == 502
    assert "The bridge refused a rule" in answer.text and "read the log" in answer.text


@pytest.mark.parametrize("state", [State.RUNNING, State.CANCELLED, State.LOST])
def test_a_change_that_takes_long_or_is_cancelled_is_watched_on_its_page(asked, verbs, monkeypatch, state):
    monkeypatch.setattr("nfvbed.dashboard.chain.reading.CHANGE_S", 0.1)
    client = asked()
    fields = {"csrf": csrf_in(client.get("/chain").text), "site": "lab", "order": "vnf2,vnf1,vnf3"}
    verbs.state, verbs.status = state, 130
    answer = client.post("/chain/order", data=fields, headers=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/jobs/{ID}")


def test_no_path_is_read_while_a_job_or_a_trial_is_going(asked, verbs):
    verbs.running = (verbs.make(("run", "pvp"), "lab", State.RUNNING),)
    assert "nfvbed run pvp" in asked().get("/chain").text
    verbs.running = ()
    verbs.trial = OngoingTrial(7)
    assert "while a trial is running" in asked().get("/chain").text
    verbs.trial = None
    assert verbs.calls == []
    assert "vnf1, vnf2, vnf3" in asked().get("/chain").text


def test_another_length_is_foreseen_and_needs_a_tick(asked, verbs):
    client = asked()
    text = client.get("/chain?length=4").text
    assert "is taken down &amp; set up again" in text
    assert '<input type="checkbox" name="agreed" value="yes" required>' in text
    fields = {"csrf": csrf_in(text), "site": "lab", "length": "4"}
    answer = client.post("/chain/length", data=fields, headers=PAGE)
    assert answer.status_code == 400 and "not agreed" in answer.text
    for length in ("0", str(MAX_CHAIN + 1), "x", "", "²"):
        answer = client.post("/chain/length", data=fields | {"length": length, "agreed": "yes"}, headers=PAGE)
        assert answer.status_code == 400 and "no length of a chain" in answer.text
    assert asked.audit.newest(10) == ()
    client.post("/chain/length", data=fields | {"agreed": "yes"}, headers=PAGE)
    assert verbs.calls[-1] == ["steer", "--site", "lab", "--length", "4", "--redeploy", "--json"]
    verbs.answer = UnsupportedError("it cannot", fix="choose another")
    text = client.get("/chain?length=4").text
    assert "This cannot be:" in text and "choose another" in text


def test_viewers_see_the_path_and_change_nothing(asked, verbs):
    client = asked(lambda: user[0])
    user = [65534]
    before = client.get("/chain").text, client.get("/chain?length=2").text, client.get("/api/chain").text
    assert all("the path has not been read yet" in text for text in before) and verbs.calls == []
    user[0] = os.geteuid()
    client.get("/chain")
    user[0] = 65534
    text = client.get("/chain").text
    assert "Operators can change it." in text and "for an operator's page" in html.unescape(text)
    assert "Move vnf1" not in text and 'method="post"' not in text and 'id="chain"' not in text
    for what in ("order", "length"):
        assert client.post(f"/chain/{what}", data={"order": "vnf1"}, headers=PAGE).status_code == 403
    client.get("/chain?length=4")
    assert client.get("/api/chain").json()["path"] == ["vnf1", "vnf2", "vnf3"]
    assert verbs.calls == [["steer", "--site", "lab", "--json"]]


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"referer": "http://evil.example/page"},
        {"referer": "http://[::1"},
    ],
)
def test_another_site_starts_no_program(asked, verbs, headers):
    client = asked()
    assert "the path has not been read yet" in client.get("/chain", headers=headers).text
    assert client.get("/api/chain", headers=headers).status_code == 503
    assert verbs.calls == []
    assert "vnf1" in client.get("/chain", headers={"sec-fetch-site": "none"}).text
    assert "vnf1" in client.get("/chain?length=4", headers=headers).text and len(verbs.calls) == 1


def test_another_sites_page_embeds_nothing(asked, verbs):
    for mode, dest in (("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe"), ("no-cors", "script")):
        headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode, "sec-fetch-dest": dest}
        answer = asked().get("/chain", headers=headers)
        assert answer.status_code == 403 and "another site" in html.unescape(answer.text)
    assert verbs.calls == []


def test_many_who_ask_at_once_and_after_a_failure_cost_one_reading(verbs, monkeypatch):
    monkeypatch.setattr("nfvbed.dashboard.chain.reading.FRESH_S", 60.0)
    for answer in (report(), DeployError("nothing is there")):
        chains, verbs.answer, verbs.calls = Chains(verbs, verbs), answer, []
        with ThreadPoolExecutor(45) as many:
            readings = [many.submit(chains.read, "lab") for _ in range(45)]
            assert len({str(one.exception() or one.result().report) for one in readings}) == 1
        assert len(verbs.calls) == 1
    with pytest.raises(DeployError):
        chains.newest("lab")


def test_where_the_order_is_fixed_it_says_why_and_shows_the_rest(asked, verbs):
    verbs.answer = report(fixed="its VNFs are instances", lengths=(), uncounted="they are out of sight")
    text = asked().get("/chain?site=devcloud").text
    assert verbs.calls[-1][2] == "devcloud"
    assert "The order cannot be changed while it runs: its VNFs are instances." in text
    assert "No hop is counted: they are out of sight." in text
    assert "nfvbed offboard" in text
    assert 'id="apply"' not in text


@pytest.mark.parametrize("error", [UsageError("no VNF is onboarded", fix="nfvbed onboard"), BusyError("at work")])
def test_without_a_path_the_page_says_what_to_do(asked, verbs, error):
    verbs.answer = error
    answer = asked().get("/chain")
    assert answer.status_code == 200 and error.what in answer.text and error.fix in answer.text
    assert asked().get("/api/chain").json()["what"] == error.what


def test_sites_are_those_that_there_are(asked, verbs):
    assert asked().get("/chain?site=moon").status_code == 404
    assert asked().get("/chain?site=../lab").status_code == 422
    assert asked().get("/api/chain?site=moon").status_code == 404
    assert verbs.calls == []


def test_a_dashboard_that_only_reads_results_has_no_such_page(client):
    assert client.get("/chain").status_code == 404
    assert 'href="/chain"' not in client.get("/").text


def test_readings_of_the_same_moment_are_one(verbs, monkeypatch):
    monkeypatch.setattr("nfvbed.dashboard.chain.reading.FRESH_S", 60.0)
    chains = Chains(verbs, verbs)
    assert chains.read("lab") is chains.read("lab")
    chains.awaited(chains.change("lab", ("--order=vnf2,vnf1,vnf3",), AuditSubject(role="operator")))
    assert chains.read("lab").report.path == ("vnf2", "vnf1", "vnf3")
    assert len(verbs.calls) == 2
    monkeypatch.setattr("nfvbed.dashboard.chain.reading.FRESH_S", 0.0)
    chains.read("lab", draft=True)
    assert len(verbs.calls) == 2
    chains.read("lab")
    assert len(verbs.calls) == 3


def test_who_waits_too_long_for_others_is_refused(verbs, monkeypatch):
    monkeypatch.setattr("nfvbed.dashboard.chain.reading.QUEUE_S", 0.01)
    chains = Chains(verbs, verbs)
    with chains._one_at_a_time, pytest.raises(BusyError, match="another path is being read"):
        chains.read("lab")


def test_a_draft_of_one_vnf_moves_nowhere():
    one = report(("vnf1",)).model_copy(update={"vnfs": VNFS[:1]})
    (step,) = Draft.of(one, None).steps
    assert (step.earlier, step.later) == (None, None)


TEXT = """taken down first
nfvbed: an order names every VNF
  where: vnf1
  observed: vnf2 is missing
and more of it
  fix: name it: all
"""


def test_what_a_verb_said_is_an_error_again():
    error = commands.error_of(2, TEXT, "steer --order vnf1")
    assert type(error) is UsageError
    assert (error.what, error.where) == ("an order names every VNF", "vnf1")
    assert (error.observed, error.fix) == ("vnf2 is missing and more of it", "name it: all")
    assert type(commands.error_of(13, TEXT, "steer")) is BusyError
    assert type(commands.error_of(-9, "", "steer")) is InternalError
    assert commands.error_of(2, "Usage: x\nError: No such option\n", "steer -x").observed.endswith("No such option")


def test_a_verb_is_called_in_a_process_of_its_own(tmp_path):
    assert json.loads(commands.called(open_project().root, ["variants", "--json"]))
    with pytest.raises(UsageError, match="steer failed"):
        commands.called(tmp_path, ["steer", "--nothing"])


def test_a_verb_that_does_not_answer_is_interrupted(monkeypatch, tmp_path):
    silent = tmp_path / "python"
    silent.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    silent.chmod(0o755)
    monkeypatch.setattr(commands.sys, "executable", str(silent))
    with pytest.raises(BusyError, match="does not answer"):
        commands.called(tmp_path, ["steer"], 0.3)
