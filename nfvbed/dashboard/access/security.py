"""The checks before every request: the name of the host, who asks, where it comes from; and headers of answers."""

import asyncio
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.sessions import SessionMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nfvbed.dashboard.access import origin, peers
from nfvbed.dashboard.access.connections import client_at
from nfvbed.dashboard.access.keystone import IdentityService
from nfvbed.dashboard.access.slots import RequestQueue
from nfvbed.dashboard.answers import refused
from nfvbed.dashboard.audit import Audit, AuditSubject, Kind, Outcome
from nfvbed.dashboard.people.roles import CURRENT, READS, Requester, Role
from nfvbed.dashboard.people.sessions import LONGEST, Sessions, SignedInUser
from nfvbed.dashboard.problems import Problem, problem, problem_of
from nfvbed.dashboard.rendering import render
from nfvbed.errors import BusyError, StoreError

COOKIE: Final = "nfvbed-dashboard"
NUMBER: Final = "session"
WORD: Final = "word"
"""Keys of what the cookie holds: the session's number, and the word that forms of the browser send."""
LOGIN: Final = "/login"
LOGOUT: Final = "/logout"
MOST_TOKEN: Final = 4096
"""Bytes of the form with which a user signs in, which is short."""
MOST_BODY: Final = 64 * 1024
"""Bytes of any request's body."""
MOST_ASKING: Final = 4
"""People whose passwords Keystone is asked about at once; others wait."""
MOST_DIGITS: Final = 12
"""Digits of a request's length; a number of thousands of digits is none."""
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
"""Beginnings of paths that need no token."""
HEALTH: Final = "/healthz"
"""It needs none either: who watches the server asks, and learns no more than that it answers."""
METRICS: Final = "/metrics"


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
    keystone: IdentityService | None = None
    """Who knows an OpenStack's users; None: they cannot sign in."""
    operate: bool = False
    """Whether operators may change things. Without tokens these are who runs the server, and root, over loopback."""
    behind_proxy: bool = False
    """Whether all connections are a proxy's, whose clients are told from each other by who is signed in alone."""
    cookie: str = COOKIE
    """Name of the cookie; cookies do not know ports, so servers of one host have different ones."""
    user_of: Callable[[Scope], int | None] = peers.user_of
    """Function that returns the user id of the program that sent a request over loopback."""

    @property
    def is_open(self) -> bool:
        """Whether every client that reaches the address may read."""
        return self.token is None and self.viewer_token is None and self.keystone is None

    def role_of(self, token: str) -> Role | None:
        """Return what the owner of a token may do; None: it is no token."""
        operator = _same(token, self.token)
        viewer = _same(token, self.viewer_token)
        if operator:
            return Role.OPERATOR if self.operate else Role.VIEWER
        return Role.VIEWER if viewer else None


def _same(given: str, wanted: str | None) -> bool:
    return wanted is not None and hmac.compare_digest(given.encode(), wanted.encode())


