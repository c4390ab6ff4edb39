"""The audit log as a page and in the API, for operators."""

from fastapi import APIRouter
from starlette.responses import Response

from nfvbed.dashboard.answers import page
from nfvbed.dashboard.api import PROBLEMS
from nfvbed.dashboard.audit import Audit, Entry
from nfvbed.dashboard.roles import Operator
from nfvbed.records import Record

SHOWN = 200
"""Actions on the page and in an answer."""


class AuditAnswer(Record):
    """The newest actions, newest first."""

    file: str
    """Where all of them are."""
    entries: tuple[Entry, ...]


def auditing(audit: Audit) -> APIRouter:
    """Return the routes of the audit log."""
    router = APIRouter(responses=PROBLEMS)

    @router.get("/audit", include_in_schema=False)
    def show_audit(asker: Operator) -> Response:
        entries = audit.newest(SHOWN)
        return page("audit", "audit", export=False, title="Audit log", here="/audit", entries=entries, file=audit.path)

    @router.get("/api/audit")
    def get_audit(asker: Operator) -> AuditAnswer:
        return AuditAnswer(file=str(audit.path), entries=audit.newest(SHOWN))

    return router
