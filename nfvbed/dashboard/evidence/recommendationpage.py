"""Routes about recommendations: the page, and the same as JSON."""

from collections.abc import Iterable
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from nfvbed.compare.recommendation.needs import Need
from nfvbed.compare.recommendation.rankings import RankedVariant, Ranking
from nfvbed.compare.recommendation.recommendation import Recommendation, RecommendationRequest
from nfvbed.dashboard.answers import page
from nfvbed.dashboard.api import PROBLEMS
from nfvbed.dashboard.evidence.recommendation import Recommender
from nfvbed.dashboard.results.form import Option
from nfvbed.dashboard.results.parameters import Export
from nfvbed.records import Record
from nfvbed.report import wording
from nfvbed.report.page.values import Cell, Table
from nfvbed.report.recommendation import (
    cores,
    has_loads,
    headline,
    hugepages,
    interval,
    load_of,
    named,
    sections,
    value,
    value_unit,
    where,
    why_to_run,
)

COLUMNS: Final = ("Variant", "Place", "Interval", "Rounds", "Switch's cores", "Hugepages", "Ports", "Measured", "Marks")
LOAD: Final = "at Mpps"
NUMBERS: Final = ("Place", "Rounds", "Hugepages")
TEXTS: Final = {"topology": "Topology", "vnf": "VNF", "frame_size": "Frame size", "flows": "Flows"}
MEANINGS: Final = {
    Need.THROUGHPUT: "throughput: the maximum receive rate",
    Need.LATENCY: "latency: P99 at one load for all",
    Need.JITTER: "jitter: P99 less the least delay, at one load for all",
    Need.CPU: "cpu: busy cores at one load for all",
    Need.RAW_ETHERNET: "raw-ethernet: VNFs that read and write whole frames",
}


class RecommendationQuery(Record):
    """What is asked for, as the URL says it."""

    wanted: RecommendationRequest
    host: str = ""

    @property
    def query(self) -> str:
        """The query that asks for the same again."""
        pairs: dict[str, Any] = {**self.wanted.model_dump(mode="json"), "host": self.host}
        return urlencode({name: text for name, text in pairs.items() if text})


class RecommendAnswer(Record):
    """A recommendation, with its sentences."""

    headline: str
    sections: dict[str, list[str]]
    machine: str
    left: int
    """Newest runs of the host that were not looked at, as they are too large together."""
    recommendation: Recommendation


Label = Annotated[str, Query(max_length=64)]
NUMBER = "[1-9][0-9]*"
VALID: Final = {"frame_size": (f"{NUMBER}|imix", "bytes, or imix"), "flows": (NUMBER, "a number")}
"""What a browser lets through, and says otherwise beside the field."""


def _traffic(
    topology: Label = "",
    vnf: Label = "",
    frame_size: Annotated[
        str, Query(max_length=5, pattern=f"^({NUMBER}|imix)?$", description="bytes, or `imix`; empty: any")
    ] = "",
    flows: Annotated[str, Query(max_length=9, pattern=f"^({NUMBER})?$", description="a number; empty: any")] = "",
) -> dict[str, Any]:
    """Return the traffic that is asked for; fields of a form that are left empty are sent all the same."""
    return {
        "topology": topology or None,
        "vnf": vnf or None,
        "frame_size": frame_size if frame_size == "imix" else int(frame_size or 0) or None,
        "flows": int(flows or 0) or None,
    }


def _asked(
    traffic: Annotated[dict[str, Any], Depends(_traffic)],
    need: Need = Need.THROUGHPUT,
    host: Annotated[
        str, Query(max_length=64, pattern="^[0-9a-f]*$", description="beginning of a hash; empty: of the newest run")
    ] = "",
) -> RecommendationQuery:
    return RecommendationQuery(wanted=RecommendationRequest(need=need, **traffic), host=host)


AskedFor = Annotated[RecommendationQuery, Depends(_asked)]


def pages_of_recommendations(recommender: Recommender) -> APIRouter:
    """Return the route of the page."""
    router = APIRouter(prefix="/recommend", include_in_schema=False)

    @router.get("")
    def show(asked: AskedFor, export: Export = False) -> Response:
        seen = recommender.recommended(asked.wanted, asked.host)
        found, answer = seen.found, seen.found.answer
        ranked = answer.ranked if answer else ()
        return page(
            "recommend",
            f"recommend-{asked.wanted.need.value}",
            export=export,
            title=f"Recommend for {asked.wanted.need.value}",
            here="/recommend",
            asked=asked,
            found=found,
            says=headline(found),
            machine=seen.machine,
            left=seen.left,
            left_out=recommender.left_out(),
            order=order_table(found, answer) if answer and ranked else None,
            evidence=[f"/runs/{entry.run}/why?{urlencode({'cell': entry.cell})}" for entry in ranked],
            together=_together(ranked),
            sections={heading: lines for heading, lines in sections(found).items() if lines},
            elsewhere=[(where(entry), _first(entry), _point(asked, entry)) for entry in found.elsewhere],
            proposals=[(why_to_run(entry), entry.command) for entry in found.proposals],
            form=_form(recommender, asked),
        )

    return router


