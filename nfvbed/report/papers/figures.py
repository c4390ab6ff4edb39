"""Published tables: what they say when they are tested; and, apart from them, what was measured here of that kind."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median
from typing import Final

import numpy as np

from nfvbed.compare.samples.statistics import MeanAndIntervals, mean_with_intervals
from nfvbed.compare.tables import KistiInterval, TableDifference, compare_tables, kisti_interval
from nfvbed.records import CellRecord, CellRole, QualityWarning, Record, RunRecord, Status
from nfvbed.records.results import HZ_PER_PPS, MeasuredRow, Quantity, ResultRecord, TablePayload
from nfvbed.records.selection import MEASURED
from nfvbed.report.load import described
from nfvbed.report.page.head import machine
from nfvbed.spec.published import FEWEST, UNITS, Measure, Publication, PublishedColumn, PublishedTable
from nfvbed.store import Store

NEWEST_RUNS: Final = 500
"""So many runs are looked through."""
FORWARD: Final = "forward"
"""Direction of a row that names none."""
OWN: Final = "the devices' own"
"""Offloads of a row that names none."""
NAIVE: Final = "Hz/pps"
_Found = tuple[MeasuredRow, Quantity, float]
EMULATED: Final = QualityWarning.EMULATED_ACCELERATOR


class ColumnStatistics(Record):
    """One published column with its statistics, in the table's unit."""

    label: str
    results: tuple[float, ...]
    """Results of the repetitions; none where only `about` was published."""
    about: tuple[float, float] | None = None
    """Least and greatest that the source states."""
    elsewhere: str = ""
    """Reason why nothing of the kind is measured here."""
    mean: MeanAndIntervals | None = None
    """Mean with Student's intervals at 95 and 99 %; None without repetitions, as what follows."""
    deviation: float | None = None
    """Standard deviation of the results."""
    kisti: KistiInterval | None = None
    """The interval as the report made it, by its factor."""


class OwnFigure(Record):
    """What was measured here of the kind of a column; in the table's unit."""

    label: str
    """Label of the column."""
    variant: str
    topology: str
    vnf: str = ""
    cell: str = ""
    value: float | None = None
    """Median of the rounds, or of the runs of the tool in the only one; None: not measured."""
    low: float | None = None
    high: float | None = None
    mean: MeanAndIntervals | None = None
    """Mean of the rounds with Student's intervals; None with fewer than two rounds."""
    kisti: KistiInterval | None = None
    """Interval of the mean by the KISTI report's factor."""
    repetitions: int = 0
    rounds: int = 1
    """Rounds that it is of."""
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


class TableComparison(Record):
    """One table, recomputed, and apart from it what was measured here."""

    key: str
    title: str
    where: str
    computed: str
    unit: str
    columns: tuple[ColumnStatistics, ...]
    differences: tuple[TableDifference, ...]
    """Each column against each one before it, corrected by Holm."""
    own: OwnRun | None
    """Newest run that measured most of its columns; None: there is none."""
    differs: tuple[str, ...]
    command: str
    """Which measures it."""


class PublicationComparison(Record):
    """A publication."""

    name: str
    title: str
    source: str
    host: str
    versions: str
    method: str
    tables: tuple[TableComparison, ...]


def see_publications(
    store: Store | None, published: Iterable[Publication], only: Collection[str] | None = None
) -> tuple[PublicationComparison, ...]:
    """Return published tables recomputed, each with what was measured here of the same kind.

    Args:
        store: None: there is no store.
        only: ids of the runs that are looked at; None: the newest ones.
    """
    runs = [run for run in store.runs(MEASURED) if run.status is not None] if store else []
    runs = [run for run in runs if only is None or run.id in only][:NEWEST_RUNS]
    published = tuple(published)
    own = _newest(store, runs, [table for entry in published for table in entry.tables]) if store else {}
    return tuple(
        PublicationComparison(
            name=entry.name,
            title=entry.title,
            source=entry.source,
            host=entry.host,
            versions=entry.versions,
            method=entry.method,
            tables=tuple(_table(table, own.get(id(table))) for table in entry.tables),
        )
        for entry in published
    )


def _table(table: PublishedTable, own: OwnRun | None) -> TableComparison:
    return TableComparison(
        key=table.key,
        title=table.title,
        where=table.where,
        computed=table.computed,
        unit=table.unit,
        columns=tuple(_column(column) for column in table.columns),
        differences=compare_tables({column.label: column.results for column in table.columns})
        if table.has_repetitions
        else (),
        own=own,
        differs=table.differs,
        command=f"nfvbed run {table.experiment}",
    )


def _column(column: PublishedColumn) -> ColumnStatistics:
    if not column.results:
        return ColumnStatistics(label=column.label, results=(), about=column.about, elsewhere=column.elsewhere)
    return ColumnStatistics(
        label=column.label,
        results=column.results,
        mean=mean_with_intervals(column.results),
        deviation=float(np.std(column.results, ddof=1)),
        kisti=kisti_interval(column.results),
    )


def _newest(store: Store, runs: Iterable[RunRecord], tables: Sequence[PublishedTable]) -> dict[int, OwnRun]:
    """Return by the identity of each table the run that measured most of its columns; of equals the newest.

    Runs of its experiment come before all others: these may have rows of the same kind under other conditions.

    Args:
        runs: newest first; each is read once, and let go.
    """
    best: dict[int, OwnRun] = {}
    most: dict[int, tuple[bool, int]] = {}
    """Whether a table's best run is of its experiment, and how many columns it measured."""
    for run in runs:
        left = [table for table in tables if most.get(id(table), (False, 0)) < (True, _measurable(table))]
        if not left:
            break
        kinds = {table.measure.kind for table in left}
        results = [entry for entry in store.results(run.id) if entry.kind in kinds]
        if not results:
            continue
        cells = {
            cell.id: cell
            for cell in store.cells(run.id)
            if cell.role is CellRole.SUBJECT and cell.status is not Status.FAILED
        }
        for table in left:
            figures = _figures(cells, results, table)
            measured = sum(figure.value is not None for figure in figures)
            worth = (run.experiment == table.experiment, measured)
            if measured and worth > most.get(id(table), (False, 0)):
                most[id(table)] = worth
                best[id(table)] = _own_run(store, run, figures)
    return best


