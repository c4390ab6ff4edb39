"""The page's first table: rows of the comparison by traffic point, or those of a survey."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import QualityWarning, Role
from nfvbed.report import wording
from nfvbed.report.captions import scope_of, short_caption
from nfvbed.report.labels import judged_against, judged_as
from nfvbed.report.pacedload import load_of
from nfvbed.report.page.notes import TableNotes
from nfvbed.report.page.values import Cell, Note, Table

AGAINST: Final = "Against the baseline"
ORDER: Final = "Order"
"""In its place in a survey, which judges nothing."""
HEADINGS: Final = (
    Cell("Variant"),
    Cell("Rate, Mpps", "n"),
    Cell("Rounds, trials", "n"),
    Cell(AGAINST),
    Cell("Of bare ports", "n"),
    Cell("Mbit/s L1, L2", "n"),
    Cell("Missing frames", "n"),
    Cell("Latency µs, P50, P99", "n"),
    Cell("CPU cores: switch · VNF · gen.", "n"),
    Cell("Cycles/ packet", "n"),
    Cell("Limits and warnings"),
)


class Grouping(StrEnum):
    """What rows are grouped by."""

    POINT = "point"
    VARIANT = "variant"
    TOPOLOGY = "topology"
    VNF = "vnf"
    FRAME_SIZE = "frame-size"
    RUN = "run"

    def name_of(self, row: CellSummary) -> str:
        """Return the name of a row's group."""
        named = {
            Grouping.POINT: lambda: wording.row_point(row),
            Grouping.VARIANT: lambda: row.variant,
            Grouping.TOPOLOGY: lambda: row.topology,
            Grouping.VNF: lambda: row.vnf or "no VNF",
            Grouping.FRAME_SIZE: lambda: wording.frame_size(row.frame_size),
            Grouping.RUN: lambda: f"run {row.run}",
        }
        return named[self]()


UNKNOWN: Final = Cell(wording.NOTHING, "n")


@dataclass(frozen=True)
class Mark:
    """What bounds a row, or calls it into question."""

    text: str
    tone: str
    note: Note | None = None
    count: str | None = None
    """On how many trials it was raised, where that is known."""


@dataclass(frozen=True)
class GridRow:
    """A variant at a traffic point."""

    name: str
    below: tuple[str, ...]
    """Its own VNF, and its run, where they have to be named."""
    cells: tuple[Cell, ...]
    marks: tuple[Mark, ...] = ()
    """In the last column."""


@dataclass(frozen=True)
class Group:
    """The rows of a traffic point."""

    point: str
    scope: str | None
    rows: tuple[GridRow, ...]


