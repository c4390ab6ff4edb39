"""Whatever a request's headers, address and form hold, the answer is never a fault of the server."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from nfvbed.dashboard.access.security import COOKIE, Access
from nfvbed.dashboard.app import make_app
from nfvbed.dashboard.audit import Audit
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.operations import Operations
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError
from nfvbed.store import Store

TOKEN = "0123456789abcdef0123456789abcdef"
HERE = "http://localhost"
NAMES = (
    *("host", "origin", "referer", "cookie", "authorization", "accept", "accept-encoding", "accept-language", "range"),
    *("content-length", "content-type", "transfer-encoding", "if-none-match", "if-modified-since", "sec-fetch-site"),
    *(
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-csrf-token",
        "x-http-method-override",
    ),
    *("expect", "upgrade", "connection", "last-event-id"),
)
VALUES = (
    *("", " ", "http://[::1", "http://[::1]:x", "[::1", "[::1]:99999999", "http://localhost:99999999", "::", "a@b:c"),
    *(
        "localhost:x",
        "localhost:",
        "\xff\xfe",
        "\0",
        "%",
        "%zz",
        "%ff%fe",
        "9" * 5000,
        "-1",
        "\u00b2",
        "1e9",
        "bytes=9-1",
    ),
    *("bytes=" + "0-1," * 500, "Bearer", "Bearer \xe4", "Basic x", "null", "*/*;q=x", "multipart/form-data", "a/b; c"),
    *("multipart/form-data; boundary=", "application/x-www-form-urlencoded; charset=x", "application/json", "chunked"),
    *(
        f"{COOKIE}=x",
        f"{COOKIE}=..",
        f"{COOKIE}=\xe4.\xe4.\xe4",
        f'{COOKIE}="\\400"',
        "a=b; " * 300,
        "=;=;=",
        "for=[::1",
    ),
)
BODIES = (b"", b"\xff", b"a=%ff&token=%ED%A0%80", b"&" * 300, b"=", b"{", b"[1", b"\0" * 100, b"token=" + b"x" * 5000)
PATHS = (
    *(
        "/",
        "/runs",
        "/runs/latest",
        "/compare",
        "/login",
        "/logout",
        "/start",
        "/chain",
        "/audit",
        "/jobs",
        "/static/x",
    ),
    *(
        "/api/runs",
        "/api/compare",
        "/api/chain",
        "/api/jobs",
        "/api/audit",
        "/api/start",
        "/api/deployments",
        "/nothing",
    ),
    *(
        "/runs/%ff",
        "/runs/..%2f..",
        "/runs/%00",
        "/%zz",
        "/jobs/%0a",
        "/compare/figures/%e2%82.svg",
        "//",
        "/runs/9" * 60,
    ),
    *(
        "/runs?page=%ff",
        "/runs?page=9999999999999999999999",
        "/compare?runs=%00",
        "/compare?share=nan",
        "/trend?setting=%ff",
    ),
    *("/audit?page=-1", "/audit?kind=%ff", "/chain?length=1e9", "/chain?order=%00", "/start?variant=%00&plan=1"),
    *("/trend?all=2", "/recommend?frame_size=9e99", "/published?x=%", "/runs/latest/why?cell=%00"),
)
UNREAD = UnsupportedError("it cannot be read", fix="look")
TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=40)


@pytest.fixture(scope="module", name="clients")
def _clients(store: Store, tmp_path_factory: pytest.TempPathFactory) -> list[TestClient]:
    """An open dashboard, and one that asks for a token, in which an operator has signed in."""
    patch = pytest.MonkeyPatch()
    patch.setattr("nfvbed.dashboard.access.security.WRONG_TOKEN_S", 0)
    patch.setattr("nfvbed.dashboard.starting.planning.PATIENCE_S", 0)
    folder: Path = tmp_path_factory.mktemp("strange")
    audit = Audit(folder / "audit.jsonl")
    operations = Operations(open_project(None), audit, Jobs(folder / "jobs", folder, "", audit, frozenset({0})))
    patch.setattr("nfvbed.dashboard.chain.reading.Chains._ask", lambda *_: (_ for _ in ()).throw(UNREAD))
    patch.setattr("nfvbed.dashboard.starting.planning.Planner._ask", lambda *_: (1, "", "no"))
    found = []
    for more in ({"user_of": lambda scope: 0}, {"token": TOKEN}):
        access = Access(hosts=("localhost", "[::1]"), operate=True, **more)
        app = make_app(store, access, operations=operations)
        client = TestClient(app, base_url=HERE, raise_server_exceptions=False, follow_redirects=False)
        client.post("/login", data={"token": TOKEN}, headers={"origin": HERE})
        found.append(client)
    yield found
    patch.undo()


def assert_sound(answer) -> None:
    assert answer.status_code < 500 or answer.status_code == 503, answer.text[:300]
    assert answer.headers["x-content-type-options"] == "nosniff"


def asked(client: TestClient, method: str, path: str, headers: list[tuple[str, str]], body: bytes) -> None:
    """Send what httpx would not write: header values as bytes, the address as it is."""
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers]
    request = client.build_request(method, HERE + "/", headers=raw, content=body)
    where, _, query = path.partition("?")
    request.url = request.url.copy_with(raw_path=f"{where}?{query}".encode() if query else where.encode())
    assert_sound(client.send(request))


FORMS = ("/jobs", "/login", "/logout", "/api/jobs/deploy")


@pytest.mark.dashboard
@pytest.mark.parametrize("name", NAMES)
def test_no_value_of_a_header_is_a_fault(clients: list[TestClient], name: str):
    """Each header with each value; each value comes to each form, with some of the headers."""
    for client in clients:
        for number, value in enumerate(VALUES, NAMES.index(name)):
            asked(client, "GET", "/api/runs", [(name, value)], b"")
            asked(client, "POST", FORMS[number % len(FORMS)], [("origin", HERE), (name, value)], b"a=b")


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "PUT", "OPTIONS"])
def test_no_address_or_form_is_a_fault(clients: list[TestClient], method: str):
    for client in clients:
        for path in PATHS:
            asked(client, method, path, [("origin", HERE)], b"")
        for body in BODIES if method == "POST" else ():
            for kind in (
                "application/x-www-form-urlencoded",
                "application/json",
                "multipart/form-data; boundary=x",
                "x",
            ):
                for path in ("/login", "/jobs", "/chain/order", "/api/jobs/deploy", "/trend/acknowledge"):
                    asked(client, method, path, [("origin", HERE), ("content-type", kind)], body)


@pytest.mark.dashboard
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(("GET", "POST")),
    st.sampled_from(PATHS),
    st.lists(st.tuples(st.sampled_from(NAMES), st.one_of(TEXT, st.sampled_from(VALUES))), max_size=5),
    st.one_of(st.sampled_from(BODIES), st.binary(max_size=200)),
)
@example("GET", "/", [("origin", "http://[::1")], b"")
@example("POST", "/jobs", [("origin", "http://[::1")], b"")
def test_no_request_is_a_fault(clients: list[TestClient], method: str, path: str, headers, body: bytes):
    for client in clients:
        asked(client, method, path, headers, body)


@pytest.mark.parametrize("origin", ["http://[::1", "http://[", "http://]", "http://[::1]:x", "http://a:99999999", "//"])
def test_an_origin_that_cannot_be_read_is_another(clients: list[TestClient], origin: str):
    for client in clients:
        answer = client.post("/jobs", headers={"origin": origin}, data={"csrf": "x"})
        assert answer.status_code == 403 and "not come from a page" in re.sub(r"\s+", " ", answer.text)
