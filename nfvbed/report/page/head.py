"""The first screen: what was compared, on what machine, the answer, and every variant's rate at each traffic point."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.ranking import Leader
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import RunRecord
from nfvbed.report import wording
from nfvbed.report.answer import Answer, sentence
from nfvbed.report.captions import host_lines, method_line, placement_lines
from nfvbed.report.context import ReportContext
from nfvbed.report.figures.palette import colors_of
from nfvbed.report.hiddenlines import hidden_lines
from nfvbed.report.labels import row_labels, run_label, unbroken
from nfvbed.report.marks import Marks, key_of
from nfvbed.report.page.comparison import simulated_mark


@dataclass(frozen=True)
class RunLine:
    """A run: when and where."""

    period: str
    id: str
    site: str
    status: str


@dataclass(frozen=True)
class Header:
    """Title, machine and runs."""

    mark: str
    """The mark of a simulation; empty: nothing is simulated."""
    title: str
    machines: tuple[str, ...]
    runs: tuple[RunLine, ...]


@dataclass(frozen=True)
class Bar:
    """A variant's rate on a tile."""

    name: str
    status: str
    """Why there is no rate; empty where there is one."""
    rate: str = ""
    percent: str = ""
    """Part of the highest rate of the traffic point."""
    color: str = ""
    limited: bool = False
    marks: str = ""
    """What calls it into question; explained below the tiles."""


@dataclass(frozen=True)
class Tile:
    """A traffic point."""

    simulated: bool
    point: str
    leader: str
    bars: tuple[Bar, ...]
    missing: str
    """Variants of a survey that were not measured there."""
    sentence: str


@dataclass(frozen=True)
class Decision:
    """The command that decides what a survey leaves open."""

    point: str
    command: str


@dataclass(frozen=True)
class FirstScreen:
    """The answer, a tile for each traffic point, and how sure it is."""

    headline: str
    hosts: tuple[str, ...]
    tiles: tuple[Tile, ...]
    decisions: tuple[Decision, ...]
    chains: tuple[str, ...]
    marks: tuple[str, ...]
    """What the marks on the tiles mean, and those of tests."""
    confidence: str


def title(context: ReportContext) -> str:
    """Return the experiment's title; its name where the plan is not stored."""
    return context.title or ", ".join(dict.fromkeys(run.experiment for run in context.runs))


def page_header(context: ReportContext) -> Header:
    """Return title, machine and runs."""
    machines = dict.fromkeys(machine(host) for host in context.hosts.values() if host)
    return Header(
        mark=simulated_mark(context.comparison),
        title=title(context),
        machines=tuple(line for line in machines if line),
        runs=tuple(_run_line(run) for run in context.runs),
    )


def machine(host: dict[str, Any]) -> str:
    """Describe a host in one line; what is not known of it is left out."""
    if host.get("simulated"):
        return "no machine: simulated"
    cpu = host.get("cpu", {})
    kind = "virtual machine" if cpu.get("hypervisor") == "yes" else ""
    cores = len(host.get("topology", {}).get("allowed", ()))
    memory = host.get("memory_gib")
    parts = (
        str(cpu.get("model name", "")),
        f"{cores} core{'s' if cores > 1 else ''}" if cores else "",
        kind,
        f"{memory} GiB" if memory else "",
        f"Linux {host['kernel']}" if host.get("kernel") else "",
    )
    return ", ".join(part for part in parts if part)


def _run_line(run: RunRecord) -> RunLine:
    ended = f" to {_when(run.ended_at)}" if run.ended_at else ", not ended"
    status = f"; {run.status.value}" if run.status else ""
    return RunLine(f"{_when(run.started_at)}{ended}", run.id, run.site, status)


def _when(moment: str) -> str:
    """Shorten a time to minutes; what is not in the store's own form is shown as it is."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+(?:Z|\+00:00)", moment)
    return f"{found[1]} {found[2]} UTC" if found else moment


def first_screen(comparison: Comparison, said: Answer) -> FirstScreen:
    """Return the answer, a tile for each traffic point, and how sure it is."""
    marks = Marks(comparison)
    named = "" if marks.explained else " No warnings were raised."
    placed = " ".join(placement_lines(comparison))
    return FirstScreen(
        headline=unbroken(said.headline),
        hosts=(
            *(f"{line[0].upper()}{line[1:]}." for line in (*host_lines(comparison), *comparison.ends)),
            *hidden_lines(comparison),
        ),
        tiles=tuple(_tile(comparison, point, marks) for point in said.points),
        decisions=tuple(
            Decision(wording.row_point(point.row), command)
            for point, command in zip(said.points, said.decide, strict=False)
            if command
        ),
        chains=() if comparison.many else tuple(wording.chain(chain) for chain in comparison.chains),
        marks=tuple(marks.legend()),
        confidence=f"{placed} {method_line(comparison)}{named}",
    )


def _tile(comparison: Comparison, point: Leader, marks: Marks) -> Tile:
    """Return all rates of a traffic point, measured or not, and the sentence on its leader."""
    best = point.row
    rows = comparison.ranked([row for row in comparison.rows if row.point == best.point])
    who = f"{best.variant} ahead" if point.clear else best.variant if point.alone else "no clear leader"
    if point.surveyed:
        who = f"{best.variant} highest"
    missing = [row.variant for row in rows if row.mrr is None] if comparison.many else []
    return Tile(
        simulated=best.simulated,
        point=wording.row_point(best),
        leader=who,
        bars=tuple(_bars(comparison, rows, marks)),
        missing=", ".join(missing),
        sentence=sentence(point).split(": ", 1)[1],
    )


def _bars(comparison: Comparison, rows: Sequence[CellSummary], marks: Marks) -> Iterable[Bar]:
    several = len(comparison.runs) > 1
    colors = colors_of(row_labels(comparison))
    highest = max((row.mrr.median_pps for row in rows if row.mrr), default=0.0)
    for row in rows:
        name = run_label(row.variant, row.run, several=several)
        if row.mrr is not None:
            yield Bar(
                name,
                status="",
                rate=wording.bound(row) + wording.mpps(row.mrr.median_pps),
                percent=f"{100 * row.mrr.median_pps / highest if highest else 0:.1f}",
                color=colors[name],
                limited=bool(row.limited),
                marks=marks.of(key_of(row)),
            )
        elif not comparison.many:
            yield Bar(name, status=row.status.value)
