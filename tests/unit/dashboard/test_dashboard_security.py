"""Who may ask, under which name, where the dashboard listens, and what headers say."""

import pytest
from starlette.testclient import TestClient

from nfvbed.dashboard.access.connections import Listener
from nfvbed.dashboard.access.security import COOKIE, Access
from nfvbed.dashboard.access.serveroptions import ServerOptions, access_of, bind, server_of
from nfvbed.dashboard.app import make_app
from nfvbed.errors import BusyError, ConfigurationError, UsageError
from nfvbed.store import Store

TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.fixture(name="guarded")
def _guarded(store: Store) -> TestClient:
    app = make_app(store, Access(hosts=("localhost",), token=TOKEN, secure=True))
    headers = {"origin": "https://localhost"}
    return TestClient(app, base_url="https://localhost", follow_redirects=False, headers=headers)


@pytest.mark.parametrize("address", ["/", "/api/runs", "/static/dashboard.css", "/nothing"])
def test_every_answer_has_the_headers(client: TestClient, address: str):
    headers = client.get(address).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == ("no-cache" if address.startswith("/static") else "no-store")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "", "localhost.evil.example", "[::2]:80"])
def test_another_name_is_refused(client: TestClient, host: str):
    answer = client.get("/api/runs", headers={"host": host})
    assert answer.status_code == 400 and answer.json()["what"].startswith("this server is not asked for")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234"])
def test_its_own_name_is_not(client: TestClient, host: str):
    assert client.get("/api/runs", headers={"host": host}).status_code == 200


def test_without_the_token_nothing_is_shown(guarded: TestClient):
    assert guarded.get("/api/runs").status_code == 401
    assert guarded.get("/api/runs", headers={"authorization": f"Bearer {TOKEN}x"}).status_code == 401
    assert guarded.get("/api/openapi.json").status_code == 401
    page = guarded.get("/runs")
    assert page.status_code == 303 and page.headers["location"] == "/login"
    assert guarded.get("/static/dashboard.css").status_code == 200
    assert guarded.get("/api/runs", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_signing_in_sets_a_cookie_that_is_not_the_token(guarded: TestClient, monkeypatch):
    monkeypatch.setattr("nfvbed.dashboard.access.security.WRONG_TOKEN_S", 0)
    assert 'type="password"' in guarded.get("/login").text
    assert guarded.post("/login", data={"token": "wrong"}).status_code == 401
    assert guarded.post("/login", content=b"token=" + b"x" * 10_000).status_code == 401
    assert guarded.get("/runs").status_code == 303
    answer = guarded.post("/login", data={"token": TOKEN})
    cookie = next(text for text in answer.headers.get_list("set-cookie") if text.startswith(f"{COOKIE}="))
    assert answer.status_code == 303 and TOKEN not in cookie
    assert all(word in cookie for word in ("httponly", "samesite=strict", "secure", COOKIE))
    assert guarded.get("/runs").status_code == 200


def test_a_wrong_cookie_is_none(guarded: TestClient):
    for value in ("x", TOKEN, ""):
        assert guarded.get("/runs", headers={"cookie": f"{COOKIE}={value}"}).status_code == 303


def written(tmp_path, text: str = TOKEN, mode: int = 0o600):
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
def test_other_addresses_need_tls_or_a_proxy_and_a_token(tmp_path, host: str):
    token = written(tmp_path)
    with pytest.raises(UsageError, match="without TLS"):
        access_of(ServerOptions(host=host, token_file=token))
    with pytest.raises(UsageError, match="without a token"):
        access_of(ServerOptions(host=host, behind_proxy=True))
    found = access_of(ServerOptions(host=host, behind_proxy=True, token_file=token, names=("Bench.Example",)))
    assert found.token == TOKEN and found.secure and "bench.example" in found.hosts
    assert access_of(ServerOptions(host=host, tls=(token, token), token_file=token)).secure


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_needs_nothing(host: str):
    assert access_of(ServerOptions(host=host)).token is None


def test_a_token_file_that_others_can_read_or_guess_is_refused(tmp_path):
    for text, mode, said in (
        (TOKEN, 0o644, "others may read"),
        ("short", 0o600, "no token"),
        ("a b" * 9, 0o600, "no token"),
    ):
        with pytest.raises(ConfigurationError, match=said):
            access_of(ServerOptions(token_file=written(tmp_path, text, mode)))
    with pytest.raises(ConfigurationError, match="cannot be read"):
        access_of(ServerOptions(token_file=tmp_path / "none"))


def test_a_free_port_is_found_and_printed_and_a_used_one_is_refused():
    bound, address = bind(ServerOptions())
    with bound:
        port = bound.getsockname()[1]
        assert address == f"http://127.0.0.1:{port}/" and port > 0
        bound.listen()
        with pytest.raises(BusyError, match="cannot listen"):
            bind(ServerOptions(port=port))


def test_a_certificate_that_is_none_is_refused(tmp_path, store: Store):
    wrong = written(tmp_path, "no certificate")
    for pair in ((wrong, wrong), (tmp_path / "none", wrong)):
        with pytest.raises(ConfigurationError, match="certificate"):
            server_of(make_app(store, Access(hosts=())), ServerOptions(tls=pair), Listener())


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(ConfigurationError, match="cannot listen"):
        bind(ServerOptions(host="192.0.2.1"))


@pytest.mark.parametrize(("host", "status"), [("[::1]:8080", 200), ("[::1]", 200), ("[::1", 400), ("::1", 400)])
def test_names_may_be_addresses(store: Store, host: str, status: int):
    client = TestClient(make_app(store, Access(hosts=access_of(ServerOptions(host="::1")).hosts)))
    answer = client.get("/api/runs", headers={"host": host})
    assert answer.status_code == status and answer.headers["content-type"].startswith("application/")
