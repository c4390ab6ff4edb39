"""What operators say of a step that is known: a reason, and until when."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from pydantic import ConfigDict, StringConstraints
from starlette.responses import RedirectResponse, Response

from nfvbed.characters import unfit
from nfvbed.dashboard.api import PROBLEMS
from nfvbed.dashboard.audit import Audit
from nfvbed.dashboard.evidence.trend import Trends, moment
from nfvbed.dashboard.people.roles import Fields, Operator, Requester
from nfvbed.dashboard.problems import NotThereError
from nfvbed.errors import UsageError
from nfvbed.records import Record
from nfvbed.records.acknowledgements import Acknowledgement

LONGEST_REASON: Final = 500
LONGEST_DAYS: Final = 366
"""A step that is known for longer is looked at again all the same."""
DEFAULT_DAYS: Final = 30

Text = Annotated[str, StringConstraints(max_length=2000)]


class AcknowledgementBody(Record):
    """The acknowledgement of a step, as it is posted."""

    # FastAPI warns of the body's name where its model is not built yet.
    model_config = ConfigDict(defer_build=False)

    setting: Text
    run: Text
    """The first run after the step."""
    reason: Text
    expires: Text
    """The first day on which it is reported again, UTC: YYYY-MM-DD."""


def acknowledging(trends: Trends, audit: Audit) -> APIRouter:
    """Return the routes that acknowledge a step: of the page's form, and of the API."""
    router = APIRouter(responses=PROBLEMS)

    @router.post("/trend/acknowledge", include_in_schema=False)
    def send_form(asker: Operator, fields: Fields) -> Response:
        given = {name: fields.get(name, [""])[0] for name in AcknowledgementBody.model_fields}
        word = AcknowledgementBody(**{name: text[: LONGEST_REASON * 2] for name, text in given.items()})
        entry = _said(trends, audit, asker, word)
        return RedirectResponse(f"/trend?{urlencode({'setting': entry.setting})}#steps", 303)

    @router.post("/api/trend/acknowledgements", status_code=201)
    def post_acknowledgement(asker: Operator, word: AcknowledgementBody) -> Acknowledgement:
        return _said(trends, audit, asker, word)

    return router


def _said(trends: Trends, audit: Audit, asker: Requester, word: AcknowledgementBody) -> Acknowledgement:
    now = trends.now()
    with audit.action(asker, "acknowledge a step", f"{word.setting}, run {word.run}, until {word.expires}"):
        reason = _reason(word.reason)
        expires = _expiry(word.expires, now)
        _require_step(trends, word)
        entry = Acknowledgement(
            setting=word.setting,
            run=word.run,
            reason=reason,
            by=(asker.user or f"operator at {asker.client}")[:120],
            at=moment(now),
            expires_at=moment(expires),
        )
        trends.store.acknowledge(entry)
    return entry


def _reason(text: str) -> str:
    reason = " ".join(text.split())
    if not reason or len(reason) > LONGEST_REASON:
        raise UsageError(
            "a step is acknowledged with a reason",
            where="reason",
            observed=f"{len(reason)} characters",
            fix=f"say in 1 to {LONGEST_REASON} characters what is known of it",
        )
    if character := unfit(reason):
        raise UsageError(
            "a reason has no such character", where="reason", observed=character, fix="leave this character out"
        )
    return reason


def _expiry(text: str, now: datetime) -> datetime:
    """Return when an acknowledged step is reported again.

    Raises:
        UsageError: the text is no date, or the date is past or too far away.
    """
    first, last = (now.astimezone(UTC).date() + timedelta(days=days) for days in (1, LONGEST_DAYS))
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        day = None
    if day is None or not first <= day <= last:
        raise UsageError(
            "an acknowledgement ends on a day to come",
            where="expires",
            observed=text[:40] or "nothing",
            fix=f"give a date from {first} to {last}",
        )
    return datetime.combine(day, time(), UTC)


def _require_step(trends: Trends, word: AcknowledgementBody) -> None:
    """Check that the step is there.

    Raises:
        NotThereError: no such series, or no confirmed step of it begins with that run.
    """
    steps = trends.trend(word.setting).steps
    if word.run not in {seen.step.run for seen in steps}:
        raise NotThereError(
            "this series has no confirmed step there",
            where=f"run {word.run}",
            observed=f"steps begin with runs {', '.join(seen.step.run for seen in steps) or '(there are none)'}",
            fix="load the page again: a further run may have moved it, or taken it back",
        )
