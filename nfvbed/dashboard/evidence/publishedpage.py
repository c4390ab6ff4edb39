"""Routes about published tables: the page, figures and rows as files, and the same as JSON."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from nfvbed.characters import guarded
from nfvbed.compare.tables import KISTI_Z, TableDifference
from nfvbed.compare.verdict import Judgement
from nfvbed.dashboard.answers import page, saved
from nfvbed.dashboard.api import PROBLEMS, FigureAnswer, figure_answer
from nfvbed.dashboard.figurefiles import CSV_TYPE, figure_files
from nfvbed.dashboard.results.parameters import Export
from nfvbed.dashboard.results.pictures import FigureAddresses, FigureRenderer, Figures, linked_at
from nfvbed.records import Record, Status
from nfvbed.report import wording
from nfvbed.report.figures.published import published_figure, stated_figure
from nfvbed.report.figures.theme import Drawing
from nfvbed.report.page.values import Cell, Table
from nfvbed.report.papers.claims import JudgedClaim, judge_claims
from nfvbed.report.papers.figures import OwnFigure, PublicationComparison, TableComparison, see_publications
from nfvbed.report.publishedlines import stated
from nfvbed.spec.published import Publication, PublishedTable, publications
from nfvbed.store import Store

PLACES: Final = FigureAddresses("/published/figures", "", "/published/rows.csv")
COLUMNS: Final = (
    ("Column", ""), ("Repetitions", ""), ("Mean", "n"), ("Student 95 %", "n"), ("Student 99 %", "n"),
    (f"z = {KISTI_Z}", "n"), ("Deviation", "n"),
)  # fmt: skip
STATED: Final = (("Column", ""), ("Published", "n"))
VERDICTS: Final = (
    ("Pair", ""), ("Result", "verdict"), ("Ratio", "n"), ("p", "n"), ("p, Holm", "n"), ("Spread", "verdict"),
    ("p", "n"), ("p, Holm", "n"),
)  # fmt: skip
CLAIMS: Final = (("Claim", ""), ("Verdict", "verdict"), ("Why", "why"), ("Where", ""))
OWN: Final = (
    ("Column", ""), ("Measured here", ""), ("Median", "n"), ("Least to greatest", "n"), ("Mean, Student 99 %", "n"),
    (f"z = {KISTI_Z}", "n"), ("Runs or rounds", "n"),
)  # fmt: skip


class PublishedAnswer(Record):
    """All that was published, recomputed, and what was measured here of the same kind."""

    publications: tuple[PublicationComparison, ...]
    claims: Mapping[str, tuple[JudgedClaim, ...]]
    """Verdicts on the claims of each publication, by its name, on own rounds alone."""
    figures: tuple[FigureAnswer, ...]
    csv: str
    """Where the published results are."""


def pages_of_published(store: Store, pictures: FigureRenderer) -> APIRouter:
    """Return the routes of the page and of its files."""
    router = APIRouter(prefix="/published", include_in_schema=False)
    known = publications()
    drawn = _drawn(known)

    @router.get("")
    def show(export: Export = False) -> Response:
        shown = pictures.on_page(drawn, PLACES, export=export)
        seen = see_publications(store, known)
        return page(
            "published",
            "published",
            export=export,
            title="Published",
            here="/published",
            says=_says(seen),
            publications=seen,
            pictures={picture.text.name: picture for picture in shown},
            columns=columns_table,
            verdicts=verdicts_table,
            own=own_table,
            claims={entry.name: claims_table(judge_claims(store, entry)) for entry in known if entry.claims},
        )

    router.include_router(figure_files(pictures, "/figures", lambda: Figures(drawn)))

    @router.get("/rows.csv")
    def send_rows() -> Response:
        return Response(_csv(known), media_type=CSV_TYPE, headers=saved("published", "csv"))

    return router


def api_of_published(store: Store) -> APIRouter:
    """Return the route of the JSON API."""
    router = APIRouter(prefix="/api/published", responses=PROBLEMS)
    known = publications()
    figures = tuple(figure_answer(picture) for picture in linked_at(_drawn(known), PLACES))

    @router.get("")
    def get_published() -> PublishedAnswer:
        claims = {entry.name: judge_claims(store, entry) for entry in known}
        seen = see_publications(store, known)
        return PublishedAnswer(publications=seen, claims=claims, figures=figures, csv=PLACES.csv)

    return router


def _says(seen: Sequence[PublicationComparison]) -> str:
    """Return in a sentence how many of the tables were measured here."""
    tables = [table for entry in seen for table in entry.tables]
    own = sum(table.own is not None for table in tables)
    return f"{own or 'None'} of {len(tables)} published tables {'was' if own < 2 else 'were'} measured here."


def figure_name(publication: str, table: str) -> str:
    """Return the name of a table's figure."""
    return f"{publication}-{table}"


def _drawn(known: tuple[Publication, ...]) -> Mapping[str, Drawing]:
    return {
        figure_name(entry.name, table.key): _figure(f"{table.title} ({entry.name})", table)
        for entry in known
        for table in entry.tables
    }


def _figure(title: str, table: PublishedTable) -> Drawing:
    if table.has_repetitions:
        return published_figure(title, table.unit, {column.label: column.results for column in table.columns})
    return stated_figure(title, table.unit, {column.label: column.about for column in table.columns if column.about})


def _csv(known: tuple[Publication, ...]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("publication", "table", "column", "repetition", "value", "unit", "source"))
    for entry in known:
        for table in entry.tables:
            for column in table.columns:
                told: list[tuple[int | str, float]] = [*enumerate(column.results, start=1)]
                told += [("about", value) for value in column.about or ()]
                for number, value in told:
                    row = (entry.name, table.key, column.label, number, value, table.unit, entry.source)
                    writer.writerow(map(guarded, row))
    return text.getvalue()


