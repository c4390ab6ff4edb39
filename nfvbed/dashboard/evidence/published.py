"""Published tables: what they say when they are tested; and, apart from them, what was measured here of that kind."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from nfvbed.compare.samples.statistics import MeanAndIntervals, mean_with_intervals
from nfvbed.compare.tables import KistiInterval, TableDifference, compare_tables, kisti_interval
from nfvbed.records import CellRecord, CellRole, QualityWarning, Record, RunRecord, Status
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, ResultRecord, TablePayload
from nfvbed.records.selection import MEASURED
from nfvbed.report.load import described
from nfvbed.report.page.head import machine
from nfvbed.spec.published import UNITS, Publication, PublishedColumn, PublishedTable
from nfvbed.store import Store

NEWEST_RUNS: Final = 500
"""So many runs are looked through."""
TOOL, STREAMS, FORWARD = "iperf3", 1, "forward"
"""Of the tests that measure the like of the tables."""
FIGURE: Final = "throughput"
EMULATED: Final = QualityWarning.EMULATED_ACCELERATOR


class SeenColumn(Record):
    """One published column with its statistics, in the table's unit."""

    label: str
    results: tuple[float, ...]
    """Of the repetitions; none where only `about` was published."""
    about: tuple[float, float] | None = None
    """Least and greatest that the source states."""
    mean: MeanAndIntervals | None = None
    """With Student's intervals at 95 and 99 %; None without repetitions, as what follows."""
    deviation: float | None = None
    """Standard deviation of the results."""
    kisti: KistiInterval | None = None
    """The interval as the report made it, by its factor."""


class OwnFigure(Record):
    """What was measured here of the kind of a column; in the table's unit."""

    label: str
    """Of the column."""
    variant: str
    topology: str
    vnf: str = ""
    cell: str = ""
    value: float | None = None
    """Median of the runs of the tool; None: not measured."""
    low: float | None = None
    high: float | None = None
    repetitions: int = 0
    condition: str = ""
    warnings: tuple[QualityWarning, ...] = ()
    reason: str = ""
    """Why there is none."""


class OwnRun(Record):
    """The run that the figures are from."""

    run: str
    started_at: str
    experiment: str
    site: str
    machine: str
    figures: tuple[OwnFigure, ...]
    """One for each column, in their order."""
    status: Status = Status.OK
    """How the run ended; its tests that ended well count all the same."""


class SeenTable(Record):
    """One table, recomputed, and apart from it what was measured here."""

    key: str
    title: str
    unit: str
    columns: tuple[SeenColumn, ...]
    differences: tuple[TableDifference, ...]
    """Each column against each one before it, corrected by Holm."""
    own: OwnRun | None
    """Newest run that measured most of its columns; None: there is none."""
    differs: tuple[str, ...]
    command: str
    """Which measures it."""


class SeenPublication(Record):
    """A publication."""

    name: str
    title: str
    source: str
    host: str
    versions: str
    method: str
    tables: tuple[SeenTable, ...]


def see_publications(store: Store, published: Iterable[Publication]) -> tuple[SeenPublication, ...]:
    """Return published tables recomputed, each with what was measured here of the same kind."""
    runs = [run for run in store.runs(MEASURED) if run.status is not None][:NEWEST_RUNS]
    return tuple(
        SeenPublication(
            name=entry.name,
            title=entry.title,
            source=entry.source,
            host=entry.host,
            versions=entry.versions,
            method=entry.method,
            tables=tuple(_table(table, _newest(store, runs, table)) for table in entry.tables),
        )
        for entry in published
    )


def _table(table: PublishedTable, own: OwnRun | None) -> SeenTable:
    return SeenTable(
        key=table.key,
        title=table.title,
        unit=table.unit,
        columns=tuple(_column(column) for column in table.columns),
        differences=compare_tables({column.label: column.results for column in table.columns})
        if table.has_repetitions
        else (),
        own=own,
        differs=table.differs,
        command=f"nfvbed run {table.experiment}",
    )