class _NamedHosts:
    """Answers requests for the server's own names alone: Starlette's check, and what is wrong in our words."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def pass_on(scope: Scope, receive: Receive, _: Send) -> None:
            await self._app(scope, receive, send)

        async def refuse(message: Message) -> None:
            if message["type"] == "http.response.start":
                await refused(Request(scope), OTHER_NAME)(scope, receive, send)

        await TrustedHostMiddleware(pass_on, self._hosts, www_redirect=False)(scope, receive, refuse)


OTHER_NAME: Final = problem(
    400,
    "this server is not asked for by that name",
    observed="another Host header",
    fix="use the address that it printed, or name the host with --name",
)


class Guard:
    """Wraps the application, which is asked only by those who may.

    Args:
        audit: the log of who signs in and out; None: there is none.
    """

    def __init__(self, app: ASGIApp, access: Access, audit: Audit | None = None) -> None:
        self._app = app
        self._access = access
        self._audit = audit
        self._sessions = Sessions()
        self._asking = anyio.CapacityLimiter(MOST_ASKING)
        self._turns = RequestQueue()
        self._signing_in = RequestQueue()
        cookies = SessionMiddleware(
            self._ask,
            secrets.token_hex(32),
            access.cookie,
            max_age=None,  # Sessions end at the server.
            same_site="strict",
            https_only=access.secure,
        )
        self._entrance = _NamedHosts(cookies, access.hosts)

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

        await self._entrance(scope, receive, send_guarded)

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        asker = self._asker(request)
        before = CURRENT.set(asker)
        try:
            answer = await self._answer(request, asker)
            await (answer or self._in_turn(asker, self._client_of(request)))(scope, receive, send)
        except ClientDisconnect:
            return
        finally:
            CURRENT.reset(before)

    def _in_turn(self, asker: Requester | None, client: str) -> ASGIApp:
        """Return the application, for a request whose turn it is, until its answer is made."""

        async def answered(scope: Scope, receive: Receive, send: Send) -> None:
            operates = asker is not None and asker.operates
            try:
                end = await self._turns.take(asker.place if asker else client, operates=operates)
            except BusyError as error:
                await refused(Request(scope), problem_of(error))(scope, receive, send)
                return

            async def send_in_turn(message: Message) -> None:
                end()  # It is made: a reader may take its time, and events as long as they last.
                await send(message)

            try:
                await self._app(scope, receive, send_in_turn)
            finally:
                end()

        return answered

    async def _answer(self, request: Request, asker: Requester | None) -> Response | None:
        """Return the answer to a request that does not come through; None: it does."""
        if origin.embedded_elsewhere(request.headers):
            return refused(request, _not_own_page(request, "another site's page asks for it"))
        if request.method not in READS and (answer := _wrong_origin_or_size(request, asker)):
            return answer
        if request.url.path == LOGIN and not self._access.is_open:
            return await self._login(request)
        if request.url.path == LOGOUT and request.method == "POST" and asker is not None:
            self._sessions.end(_number_in(request))
            request.session.clear()
            await self._note(asker, "sign out", Outcome.DONE)
            return RedirectResponse(LOGIN, 303)
        if asker is not None or request.url.path == HEALTH or request.url.path.startswith(OPEN):
            return None
        if request.url.path == METRICS or request.url.path.startswith("/api/"):
            fix = "send the token of the token file as `Authorization: Bearer TOKEN`"
            return refused(request, problem(401, "a token is needed", fix=fix))
        return RedirectResponse(LOGIN, 303)

    def _asker(self, request: Request) -> Requester | None:
        """Return who asks; None: who has to sign in first."""
        access = self._access
        address = request.client.host if request.client else ""
        client = self._client_of(request)
        if access.is_open:
            user = access.user_of(request.scope) if access.operate else None
            role = Role.OPERATOR if peers.may_operate(user) else Role.VIEWER
            word = _word_of(request)
            return Requester(
                role=role, client=address, user=peers.name_of(user), csrf=word, operate=access.operate, place=client
            )
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            found = access.role_of(given.strip())
            if found is None:
                return None
            return Requester(role=found, client=address, bearer=True, operate=access.operate, place=client)
        number = _number_in(request)
        person = self._sessions.of(number)
        if person is None:
            return None
        return Requester(
            role=person.role if access.operate else Role.VIEWER,
            client=address,
            user=person.user,
            csrf=_word_of(request),
            signed_in=True,
            operate=access.operate,
            place=number if access.behind_proxy else client,
            may_go_on=lambda: self._sessions.of(number, use=False) is not None,
        )

    def _client_of(self, request: Request) -> str:
        """Return whose places a request takes; behind a proxy that is not known."""
        if self._access.behind_proxy:
            return ""
        known = request.scope.get("state", {}).get("client")
        if known is not None:
            return str(known)
        return client_at(request.client.host, None) if request.client else ""

    async def _login(self, request: Request) -> Response:
        if request.method != "POST":
            return self._login_page()
        try:
            end = await self._signing_in.take(self._client_of(request), operates=False)
            try:
                return await self._sign_in(request)
            finally:
                end()
        except (BusyError, StoreError) as error:
            return refused(request, problem_of(error))

    async def _sign_in(self, request: Request) -> Response:
        """Answer a form with which a user signs in.

        Raises:
            BusyError: Keystone does not answer.
            StoreError: the log cannot be written, so no user is signed in.
        """
        address = request.client.host if request.client else ""
        fields = await _fields_in(request)
        person = await self._person_of(fields)
        if person is None:
            await self._note(
                AuditSubject(role="nobody", client=address, user=fields.get("user", "")), "sign in", Outcome.REFUSED
            )
            await asyncio.sleep(WRONG_TOKEN_S)
            return self._login_page("token" if "token" in fields else "password")
        who = AuditSubject(role=person.role.value, client=address, user=person.user)
        await self._note(who, "sign in", Outcome.DONE)
        self._sessions.end(_number_in(request))
        request.session.clear()
        request.session[NUMBER] = self._sessions.add(person, self._client_of(request))
        return RedirectResponse("/", 303)

    async def _note(self, who: AuditSubject, action: str, outcome: Outcome) -> None:
        """Log who signs in or out; without a line no user is signed in, but every user is signed out.

        Raises:
            StoreError: the line of a user who signs in cannot be written.
        """
        if self._audit is None:
            return
        kind = Kind.REFUSAL if outcome is Outcome.REFUSED else Kind.SIGN_IN
        try:
            await anyio.to_thread.run_sync(lambda: self._audit and self._audit.write(who, action, outcome, kind=kind))
        except StoreError:
            if action == "sign in" and outcome is Outcome.DONE:
                raise

    def _login_page(self, wrong: str = "") -> Response:
        access = self._access
        ways = {"people": access.keystone is not None, "tokens": bool(access.token or access.viewer_token)}
        return HTMLResponse(render("login", title="Sign in", wrong=wrong, **ways), 401 if wrong else 200)

    async def _person_of(self, fields: Mapping[str, str]) -> SignedInUser | None:
        """Return who signs in; None: no user.

        Raises:
            BusyError: Keystone does not answer.
        """
        keystone = self._access.keystone
        role = self._access.role_of(fields.get("token", ""))
        if role is not None:
            return SignedInUser("", role, datetime.now(UTC) + LONGEST)
        if keystone is None or not fields.get("user") or not fields.get("password"):
            return None
        return await anyio.to_thread.run_sync(
            keystone.sign_in, fields["user"], fields["password"], limiter=self._asking
        )


def _number_in(request: Request) -> str:
    """Return the number of the browser's session; empty: it has none."""
    return str(request.session.get(NUMBER, ""))


def _word_of(request: Request) -> str:
    """Return the word that forms of this browser hold; it is drawn with the first page."""
    return str(request.session.setdefault(WORD, secrets.token_hex(16)))


def _not_own_page(request: Request, observed: str) -> Problem:
    what = "this request does not come from a page of this dashboard"
    fix = "send the page's own form; programs send `Authorization: Bearer TOKEN`"
    return problem(403, what, where=request.url.path, observed=observed, fix=fix)


def _wrong_origin_or_size(request: Request, asker: Requester | None) -> Response | None:
    """Return the answer to a request that changes something from elsewhere, or is too large."""
    if not (asker and asker.bearer) and not origin.from_own_page(request.headers):
        return refused(request, _not_own_page(request, "another Origin header, or none"))
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
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


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
