"""The JSON API: everything that the pages show."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from fastapi import APIRouter

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.explain import Explanation
from nfvbed.compare.lostframes import LostFrames, lost_frames
from nfvbed.compare.rows.placement import PLACEMENT_RULE
from nfvbed.compare.verdict import Rules
from nfvbed.dashboard.problems import Problem
from nfvbed.dashboard.results.doctor import Doctor, doctor_of
from nfvbed.dashboard.results.overview import Overview, RunState, overview, run_states
from nfvbed.dashboard.results.parameters import (
    All,
    AskedFor,
    CellName,
    Page,
    Pages,
    RunName,
    SomeCell,
    pages_of,
    part_of,
)
from nfvbed.dashboard.results.pictures import PageFigure, linked_at, places_of, query_of
from nfvbed.dashboard.results.runs import CellState, cells_of
from nfvbed.dashboard.results.source import Source
from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.records import FactRecord, Record, TrialRecord
from nfvbed.records.annotations import Annotation, Marks, marks_of
from nfvbed.records.selection import EVERY, MEASURED, OmittedRuns
from nfvbed.store.store import UnreadableRow
from nfvbed.store.summaries import Extent


class RunsAnswer(Record):
    """Some of the runs, newest first."""

    pages: Pages
    runs: tuple[RunState, ...]
    left_out: OmittedRuns
    """Runs that are listed where `all` is asked for."""
    unreadable: tuple[UnreadableRow, ...]
    """Rows that cannot be read, of whatever run, as far as something was read; they are left out."""


class RunAnswer(Record):
    """A run with its cells, host, rigs and facts."""

    run: RunState
    extent: Extent
    cells: tuple[CellState, ...]
    host: dict[str, Any]
    """As it was described when the run began; empty where that is not stored."""
    rigs: dict[str, dict[str, Any]]
    """By hash."""
    facts: tuple[FactRecord, ...]


class AnnotationsAnswer(Record):
    """The annotations of a run."""

    marks: Marks
    """What holds."""
    said: tuple[Annotation, ...]
    """All of it, in its order."""


class TrialsAnswer(Record):
    """Some of a run's trials, in the order of their sequence, without histograms."""

    pages: Pages
    trials: tuple[TrialRecord, ...]


class WhyAnswer(Record):
    """A row taken apart."""

    explanation: Explanation
    frames: tuple[LostFrames, ...]


class FigureAnswer(Record):
    """A figure of a comparison."""

    name: str
    title: str
    description: str
    caption: str
    svg: str
    """Where it is."""
    png: str
    csv: str
    """Its numbers."""


class ComparisonAnswer(Record):
    """A comparison with its figures; nothing in it is rounded."""

    comparison: Comparison
    """Its notes begin with what is newer than the run, where none was asked for."""
    figures: tuple[FigureAnswer, ...]
    csv: str
    """Where its rows are as CSV."""


class MethodAnswer(Record):
    """The standard rules of verdicts."""

    rules: Rules
    placement_rule: int


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "content": {"application/problem+json": {}}} for status in (400, 401, 404, 422, 503)
}


def figure_answer(picture: PageFigure) -> FigureAnswer:
    """Return a figure that a page links to."""
    return FigureAnswer(
        name=picture.text.name,
        title=picture.text.title,
        description=picture.text.description,
        caption=picture.text.caption,
        svg=picture.svg,
        png=picture.png,
        csv=picture.csv,
    )


def api(source: Source, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes about the whole store, and of comparisons."""
    router = APIRouter(prefix="/api", responses=PROBLEMS)

    @router.get("/overview")
    def get_overview() -> Overview:
        return overview(source, now())

    @router.get("/compare")
    def get_comparison(asked: AskedFor) -> ComparisonAnswer:
        choice = asked.choice(source)
        found = source.compared(choice)
        notes = *source.newer(asked.runs), *found.comparison.notes
        comparison = found.comparison.model_copy(update={"notes": notes})
        drawn = linked_at(found.drawn, places_of(choice))
        texts = tuple(figure_answer(picture) for picture in drawn)
        return ComparisonAnswer(comparison=comparison, figures=texts, csv=f"/compare/rows.csv?{query_of(choice)}")

    @router.get("/method")
    def get_method() -> MethodAnswer:
        return MethodAnswer(rules=Rules(), placement_rule=PLACEMENT_RULE)

    return router


def api_of_runs(source: Source, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes about runs."""
    router = APIRouter(prefix="/api", responses=PROBLEMS)

    @router.get("/runs")
    def get_runs(page: Page = 1, everything: All = False) -> RunsAnswer:
        runs, number = source.store.runs_page(part_of(page), EVERY if everything else MEASURED)
        others = OmittedRuns() if everything else source.store.left_out()
        states, unreadable = run_states(source, runs, now()), source.store.unreadable
        return RunsAnswer(pages=pages_of(page, number), runs=states, left_out=others, unreadable=unreadable)

    @router.get("/runs/{name}")
    def get_run(name: RunName) -> RunAnswer:
        run = source.run(name)
        cells = source.store.cells(run.id)
        digests = dict.fromkeys(cell.rig_hash for cell in cells)
        return RunAnswer(
            run=run_states(source, (run,), now())[0],
            extent=source.store.extent(run.id),
            cells=cells_of(source, run.id),
            host=source.described(run.host_hash),
            rigs={digest: rig for digest in digests if (rig := source.described(digest))},
            facts=tuple(source.store.facts(run.id)),
        )

    @router.get("/runs/{name}/annotations")
    def get_annotations(name: RunName) -> AnnotationsAnswer:
        run = source.run(name)
        said = source.store.annotations(run.id)
        return AnnotationsAnswer(marks=marks_of(said).get(run.id, Marks()), said=tuple(said))

    @router.get("/runs/{name}/trials")
    def get_trials(name: RunName, cell: SomeCell = None, page: Page = 1) -> TrialsAnswer:
        trials, number = source.store.trials_page(source.run(name).id, cell, part_of(page))
        return TrialsAnswer(pages=pages_of(page, number), trials=tuple(trials))

    @router.get("/runs/{name}/why")
    def get_why(name: RunName, cell: CellName) -> WhyAnswer:
        found, loaded = source.explained(source.run(name), cell)
        own = [trial for entry in loaded.data for trial in entry.trials if trial.cell == found.row.cell]
        return WhyAnswer(explanation=found, frames=lost_frames(own, CATALOGUE.drop_counters))

    @router.get("/runs/{name}/doctor")
    def get_doctor(name: RunName) -> Doctor:
        return doctor_of(source, source.run(name))

    return router
