"""What others published of the kind that an experiment measures, in sentences below its tables; nothing is compared."""

from collections.abc import Collection

from nfvbed.spec.published import PublishedColumn, publications


def published_lines(experiments: Collection[str], kind: str) -> tuple[str, ...]:
    """Return a sentence for each published table whose like one of these experiments measures."""
    return tuple(
        f"Published, on another host and never ranked with these: {table.title} ({entry.name}), {table.unit}: "
        f"{'; '.join(_column(column) for column in table.columns)}. What differs: nfvbed compare --published."
        for entry in publications()
        for table in entry.tables
        if table.experiment in experiments and table.measure.kind == kind
    )


def stated(ends: tuple[float, float]) -> str:
    """Return in figures what a text states."""
    low, high = ends
    return f"about {low:g}" if low == high else f"{low:g}–{high:g}"


def _column(column: PublishedColumn) -> str:
    if column.about is not None:
        return f"{column.label} {stated(column.about)}"
    return f"{column.label} {min(column.results):g}–{max(column.results):g} over {len(column.results)} repetitions"
