"""Viewers read, operators change; what changes something comes from the dashboard's own pages and is logged."""

import json
import os
import socket
from pathlib import Path

import pytest
from fastapi import APIRouter, FastAPI
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from nfvbed.dashboard.access import peers
from nfvbed.dashboard.access.origin import from_own_page
from nfvbed.dashboard.access.security import COOKIE, MOST_BODY, Access, Guard
from nfvbed.dashboard.access.serveroptions import ServerOptions, access_of
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.audit import Audit, AuditSubject, Kind, Outcome
from nfvbed.dashboard.auditing import auditing
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.operations import Operations
from nfvbed.dashboard.people.roles import Fields, Operator, current
from nfvbed.dashboard.problems import ForbiddenError, problem_of
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, StoreError, UsageError
from nfvbed.store import Store

OWNS = "0123456789abcdef0123456789abcdef"
READS = "fedcba9876543210fedcba9876543210"
HERE = "http://localhost"
PAGE = {"origin": HERE}
ME = AuditSubject(role="operator", client="127.0.0.1", user="root")


@pytest.mark.parametrize(
    "origin", ["http://evil-bed.example", "http://evilbed.example", "http://x.bed.example", "", "null"]
)
def test_an_origin_that_ends_as_this_host_is_another(origin: str):
    assert from_own_page(Headers({"host": "bed.example", "origin": "http://BED.example"}))
    assert not from_own_page(Headers({"host": "bed.example", "origin": origin}))


def guarded(tmp_path: Path, **options) -> tuple[TestClient, Audit]:
    """Return a client of an application with one route that changes something."""
    audit = Audit(tmp_path / "state" / "audit.jsonl")
    router = APIRouter()

    @router.get("/form")
    def show_form() -> str:
        return current().csrf

    @router.post("/change")
    def change(asker: Operator, fields: Fields) -> dict[str, list[str]]:
        with audit.action(asker, "change", json.dumps(fields.get("name"))) as said:
            said.append("made")
        return {"name": fields.get("name", [])}

    app = FastAPI()
    app.state.audit = audit
    app.include_router(router)
    app.include_router(auditing(audit))
    app.add_exception_handler(ForbiddenError, lambda request, error: _said(error))
    access = Access(hosts=("localhost",), **{"operate": True, "user_of": lambda scope: os.geteuid(), **options})
    return TestClient(Guard(app, access, audit), base_url=HERE, follow_redirects=False), audit


def _said(error):
    found = problem_of(error)
    return JSONResponse(found.model_dump(), found.status)


def token_of(client: TestClient) -> str:
    return client.get("/form").json()


def test_an_operator_changes_something_from_a_page_and_it_is_logged(tmp_path: Path):
    client, audit = guarded(tmp_path)
    answer = client.post("/change", data={"csrf": token_of(client), "name": "x"}, headers=PAGE)
    assert answer.status_code == 200 and answer.json() == {"name": ["x"]}
    (entry,) = audit.newest(10)
    assert (entry.role, entry.outcome, entry.asked, entry.said) == ("operator", Outcome.DONE, '["x"]', "made")
    assert entry.client == "testclient" and entry.user == peers.name_of(os.geteuid())


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "http://localhost:81", "file://", "localhost"])
def test_another_page_changes_nothing(tmp_path: Path, origin: str):
    client, audit = guarded(tmp_path)
    answer = client.post("/change", data={"csrf": token_of(client)}, headers={"origin": origin})
    assert answer.status_code == 403 and "not come from a page" in answer.text
    assert audit.newest(10) == ()


def test_the_form_of_another_browser_changes_nothing(tmp_path: Path):
    client, audit = guarded(tmp_path)
    token_of(client)
    other = TestClient(client.app, base_url=HERE)
    for given in ({"csrf": token_of(other)}, {"csrf": ""}, {}, {"csrf": "\xe4"}):
        answer = client.post("/change", data=given, headers=PAGE)
        assert answer.status_code == 403
        assert {"what", "where", "observed", "fix"} <= set(answer.json())
    assert [entry.outcome for entry in audit.newest(10, Kind.REFUSAL)] == [Outcome.REFUSED] * 4
    assert audit.newest(10) == ()