def _measurable(table: PublishedTable) -> int:
    return sum(bool(column.variant) for column in table.columns)


def _own_run(store: Store, run: RunRecord, figures: tuple[OwnFigure, ...]) -> OwnRun:
    return OwnRun(
        run=run.id,
        started_at=run.started_at,
        experiment=run.experiment,
        site=run.site,
        machine=machine(described(store, run.host_hash)),
        figures=figures,
        status=run.status or Status.INTERRUPTED,
    )


def _figures(
    cells: Mapping[str, CellRecord], results: Iterable[ResultRecord], table: PublishedTable
) -> tuple[OwnFigure, ...]:
    of_kind = [entry for entry in results if entry.kind == table.measure.kind and entry.cell in cells]
    found = []
    for column in table.columns:
        own = [entry for entry in of_kind if _is_of(column, cells[entry.cell])]
        figures = [_figure(column, cells[entry.cell].vnf, entry, table) for entry in own]
        measured = [figure for figure in figures if figure.value is not None]
        found.append(_of_rounds(measured) if measured else (figures or [_missing(column)])[-1])
    return tuple(found)


def _of_rounds(figures: Sequence[OwnFigure]) -> OwnFigure:
    """Return one figure of those of several rounds: the median of rounds, their range, and their mean as papers do.

    One round's figure stays as it is: a median of the runs of the tool, whose mean its record may not have.
    """
    values = [figure.value for figure in figures if figure.value is not None]
    newest = figures[-1]
    if len(values) < FEWEST:
        return newest
    return newest.model_copy(
        update={
            "value": median(values),
            "low": min(values),
            "high": max(values),
            "repetitions": len(values),
            "rounds": len(values),
            "mean": mean_with_intervals(values),
            "kisti": kisti_interval(values),
            "warnings": tuple(dict.fromkeys(kind for figure in figures for kind in figure.warnings)),
        }
    )


def _is_of(column: PublishedColumn, cell: CellRecord) -> bool:
    if not column.variant:
        return False
    same_path = (cell.variant, cell.topology) == (column.variant, column.topology)
    return same_path and column.vnf in ("", cell.vnf)


def _missing(column: PublishedColumn) -> OwnFigure:
    reason = column.elsewhere or "not among what this run measured"
    return OwnFigure(label=column.label, variant=column.variant, topology=column.topology, reason=reason)


def _figure(column: PublishedColumn, vnf: str, entry: ResultRecord, table: PublishedTable) -> OwnFigure:
    empty = _missing(column).model_copy(update={"vnf": vnf, "cell": entry.cell, "warnings": entry.warnings})
    if EMULATED in entry.warnings:
        return empty.model_copy(update={"reason": "its guests were emulated: rates mean nothing"})
    if entry.status is not Status.OK or not entry.payload:
        return empty.model_copy(update={"reason": f"{entry.status.value}: {entry.reason}"})
    found = figure_of(TablePayload.model_validate(entry.payload).rows, table.measure, column.parameters)
    if found is None:
        named = ", ".join(f"{key} {value}" for key, value in {**table.measure.parameters, **column.parameters}.items())
        return empty.model_copy(update={"reason": f"no {table.measure.quantity} with {named or 'any parameters'}"})
    row, figure, value = found
    stored, factor = UNITS[table.unit]
    if figure.unit != stored:
        return empty.model_copy(update={"reason": f"{figure.name} is in {figure.unit} here, not in {stored}"})
    ends = {name: end / factor for name, end in (("low", figure.low), ("high", figure.high)) if end is not None}
    told = {
        "value": value / factor,
        "repetitions": len(row.sequences) or 1,
        "condition": _condition(row),
        "reason": "",
    }
    return empty.model_copy(update={**told, **ends})


def _condition(row: MeasuredRow) -> str:
    duration = row.parameters.get("duration_s")
    return row.label if duration is None else f"{row.label}, {duration} s a run"


def figure_of(rows: Iterable[MeasuredRow], measure: Measure, more: Mapping[str, str | int | float]) -> _Found | None:
    """Return the row that a measure is of, and its quantity; None where no row is, or where that has no value.

    Args:
        more: parameters beside the measure's.
    """
    # Offloads that were set on purpose make another condition: who does not ask for them means the devices' own.
    wanted = {"direction": FORWARD, "offloads": OWN, **measure.parameters, **more}
    for row in rows:
        has = {"direction": FORWARD, "offloads": OWN, **row.parameters}
        same = all(has.get(key) == value for key, value in wanted.items()) and measure.row in ("", row.label)
        figure = _quantity(row, measure.quantity) if same and row.status is Status.OK else None
        if figure is not None and figure.value is not None:
            return row, figure, figure.value
    return None


def _quantity(row: MeasuredRow, name: str) -> Quantity | None:
    if name == NAIVE:
        naive = row.parameters.get(HZ_PER_PPS)
        return Quantity(name=name, value=float(naive), unit="cycles/packet") if naive is not None else None
    return next((figure for figure in row.quantities if figure.name == name), None)
