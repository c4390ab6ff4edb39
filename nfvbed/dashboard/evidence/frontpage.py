"""The first page: what a host's newest runs say, for what, what is open, and what differs since the last answer."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query
from starlette.responses import HTMLResponse, Response

from nfvbed.compare.recommendation.needs import Need
from nfvbed.compare.recommendation.recommendation import Measures, Recommendation
from nfvbed.dashboard.answers import page
from nfvbed.dashboard.evidence.openquestions import OpenQuestion, open_questions
from nfvbed.dashboard.evidence.recommendation import Recommender, host_named
from nfvbed.dashboard.rendering import render
from nfvbed.dashboard.results.coverage import Coverage, CoverageCell, CoverageRow, State
from nfvbed.dashboard.results.hostgrid import HostGrid, RatedRun
from nfvbed.dashboard.results.hostrates import HostRates
from nfvbed.dashboard.results.overview import overview
from nfvbed.dashboard.results.parameters import Export, Name
from nfvbed.dashboard.results.shared import SharedReadings
from nfvbed.dashboard.results.source import Source
from nfvbed.records import Record, RunRecord
from nfvbed.report.newest import newest_by_host
from nfvbed.report.recommendation import headline, why_to_run
from nfvbed.units import FrameSize

AT_ONCE: Final = 4_000
"""Trials out of which recommendations are made before a page is shown; with more the page comes first."""
OPEN_FRESH_S: Final = 3600.0
"""How long what is open is known: it changes with the grid, which is part of its key, and with the project's files."""


class FrontQuery(Record):
    """What of the first page is asked for, as the URL says it."""

    host: str = ""
    baseline: str = ""
    size: str = ""
    needs: bool = False
    """Whether recommendations are waited for, however many trials they are made from."""

    @property
    def frame_size(self) -> FrameSize | None:
        """The frame size; None: that of most rates."""
        return "imix" if self.size == "imix" else int(self.size or 0) or None

    def address(self, path: str = "/", **changed: str) -> str:
        """Return the address of the same with other values."""
        pairs = {"host": self.host, "baseline": self.baseline, "size": self.size, **changed}
        query = urlencode({name: text for name, text in pairs.items() if text})
        return f"{path}?{query}" if query else path


@dataclass(frozen=True)
class NeedAnswer:
    """What is recommended for a need."""

    need: str
    says: str
    href: str


@dataclass(frozen=True)
class NeedAnswers:
    """What is recommended for each need, and which runs would make it surer."""

    lines: tuple[NeedAnswer, ...]
    proposals: tuple[tuple[str, str], ...]
    """What for, and the command; each command once."""


@dataclass(frozen=True)
class UnmeasuredVariants:
    """Variants without any measurement in one state."""

    state: str
    reason: str
    variants: tuple[str, ...]

    @property
    def count(self) -> int:
        """Return the number of variants."""
        return len(self.variants)


def _asked(
    host: Annotated[
        str, Query(max_length=64, pattern="^[0-9a-f]*$", description="beginning of a hash; empty: of the newest run")
    ] = "",
    baseline: Name | None = None,
    size: Annotated[str, Query(max_length=5, pattern="^([1-9][0-9]*|imix)?$", description="bytes, or `imix`")] = "",
    needs: bool = False,
) -> FrontQuery:
    return FrontQuery(host=host, baseline=baseline or "", size=size, needs=needs)


AskedFor = Annotated[FrontQuery, Depends(_asked)]


class FrontPageReader:
    """Reads what the first page shows; may be called from several threads."""

    def __init__(self, source: Source, recommender: Recommender, measures: Measures) -> None:
        self.rates = HostRates(source)
        self._source = source
        self._recommender = recommender
        self._measures = measures
        self._open: SharedReadings[tuple[OpenQuestion, ...]] = SharedReadings("what is open", OPEN_FRESH_S, most=8)

    def needs(self, host: str, runs: Sequence[RunRecord], asked: FrontQuery) -> NeedAnswers | None:
        """Return what is recommended for each need; None: it takes long, and was not asked for."""
        found = self._recommender.of_each_need(host, runs, None if asked.needs else AT_ONCE)
        return None if found is None else _needs(found, asked.host)

    def questions(self, grid: HostGrid, rated: tuple[RatedRun, ...]) -> tuple[OpenQuestion, ...]:
        """Return what is open, with the commands that would decide it."""
        key = (grid.baseline, grid.frame_size, *((entry.run.id, entry.extent) for entry in rated))
        return self._open.read(key, lambda: open_questions(grid, rated, self._measures))


