"""Query parameters, bounded: what a URL may ask for."""

from collections.abc import Sequence
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Depends, Path, Query
from pydantic import StringConstraints

from nfvbed.compare.chains import HALF, ShareReference, ShareRequirement
from nfvbed.compare.verdict import Rules
from nfvbed.dashboard.results.source import MOST_SETTINGS, Choice, Source
from nfvbed.records import Record
from nfvbed.report.page.comparison import Grouping
from nfvbed.store.summaries import Part

PAGE_SIZE: Final = 50
LAST_PAGE: Final = 100_000

Name = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:+-]*$")]
"""Name of a run or a variant."""
RunName = Annotated[
    str,
    Path(
        max_length=64,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$",
        description="id of a run, its first or last digits, its label, or `latest`: the newest measured one",
    ),
]
CellName = Annotated[str, Query(max_length=120, description="name of a cell, or the end of it")]
SomeCell = Annotated[str | None, Query(max_length=120, description="of this cell alone")]
Export = Annotated[bool, Query(description="as one file that opens from disk")]
All = Annotated[bool, Query(alias="all", description="simulated and hidden runs too")]
Page = Annotated[int, Query(ge=1, le=LAST_PAGE)]
Numbered = Annotated[int, Query(alias="page", ge=1, le=LAST_PAGE)]
"""Page number for functions in which the name `page` is something else."""
Names = Annotated[list[Name] | None, Query(max_length=MOST_SETTINGS)]
RunNames = Annotated[
    list[Annotated[str, StringConstraints(max_length=64, pattern=r"^([A-Za-z0-9][A-Za-z0-9._:+-]*)?$")]] | None,
    Query(max_length=MOST_SETTINGS + 1),
]
"""Names of runs, of which one may be empty: a form's field in which no further run is named."""


class ComparisonQuery(Record):
    """A comparison as a URL asks for it."""

    runs: tuple[str, ...] = ()
    """None: the newest measured one with an answer."""
    variants: tuple[str, ...] = ()
    """None: all that there are."""
    baseline: str | None = None
    by: Grouping = Grouping.POINT
    hold: ShareRequirement = ShareRequirement()

    def choice(self, source: Source) -> Choice:
        """Return the choice of runs and variants that the query means.

        Raises:
            UsageError: there is no such run, or too many settings.
        """
        found = source.chosen(self.runs, self.variants, self.baseline)
        return found.model_copy(update={"hold": self.hold})


def _hold(
    share: Annotated[float, Query(gt=0, le=1, description="part of a rate that a chain is asked to hold")] = HALF,
    of: Annotated[ShareReference, Query(description="path whose rate that is a part of")] = ShareReference.ONE_VNF,
) -> ShareRequirement:
    return ShareRequirement(share=share, of=of)


HoldAskedFor = Annotated[ShareRequirement, Depends(_hold)]


def _asked(
    hold: HoldAskedFor,
    runs: RunNames = None,
    variants: Names = None,
    baseline: Annotated[str, Query(max_length=64, description="a variant, or `best`; empty: the experiment's")] = "",
    by: Grouping = Grouping.POINT,
) -> ComparisonQuery:
    return ComparisonQuery(
        runs=tuple(filter(None, runs or ())),
        variants=tuple(variants or ()),
        baseline=baseline or None,
        by=by,
        hold=hold,
    )


AskedFor = Annotated[ComparisonQuery, Depends(_asked)]


LONGEST_SIDE: Final = 200
SideName = Annotated[
    str,
    Query(
        max_length=LONGEST_SIDE, description="RUN, RUN:VARIANT, VARIANT, or options as measured: KEY=VALUE,KEY=VALUE"
    ),
]
"""Side of a diff, before or after."""
MARGIN: Final = Rules().margin
Margin = Annotated[float, Query(gt=0, lt=1, description="ratios this near to 1 count as the same")]


class DiffQuery(Record):
    """Before and after, as a URL asks for it."""

    before: str = ""
    after: str = ""
    margin: float = MARGIN

    def address(self, **changed: str) -> str:
        """Return the address of this diff with other values."""
        return f"/diff?{urlencode({**self.model_dump(), **changed})}"


def diff_of_runs(runs: Sequence[str]) -> DiffQuery:
    """Return a diff of two runs, the older one first, or of one run after another that is still to be chosen.

    Args:
        runs: their ids, which begin with the time.
    """
    older, newest = sorted(runs)[:-1], max(runs)
    return DiffQuery(before=older[0] if len(older) == 1 else "", after=newest)


def _diff(before: SideName = "", after: SideName = "", margin: Margin = MARGIN) -> DiffQuery:
    return DiffQuery(before=before.strip(), after=after.strip(), margin=margin)


DiffAskedFor = Annotated[DiffQuery, Depends(_diff)]


def part_of(page: int) -> Part:
    """Return the rows of a page, from 1."""
    return Part(offset=(page - 1) * PAGE_SIZE, limit=PAGE_SIZE)


class Pages(Record):
    """Where among its pages a list is."""

    page: int
    last: int
    rows: int


def pages_of(page: int, rows: int) -> Pages:
    """Return the pages of so many rows."""
    return Pages(page=page, last=max(1, -(-rows // PAGE_SIZE)), rows=rows)
