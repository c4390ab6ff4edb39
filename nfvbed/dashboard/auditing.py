"""The audit log as a page and in the API, for operators."""

from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from nfvbed.dashboard.answers import page
from nfvbed.dashboard.api import PROBLEMS
from nfvbed.dashboard.audit import Audit, Entry, Kind
from nfvbed.dashboard.people.roles import Operator
from nfvbed.dashboard.results.parameters import Numbered, Page, Pages, pages_of, part_of
from nfvbed.records import Record

KINDS: Final = {Kind.ACT: "Acts", Kind.REFUSAL: "Refusals", Kind.SIGN_IN: "Sign-ins"}
KindAsked = Annotated[Kind, Query(description="what operators asked for, what was refused, or who signed in and out")]


class AuditAnswer(Record):
    """Some of the actions of a kind, newest first."""

    kind: Kind
    pages: Pages
    file: str
    """Where they are."""
    entries: tuple[Entry, ...]


def auditing(audit: Audit) -> APIRouter:
    """Return the routes of the audit log."""
    router = APIRouter(responses=PROBLEMS)

    def some(kind: Kind, number: int) -> AuditAnswer:
        part = part_of(number)
        found = audit.some(kind, part.offset, part.limit)
        pages = pages_of(number, found.count)
        return AuditAnswer(kind=kind, pages=pages, file=str(audit.file(kind)), entries=found.entries)

    @router.get("/audit", include_in_schema=False)
    def show_audit(asker: Operator, kind: KindAsked = Kind.ACT, number: Numbered = 1) -> Response:
        found = some(kind, number)
        return page("audit", "audit", export=False, title="Audit log", here="/audit", found=found, kinds=KINDS)

    @router.get("/api/audit")
    def get_audit(asker: Operator, kind: KindAsked = Kind.ACT, page: Page = 1) -> AuditAnswer:
        return some(kind, page)

    return router
