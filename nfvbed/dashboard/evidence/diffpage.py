"""Routes about before and after: the page on which both sides are chosen, and the same as JSON."""

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from nfvbed.compare.diff import Diff
from nfvbed.dashboard.answers import page
from nfvbed.dashboard.api import PROBLEMS
from nfvbed.dashboard.evidence.diff import Diffs
from nfvbed.dashboard.problems import NotThereError
from nfvbed.dashboard.results.parameters import MARGIN, DiffAskedFor, DiffQuery, Export, Margin, SideName
from nfvbed.errors import UsageError
from nfvbed.report.diff import MEASURE_BOTH, NONE_COMPARABLE, text_of
from nfvbed.report.wording import SIMULATED_MARK


@dataclass(frozen=True)
class OfferedSide:
    """A run that may be meant by a side."""

    href: str
    """The diff with it."""
    text: str


def pages_of_diffs(diffs: Diffs) -> APIRouter:
    """Return the route of the page."""
    router = APIRouter(prefix="/diff", include_in_schema=False)

    @router.get("")
    def show(asked: DiffAskedFor, export: Export = False) -> Response:
        found, hint, offered = None, None, {}
        if asked.before and asked.after:
            try:
                found = diffs.read(asked.before, asked.after, asked.margin)
            except UsageError as error:
                hint = error
                offered = _offered(diffs, asked) if isinstance(error, NotThereError) else {}
        else:
            offered = _offered(diffs, asked)
        return page(
            "diff",
            f"diff-{asked.before}-{asked.after}",
            export=export and found is not None,
            title="Before and after",
            here="/compare",
            asked=asked,
            known=diffs.completions(),
            offered=offered,
            hint=hint,
            diff=found,
            written=text_of(found) if found else None,
            mark=SIMULATED_MARK if found and found.simulated else "",
            words={"none": NONE_COMPARABLE, "fix": MEASURE_BOTH},
        )

    return router


def _offered(diffs: Diffs, asked: DiffQuery) -> dict[str, tuple[OfferedSide, ...]]:
    """Return the runs that are offered for each side that is empty, or names nothing."""
    found = {}
    for side, text, other in (("before", asked.before, asked.after), ("after", asked.after, asked.before)):
        runs = diffs.sides_like(text, other)
        found[side] = tuple(OfferedSide(asked.address(**{side: name}), shown) for name, shown in runs)
    return {side: runs for side, runs in found.items() if runs}


def api_of_diffs(diffs: Diffs) -> APIRouter:
    """Return the route of the JSON API."""
    router = APIRouter(prefix="/api/diff", responses=PROBLEMS)

    @router.get("")
    def get_diff(before: SideName, after: SideName, margin: Margin = MARGIN) -> Diff:
        return diffs.read(before, after, margin)

    return router
