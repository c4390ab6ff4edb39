"""Users of an OpenStack sign in: what Keystone says of them decides, and nothing of their passwords stays.

Keystone is a double here: a server on loopback that answers as Identity API v3 does. The real one is asked in
`tests/openstack`.
"""

import json
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nfvbed.cli.main import main
from nfvbed.dashboard.access.keystone import Keystone, KeystoneSpec
from nfvbed.dashboard.access.security import COOKIE, Access
from nfvbed.dashboard.access.serveroptions import ServerOptions, access_of
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.audit import Audit
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.operations import Operations
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import BusyError, ConfigurationError, UsageError
from nfvbed.store import Store

HERE = "http://localhost"
PASSWORD = "correct-horse-battery"
USERS = {"ann": ["admin", "member", "reader"], "bob": ["reader"]}


class Answers(BaseHTTPRequestHandler):
    """The double."""

    def do_POST(self) -> None:
        """Answer `POST /v3/auth/tokens`."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["auth"]
        user = asked["identity"]["password"]["user"]
        scope = asked["scope"]["project"]
        if user["name"] == "broken":
            self._answer(503, {"error": {"code": 503, "message": "database", "title": "Unavailable"}})
        elif user["name"] not in USERS or user["password"] != PASSWORD or scope["name"] != "nfv":
            self._answer(401, {"error": {"code": 401, "message": "Unauthorized", "title": "Unauthorized"}})
        else:
            until = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
            roles = [{"id": role, "name": role} for role in USERS[user["name"]]]
            named = {"id": "1", "name": user["name"], "domain": {"id": "d", "name": user["domain"]["name"]}}
            token = {"user": named, "roles": roles, "expires_at": until, "issued_at": until, "methods": ["password"]}
            self._answer(201, {"token": token})

    def _answer(self, status: int, body: dict[str, object]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("x-subject-token", "a-token")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module", name="url")
def _url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v3"
    server.shutdown()
    server.server_close()


@pytest.fixture(name="browser")
def _browser(store: Store, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setattr("nfvbed.dashboard.access.security.WRONG_TOKEN_S", 0)
    project, audit = open_project(None), Audit(tmp_path / "audit.jsonl")
    operations = Operations(project, audit, Jobs(tmp_path / "jobs", project.root, "", audit, frozenset({0})))
    access = access_of(ServerOptions(keystone=KeystoneSpec(url, "nfv"), operate=True))
    app = make_app(store, access, operations=operations)
    return TestClient(app, base_url=HERE, follow_redirects=False, headers={"origin": HERE})


def signed_in(browser: TestClient, user: str, password: str = PASSWORD):
    return browser.post("/login", data={"user": user, "password": password})


def test_roles_in_the_project_decide(browser: TestClient):
    assert browser.get("/").headers["location"] == "/login"
    assert browser.get("/api/runs").status_code == 401
    page = browser.get("/login").text
    assert 'name="user"' in page and 'name="token"' not in page
    for user, status in (("ann", 200), ("bob", 403), ("ann@Other", 200)):
        assert signed_in(browser, user).status_code == 303
        assert browser.get("/").status_code == 200
        assert f"Sign out {user}" in browser.get("/").text
        assert browser.get("/start").status_code == status


def test_who_signs_in_is_in_the_audit_log_by_name(browser: TestClient):
    signed_in(browser, "bob")
    assert browser.get("/audit").status_code == 403
    signed_in(browser, "eve")
    signed_in(browser, "ann")
    refusals = browser.get("/audit?kind=refusal").text
    assert "bob" in refusals and "eve" in refusals
    who = [(entry["user"], entry["action"]) for entry in browser.get("/api/audit?kind=sign-in").json()["entries"]]
    assert who == [("ann", "sign in"), ("bob", "sign in")]


def test_another_password_user_or_project_is_nobody(browser: TestClient, url: str):
    for user, password in (("ann", "x"), ("eve", PASSWORD), ("", PASSWORD), ("ann", "")):
        answer = signed_in(browser, user, password)
        assert answer.status_code == 401 and "That is no user of this project" in answer.text
    assert browser.get("/").status_code == 303
    assert browser.post("/login", content=b"user=ann&password=%ff").status_code == 401
    assert Keystone(KeystoneSpec(url, "other")).sign_in("ann", PASSWORD) is None


def test_nobody_signs_in_while_keystone_does_not_answer(browser: TestClient):
    answer = signed_in(browser, "broken")
    assert answer.status_code == 503 and "Keystone does not say who this is" in answer.text
    with pytest.raises(BusyError) as error:
        Keystone(KeystoneSpec("http://127.0.0.1:9/v3", "nfv")).sign_in("ann", PASSWORD)
    assert PASSWORD not in str(error.value)


def test_neither_password_nor_keystones_token_stays(
    browser: TestClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.DEBUG):
        answer = signed_in(browser, "ann")
        signed_in(browser, "broken")
        browser.get("/start")
    assert caplog.records, "the client logs what it does"
    cookie = next(text for text in answer.headers.get_list("set-cookie") if text.startswith(f"{COOKIE}="))
    assert all(word in cookie for word in ("httponly", "samesite=strict"))
    files = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    for secret in (PASSWORD, "a-token"):
        assert secret not in caplog.text and secret not in cookie and secret not in files
    assert "secure" not in cookie, "loopback has no TLS here"


def test_signing_out_ends_the_session_for_everybody_who_has_the_cookie(browser: TestClient):
    signed_in(browser, "ann")
    cookie = browser.cookies[COOKIE]
    assert browser.post("/logout", headers={"origin": "http://evil.example"}).status_code == 403
    assert browser.get("/").status_code == 200
    assert browser.post("/logout").headers["location"] == "/login"
    assert browser.get("/", headers={"cookie": f"{COOKIE}={cookie}"}).status_code == 303


def test_tokens_go_on_beside_it_and_without_operate_all_are_viewers(store: Store, url: str):
    access = Access(hosts=("localhost",), token="t" * 32, keystone=Keystone(KeystoneSpec(url, "nfv")))
    browser = TestClient(make_app(store, access), base_url=HERE, follow_redirects=False, headers={"origin": HERE})
    page = browser.get("/login").text
    assert 'name="user"' in page and 'name="token"' in page
    assert browser.get("/api/runs", headers={"authorization": f"Bearer {'t' * 32}"}).status_code == 200
    assert browser.post("/login", data={"token": "t" * 32}).status_code == 303
    assert signed_in(browser, "ann").status_code == 303
    assert "the results are only read" in browser.get("/").text


@pytest.mark.parametrize("url", ["http://cloud.example:5000/v3", "ftp://127.0.0.1", "cloud.example", ""])
def test_passwords_are_sent_over_tls_or_loopback_alone(url: str):
    with pytest.raises(ConfigurationError, match="passwords are not sent"):
        KeystoneSpec(url, "nfv")
    KeystoneSpec("https://cloud.example:5000/v3", "nfv")


def test_it_is_asked_for_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    at = ["dashboard", "--store", str(tmp_path / "none.sqlite")]
    assert main([*at, "--keystone", "https://cloud.example/v3"]) == 2
    assert main([*at, "--keystone-project", "nfv"]) == 2
    assert "belong together" in capsys.readouterr().err
    whole = ["--keystone", "https://cloud.example/v3", "--keystone-project", "nfv"]
    assert main([*at, *whole, "--keystone-ca", str(tmp_path / "none.pem")]) == 10
    assert "no such certificates" in capsys.readouterr().err


def test_it_stands_for_a_token_where_one_is_required():
    spec = KeystoneSpec("https://cloud.example:5000/v3", "nfv")
    with pytest.raises(UsageError, match="without a token"):
        access_of(ServerOptions(host="192.0.2.1", behind_proxy=True, operate=True))
    found = access_of(ServerOptions(host="192.0.2.1", behind_proxy=True, operate=True, keystone=spec))
    assert found.keystone is not None and not found.is_open
