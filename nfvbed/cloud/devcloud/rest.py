"""The cloud's APIs, asked over HTTP as the administrator: what bringing it up takes, and no more."""

import json
import threading
import urllib.error
import urllib.request
from typing import Any

from nfvbed.cloud.devcloud.services.settings import LOOPBACK, PORTS
from nfvbed.errors import DeployError

_TIMEOUT_S = 60.0
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""The APIs are on this machine: a proxy that its user has set leads elsewhere."""


class ApiError(DeployError):
    """An API answered with an error, or not at all."""

    def __init__(self, what: str, status: int, observed: str) -> None:
        super().__init__(what, observed=observed, fix="nfvbed devcloud logs shows the service's log")
        self.status = status
        """Of HTTP; 0: no answer."""


class CloudApi:
    """Requests of one project's user; threads may share it."""

    def __init__(self, password: str, user: str = "admin", project: str = "admin") -> None:
        self._password = password
        self._user = user
        self._project = project
        self._token = ""
        self.project_id = ""
        self._lock = threading.Lock()

    def get(self, service: str, path: str) -> Any:
        """Return what is at a path of a service (`keystone`, `/v3/users`)."""
        return self.ask("GET", service, path)

    def post(self, service: str, path: str, body: object) -> Any:
        """Create something; return the answer."""
        return self.ask("POST", service, path, body)

    def put(self, service: str, path: str, body: object = None) -> Any:
        """Set something; return the answer."""
        return self.ask("PUT", service, path, body)

    def delete(self, service: str, path: str) -> Any:
        """Delete what is at a path."""
        return self.ask("DELETE", service, path)

    def ask(self, method: str, service: str, path: str, body: object = None) -> Any:
        """Send a request with a token.

        Raises:
            ApiError: it was refused, or nobody answered.
        """
        request = urllib.request.Request(_url(service, path), method=method)
        request.add_header("X-Auth-Token", self.token())
        if service == "tacker" and path.startswith("/vnflcm"):
            request.add_header("Version", "1.3.0")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        return _send(request)[0]

    def send_file(self, method: str, service: str, path: str, content: bytes, kind: str) -> Any:
        """Send bytes: an image, a package."""
        request = urllib.request.Request(_url(service, path), data=content, method=method)
        request.add_header("X-Auth-Token", self.token())
        request.add_header("Content-Type", kind)
        return _send(request)[0]

    def token(self) -> str:
        """Return a token, made when it is first asked for."""
        with self._lock:
            if not self._token:
                domain = {"name": "Default"}
                user = {"name": self._user, "domain": domain, "password": self._password}
                scope = {"project": {"name": self._project, "domain": domain}}
                identity = {"methods": ["password"], "password": {"user": user}}
                request = urllib.request.Request(_url("keystone", "/v3/auth/tokens"), method="POST")
                request.data = json.dumps({"auth": {"identity": identity, "scope": scope}}).encode()
                request.add_header("Content-Type", "application/json")
                answer, headers = _send(request)
                self._token = headers["X-Subject-Token"]
                self.project_id = answer["token"]["project"]["id"]
            return self._token


def answers(service: str, path: str = "/") -> bool:
    """Whether a service answers at all, with whatever status but an internal error."""
    try:
        _send(urllib.request.Request(_url(service, path)))
    except ApiError as failure:
        return 0 < failure.status < 500
    return True


def _url(service: str, path: str) -> str:
    return f"http://{LOOPBACK}:{PORTS[service]}{path}"


def _send(request: urllib.request.Request) -> tuple[Any, Any]:
    what = f"{request.get_method()} {request.full_url}"
    try:
        with _OPENER.open(request, timeout=_TIMEOUT_S) as answer:
            content, headers = answer.read(), answer.headers
    except urllib.error.HTTPError as failure:
        with failure:
            text = failure.read().decode(errors="replace")
        raise ApiError(f"{what} was refused", failure.code, f"status {failure.code}: {text[:600]}") from failure
    except OSError as failure:
        raise ApiError(f"{what} was not answered", 0, str(failure)) from failure
    is_json = "json" in (headers.get("Content-Type") or "")
    return (json.loads(content) if content and is_json else content), headers
