"""The pages; their state is in the URL."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from nfvbed.compare.lostframes import lost_frames
from nfvbed.compare.rows.placement import PLACEMENT_RULE
from nfvbed.compare.verdict import Rules
from nfvbed.dashboard.answers import page, saved
from nfvbed.dashboard.figurefiles import CSV_TYPE, figure_files
from nfvbed.dashboard.jobs.records import Job
from nfvbed.dashboard.people.roles import current
from nfvbed.dashboard.problems import NotThereError
from nfvbed.dashboard.rendering import script, style
from nfvbed.dashboard.results.doctor import doctor_of
from nfvbed.dashboard.results.form import form_of
from nfvbed.dashboard.results.overview import run_states
from nfvbed.dashboard.results.parameters import (
    All,
    AskedFor,
    CellName,
    Export,
    Numbered,
    RunName,
    SomeCell,
    diff_of_runs,
    pages_of,
    part_of,
)
from nfvbed.dashboard.results.pictures import (
    COMPARED,
    FigureAddresses,
    FigureRenderer,
    Figures,
    figures_of,
    places_of,
    query_of,
)
from nfvbed.dashboard.results.progress import Plans, live_of
from nfvbed.dashboard.results.runs import RUNNING, RunOrder, RunsQuery, cells_of, find_runs, trial_table
from nfvbed.dashboard.results.source import ComparisonView, Source
from nfvbed.dashboard.results.why import figures_of_row, why
from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.errors import NfvbedError, UsageError
from nfvbed.records import RunRecord, Status
from nfvbed.records.annotations import LONGEST_LABEL, LONGEST_NOTE
from nfvbed.report.csv.export import to_csv
from nfvbed.report.csv.tests import tests_to_csv
from nfvbed.report.page.environment import environment
from nfvbed.report.page.method import method_of
from nfvbed.report.page.page import chart_script, library
from nfvbed.report.page.sections import page_values
from nfvbed.report.page.warnings import warnings_section
from nfvbed.report.wording import SIMULATED_MARK

NOT_YET = "they are made when the run has ended, as to compare takes time of the cores that are measured"
ShownFigure = Annotated[str, Query(pattern=r"^[a-z-]{0,40}$", description="figure that is open; empty: the first")]
CHECKED = {"cache-control": "no-cache"}
"""Headers of what a browser keeps, and asks about each time."""
KEPT = {"cache-control": "private, max-age=86400"}
"""Headers of the figures' libraries, 0.9 MB."""


def _runs_asked(
    find: Annotated[str, Query(max_length=100, description="words that each run has: id, label, experiment, ...")] = "",
    state: Annotated[str, Query(max_length=20, pattern="^[a-z-]*$")] = "",
    order: RunOrder = RunOrder.STARTED,
    everything: All = False,
) -> RunsQuery:
    return RunsQuery(words=find.strip(), state=state, order=order, everything=everything)


RunsAskedFor = Annotated[RunsQuery, Depends(_runs_asked)]
RUN_STATES = (RUNNING, *(status.value for status in Status))


