"""The pages; their state is in the URL."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import JSONResponse, Response

from nfvbed.compare.lostframes import lost_frames
from nfvbed.compare.rows.placement import PLACEMENT_RULE
from nfvbed.compare.verdict import Rules
from nfvbed.dashboard.answers import page, saved
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
from nfvbed.dashboard.results.pictures import FigureRenderer, Form, linked, live_figure, query_of, spec_of
from nfvbed.dashboard.results.progress import Plans, live_of
from nfvbed.dashboard.results.runs import RUNNING, RunOrder, RunsQuery, cells_of, find_runs, trial_table
from nfvbed.dashboard.results.source import Source
from nfvbed.dashboard.results.why import why
from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.errors import NfvbedError, UsageError
from nfvbed.records import RunRecord, Status
from nfvbed.records.annotations import LONGEST_LABEL, LONGEST_NOTE
from nfvbed.report.csv.export import to_csv
from nfvbed.report.csv.figure import figure_to_csv
from nfvbed.report.csv.tests import tests_to_csv
from nfvbed.report.page.environment import environment
from nfvbed.report.page.method import method_of
from nfvbed.report.page.page import chart_script, library
from nfvbed.report.page.sections import page_values
from nfvbed.report.page.warnings import warnings_section
from nfvbed.report.wording import SIMULATED_MARK

NOT_YET = "they are made when the run has ended, as to compare takes time of the cores that are measured"
CSV_TYPE = "text/csv; charset=utf-8"
FIGURE = r"^[a-z-]{1,40}$"
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


def pages_of_runs(source: Source, now: Callable[[], datetime], plans: Plans, find_job: FindJob) -> APIRouter:
    """Return the route of the page about one run."""
    router = APIRouter(prefix="/runs/{name}", include_in_schema=False)

    @router.get("")
    def show_run(name: RunName, cell: SomeCell = None, number: Numbered = 1, export: Export = False) -> Response:
        run = source.run(name)
        cells = cells_of(source, run.id)
        trials, count = source.store.trials_page(run.id, cell, part_of(number))
        simulated = any(entry.cell.simulated for entry in cells)
        live = None if export else live_of(source, plans, run, now())
        warnings, context, refused = _compared(source, run) if live is None else (None, None, NOT_YET)
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
            warnings=warnings,
            environment=context,
            refused=refused,
            live=live,
            job=find_job(run.id) if current().operates and not export else None,
        )

    return router


def _compared(source: Source, run: RunRecord) -> tuple[object, object, str]:
    """Return the sections of a run that come of its comparison, or why there is none."""
    try:
        compared = source.run_alone(run)
    except NfvbedError as error:
        return None, None, f"{error.what}: {error.observed}" if error.observed else error.what
    return warnings_section(compared.comparison), environment(compared.context), ""


def pages_of_reasons(source: Source) -> APIRouter:
    """Return the routes of pages about why a run says what it says."""
    router = APIRouter(prefix="/runs/{name}", include_in_schema=False)

    @router.get("/why")
    def show_why(name: RunName, cell: CellName, export: Export = False) -> Response:
        run = source.run(name)
        found, loaded = source.explained(run, cell)
        own = [trial for entry in loaded.data for trial in entry.trials if trial.cell == found.row.cell]
        values = why(found, lost_frames(own, CATALOGUE.drop_counters))
        mark = SIMULATED_MARK if found.row.simulated else ""
        shown = {"title": f"Why {found.row.cell}", "here": "/runs", "run": run, "why": values, "mark": mark}
        return page("why", f"why-{run.id}-{found.row.cell}", export=export, **shown, row=found.row)

    @router.get("/doctor")
    def show_doctor(name: RunName, export: Export = False) -> Response:
        run = source.run(name)
        found = doctor_of(source, run)
        return page("doctor", f"doctor-{run.id}", export=export, title="Doctor", here="/doctor", run=run, doctor=found)

    return router


def pages_of_comparisons(source: Source, pictures: FigureRenderer) -> APIRouter:
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
            form=form_of(source, asked, choice.variants),
            values=values,
            pictures=pictures.inlined(drawn) if export else linked(drawn, choice),
            shown_figure=figure if figure in drawn else next(iter(drawn), ""),
            hint=None,
            notes=notes,
            left_out=None,
            query=query_of(choice),
            tests=bool(found.comparison.tests),
            rows=[row for row in found.comparison.rows if row.mrr],
            several=len(choice.runs) > 1,
            diff=diff_of_runs(choice.runs).address(),
            of=f"{len(known) - rest} of {len(known)} variants" if rest else "",
        )

    return router


def files_of_comparisons(source: Source, pictures: FigureRenderer) -> APIRouter:
    """Return the routes of figures and tables as files."""
    router = APIRouter(prefix="/compare", include_in_schema=False)

    @router.get("/figures/{figure}.svg")
    def send_svg(
        figure: Annotated[str, Path(pattern=FIGURE)],
        asked: AskedFor,
        theme: Literal["light", "dark", "print"] = "print",
    ) -> Response:
        spec = spec_of(source.compared(asked.choice(source)).drawn, figure)
        form = Form.SVG if theme == "print" else Form(theme)
        return Response(pictures.draw(spec, form), media_type="image/svg+xml", headers=saved(figure, "svg"))

    @router.get("/figures/{figure}.png")
    def send_png(figure: Annotated[str, Path(pattern=FIGURE)], asked: AskedFor) -> Response:
        spec = spec_of(source.compared(asked.choice(source)).drawn, figure)
        return Response(pictures.draw(spec, Form.PNG), media_type="image/png", headers=saved(figure, "png"))

    @router.get("/figures/{figure}.json")
    def send_spec(figure: Annotated[str, Path(pattern=FIGURE)], asked: AskedFor) -> Response:
        return JSONResponse(live_figure(source.compared(asked.choice(source)), figure))

    @router.get("/figures/{figure}.csv")
    def send_figure_rows(figure: Annotated[str, Path(pattern=FIGURE)], asked: AskedFor) -> Response:
        spec = spec_of(source.compared(asked.choice(source)).drawn, figure)
        return Response(figure_to_csv(spec), media_type=CSV_TYPE, headers=saved(figure, "csv"))

    @router.get("/rows.csv")
    def send_rows(asked: AskedFor) -> Response:
        comparison = source.compared(asked.choice(source)).comparison
        return Response(to_csv(comparison), media_type=CSV_TYPE, headers=saved("comparison", "csv"))

    @router.get("/tests.csv")
    def send_tests(asked: AskedFor) -> Response:
        comparison = source.compared(asked.choice(source)).comparison
        return Response(tests_to_csv(comparison), media_type=CSV_TYPE, headers=saved("tests", "csv"))

    return router
