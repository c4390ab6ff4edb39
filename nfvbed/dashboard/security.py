"""What is before every request: the name of the host, who asks, where it comes from, and headers of answers."""

import asyncio
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nfvbed.dashboard import csrf, peers
from nfvbed.dashboard.answers import refused
from nfvbed.dashboard.keystone import Sessions, SignsIn
from nfvbed.dashboard.problems import problem, problem_of
from nfvbed.dashboard.rendering import render
from nfvbed.dashboard.roles import CURRENT, READS, Asker, Role
from nfvbed.errors import BusyError

COOKIE: Final = "nfvbed-dashboard"
LOGIN: Final = "/login"
LOGOUT: Final = "/logout"
MOST_TOKEN: Final = 4096
"""Bytes of the form with which somebody signs in, which is short."""
MOST_BODY: Final = 64 * 1024
"""Bytes of any request's body."""
MOST_ASKING: Final = 4
"""People whose passwords Keystone is asked about at once; others wait."""
WRONG_TOKEN_S: Final = 0.5
"""How long an answer to a wrong token takes."""
POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    # With `no-referrer` a browser would send `Origin: null` with the dashboard's own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
OPEN: Final = ("/static/",)
"""Paths that need no token."""


@dataclass(frozen=True)
class Access:
    """Who may ask for what."""

    hosts: tuple[str, ...]
    """Names by which the server may be asked for, without ports: a page of another name could read it otherwise."""
    token: str | None = None
    """An operator's, or a viewer's where nothing can be changed."""
    secure: bool = False
    """Whether browsers reach it over TLS."""
    viewer_token: str | None = None
    keystone: SignsIn | None = None
    """Who knows an OpenStack's users; None: they cannot sign in."""
    operate: bool = False
    """Whether operators may change things. Without tokens these are who runs the server, and root, over loopback."""
    user_of: Callable[[Scope], int | None] = peers.user_of
    """Of a request over loopback: the user id of the program that sent it."""

    @property
    def is_open(self) -> bool:
        """Whether whoever reaches the address may read."""
        return self.token is None and self.viewer_token is None and self.keystone is None

    def role_of(self, token: str) -> Role | None:
        """Return what the owner of a token may do; None: it is no token."""
        operator = _same(token, self.token)
        viewer = _same(token, self.viewer_token)
        if operator:
            return Role.OPERATOR if self.operate else Role.VIEWER
        return Role.VIEWER if viewer else None

    def role_of_session(self, value: str) -> Role | None:
        """Return the same of a cookie."""
        tokens = [token for token in (self.token, self.viewer_token) if token is not None]
        return next((self.role_of(token) for token in tokens if _same(value, session_of(token))), None)


def session_of(token: str) -> str:
    """Return what the cookie holds: made from the token, which itself is not given to browsers."""
    return hmac.new(token.encode(), b"nfvbed dashboard session", hashlib.sha256).hexdigest()


def _same(given: str, wanted: str | None) -> bool:
    return wanted is not None and hmac.compare_digest(given.encode(), wanted.encode())


