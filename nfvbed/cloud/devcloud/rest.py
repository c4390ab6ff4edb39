"""The cloud's APIs over HTTP, as the administrator: only what starting the cloud needs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from keystoneauth1 import exceptions
from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session

from nfvbed.cloud.devcloud.services.settings import LOOPBACK, PORTS
from nfvbed.errors import DeployError

_TIMEOUT_S = 60.0


class ApiError(DeployError):
    """An API answered with an error, or not at all."""

    def __init__(self, what: str, status: int, observed: str) -> None:
        super().__init__(what, observed=observed, fix="nfvbed devcloud logs shows the service's log")
        self.status = status
        """Status of HTTP; 0: no answer."""


class CloudApi:
    """Requests as the user of one project; threads may share it."""

    def __init__(self, password: str, user: str = "admin", project: str = "admin") -> None:
        self._session = _session(
            Password(
                auth_url=_url("keystone", "/v3"),
                username=user,
                password=password,
                user_domain_name="Default",
                project_name=project,
                project_domain_name="Default",
                include_catalog=False,
            )
        )

    @property
    def project_id(self) -> str:
        """The id of the user's project, from Keystone.

        Raises:
            ApiError: Keystone rejects the user, or does not answer.
        """
        with _told("GET", _url("keystone", "/v3")):
            return str(self._session.get_project_id())

    def get(self, service: str, path: str) -> Any:
        """Return what is at a path of a service (`keystone`, `/v3/users`)."""
        return self.ask("GET", service, path)

    def post(self, service: str, path: str, body: object) -> Any:
        """Create something; return the answer."""
        return self.ask("POST", service, path, body)

    def put(self, service: str, path: str, body: object = None) -> Any:
        """Put something; return the answer."""
        return self.ask("PUT", service, path, body)

    def delete(self, service: str, path: str) -> Any:
        """Delete what is at a path."""
        return self.ask("DELETE", service, path)

    def ask(self, method: str, service: str, path: str, body: object = None) -> Any:
        """Send a request with a token.

        Raises:
            ApiError: it was refused, or there was no answer.
        """
        headers = {"Version": "1.3.0"} if service == "tacker" and path.startswith("/vnflcm") else {}
        return _send(self._session, method, _url(service, path), headers, json=body)

    def send_file(self, method: str, service: str, path: str, content: bytes, kind: str) -> Any:
        """Send bytes: an image, a package."""
        return _send(self._session, method, _url(service, path), {"Content-Type": kind}, data=content)


def answers(service: str, path: str = "/") -> bool:
    """Return whether a service answers, with any status but an internal error."""
    try:
        _send(_session(), "GET", _url(service, path), {})
    except ApiError as failure:
        return 0 < failure.status < 500
    return True


def _session(user: Password | None = None) -> Session:
    made = Session(auth=user, timeout=_TIMEOUT_S)
    # The APIs are on this machine: a proxy that its user has set leads elsewhere.
    made.session.trust_env = False
    # Services are restarted meanwhile: each request has a connection of its own.
    made.session.headers["Connection"] = "close"
    return made


def _url(service: str, path: str) -> str:
    return f"http://{LOOPBACK}:{PORTS[service]}{path}"


def _send(session: Session, method: str, url: str, headers: Mapping[str, str], **content: Any) -> Any:
    """Return the answer: parsed where it is JSON, else its bytes."""
    with _told(method, url):
        # Bodies have passwords of services: nothing is logged.
        answer = session.request(
            url, method, headers=dict(headers), log=False, redirect=False, raise_exc=False, **content
        )
    if not 200 <= answer.status_code < 300:
        raise _refused(method, url, answer.status_code, answer.text)
    is_json = "json" in answer.headers.get("Content-Type", "")
    return answer.json() if answer.content and is_json else answer.content


@contextmanager
def _told(method: str, url: str) -> Iterator[None]:
    """Turn errors of requests, and of getting a token, into nfvbed's own."""
    try:
        yield
    except exceptions.HttpError as failure:
        raise _refused(method, url, failure.http_status, str(failure)) from failure
    except exceptions.ClientException as failure:
        raise ApiError(f"{method} {url} was not answered", 0, str(failure)) from failure


def _refused(method: str, url: str, status: int, text: str) -> ApiError:
    return ApiError(f"{method} {url} was refused", status, f"status {status}: {text[:600]}")