def pages_of_front(
    source: Source, recommender: Recommender, now: Callable[[], datetime], measures: Measures
) -> APIRouter:
    """Return the routes of the first page, and of its part that may take long."""
    router = APIRouter(include_in_schema=False)
    desk = FrontPageReader(source, recommender, measures)

    @router.get("/")
    def show(asked: AskedFor, export: Export = False) -> Response:
        runs = recommender.newest()
        hosts = recommender.hosts(runs)
        host = host_named(list(hosts), asked.host)
        rated = desk.rates.rated(host, runs)
        grid = desk.rates.grid(rated, asked.baseline, asked.frame_size)
        found = overview(source, now())
        last = found.answer
        is_decided = last is not None and last.decided
        since = desk.rates.since(last.run.run, rated, found.newest[0].run) if last and is_decided else None
        return page(
            "overview",
            "overview",
            export=export,
            title="Overview",
            here="/",
            overview=found,
            asked=asked,
            grid=grid if grid.rows else None,
            machine=hosts.get(host, ""),
            hosts=_host_links(asked, hosts, host),
            questions=desk.questions(grid, rated),
            needs=desk.needs(host, runs, asked),
            since=since,
            unmeasured=_unmeasured(found.coverage),
            measured=_measured(found.coverage),
        )

    @router.get("/needs")
    def send_needs(asked: AskedFor) -> HTMLResponse:
        """Send the part of the page with recommendations, for its script."""
        runs = recommender.newest()
        host = host_named(list(newest_by_host(runs)), asked.host)
        found = desk.needs(host, runs, asked.model_copy(update={"needs": True}))
        return HTMLResponse(render("needs", needs=found, asked=asked))

    return router


def _host_links(asked: FrontQuery, hosts: Mapping[str, str], shown: str) -> list[tuple[str, str, bool]]:
    """Return the address, the machine in a line and whether it is shown of each host; of equal machines their hash."""
    alike = Counter(hosts.values())
    return [
        (asked.address(host=digest[:12]), f"{about} ({digest[:8]})" if alike[about] > 1 else about, digest == shown)
        for digest, about in hosts.items()
    ]


def _needs(found: Mapping[Need, Recommendation], host: str) -> NeedAnswers:
    lines = []
    commands: dict[str, str] = {}
    for need, answer in found.items():
        query = {"need": need.value, **({"host": host} if host else {})}
        says = headline(answer).removeprefix(f"For {need.value}: ")
        is_name = answer.answer is not None and says.startswith(answer.answer.first[0])
        text = says if is_name else f"{says[:1].upper()}{says[1:]}"
        lines.append(NeedAnswer(need.value, text, f"/recommend?{urlencode(query)}"))
        for proposal in answer.proposals:
            commands.setdefault(proposal.command, why_to_run(proposal))
    return NeedAnswers(tuple(lines), tuple((why, command) for command, why in commands.items()))


def _unmeasured(coverage: Coverage) -> tuple[UnmeasuredVariants, ...]:
    """Return the variants of which nothing was measured, those of one state and reason together."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in coverage.rows:
        if row.places and all(place.state is not State.MEASURED for place in row.places):
            state = _worst(row.places)
            found.setdefault((state.state.value, state.reason), []).append(row.variant)
    return tuple(UnmeasuredVariants(state, reason, tuple(names)) for (state, reason), names in found.items())


def _worst(places: tuple[CoverageCell, ...]) -> CoverageCell:
    """Return the place that says most of why a variant was not measured: one that was tried, where there is one."""
    tried = [place for place in places if place.state is not State.NEVER]
    return (tried or list(places))[0]


def _measured(coverage: Coverage) -> list[CoverageRow]:
    return [row for row in coverage.rows if any(place.state is State.MEASURED for place in row.places)]
