"""What is before every request: the name of the host, a token where one is asked for, and headers of answers."""

import asyncio
import hashlib
import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nfvbed.dashboard.answers import refused
from nfvbed.dashboard.problems import problem
from nfvbed.dashboard.rendering import render

COOKIE: Final = "nfvbed-dashboard"
LOGIN: Final = "/login"
MOST_BODY: Final = 4096
"""Bytes of a form: a token is short."""
WRONG_TOKEN_S: Final = 0.5
"""How long an answer to a wrong token takes."""
POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
OPEN: Final = ("/static/",)
"""Paths that need no token."""


@dataclass(frozen=True)
class Access:
    """Who may ask."""

    hosts: tuple[str, ...]
    """Names by which the server may be asked for, without ports: a page of another name could read it otherwise."""
    token: str | None = None
    """None: whoever reaches the address may read."""
    secure: bool = False
    """Whether browsers reach it over TLS."""

    @property
    def session(self) -> str:
        """What the cookie holds: made from the token, which itself is not given to browsers."""
        return hmac.new((self.token or "").encode(), b"nfvbed dashboard session", hashlib.sha256).hexdigest()


class Guard:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        answer = await self._answer(scope, receive)
        await (answer or self._app)(scope, receive, send_guarded)

    async def _answer(self, scope: Scope, receive: Receive) -> Response | None:
        """Return the answer to a request that does not come through; None: it does."""
        request = Request(scope, receive)
        if _name(request.headers.get("host", "")) not in self._access.hosts:
            what = "this server is not asked for by that name"
            fix = "use the address that it printed, or name the host with --name"
            return refused(request, problem(400, what, observed="another Host header", fix=fix))
        if self._access.token is None or request.url.path.startswith(OPEN):
            return None
        if request.url.path == LOGIN:
            return await self._login(request)
        if self._known(request.headers):
            return None
        if request.url.path.startswith("/api/"):
            fix = "send the token of the token file as `Authorization: Bearer TOKEN`"
            return refused(request, problem(401, "a token is needed", fix=fix))
        return RedirectResponse(LOGIN, 303)

    def _known(self, headers: Headers) -> bool:
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._is_token(token.strip())
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self._access.session.encode())

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self._access.token or "").encode())

    async def _login(self, request: Request) -> Response:
        if request.method != "POST":
            return HTMLResponse(render("login", title="Sign in", wrong=False))
        token = await _token_in(request)
        if not self._is_token(token):
            await asyncio.sleep(WRONG_TOKEN_S)
            return HTMLResponse(render("login", title="Sign in", wrong=True), 401)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            COOKIE, self._access.session, httponly=True, samesite="strict", secure=self._access.secure, path="/"
        )
        return answer


def _name(host: str) -> str:
    """Return the name of a Host header without its port, in lower case."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


async def _token_in(request: Request) -> str:
    """Return the token of a form; empty where the form is too long or has none."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY:
            return ""
    return next(iter(parse_qs(body.decode("latin-1")).get("token", [])), "")
