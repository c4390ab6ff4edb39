"""The page's tables below the comparison: rates and ratios by placement class, and rows at their own half load."""

from collections.abc import Iterable

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.report import wording
from nfvbed.report.pacedload import span_of
from nfvbed.report.page.values import Table, plain_table


def below_the_table(comparison: Comparison) -> tuple[Table, ...]:
    """Return both tables; one that has nothing to tell is left out."""
    return tuple(table for table in (_by_class(comparison), _at_own_half_load(comparison)) if table)


def _by_class(comparison: Comparison) -> Table | None:
    """Return what each row did in each class; nothing on hosts of which one class was seen."""
    if all(len(host.classes) < 2 for host in comparison.placement):
        return None
    rows = [line for row in comparison.rows for line in _classes(comparison, row)]
    if not rows:
        return None
    title = "By placement class: trials that ran in one from beginning to end, and the rounds that were matched in it."
    return plain_table(
        title, ("Row", "Class", "Trials", "Mpps", "Rounds", "Against the baseline", "Limits and warnings"), rows
    )


def _classes(comparison: Comparison, row: CellSummary) -> Iterable[tuple[str, ...]]:
    if row.mrr is None:
        return
    found = comparison.difference(row)
    ratios = {entry.name: entry for entry in found.judgement.by_class} if found else {}
    for entry in row.mrr.by_class:
        ratio = ratios.get(entry.name)
        against = f"×{ratio.ratio:.3g}{', the other way round' if ratio.opposes else ''}" if ratio else wording.NOTHING
        yield (
            row.cell,
            entry.name,
            str(entry.trials),
            wording.mpps(entry.median_pps),
            str(ratio.pairs) if ratio else wording.NOTHING,
            against,
            wording.marks(row),
        )


def _at_own_half_load(comparison: Comparison) -> Table | None:
    """Return what the comparison shows at a common load for each row's own half load too."""
    rows = [
        (
            row.cell,
            span_of(row.paced),
            wording.loss(row.paced.missing_ratio, at_least=bool(row.paced.surplus)),
            wording.microseconds(row.paced.latency.p50_ns) if row.paced.latency else wording.NOTHING,
            wording.microseconds(row.paced.latency.p99_ns) if row.paced.latency else wording.NOTHING,
            wording.marks(row),
        )
        for row in comparison.rows
        if row.paced is not None and row.common is not None
    ]
    if not rows:
        return None
    title = "At half of each row's own maximum receive rate; loads differ, so these are not compared."
    return plain_table(title, ("Row", "Load, Mpps", "Missing frames", "µs P50", "P99", "Limits and warnings"), rows)