@dataclass(frozen=True)
class Grid:
    """The table, and what is below it."""

    mark: str
    caption: str
    survey: bool
    """Narrow: without notes."""
    headings: tuple[Cell, ...]
    groups: tuple[Group, ...]
    notes: tuple[Note, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why verdicts of a survey are open."""
    tables: tuple[Table, ...] = ()
    """Further ones."""


def simulated_mark(comparison: Comparison) -> str:
    """Return what a simulation's tables begin with; nothing for a measurement."""
    return wording.SIMULATED_MARK if comparison.simulated else ""


def grid_caption(comparison: Comparison) -> str:
    """Return what the table shows, and against what."""
    return (
        f"Maximum receive rate (both directions together), {judged_against(comparison)}. "
        f"{wording.BARE_PORTS} {short_caption(comparison)}"
    )


def comparison_grid(comparison: Comparison, tables: tuple[Table, ...], by: Grouping = Grouping.POINT) -> Grid:
    """Return the rows in groups, the baseline first in each, and the notes that they name below."""
    notes = TableNotes("comparison")
    groups = []
    for name in dict.fromkeys(by.name_of(row) for row in comparison.rows):
        rows = comparison.ranked([row for row in comparison.rows if by.name_of(row) == name])
        judged = any(comparison.difference(row) for row in rows)
        scope = scope_of(comparison, rows) if judged else None
        shown = tuple(_row(comparison, row, notes, by) for row in rows)
        groups.append(Group(name, scope, shown))
    return Grid(
        mark=simulated_mark(comparison),
        caption=grid_caption(comparison),
        survey=False,
        headings=tuple(_headings(comparison)),
        groups=tuple(groups),
        notes=notes.all(),
        tables=tables,
    )


def _headings(comparison: Comparison) -> Iterable[Cell]:
    return (Cell(ORDER) if cell.text == AGAINST and comparison.purpose == "survey" else cell for cell in HEADINGS)


def _row(comparison: Comparison, row: CellSummary, notes: TableNotes, by: Grouping) -> GridRow:
    own = (f"VNF {wording.own_vnf(row)}",) if wording.own_vnf(row) else ()
    run = (f"run {wording.short_run(row.run)}",) if len(comparison.runs) > 1 else ()
    cells = (*_rate(row), _verdict(comparison, row, notes), *_details(row, notes))
    point = () if by is Grouping.POINT else (wording.row_point(row),)
    return GridRow(row.variant, point + own + run, cells, _marks(comparison, row, notes))


def _number(text: str, below: str = "", note: Note | None = None) -> Cell:
    words = any(character.isalpha() for character in below)
    return Cell(text, "n", below=below or None, words=words, note=note)


def _rate(row: CellSummary) -> tuple[Cell, ...]:
    if row.mrr is None:
        return (Cell(wording.status(row), tone="warning", span=2),)
    rate = wording.bound(row) + wording.mpps(row.mrr.median_pps)
    return _number(rate, wording.mpps_interval(row.mrr.interval)), _number(str(row.mrr.rounds), str(row.mrr.trials))


def _details(row: CellSummary, notes: TableNotes) -> Sequence[Cell]:
    if row.mrr is None:
        return [UNKNOWN] * 6
    rate = row.mrr
    given = row.given_load
    latency = given.latency if given else None
    source = notes.mark(f"Cycles per packet from: {row.cycles_source}.") if row.cycles_per_packet is not None else None
    return (
        _number(wording.of_bare_ports(row), f"{wording.of_bare_ports_interval(row)} {wording.limited_by(row)}"),
        _number(wording.bit_rate(rate.layer1_bits_per_s), wording.bit_rate(rate.layer2_bits_per_s)),
        _number(
            wording.loss(given.missing_ratio, at_least=bool(given.surplus)),
            f"at {load_of(row)} Mpps",
        )
        if given
        else UNKNOWN,
        _number(wording.microseconds(latency.p50_ns), wording.microseconds(latency.p99_ns)) if latency else UNKNOWN,
        _number(" · ".join(wording.share(getattr(row.cpu, role.value)) for role in Role)),
        _number(wording.cycles(row.cycles_per_packet), note=source),
    )


def _verdict(comparison: Comparison, row: CellSummary, notes: TableNotes) -> Cell:
    found = comparison.difference(row)
    if comparison.purpose == "survey":
        return Cell(judged_as(comparison, row), "verdict", below=wording.scope(found) or None)
    if found is None:
        return Cell(wording.own_verdict(comparison.baseline, row), "verdict")
    judged = found.judgement
    under = [wording.scope(found)]
    if judged.interval and judged.ratio:
        kind = wording.level(judged.interval).removesuffix(" interval")
        under.insert(0, f"×{wording.ratio_interval(judged)} ({kind})")
    if judged.unpaired:
        under.append("unpaired")
    reason = f"{judged.reason[0].upper()}{judged.reason[1:]}." if judged.reason else ""
    return Cell(
        wording.verdict(found),
        "verdict",
        tone=judged.verdict.value,
        note=notes.mark(reason),
        below=", ".join(text for text in under if text),
        words=True,
    )


def _place(comparison: Comparison, row: CellSummary) -> str:
    """Return what distinguishes a row from the variant's others: its size, and its path where there are several."""
    several = len({(other.topology, other.vnf) for other in comparison.rows}) > 1
    return wording.row_point(row) if several else wording.frame_size(row.frame_size)


def plain_marks(row: CellSummary) -> tuple[Mark, ...]:
    """Return what bounds a row and what calls it into question, without notes."""
    limits = [Mark(limit.kind.value, "warning") for limit in row.limits]
    perhaps = [Mark(f"perhaps {limit.kind.value}", "count") for limit in row.possible_limits]
    warnings = [Mark(kind.value, "warning", count=counts) for kind, counts in wording.row_warnings(row).items()]
    return (*limits, *perhaps, *warnings)


def _marks(comparison: Comparison, row: CellSummary, notes: TableNotes) -> tuple[Mark, ...]:
    """Return what bounds the row and what calls it into question; how is said in the notes."""
    limits = [Mark(limit.kind.value, "warning", notes.mark(_said(limit.kind, limit.detail))) for limit in row.limits]
    perhaps = [
        Mark(f"perhaps {limit.kind.value}", "count", notes.mark(_said(limit.kind, limit.detail)))
        for limit in row.possible_limits
    ]
    warnings = [Mark(kind.value, "warning", count=counts) for kind, counts in wording.row_warnings(row).items()]
    details = {entry.detail: f"{entry.role.value} exceeded" for entry in row.exceeded}
    place = f"{row.variant}, {_place(comparison, row)}"
    further = [Mark(details.get(note, "note"), "count", notes.mark(f"{place}: {note}.")) for note in row.notes]
    return (*limits, *perhaps, *warnings, *further)


def _said(kind: QualityWarning, detail: str) -> str:
    return f"{kind.value}: {detail}." if detail else ""