def _column(column: PublishedColumn) -> SeenColumn:
    if not column.results:
        return SeenColumn(label=column.label, results=(), about=column.about)
    return SeenColumn(
        label=column.label,
        results=column.results,
        mean=mean_with_intervals(column.results),
        deviation=float(np.std(column.results, ddof=1)),
        kisti=kisti_interval(column.results),
    )


def _newest(store: Store, runs: Sequence[RunRecord], table: PublishedTable) -> OwnRun | None:
    """Return the run that measured most columns; of equals the newest, which come first."""
    best, most = None, 0
    for run in runs:
        found = _figures(store, run, table)
        measured = sum(figure.value is not None for figure in found)
        if measured > most:
            best, most = (run, found), measured
        if most == len(table.columns):
            break
    if best is None:
        return None
    run, figures = best
    host = described(store, run.host_hash)
    return OwnRun(
        run=run.id,
        started_at=run.started_at,
        experiment=run.experiment,
        site=run.site,
        machine=machine(host),
        figures=figures,
        status=run.status or Status.INTERRUPTED,
    )


def _figures(store: Store, run: RunRecord, table: PublishedTable) -> tuple[OwnFigure, ...]:
    results = [entry for entry in store.results(run.id) if entry.kind is ResultKind.TCP_THROUGHPUT]
    if not results:
        return ()
    cells = {
        cell.id: cell
        for cell in store.cells(run.id)
        if cell.role is CellRole.SUBJECT and cell.status is not Status.FAILED
    }
    found = []
    for column in table.columns:
        own = [entry for entry in results if entry.cell in cells and _is_of(column, cells[entry.cell])]
        figures = [_figure(column, cells[entry.cell].vnf, entry, table.unit) for entry in own]
        measured = [figure for figure in figures if figure.value is not None]
        found.append((measured or figures or [_missing(column)])[-1])
    return tuple(found)


def _is_of(column: PublishedColumn, cell: CellRecord) -> bool:
    same_path = (cell.variant, cell.topology) == (column.variant, column.topology)
    return same_path and column.vnf in ("", cell.vnf)


def _missing(column: PublishedColumn) -> OwnFigure:
    reason = "not among what this run measured"
    return OwnFigure(label=column.label, variant=column.variant, topology=column.topology, reason=reason)


def _figure(column: PublishedColumn, vnf: str, entry: ResultRecord, unit: str) -> OwnFigure:
    empty = _missing(column).model_copy(update={"vnf": vnf, "cell": entry.cell, "warnings": entry.warnings})
    if EMULATED in entry.warnings:
        return empty.model_copy(update={"reason": "its guests were emulated: rates mean nothing"})
    if entry.status is not Status.OK or not entry.payload:
        return empty.model_copy(update={"reason": f"{entry.status.value}: {entry.reason}"})
    rows = TablePayload.model_validate(entry.payload).rows
    row = next((row for row in rows if _fits(row)), None)
    figure = _quantity(row) if row else None
    if row is None or figure is None or figure.value is None:
        return empty.model_copy(update={"reason": f"no row of {TOOL} with one stream"})
    stored, factor = UNITS[unit]
    assert figure.unit == stored, figure
    ends = {name: value / factor for name, value in (("low", figure.low), ("high", figure.high)) if value is not None}
    told = {
        "value": figure.value / factor,
        "repetitions": len(row.sequences),
        "condition": _condition(row),
        "reason": "",
    }
    return empty.model_copy(update={**told, **ends})


def _condition(row: MeasuredRow) -> str:
    duration = row.parameters.get("duration_s")
    return row.label if duration is None else f"{row.label}, {duration} s a run"


def _fits(row: MeasuredRow) -> bool:
    asked = (row.parameters.get("tool"), row.parameters.get("streams"), row.parameters.get("direction", FORWARD))
    return asked == (TOOL, STREAMS, FORWARD) and row.status is Status.OK


def _quantity(row: MeasuredRow) -> Quantity | None:
    return next((figure for figure in row.quantities if figure.name == FIGURE), None)