def test_a_script_of_the_page_sends_the_token_as_a_header(tmp_path: Path):
    client, _ = guarded(tmp_path)
    headers = PAGE | {"x-csrf-token": token_of(client)}
    assert client.post("/change", json={}, headers=headers).status_code == 200


@pytest.mark.parametrize("user", [None, 12345])
def test_others_on_this_machine_only_read(tmp_path: Path, user: int | None):
    client, audit = guarded(tmp_path, user_of=lambda scope: user)
    answer = client.post("/change", data={"csrf": token_of(client)}, headers=PAGE)
    assert answer.status_code == 403 and answer.json()["what"] == "only operators may do that"
    assert audit.newest(1, Kind.REFUSAL)[0].outcome is Outcome.REFUSED
    assert client.get("/audit").status_code == 403


def test_without_operate_nobody_changes_anything(tmp_path: Path):
    for options in ({}, {"token": OWNS}):
        client, _ = guarded(tmp_path, operate=False, **options)
        answer = client.post("/change", headers={"authorization": f"Bearer {OWNS}"} | PAGE)
        assert answer.status_code == 403 and "--operate" in answer.text


def signed_in(client: TestClient, token: str) -> TestClient:
    """Return another browser, in which a user has signed in."""
    browser = TestClient(client.app, base_url=HERE, follow_redirects=False)
    assert browser.post("/login", data={"token": token}, headers=PAGE).status_code == 303
    return browser


def test_tokens_have_roles(tmp_path: Path):
    client, _ = guarded(tmp_path, token=OWNS, viewer_token=READS)
    for token, status in ((OWNS, 200), (READS, 403), ("x", 303)):
        assert client.post("/change", headers={"authorization": f"Bearer {token}"} | PAGE).status_code == status
    mine = signed_in(client, OWNS)
    assert mine.get("/audit").status_code == 200
    assert signed_in(client, READS).get("/audit").status_code == 403
    # A wrong token is no token, whichever user is signed in beside it.
    assert mine.get("/audit", headers={"authorization": "Bearer x"}).status_code == 303
    assert mine.post("/change", headers={"authorization": "Bearer x"} | PAGE).status_code == 303
    # Who signs in as another user needs the form of a new page.
    old = token_of(mine)
    assert mine.post("/change", data={"csrf": old}, headers=PAGE).status_code == 200
    assert mine.post("/login", data={"token": OWNS}, headers=PAGE).status_code == 303
    assert mine.post("/change", data={"csrf": old}, headers=PAGE).status_code == 403


def test_a_session_ends_at_the_server(tmp_path: Path):
    client, audit = guarded(tmp_path, token=OWNS)
    mine = signed_in(client, OWNS)
    token_of(mine)
    copied = {"cookie": f"{COOKIE}={mine.cookies[COOKIE]}"}
    other = TestClient(client.app, base_url=HERE, follow_redirects=False)
    assert other.get("/form", headers=copied).status_code == 200
    assert mine.post("/logout", headers=PAGE).status_code == 303
    assert COOKIE not in mine.cookies and other.get("/form", headers=copied).status_code == 303
    assert other.post("/change", headers=copied | PAGE).status_code == 303
    said = [(entry.action, entry.outcome) for entry in audit.newest(5, Kind.SIGN_IN)]
    assert said == [("sign out", Outcome.DONE), ("sign in", Outcome.DONE)]


def test_a_cookie_of_an_earlier_server_is_none(tmp_path: Path):
    old, _ = guarded(tmp_path / "1", token=OWNS)
    mine = signed_in(old, OWNS)
    new, _ = guarded(tmp_path / "2", token=OWNS)
    assert new.get("/form", headers={"cookie": f"{COOKIE}={mine.cookies[COOKIE]}"}).status_code == 303


def test_nobody_comes_in_of_whom_it_cannot_be_written(tmp_path: Path):
    client, audit = guarded(tmp_path, token=OWNS)
    for kind in Kind:
        audit.file(kind).unlink()
        audit.file(kind).mkdir()
    assert client.post("/login", data={"token": OWNS}, headers=PAGE).status_code == 503
    bearer = {"authorization": f"Bearer {OWNS}"}
    with pytest.raises(StoreError, match="audit log"):
        client.post("/change", headers=bearer)
    assert client.get("/form", headers=bearer).status_code == 200