def api_of_recommendations(recommender: Recommender) -> APIRouter:
    """Return the route of the JSON API."""
    router = APIRouter(prefix="/api/recommend", responses=PROBLEMS)

    @router.get("")
    def get_recommendation(asked: AskedFor) -> RecommendAnswer:
        seen = recommender.recommended(asked.wanted, asked.host)
        found = seen.found
        return RecommendAnswer(
            headline=headline(found),
            sections=sections(found),
            machine=seen.machine,
            left=seen.left,
            recommendation=found,
        )

    return router


def order_table(found: Recommendation, answer: Ranking) -> Table:
    """Return the order with what each place rests on and takes."""
    unit = value_unit(found.measure)
    loads = (LOAD,) if has_loads(found) else ()
    headings = (*COLUMNS[:2], unit, *loads, *COLUMNS[2:])
    rows = tuple(_row(found, answer, place) for place in range(len(answer.ranked)))
    better = "lower is better" if found.measure.lower_is_better else "higher is better"
    caption = f"{where(answer)}: {found.measure.name}, {better}. Those of one place are not distinguished (=)."
    return Table(caption, tuple(Cell(name, "n" if name in (*NUMBERS, unit, LOAD) else "") for name in headings), rows)


def _row(found: Recommendation, answer: Ranking, place: int) -> tuple[Cell, ...]:
    entry = answer.ranked[place]
    shared = place > 0 and answer.ranked[place - 1].place == entry.place
    marks = dict.fromkeys(kind.value for kind in (*entry.limits, *entry.warnings))
    cost = entry.cost
    return (
        Cell(entry.variant),
        Cell(f"{entry.place}{' =' if shared else ''}", "n"),
        Cell(f"{'≥ ' if entry.at_least else ''}{value(entry.value, found.measure)}", "n"),
        *((Cell(load_of(entry), "n"),) if has_loads(found) else ()),
        Cell(interval(entry, found.measure), "whole"),
        Cell(str(entry.rounds), "n"),
        Cell(cores(cost)),
        Cell(hugepages(cost), "n"),
        Cell(cost.port_kind.value, below=cost.nic or None, words=True),
        Cell(entry.started_at[:10], "whole"),
        Cell(", ".join(marks) or wording.NOTHING, tone="warning" if marks else None),
    )


def _together(ranked: Iterable[RankedVariant]) -> list[tuple[str, str]]:
    """Return the comparisons that the order is from: a run, and where its ranked variants are compared."""
    by_run: dict[str, list[str]] = {}
    for entry in ranked:
        by_run.setdefault(entry.run, []).append(entry.variant)
    return [
        (run, f"/compare?{urlencode([('runs', run), *(('variants', name) for name in names[:8])])}")
        for run, names in by_run.items()
    ]


def _first(ranking: Ranking) -> str:
    return f"{ranking.first[0]} first" if ranking.is_clear else f"no clear first place among {named(ranking.first)}"


def _point(asked: RecommendationQuery, ranking: Ranking) -> str:
    point = {"topology": ranking.topology, "vnf": ranking.vnf, "frame_size": ranking.frame_size, "flows": ranking.flows}
    wanted = asked.wanted.model_copy(update={**point, "vnf": ranking.vnf or None})
    return f"/recommend?{asked.model_copy(update={'wanted': wanted}).query}"


def _form(recommender: Recommender, asked: RecommendationQuery) -> dict[str, Any]:
    hosts = recommender.hosts(recommender.newest())
    chosen = next((digest for digest in hosts if digest.startswith(asked.host)), "")
    return {
        "needs": [Option(need.value, text, need is asked.wanted.need) for need, text in MEANINGS.items()],
        "hosts": [Option(digest, f"{about} ({digest[:12]})", digest == chosen) for digest, about in hosts.items()],
        "texts": [
            (name, label, str(getattr(asked.wanted, name) or ""), *VALID.get(name, ("", "")))
            for name, label in TEXTS.items()
        ],
    }
