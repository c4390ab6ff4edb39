"""Errors as answers: problem+json (RFC 9457) for the API, a page for people."""

from typing import Final

from nfvbed.errors import (
    BusyError,
    ConfigurationError,
    DeployError,
    GeneratorError,
    NfvbedError,
    NotComparableError,
    OnboardError,
    StoreError,
    SwitchDiedError,
    UnsupportedError,
    UsageError,
    VnfDiedError,
)
from nfvbed.records import Record

MEDIA_TYPE: Final = "application/problem+json"


class NotThereError(UsageError):
    """A run, a variant, a cell or a figure that the store does not have."""


class ForbiddenError(UsageError):
    """Who asks may not, or the request does not come from a page of this dashboard."""


STATUSES: Final = (
    (NotThereError, 404),
    (ForbiddenError, 403),
    (UsageError, 400),
    (ConfigurationError, 400),
    (NotComparableError, 409),
    (UnsupportedError, 409),
    (BusyError, 503),
    (StoreError, 503),
    (DeployError, 502),
    (OnboardError, 502),
    (VnfDiedError, 502),
    (SwitchDiedError, 502),
    (GeneratorError, 502),
)
TITLES: Final = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Cannot be compared",
    411: "Bad request",
    413: "Too large",
    422: "Bad request",
    500: "Internal error",
    502: "The testbed failed",
    503: "Not available",
}


NOT_SUPPORTED: Final = "Not supported"
"""Title of what this host or site cannot do."""


class Problem(Record):
    """An error as an answer of the API (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    what: str
    where: str = ""
    observed: str = ""
    fix: str = ""


def problem_of(error: NfvbedError) -> Problem:
    """Return what an error says, with its HTTP status."""
    status = next((number for kind, number in STATUSES if isinstance(error, kind)), 500)
    return Problem(
        title=NOT_SUPPORTED if isinstance(error, UnsupportedError) else TITLES[status],
        status=status,
        what=error.what,
        where=error.where,
        observed=error.observed,
        fix=error.fix,
    )


def problem(status: int, what: str, *, where: str = "", observed: str = "", fix: str = "") -> Problem:
    """Return a problem that is no error of nfvbed's own."""
    return Problem(title=TITLES.get(status, "Error"), status=status, what=what, where=where, observed=observed, fix=fix)
