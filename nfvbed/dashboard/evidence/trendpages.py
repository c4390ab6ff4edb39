"""Routes about settings over time: the list, one of them, its figure and rows as files, and the same as JSON."""

from collections.abc import Sequence
from datetime import UTC, timedelta
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from nfvbed.compare.samples.steps import FEWEST
from nfvbed.dashboard.answers import page, saved
from nfvbed.dashboard.api import PROBLEMS, FigureAnswer, figure_answer
from nfvbed.dashboard.evidence.acknowledging import DEFAULT_DAYS, LONGEST_DAYS
from nfvbed.dashboard.evidence.trend import (
    Filter,
    TrendLine,
    Trends,
    changes_table,
    part,
    runs_table,
    steps_table,
)
from nfvbed.dashboard.figurefiles import CSV_TYPE, figure_files
from nfvbed.dashboard.results.form import Option
from nfvbed.dashboard.results.parameters import Export, Numbered, Page, Pages, pages_of
from nfvbed.dashboard.results.pictures import FigureAddresses, FigureRenderer, Figures, LiveRow, linked_at, why_address
from nfvbed.records import Record
from nfvbed.report.csv.trend import trend_to_csv
from nfvbed.report.trend import Trend, change_ratio, headline, point, step_state, test_name, title
from nfvbed.report.wording import SIMULATED_MARK, quantity

SettingName = Annotated[str, Query(alias="setting", min_length=1, max_length=400, description="name of a setting")]
Word = Annotated[str, Query(max_length=200)]


class TrendsAnswer(Record):
    """Some of the settings, those with open steps first."""

    pages: Pages
    settings: tuple[TrendLine, ...]


class TrendAnswer(Record):
    """One setting over time."""

    headline: str
    trend: Trend
    figure: FigureAnswer
    csv: str
    """Where its runs are as CSV."""


def _filter(
    variant: Word = "",
    topology: Word = "",
    test: Word = "",
    simulated: Annotated[bool, Query(description="settings of simulated runs, in place of measured ones")] = False,
) -> Filter:
    return Filter(variant=variant, topology=topology, test=test, simulated=simulated)


Filtered = Annotated[Filter, Depends(_filter)]


def pages_of_trends(trends: Trends, pictures: FigureRenderer) -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(prefix="/trend", include_in_schema=False)

    @router.get("")
    def show(
        wanted: Filtered,
        setting: Annotated[str, Query(max_length=400)] = "",
        number: Numbered = 1,
        export: Export = False,
    ) -> Response:
        if setting:
            return _one(trends, pictures, setting, export=export)
        lines = trends.lines(wanted)
        query = urlencode([(key, value) for key, value in wanted.model_dump().items() if value])
        return page(
            "trends",
            "trend",
            export=export,
            title="Trend",
            here="/trend",
            says=_says(lines),
            lines=[(line, *_texts(line)) for line in part(lines, number)],
            pages=pages_of(number, len(lines)),
            query=f"{query}&" if query else "",
            form=_choices(trends, wanted),
            filtered=wanted != Filter(simulated=wanted.simulated),
            wanted=wanted,
            simulated_mark=SIMULATED_MARK,
            left_out=None if lines or wanted.simulated else trends.store.left_out(),
        )

    return router


def _says(lines: Sequence[TrendLine]) -> str:
    """Return in a sentence how many settings have a step that asks to be looked at; empty without settings."""
    steps = sum(line.last is not None and line.last.is_open for line in lines)
    apart = sum(line.suspected is not None for line in lines)
    few = sum(line.runs < FEWEST for line in lines)
    among = f"{len(lines)} setting{'' if len(lines) == 1 else 's'}"
    found = [f"{steps or 'No'} open step{'' if steps == 1 else 's'} in {among}"]
    found += [f"{apart} newest run{' lies' if apart == 1 else 's lie'} apart, unconfirmed"] if apart else []
    found += [f"{few} {'has' if few == 1 else 'have'} fewer than the {FEWEST} runs that a step needs"] if few else []
    return f"{'; '.join(found)}." if lines else ""


def _texts(line: TrendLine) -> tuple[str, str, str, str]:
    """Return what is written of a setting: its point, its test, its newest figure, and its newest step."""
    last = line.last
    step = f"{change_ratio(last.step.ratio)} on {last.step.at[:10]}: {step_state(last)}" if last else ""
    return point(line.setting), test_name(line.setting), quantity(line.newest, line.unit), step