def _headings(named: tuple[tuple[str, str], ...]) -> tuple[Cell, ...]:
    return tuple(Cell(name, kind) for name, kind in named)


def columns_table(table: TableComparison) -> Table:
    """Return the published results with their intervals, recomputed."""
    rows = []
    for column in table.columns:
        if column.mean is None or column.deviation is None:
            return _stated_table(table)
        spans = [f"{interval.low:.2f}–{interval.high:.2f}" for interval in column.mean.intervals]
        kisti = column.kisti
        rows.append(
            (
                Cell(column.label),
                Cell(" ".join(f"{value:.2f}" for value in column.results)),
                Cell(f"{column.mean.mean:.2f}", "n"),
                *(Cell(span, "n") for span in spans),
                Cell(f"{kisti.low:.2f}–{kisti.high:.2f}", "n", below=f"covers {100 * kisti.covers:.1f} %")
                if kisti
                else Cell(wording.NOTHING, "n"),
                Cell(f"{column.deviation:.2f}", "n"),
            )
        )
    caption = f"As published, {table.unit}; means with Student's intervals, and with the report's own by its factor."
    return Table(caption, _headings(COLUMNS), tuple(rows))


def _stated_table(table: TableComparison) -> Table:
    rows = [(Cell(column.label), Cell(_about(column.about), "n")) for column in table.columns]
    caption = f"As its text states them, {table.unit}: without repetitions, so nothing is tested."
    return Table(caption, _headings(STATED), tuple(rows))


def _about(ends: tuple[float, float] | None) -> str:
    return wording.NOTHING if ends is None else stated(ends)


def verdicts_table(table: TableComparison) -> Table:
    """Return each column against each one before it."""
    rows = tuple(_verdict(found) for found in table.differences)
    caption = (
        "Verdicts on the published results alone: exact Mann-Whitney test on the results, Fligner and Killeen's on"
        " their spread, each corrected by Holm over all pairs of the table."
    )
    return Table(caption, _headings(VERDICTS), rows, label="Verdicts on the published results")


def _verdict(found: TableDifference) -> tuple[Cell, ...]:
    judged, spread = found.judgement, found.spread
    return (
        Cell(f"{found.candidate} against {found.baseline}"),
        Cell(wording.short_verdict(judged), "verdict", tone=judged.verdict.value),
        Cell(wording.times(judged), "n", below=wording.ratio_interval(judged)),
        Cell(_p(judged.p_value), "n"),
        Cell(_p(judged.adjusted_p), "n"),
        Cell(spread.verdict.value.replace("-", " "), "verdict", below=_deviations(found, judged), words=True),
        Cell(_p(spread.p_value), "n"),
        Cell(_p(spread.adjusted_p), "n"),
    )


def _deviations(found: TableDifference, judged: Judgement) -> str | None:
    own, other = found.spread.candidate_spread, found.spread.baseline_spread
    if own is None or other is None or judged.ratio is None:
        return None
    return f"{100 * own:.1f} % against {100 * other:.1f} % of the rate"


def _p(value: float | None) -> str:
    return wording.NOTHING if value is None else f"{value:.2g}"


def claims_table(claims: Sequence[JudgedClaim]) -> Table:
    """Return a publication's claims with their verdicts."""
    rows = tuple(
        (
            Cell(claim.text),
            Cell(claim.verdict.value, "verdict", below="quick form" if claim.quick else None, words=True),
            Cell(claim.why, "why", below=claim.bounds or claim.command, words=True),
            Cell(claim.where),
        )
        for claim in claims
    )
    caption = "Claims, judged on the rounds of the newest run of their experiment here: paired, exact, each at 5 %."
    return Table(caption, _headings(CLAIMS), rows, label="Claims")


def own_table(table: TableComparison) -> Table:
    """Return what was measured here; the caption says of which run."""
    own = table.own
    assert own is not None
    began = own.started_at[:16].replace("T", " ")
    ended = "" if own.status is Status.OK else f"; it ended {own.status.value}"
    caption = f"Measured here, {table.unit}: run {own.run} ({own.experiment}, site {own.site}, {began} UTC{ended})."
    return Table(caption, _headings(OWN), tuple(_own(figure) for figure in own.figures), label="Measured here")


def _own(figure: OwnFigure) -> tuple[Cell, ...]:
    what = f"{figure.variant}, {wording.path(figure.topology, figure.vnf)}"
    if figure.value is None:
        return (Cell(figure.label), Cell(what), Cell(figure.reason, "whole", tone="warning", span=5))
    marks = ", ".join(kind.value for kind in figure.warnings)
    span = wording.NOTHING
    if figure.low is not None and figure.high is not None:
        span = f"{figure.low:.2f}–{figure.high:.2f}"
    return (
        Cell(figure.label),
        Cell(what, below="; ".join(part for part in (figure.condition, marks) if part), words=True),
        Cell(f"{figure.value:.2f}", "n"),
        Cell(span, "n"),
        Cell(_mean_of(figure), "n"),
        Cell(f"{figure.kisti.low:.2f}–{figure.kisti.high:.2f}" if figure.kisti else wording.NOTHING, "n"),
        Cell(str(figure.repetitions), "n"),
    )


def _mean_of(figure: OwnFigure) -> str:
    if figure.mean is None or not figure.mean.intervals:
        return wording.NOTHING
    wide = figure.mean.intervals[-1]
    return f"{figure.mean.mean:.2f} ({wide.low:.2f}–{wide.high:.2f})"
