"""Who asks, and what they may: viewers read, operators change things too.

A route that changes something, or shows what only operators may see, has a parameter `asker: Operator`.
"""

import hmac
from collections.abc import Callable
from contextvars import ContextVar
from enum import StrEnum
from typing import Annotated, Final
from urllib.parse import parse_qs

from fastapi import Depends
from starlette.requests import Request

from nfvbed.dashboard.audit import Audit, AuditSubject
from nfvbed.dashboard.problems import ForbiddenError

CSRF_HEADER: Final = "x-csrf-token"
"""Header with the CSRF token in requests that scripts of a page send."""
CSRF_FIELD: Final = "csrf"
"""Field with the CSRF token in a form: `{{ asker.csrf }}`."""
READS: Final = ("GET", "HEAD")


class Role(StrEnum):
    """What a user may do."""

    VIEWER = "viewer"
    OPERATOR = "operator"


class Requester(AuditSubject):
    """Who sent a request."""

    role: Role = Role.VIEWER
    csrf: str = ""
    """What a form of a page that is shown now must hold; a secret of this browser's session."""
    bearer: bool = False
    """Whether the request has its token with it, which no browser adds by itself."""
    signed_in: bool = False
    """Whether this browser has a session, which can be ended."""
    operate: bool = False
    """Whether this dashboard was started to change things."""
    place: str = ""
    """Whose places its requests take; empty: not known."""
    may_go_on: Callable[[], bool] = lambda: True
    """Whether they are still signed in, for an answer that lasts."""

    @property
    def who(self) -> AuditSubject:
        """The part of this that the audit log has."""
        return AuditSubject(role=self.role.value, client=self.client, user=self.user)

    @property
    def operates(self) -> bool:
        """Whether they may change things."""
        return self.role is Role.OPERATOR


CURRENT: ContextVar[Requester | None] = ContextVar("asker of the request that is answered", default=None)
"""Set before every request; every page shows by it what there is to do."""


def current() -> Requester:
    """Return who sent the request that is being answered; outside of one, a viewer."""
    return CURRENT.get() or Requester()


async def _operator(request: Request) -> Requester:
    """Return the operator who asks.

    Raises:
        ForbiddenError: the user may not operate, or the request does not come from a page of this dashboard.
    """
    asker = current()
    try:
        _require_operator(asker, request.url.path)
        if request.method not in READS and not asker.bearer:
            _require_own_page(asker, await _csrf_of(request), request.url.path)
    except ForbiddenError as error:
        audit = getattr(request.app.state, "audit", None)
        if isinstance(audit, Audit):
            audit.refuse(asker, f"{request.method} {request.url.path}", f"{error.what}: {error.observed}")
        raise
    return asker


def _require_operator(asker: Requester, where: str) -> None:
    if asker.operates:
        return
    if not asker.operate:
        raise ForbiddenError(
            "this dashboard only reads",
            where=where,
            observed="it was started without --operate",
            fix="start it with nfvbed dashboard --operate, in the project's folder",
        )
    raise ForbiddenError(
        "only operators may do that",
        where=where,
        observed=f"role {asker.role}{f', user {asker.user}' if asker.user else ''}",
        fix="sign in with the token of --token-file, or as a user with the operators' role; without either, ask as the "
        "user that runs the dashboard",
    )


def _require_own_page(asker: Requester, given: str, where: str) -> None:
    if asker.csrf and hmac.compare_digest(given.encode(), asker.csrf.encode()):
        return
    raise ForbiddenError(
        "this request does not come from a page of this dashboard",
        where=where,
        observed="its CSRF token is another" if given else "it has no CSRF token",
        fix="load the page again and send its form once more; programs send `Authorization: Bearer TOKEN`",
    )


async def _csrf_of(request: Request) -> str:
    return request.headers.get(CSRF_HEADER) or (await fields_of(request)).get(CSRF_FIELD, [""])[0]


async def fields_of(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form; the body is bounded before any route is asked.

    Raises:
        ForbiddenError: there are too many fields.
    """
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return {}
    body = await request.body()
    try:
        return parse_qs(body.decode("utf-8"), max_num_fields=200, keep_blank_values=True)
    except (UnicodeDecodeError, ValueError) as error:
        raise ForbiddenError("this form cannot be read", observed=str(error), fix="send the page's own form") from error


Operator = Annotated[Requester, Depends(_operator)]
"""Requester of a route for operators alone; where the route changes something, the request has to come from a page of
the dashboard."""
Fields = Annotated[dict[str, list[str]], Depends(fields_of)]
"""Fields of the form that a route takes."""
