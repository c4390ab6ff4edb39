"""Where the work of own rates is: tables that explain why they differ, from the newest run of their experiment."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import median

from nfvbed.records import CellRole, QualityWarning, Record, RunRecord, Status
from nfvbed.records.results import ResultRecord, TablePayload
from nfvbed.records.segments import ALL, CORES_BUSY, PARTS, cycles_of
from nfvbed.records.selection import MEASURED
from nfvbed.report.load import described
from nfvbed.report.page.head import machine
from nfvbed.report.papers.figures import EMULATED, figure_of
from nfvbed.spec.published import Breakdown, Measure, Publication, Subject
from nfvbed.store import Store

THROUGHPUT = "throughput"


class BreakdownValue(Record):
    """One quantity of a row: the median of rounds, with the least and the greatest."""

    value: float
    low: float
    high: float
    unit: str


class BreakdownRow(Record):
    """What was measured of one subject."""

    subject: Subject
    values: dict[str, BreakdownValue]
    """By the name of the quantity; one that no round has is not among them."""
    rounds: int
    warnings: tuple[QualityWarning, ...] = ()
    reason: str = ""
    """Why there is nothing."""


class BreakdownTable(Record):
    """A breakdown with the figures of one run."""

    title: str
    quantities: tuple[str, ...]
    rows: tuple[BreakdownRow, ...]
    compared: tuple[str, ...]
    """A sentence for each pair of rows that differ in the variant alone."""
    reads: tuple[str, ...]
    experiment: str
    run: str = ""
    """Empty: nothing has run."""
    started_at: str = ""
    machine: str = ""


def breakdown_tables(
    store: Store | None, publication: Publication, only: Collection[str] | None = None
) -> tuple[BreakdownTable, ...]:
    """Return a publication's breakdowns with own figures.

    Args:
        store: None: there is no store.
        only: ids of the runs that are looked at; None: all.
    """
    runs = [run for run in store.runs(MEASURED) if run.status is not None] if store else []
    known = [run for run in runs if only is None or run.id in only]
    return tuple(_table(store, known, entry) for entry in publication.breakdowns)


def _table(store: Store | None, runs: Iterable[RunRecord], breakdown: Breakdown) -> BreakdownTable:
    empty = BreakdownTable(
        title=breakdown.title,
        quantities=breakdown.quantities,
        rows=(),
        compared=(),
        reads=breakdown.reads,
        experiment=breakdown.experiment,
    )
    for run in (run for run in runs if run.experiment == breakdown.experiment):
        if store is None:
            break
        rows = tuple(_rows(store, run, breakdown))
        if any(row.values for row in rows):
            figures = {"rows": rows, "compared": tuple(_compared(rows)), "run": run.id, "started_at": run.started_at}
            return empty.model_copy(update={**figures, "machine": machine(described(store, run.host_hash))})
    return empty


def _rows(store: Store, run: RunRecord, breakdown: Breakdown) -> Iterator[BreakdownRow]:
    results = [entry for entry in store.results(run.id) if entry.kind == breakdown.kind]
    cells = [cell for cell in store.cells(run.id) if cell.role is CellRole.SUBJECT]
    for subject in breakdown.rows:
        own = {cell.id for cell in cells if (cell.variant, cell.topology) == (subject.variant, subject.topology)}
        yield _row(breakdown, subject, [entry for entry in results if entry.cell in own])


def _row(breakdown: Breakdown, subject: Subject, results: Sequence[ResultRecord]) -> BreakdownRow:
    good = [entry for entry in results if entry.status is Status.OK and EMULATED not in entry.warnings]
    tables = [TablePayload.model_validate(entry.payload).rows for entry in good]
    values = {}
    for name in breakdown.quantities:
        measure = Measure(kind=breakdown.kind, quantity=name, parameters=breakdown.parameters)
        found = [seen for rows in tables if (seen := figure_of(rows, measure, subject.parameters)) is not None]
        if found:
            each = [value for _, _, value in found]
            values[name] = BreakdownValue(value=median(each), low=min(each), high=max(each), unit=found[0][1].unit)
    reason = "" if values else next((entry.reason for entry in results if entry.reason), "not measured")
    warnings = tuple(dict.fromkeys(kind for entry in good for kind in entry.warnings))
    return BreakdownRow(subject=subject, values=values, rounds=len(tables), warnings=warnings, reason=reason)


def _compared(rows: Sequence[BreakdownRow]) -> Iterator[str]:
    base = rows[0].subject.variant
    of_base = {_condition(row): row for row in rows if row.subject.variant == base}
    for row in rows:
        other = of_base.get(_condition(row))
        if other is not None and row.subject.variant != base:
            sentence = _pair(other.values, row.values)
            if sentence:
                yield f"{row.subject.words} beside {other.subject.words}: {sentence}."


def _condition(row: BreakdownRow) -> tuple[object, ...]:
    subject = row.subject
    return subject.topology, subject.vnf, tuple(sorted(subject.parameters.items()))


def _pair(base: Mapping[str, BreakdownValue], own: Mapping[str, BreakdownValue]) -> str:
    """Return what a rate's difference is made of: cycles a segment, part by part, and cores; empty where not known."""
    needed = (THROUGHPUT, cycles_of(ALL), CORES_BUSY)
    if any(name not in side or not side[name].value for side in (base, own) for name in needed):
        return ""
    rate, cycles, cores = (own[name].value / base[name].value for name in needed)
    more = {
        part: own[cycles_of(part)].value - base[cycles_of(part)].value
        for part in PARTS
        if cycles_of(part) in own and cycles_of(part) in base
    }
    whole = own[cycles_of(ALL)].value - base[cycles_of(ALL)].value
    most = max(more, key=lambda part: more[part] * (1 if whole > 0 else -1))
    way = "more" if whole > 0 else "fewer"
    return (
        f"{rate:.3g} times the throughput, by {cycles:.3g} times the cycles a segment on {cores:.3g} times the cores;"
        f" of the {abs(whole):,.0f} cycles {way}, {more[most]:+,.0f} are of the part {most}"
    )