def pages(source: Source, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes of pages about the whole store, and of the style sheet and the scripts of all pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/runs")
    def show_runs(asked: RunsAskedFor, number: Numbered = 1, export: Export = False) -> Response:
        runs, count = find_runs(source, asked, number)
        shown = {"runs": run_states(source, runs, now()), "pages": pages_of(number, count), "asked": asked}
        others, unreadable = source.store.left_out(), source.store.unreadable
        values = {"here": "/runs", "left_out": others, "unreadable": unreadable, "states": RUN_STATES, **shown}
        return page("runs", "runs", export=export, title="Runs", **values)

    @router.get("/method")
    def show_method(export: Export = False) -> Response:
        values = method_of(Rules(), PLACEMENT_RULE)
        return page("method-page", "method", export=export, title="Method", here="/method", values=values)

    @router.get("/static/dashboard.css")
    def send_style() -> Response:
        return Response(style(), media_type="text/css", headers=CHECKED)

    @router.get("/static/vega.js")
    def send_library() -> Response:
        return Response(library(), media_type="text/javascript", headers=KEPT)

    @router.get("/static/{name}.js")
    def send_script(name: Literal["chain", "figures", "live", "needs", "search"]) -> Response:
        drawn_with = chart_script() if name == "figures" else ""
        return Response(drawn_with + script(name), media_type="text/javascript", headers=CHECKED)

    return router


FindJob = Callable[[str], Job | None]
"""Gives the newest job that measures a run, or measured it, by the run's id; None: no job of this dashboard did."""


def pages_of_runs(
    source: Source, pictures: FigureRenderer, now: Callable[[], datetime], plans: Plans, find_job: FindJob
) -> APIRouter:
    """Return the route of the page about one run."""
    router = APIRouter(prefix="/runs/{name}", include_in_schema=False)

    @router.get("")
    def show_run(name: RunName, cell: SomeCell = None, number: Numbered = 1, export: Export = False) -> Response:
        run = source.run(name)
        cells = cells_of(source, run.id)
        trials, count = source.store.trials_page(run.id, cell, part_of(number))
        simulated = any(entry.cell.simulated for entry in cells)
        live = None if export else live_of(source, plans, run, now())
        compared, refused = _compared(source, run) if live is None else (None, NOT_YET)
        places = FigureAddresses(f"/runs/{run.id}/figures", "", lead=True)
        return page(
            "run",
            f"run-{run.id}",
            export=export,
            title=f"Run {run.experiment}",
            said=source.store.annotations(run.id),
            writable=source.store.is_writable,
            longest={"label": LONGEST_LABEL, "note": LONGEST_NOTE},
            here="/runs",
            state=run_states(source, (run,), now())[0],
            cells=cells,
            diff=diff_of_runs((run.id,)).address(),
            mark=SIMULATED_MARK if simulated else "",
            trials=trial_table(trials, SIMULATED_MARK if simulated else ""),
            pages=pages_of(number, count),
            cell=cell,
            is_of_trials=cell is not None or number > 1,
            says=compared.headline if compared else "",
            pictures=pictures.on_page(compared.drawn, places, export=export) if compared else (),
            warnings=warnings_section(compared.comparison) if compared else None,
            environment=environment(compared.context) if compared else None,
            refused=refused,
            live=live,
            job=find_job(run.id) if current().operates and not export else None,
        )

    return router


def _compared(source: Source, run: RunRecord) -> tuple[ComparisonView | None, str]:
    """Return the comparison of a run's own variants, or why there is none."""
    try:
        return source.run_alone(run), ""
    except NfvbedError as error:
        return None, f"{error.what}: {error.observed}" if error.observed else error.what


def pages_of_reasons(source: Source, pictures: FigureRenderer) -> APIRouter:
    """Return the routes of pages about why a run says what it says."""
    router = APIRouter(prefix="/runs/{name}", include_in_schema=False)

    @router.get("/why")
    def show_why(name: RunName, cell: CellName, export: Export = False) -> Response:
        run = source.run(name)
        found, loaded = source.explained(run, cell)
        own = [trial for entry in loaded.data for trial in entry.trials if trial.cell == found.row.cell]
        values = why(found, lost_frames(own, CATALOGUE.drop_counters))
        mark = SIMULATED_MARK if found.row.simulated else ""
        places = FigureAddresses(f"/runs/{run.id}/why/figures", urlencode({"cell": found.row.cell}))
        return page(
            "why",
            f"why-{run.id}-{found.row.cell}",
            export=export,
            title=f"Why {found.row.cell}",
            here="/runs",
            run=run,
            why=values,
            mark=mark,
            row=found.row,
            pictures=pictures.on_page(figures_of_row(found), places, export=export),
        )

    @router.get("/doctor")
    def show_doctor(name: RunName, export: Export = False) -> Response:
        run = source.run(name)
        found = doctor_of(source, run)
        return page("doctor", f"doctor-{run.id}", export=export, title="Doctor", here="/doctor", run=run, doctor=found)

    return router


def pages_of_comparisons(source: Source, pictures: FigureRenderer, find_job: FindJob) -> APIRouter:
    """Return the route of comparisons."""
    router = APIRouter(prefix="/compare", include_in_schema=False)

    @router.get("")
    def show_comparison(asked: AskedFor, figure: ShownFigure = "", export: Export = False) -> Response:
        notes = source.newer(asked.runs)
        try:
            choice = asked.choice(source)
        except UsageError as error:
            if asked.variants or (asked.runs and isinstance(error, NotThereError)):
                raise
            # Nothing was measured; or more than fit at once, and none was chosen: first choose.
            nothing = {"values": None, "pictures": (), "query": "", "tests": False, "of": ""}
            shown = {**nothing, "hint": error, "notes": notes, "left_out": source.store.left_out()}
            form = form_of(source, asked, ())
            return page("compare", "compare", export=False, title="Compare", here="/compare", form=form, **shown)
        found = source.compared(choice)
        drawn = found.drawn
        values = page_values(found.context, drawn, asked.by)
        known = source.variants_of(choice.runs)
        rest = len(known) - len(set(choice.variants) & set(known))
        return page(
            "compare",
            f"compare-{'-'.join(choice.variants)}",
            export=export,
            title=values.title,
            here="/compare",
            form=form_of(source, asked, choice.variants, found.context.runs, known),
            values=values,
            pictures=pictures.on_page(drawn, places_of(choice), export=export),
            shown_figure=figure if figure in drawn else next(iter(drawn), ""),
            hint=None,
            notes=notes,
            left_out=None,
            query=query_of(choice),
            tests=bool(found.comparison.tests),
            rows=[row for row in found.comparison.rows if row.mrr],
            several=len(choice.runs) > 1,
            diff=diff_of_runs(choice.runs).address(),
            jobs=[job for run in choice.runs if (job := find_job(run))] if current().operates else (),
            of=f"{len(known) - rest} of {len(known)} variants" if rest else "",
        )

    return router


def figures_of_comparisons(source: Source, pictures: FigureRenderer) -> tuple[APIRouter, ...]:
    """Return the routes of figures of comparisons, of runs, and of single rows."""

    def of_choice(asked: AskedFor) -> Figures:
        return figures_of(source.compared(asked.choice(source)))

    def of_run(name: RunName) -> Figures:
        return figures_of(source.run_alone(source.run(name)))

    def of_row(name: RunName, cell: CellName) -> Figures:
        return Figures(figures_of_row(source.explained(source.run(name), cell)[0]))

    return (
        figure_files(pictures, COMPARED, of_choice),
        figure_files(pictures, "/runs/{name}/figures", of_run),
        figure_files(pictures, "/runs/{name}/why/figures", of_row),
    )


def files_of_comparisons(source: Source) -> APIRouter:
    """Return the routes of tables as files."""
    router = APIRouter(prefix="/compare", include_in_schema=False)

    @router.get("/rows.csv")
    def send_rows(asked: AskedFor) -> Response:
        comparison = source.compared(asked.choice(source)).comparison
        return Response(to_csv(comparison), media_type=CSV_TYPE, headers=saved("comparison", "csv"))

    @router.get("/tests.csv")
    def send_tests(asked: AskedFor) -> Response:
        comparison = source.compared(asked.choice(source)).comparison
        return Response(tests_to_csv(comparison), media_type=CSV_TYPE, headers=saved("tests", "csv"))

    return router
