"""Published figures and claims beside what was measured here, as Markdown: in a terminal, and as evidence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nfvbed.compare.samples.statistics import MeanAndIntervals, mean_with_intervals
from nfvbed.compare.tables import KISTI_Z, KistiInterval
from nfvbed.records import Record
from nfvbed.report.papers.breakdowns import BreakdownRow, BreakdownTable
from nfvbed.report.papers.claims import JudgedClaim
from nfvbed.report.papers.figures import ColumnStatistics, OwnFigure, PublicationComparison, TableComparison
from nfvbed.report.publishedlines import stated

NOTHING = "nothing has run"


class Paper(Record):
    """A publication as it is seen here."""

    seen: PublicationComparison
    claims: tuple[JudgedClaim, ...]
    breakdowns: tuple[BreakdownTable, ...] = ()
    without_numbers: tuple[str, ...] = ()


class Experiment(Record):
    """An experiment after a published one, and what has run of it here."""

    name: str
    title: str
    quick_s: float
    """Estimated length of its quick form, s."""
    ran: tuple[str, ...] = ()
    """Runs, newest first, in a few words each."""


def page(papers: Sequence[Paper], experiments: Sequence[Experiment]) -> str:
    """Return the whole page."""
    return "\n".join([*_head(), *_experiments(papers, experiments), *_verdicts(papers), *_papers(papers)]) + "\n"


def _head() -> Iterator[str]:
    yield "# Evidence: the published experiments"
    yield ""
    yield "Written by `make papers` from the store's runs; nothing of it is written by hand. Published figures are of"
    yield "other hosts, NICs and versions: they stand beside those of this machine and are never ranked with them. A"
    yield "claim is judged on own rounds alone, paired and exact, each claim at 5 %; claims are not corrected for each"
    yield "other. *Undecided* is what the rounds have no power for. Verdicts are of this machine."
    yield ""


def _experiments(papers: Iterable[Paper], experiments: Iterable[Experiment]) -> Iterator[str]:
    judged: dict[str, Counter[str]] = {}
    for paper in papers:
        for claim in paper.claims:
            judged.setdefault(claim.command.removeprefix("make run-"), Counter())[claim.verdict.value] += 1
    yield "## Experiments"
    yield ""
    yield "| experiment | quick form | ran here | claims |"
    yield "|---|---|---|---|"
    for one in experiments:
        counts = ", ".join(f"{count} {name}" for name, count in judged.get(one.name, Counter()).items())
        minutes = f"{max(1, round(one.quick_s / 60))} min"
        yield _row(f"`make run-{one.name}`", minutes, "; ".join(one.ran) or NOTHING, counts or "none")
    yield ""


def _verdicts(papers: Iterable[Paper]) -> Iterator[str]:
    yield "## Claims"
    yield ""
    for paper in papers:
        if not paper.claims:
            continue
        yield f"### {paper.seen.title}"
        yield ""
        yield "| claim | where | verdict | why |"
        yield "|---|---|---|---|"
        for claim in paper.claims:
            yield _row(claim.text, claim.where, f"**{claim.verdict.value}**", _why(claim))
        yield ""


def _why(claim: JudgedClaim) -> str:
    run = f"run {claim.run[-8:]} of {claim.started_at[:10]}{', quick form' if claim.quick else ''}" if claim.run else ""
    return ". ".join(part.rstrip(".") for part in (claim.why, claim.bounds, run) if part) + "."


def _papers(papers: Iterable[Paper]) -> Iterator[str]:
    yield "## Published and measured figures"
    yield ""
    for paper in papers:
        seen = paper.seen
        yield f"### {seen.title}: figures"
        yield ""
        yield f"{seen.source}. Measured on: {seen.host}; {seen.versions}. Method: {seen.method}."
        yield ""
        for table in seen.tables:
            yield from _table(table)
        for breakdown in paper.breakdowns:
            yield from _breakdown(breakdown)
        for line in paper.without_numbers:
            yield f"- Without numbers: {line}"
        yield ""


def _table(table: TableComparison) -> Iterator[str]:
    yield f"**{table.title}** ({table.where}), {table.unit}. {table.computed}"
    yield ""
    yield f"| | published | here: mean, Student 99 %, z = {KISTI_Z} | here: median (least to greatest), rounds |"
    yield "|---|---|---|---|"
    own = {figure.label: figure for figure in table.own.figures} if table.own else {}
    for column in table.columns:
        figure = own.get(column.label)
        yield _row(column.label, _published(column), _mean(figure), _median(column, figure))
    yield ""
    if table.own:
        yield f"- Run {table.own.run} ({table.own.experiment}, {table.own.started_at[:10]}) on {table.own.machine}."
    else:
        yield f"- {NOTHING.capitalize()}: `{table.command}`."
    for line in table.differs:
        yield f"- {line}"
    yield ""


def _breakdown(table: BreakdownTable) -> Iterator[str]:
    yield f"**{table.title}.** Medians of the rounds (least to greatest)."
    yield ""
    if not table.run:
        yield f"- {NOTHING.capitalize()}: `make run-{table.experiment}`."
        yield ""
        return
    yield _row("", *table.quantities, "rounds")
    yield f"|---|{'---|' * (len(table.quantities) + 1)}"
    for row in table.rows:
        marks = "".join(f"; {kind.value}" for kind in row.warnings)
        found = [_of_row(row, name) for name in table.quantities]
        found = found if row.values else [row.reason, *[""] * (len(found) - 1)]
        yield _row(row.subject.words, *found, f"{row.rounds}{marks}")
    yield ""
    yield f"- Run {table.run} ({table.experiment}, {table.started_at[:10]}) on {table.machine}."
    for line in (*table.compared, *table.reads):
        yield f"- {line}"
    yield ""


def _of_row(row: BreakdownRow, name: str) -> str:
    found = row.values.get(name)
    if found is None:
        return ""
    factor, unit = (1e9, "Gbit/s") if found.unit == "bit/s" else (1.0, found.unit)
    value, low, high = (f"{figure / factor:.4g}" for figure in (found.value, found.low, found.high))
    return f"{value} ({low} to {high}) {unit}" if low != high else f"{value} {unit}"


def _published(column: ColumnStatistics) -> str:
    if column.about is not None:
        return stated(column.about)
    return _intervals(mean_with_intervals(column.results), column.kisti)


def _intervals(mean: MeanAndIntervals, kisti: KistiInterval | None) -> str:
    ends = [(one.low, one.high) for one in mean.intervals[-1:]] + ([(kisti.low, kisti.high)] if kisti else [])
    spans = [f"{low:.4g} to {high:.4g}" for low, high in ends]
    return f"{mean.mean:.4g} ({'; '.join(spans)})" if spans else f"{mean.mean:.4g}"


def _mean(figure: OwnFigure | None) -> str:
    if figure is None or figure.mean is None:
        return ""
    return _intervals(figure.mean, figure.kisti)


def _median(column: ColumnStatistics, figure: OwnFigure | None) -> str:
    if figure is None:
        return column.elsewhere or NOTHING
    if figure.value is None:
        return figure.reason
    marks = "".join(f"; {kind.value}" for kind in figure.warnings)
    span = f" ({figure.low:.4g} to {figure.high:.4g})" if figure.low is not None and figure.high is not None else ""
    return f"{figure.value:.4g}{span}, {figure.rounds}{marks}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(' '.join(cell.split()).replace('|', '/') for cell in cells)} |"