def test_a_program_with_a_token_needs_no_page(tmp_path: Path):
    client, _ = guarded(tmp_path, token=OWNS)
    assert client.post("/change", headers={"authorization": f"Bearer {OWNS}"}).status_code == 200


def test_bodies_are_bounded(tmp_path: Path):
    client, _ = guarded(tmp_path)
    token = token_of(client)
    many = client.post("/change", data={"csrf": token, "name": "x" * MOST_BODY}, headers=PAGE)
    assert many.status_code == 413
    assert client.post("/change", content=iter([b"x"]), headers=PAGE).status_code == 411
    fields = "&".join(f"a{number}=1" for number in range(300))
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/change", content=f"csrf={token}&{fields}", headers=PAGE | form).status_code == 403


def test_pages_and_api_of_the_log(store: Store, tmp_path: Path):
    (tmp_path / "deploy").mkdir()
    audit = Audit(tmp_path / "audit.jsonl")
    operations = Operations(open_project(None), audit, Jobs(tmp_path / "jobs", tmp_path, "", audit, frozenset({0})))
    who = AuditSubject(role="viewer", client="192.0.2.1", user="<b>")
    operations.audit.refuse(who, "POST /x", "no")
    for number in range(60):
        operations.audit.write(ME, f"act {number}", Outcome.DONE)
    access = Access(hosts=("localhost",), operate=True, user_of=lambda scope: 0)
    client = TestClient(make_app(store, access, operations=operations), base_url=HERE)
    refusals = client.get("/audit?kind=refusal").text
    assert "&lt;b&gt;" in refusals and "192.0.2.1" in refusals and "act 59" not in refusals
    assert client.get("/api/audit?kind=refusal").json()["entries"][0]["said"] == "no"
    assert "act 10<" in client.get("/audit").text and "Page 1 of 2, 60 rows" in client.get("/audit").text
    assert [entry["action"] for entry in client.get("/api/audit?page=2").json()["entries"]][::9] == ["act 9", "act 0"]
    assert "There is no such page" in client.get("/audit?page=3").text
    assert "Nothing yet" in client.get("/audit?kind=sign-in").text
    assert client.get("/audit?kind=none").status_code == 422
    assert 'href="/audit"' in client.get("/runs").text
    reader = TestClient(make_app(store, Access(hosts=("localhost",))), base_url=HERE)
    assert reader.get("/audit").status_code == 404 and 'href="/audit"' not in reader.get("/runs").text


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_the_user_of_a_connection_is_found(address: str):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with (
        socket.create_server((address, 0), family=family) as server,
        socket.create_connection(server.getsockname()[:2]) as client,
    ):
        own, end = client.getsockname()[:2], server.getsockname()[:2]
        assert peers.user_of({"client": own, "server": end}) == os.geteuid()
        assert peers.user_of({"client": (own[0], 1), "server": end}) is None
    assert peers.user_of({"client": ("testclient", 50000), "server": ("localhost", 80)}) is None
    assert peers.user_of({"client": None, "server": None}) is None
    assert not peers.may_operate(None) and peers.may_operate(0) and not peers.may_operate(os.geteuid() + 1)


def test_what_nobody_or_everybody_could_change_is_refused(tmp_path: Path):
    files = {}
    for name, text in (("own", OWNS), ("view", READS)):
        files[name] = tmp_path / name
        files[name].write_text(text)
        files[name].chmod(0o600)
    with pytest.raises(UsageError, match="nothing could be changed"):
        access_of(ServerOptions(operate=True, viewer_token_file=files["view"]))
    with pytest.raises(UsageError, match="proxy"):
        access_of(ServerOptions(operate=True, behind_proxy=True))
    with pytest.raises(ConfigurationError, match="same token"):
        access_of(ServerOptions(token_file=files["own"], viewer_token_file=files["own"]))
    found = access_of(ServerOptions(operate=True, token_file=files["own"], viewer_token_file=files["view"]))
    assert (found.token, found.viewer_token, found.operate) == (OWNS, READS, True)