def _choices(trends: Trends, wanted: Filter) -> dict[str, list[Option]]:
    settings = trends.settings(simulated=wanted.simulated)
    found = {}
    for name, chosen in wanted.model_dump(exclude={"simulated"}).items():
        known = sorted({getattr(setting, name) for setting in settings} | ({chosen} if chosen else set()))
        found[name] = [Option("", "all", not chosen), *(Option(value, value, value == chosen) for value in known)]
    return found


def _one(trends: Trends, pictures: FigureRenderer, name: str, *, export: bool) -> Response:
    trend = trends.trend(name)
    drawn = trends.drawn(name)
    series = trend.series
    setting = series.setting
    query = urlencode({"setting": name})
    return page(
        "trend",
        f"trend-{setting.cell}",
        export=export,
        title=f"Trend of {title(setting)}",
        heading=title(setting),
        here="/trend",
        trend=trend,
        says=headline(trend),
        machine=trends.machine(trend),
        mark=SIMULATED_MARK if setting.simulated else "",
        steps=steps_table(trend) if trend.steps else None,
        changes=changes_table(trend) if trend.changes else None,
        step_links=[f"/runs/{seen.step.run}" for seen in reversed(trend.steps)],
        runs=runs_table(trend),
        run_links=[why_address(entry.run, entry.cell) for entry in reversed(series.all_runs)],
        pictures=pictures.on_page(drawn, _places(query), export=export),
        query=query,
        **_form(trends, trend),
    )


def _form(trends: Trends, trend: Trend) -> dict[str, object]:
    """Return what the form of an acknowledgement offers, the open steps first."""
    steps = sorted(trend.steps, key=lambda seen: (seen.is_open, seen.step.place), reverse=True)
    today = trends.now().astimezone(UTC).date()
    soonest, expires, latest = (today + timedelta(days=days) for days in (1, DEFAULT_DAYS, LONGEST_DAYS))
    choices = [(seen.step.run, f"{seen.step.at[:10]} {change_ratio(seen.step.ratio)}") for seen in steps]
    return {
        "choices": choices,
        "soonest": soonest,
        "expires": expires,
        "latest": latest,
        "writable": trends.store.is_writable,
    }


def _places(query: str) -> FigureAddresses:
    return FigureAddresses("/trend/figures", query, f"/trend/rows.csv?{query}", lead=True)


def figure_of_trends(trends: Trends, pictures: FigureRenderer) -> APIRouter:
    """Return the routes of the figure; a mark leads to what takes its run's row apart."""

    def of_setting(setting: SettingName) -> Figures:
        series = trends.trend(setting).series
        rows = (
            LiveRow(series.setting.variant, why_address(entry.run, entry.cell), place=place)
            for place, entry in enumerate(series.measured, start=1)
        )
        return Figures(trends.drawn(setting), tuple(rows))

    return figure_files(pictures, "/trend/figures", of_setting)


def files_of_trends(trends: Trends) -> APIRouter:
    """Return the route of the rows as a file."""
    router = APIRouter(prefix="/trend", include_in_schema=False)

    @router.get("/rows.csv")
    def send_rows(setting: SettingName) -> Response:
        rows = trend_to_csv(trends.trend(setting))
        return Response(rows, media_type=CSV_TYPE, headers=saved("trend", "csv"))

    return router


def api_of_trends(trends: Trends) -> APIRouter:
    """Return the routes of the JSON API."""
    router = APIRouter(prefix="/api/trend", responses=PROBLEMS)

    @router.get("")
    def get_trends(wanted: Filtered, page: Page = 1) -> TrendsAnswer:
        lines = trends.lines(wanted)
        return TrendsAnswer(pages=pages_of(page, len(lines)), settings=tuple(part(lines, page)))

    @router.get("/series")
    def get_trend(setting: SettingName) -> TrendAnswer:
        trend = trends.trend(setting)
        places = _places(urlencode({"setting": setting}))
        (picture,) = linked_at(trends.drawn(setting), places)
        return TrendAnswer(headline=headline(trend), trend=trend, figure=figure_answer(picture), csv=places.csv)

    return router
