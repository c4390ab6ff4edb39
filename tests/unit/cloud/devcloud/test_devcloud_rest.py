"""The administrator's requests to a development cloud, with a double of its services on this machine."""

import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nfvbed.cloud.devcloud import rest

PASSWORD = "a-secret-of-the-cloud"
TOKEN = {"token": {"project": {"id": "p1", "name": "admin"}, "expires_at": "2099-01-01T00:00:00.000000Z"}}


class Cloud(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        self.seen = []
        self.tokens = 0
        self.answers = {}
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    def _any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path, self.headers, body))
        if self.path == "/v3/auth/tokens?nocatalog":
            user = json.loads(body)["auth"]["identity"]["password"]["user"]
            if user["password"] != PASSWORD:
                return self._say(401, {"error": {"message": "no", "code": 401}})
            self.server.tokens += 1
            return self._say(201, TOKEN, token=f"token-{self.server.tokens}")
        if self.path != "/" and self.headers["X-Auth-Token"] != f"token-{self.server.tokens}":
            return self._say(401, {"error": {"message": "an old token", "code": 401}})
        return self._say(*self.server.answers.get(self.path, (200, {"path": self.path})))

    do_GET = do_POST = do_PUT = do_DELETE = _any

    def _say(self, status, body, token="", kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind if not isinstance(body, bytes) else "text/plain")
        self.send_header("Content-Length", str(len(data)))
        if token:
            self.send_header("X-Subject-Token", token)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def cloud(monkeypatch):
    # As on machines of some users: what is asked on the loopback does not go there.
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with Cloud() as served:
        for service in ("keystone", "nova", "tacker", "glance"):
            monkeypatch.setitem(rest.PORTS, service, served.server_port)
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield served
        served.shutdown()


def test_one_token_serves_all_requests(cloud):
    api = rest.CloudApi(PASSWORD)
    assert api.get("nova", "/v2.1/flavors") == {"path": "/v2.1/flavors"}
    assert api.put("nova", "/v2.1/x", {"a": 1}) == {"path": "/v2.1/x"}
    assert api.project_id == "p1"
    assert cloud.tokens == 1
    method, _, headers, body = cloud.seen[-1]
    assert (method, json.loads(body), headers["Content-Type"]) == ("PUT", {"a": 1}, "application/json")
    scope = json.loads(cloud.seen[0][3])["auth"]["scope"]
    assert scope == {"project": {"name": "admin", "domain": {"name": "Default"}}}


def test_a_token_that_is_no_longer_good_is_made_again(cloud):
    api = rest.CloudApi(PASSWORD)
    api.get("nova", "/a")
    cloud.tokens += 1
    assert api.get("nova", "/b") == {"path": "/b"}


def test_a_refusal_has_its_status_and_the_begin_of_its_words(cloud):
    cloud.answers["/v3/users"] = (409, b"there " + b"x" * 5000)
    with pytest.raises(rest.ApiError, match="POST http://127.0.0.1:[0-9]+/v3/users was refused") as caught:
        rest.CloudApi(PASSWORD).post("keystone", "/v3/users", {})
    assert caught.value.status == 409
    assert caught.value.observed.startswith("status 409: there x") and len(caught.value.observed) < 700


def test_a_password_that_is_wrong_is_a_refusal(cloud):
    with pytest.raises(rest.ApiError) as caught:
        rest.CloudApi("wrong").get("nova", "/a")
    assert caught.value.status == 401
    with pytest.raises(rest.ApiError):
        _ = rest.CloudApi("wrong").project_id


def test_nobody_answers(cloud):
    cloud.shutdown()
    cloud.server_close()
    with pytest.raises(rest.ApiError) as caught:
        rest.CloudApi(PASSWORD).get("nova", "/a")
    assert caught.value.status == 0
    assert not rest.answers("nova")


@pytest.mark.parametrize(
    ("status", "there"), [(200, True), (300, True), (302, True), (401, True), (404, True), (503, False)]
)
def test_whether_a_service_answers(cloud, status, there):
    cloud.answers["/"] = (status, {})
    assert rest.answers("nova") is there
    assert cloud.tokens == 0, "nobody signs in for that"


def test_bytes_are_sent_as_they_are_and_come_back_so(cloud):
    cloud.answers["/v2/images/1/file"] = (200, b"as it is")
    content = bytes(range(256))
    sent = rest.CloudApi(PASSWORD).send_file("PUT", "glance", "/v2/images/1/file", content, "application/octet-stream")
    assert sent == b"as it is"
    assert (cloud.seen[-1][3], cloud.seen[-1][2]["Content-Type"]) == (content, "application/octet-stream")


def test_the_version_of_tackers_life_cycle_is_named(cloud):
    api = rest.CloudApi(PASSWORD)
    api.get("tacker", "/vnflcm/v1/vnf_instances")
    assert cloud.seen[-1][2]["Version"] == "1.3.0"
    api.get("tacker", "/v1.0/vims")
    assert "Version" not in cloud.seen[-1][2]


def test_passwords_are_in_no_log(cloud, caplog):
    with caplog.at_level(logging.DEBUG):
        rest.CloudApi(PASSWORD).post("keystone", "/v3/users", {"user": {"password": "of-a-service"}})
    assert PASSWORD not in caplog.text and "of-a-service" not in caplog.text and "token-1" not in caplog.text
