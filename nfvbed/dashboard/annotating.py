"""What operators say of a run: a label, a note, and that it is hidden."""

from typing import Annotated, Final

from fastapi import APIRouter
from pydantic import ConfigDict, StringConstraints
from starlette.responses import RedirectResponse, Response

from nfvbed.dashboard.api import PROBLEMS
from nfvbed.dashboard.audit import Audit
from nfvbed.dashboard.people.roles import Fields, Operator, Requester
from nfvbed.dashboard.results.parameters import RunName
from nfvbed.dashboard.results.source import Source
from nfvbed.errors import UsageError
from nfvbed.records import Record
from nfvbed.records.annotations import Mark, Marks, hidden_text

LONGEST_GIVEN: Final = 4000
"""Characters of a text; a longer one is refused before it is looked at."""
LONGEST_NAME: Final = 120
"""Characters of the author's name; the rest is cut off."""

Text = Annotated[str, StringConstraints(max_length=LONGEST_GIVEN)]


class AnnotationBody(Record):
    """What is said of a run; what is left out stays as it is."""

    # FastAPI warns of the body's name where its model is not built yet.
    model_config = ConfigDict(defer_build=False)

    label: Text | None = None
    """Empty: it is taken back."""
    note: Text | None = None
    """Empty: it is taken back."""
    hidden: bool | None = None

    @property
    def by_mark(self) -> dict[Mark, str]:
        """The text of each mark that is given."""
        given = {Mark.LABEL: self.label, Mark.NOTE: self.note}
        if self.hidden is not None:
            given[Mark.HIDDEN] = hidden_text(self.hidden)
        return {mark: text for mark, text in given.items() if text is not None}


def annotating(source: Source, audit: Audit) -> APIRouter:
    """Return the routes that say something of a run: of the page's form, and of the API."""
    router = APIRouter(responses=PROBLEMS)

    @router.post("/runs/{name}/annotations", include_in_schema=False)
    def send_form(asker: Operator, name: RunName, fields: Fields) -> Response:
        label, note = (fields.get(key, [""])[0][:LONGEST_GIVEN] for key in ("label", "note"))
        run, _ = _said(source, audit, asker, name, AnnotationBody(label=label, note=note, hidden="hidden" in fields))
        return RedirectResponse(f"/runs/{run}#words", 303)

    @router.post("/api/runs/{name}/annotations")
    def post_annotations(asker: Operator, name: RunName, words: AnnotationBody) -> Marks:
        return _said(source, audit, asker, name, words)[1]

    return router


def _said(source: Source, audit: Audit, asker: Requester, name: str, words: AnnotationBody) -> tuple[str, Marks]:
    run = source.run(name)
    given = words.by_mark
    if not given:
        raise UsageError("nothing is said of the run", where=f"run {run.id}", fix="give label, note or hidden")
    shown = ", ".join(f"{mark.value} {text!r}" for mark, text in given.items())
    with audit.action(asker, "annotate a run", f"run {run.id}: {shown}"):
        by = (asker.user or f"operator at {asker.client}")[:LONGEST_NAME]
        return run.id, source.store.say(run.id, given, by)