class Guard:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._signer = csrf.Signer()
        self._sessions = Sessions()
        self._asking = anyio.CapacityLimiter(MOST_ASKING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        browser = csrf.cookie_of(request.headers, csrf.COOKIE)
        known = len(browser) == csrf.LENGTH
        browser = browser if known else csrf.new_cookie()

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
                if not known:
                    secure = "; Secure" if self._access.secure else ""
                    headers.append("set-cookie", f"{csrf.COOKIE}={browser}; HttpOnly; Path=/; SameSite=strict{secure}")
            await send(message)

        asker = self._asker(request, browser)
        before = CURRENT.set(asker)
        try:
            answer = await self._answer(request, asker)
            await (answer or self._app)(scope, receive, send_guarded)
        finally:
            CURRENT.reset(before)

    async def _answer(self, request: Request, asker: Asker | None) -> Response | None:
        """Return the answer to a request that does not come through; None: it does."""
        if _name(request.headers.get("host", "")) not in self._access.hosts:
            what = "this server is not asked for by that name"
            fix = "use the address that it printed, or name the host with --name"
            return refused(request, problem(400, what, observed="another Host header", fix=fix))
        if request.method not in READS and (answer := _wrong_origin_or_size(request, asker)):
            return answer
        if request.url.path == LOGIN and not self._access.is_open:
            return await self._login(request)
        if request.url.path == LOGOUT and request.method == "POST" and asker is not None:
            self._sessions.end(csrf.cookie_of(request.headers, COOKIE))
            answer = RedirectResponse(LOGIN, 303)
            answer.delete_cookie(COOKIE, path="/")
            return answer
        if asker is not None or request.url.path.startswith(OPEN):
            return None
        if request.url.path.startswith("/api/"):
            fix = "send the token of the token file as `Authorization: Bearer TOKEN`"
            return refused(request, problem(401, "a token is needed", fix=fix))
        return RedirectResponse(LOGIN, 303)

    def _asker(self, request: Request, browser: str) -> Asker | None:
        """Return who asks; None: who has to sign in first."""
        access = self._access
        client = request.client.host if request.client else ""
        if access.is_open:
            user = access.user_of(request.scope) if access.operate else None
            role = Role.OPERATOR if peers.may_operate(user) else Role.VIEWER
            signature = self._signer.signature(browser, "")
            return Asker(role=role, client=client, user=peers.name_of(user), csrf=signature, operate=access.operate)
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        bearer = kind.lower() == "bearer"
        session = csrf.cookie_of(request.headers, COOKIE)
        person = None if bearer else self._sessions.of(session)
        found = access.role_of(given.strip()) if bearer else access.role_of_session(session)
        if person is not None:
            found = person.role if access.operate else Role.VIEWER
        if found is None:
            return None
        signature = self._signer.signature(browser, session)
        return Asker(
            role=found,
            client=client,
            user=person.user if person else "",
            csrf=signature,
            bearer=bearer,
            signed_in=not bearer,
            operate=access.operate,
        )

    async def _login(self, request: Request) -> Response:
        if request.method != "POST":
            return self._login_page()
        fields = await _fields_in(request)
        try:
            session = await self._session_for(fields)
        except BusyError as error:
            return refused(request, problem_of(error))
        if session is None:
            await asyncio.sleep(WRONG_TOKEN_S)
            return self._login_page("token" if "token" in fields else "password")
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=self._access.secure, path="/")
        return answer

    def _login_page(self, wrong: str = "") -> Response:
        access = self._access
        ways = {"people": access.keystone is not None, "tokens": bool(access.token or access.viewer_token)}
        return HTMLResponse(render("login", title="Sign in", wrong=wrong, **ways), 401 if wrong else 200)

    async def _session_for(self, fields: Mapping[str, str]) -> str | None:
        """Return the value of a cookie for who signs in; None: it is nobody.

        Raises:
            BusyError: Keystone does not answer.
        """
        token, keystone = fields.get("token", ""), self._access.keystone
        if self._access.role_of(token) is not None:
            return session_of(token)
        if keystone is None or not fields.get("user") or not fields.get("password"):
            return None
        person = await anyio.to_thread.run_sync(
            keystone.sign_in, fields["user"], fields["password"], limiter=self._asking
        )
        return self._sessions.add(person) if person else None


def _wrong_origin_or_size(request: Request, asker: Asker | None) -> Response | None:
    """Return the answer to a request that changes something from elsewhere, or is too large."""
    if not (asker and asker.bearer) and not csrf.from_own_page(request.headers):
        what = "this request does not come from a page of this dashboard"
        observed = "another Origin header, or none"
        fix = "send the page's own form; programs send `Authorization: Bearer TOKEN`"
        return refused(request, problem(403, what, where=request.url.path, observed=observed, fix=fix))
    length = _length(request.headers)
    if length is None:
        what = "a request that changes something says how long it is"
        return refused(request, problem(411, what, where=request.url.path, fix="send Content-Length"))
    if length > MOST_BODY:
        observed = f"{length} bytes"
        what = f"a request has at most {MOST_BODY} bytes"
        return refused(request, problem(413, what, where=request.url.path, observed=observed, fix="send less"))
    return None


def _length(headers: Headers) -> int | None:
    """Return the length of a body, which the server holds senders to; None: it is not said."""
    if "transfer-encoding" in headers:
        return None
    text = headers.get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() else None


def _name(host: str) -> str:
    """Return the name of a Host header without its port, in lower case."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


async def _fields_in(request: Request) -> dict[str, str]:
    """Return the fields of the form; none where it is too long or no form."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_TOKEN:
            return {}
    try:
        return {name: values[0] for name, values in parse_qs(body.decode(), max_num_fields=10).items()}
    except ValueError:
        return {}
