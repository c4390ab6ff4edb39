"""What people said of runs, in the store; inside a transaction that the caller holds."""

from collections.abc import Mapping

from sqlalchemy import Connection, RowMapping, insert, select

from nfvbed.errors import UsageError
from nfvbed.records.annotations import Annotation, Mark, Marks, checked, marks_of
from nfvbed.store.damage import Tell, readable, rebuilt, refuse
from nfvbed.store.schema import ANNOTATION
from nfvbed.store.selecting import said


def say(connection: Connection, run: str, words: Mapping[Mark, str], by: str, at: str) -> Marks:
    """Write what a person says of a run, as far as it is new, and return the marks that then hold.

    Args:
        connection: in a transaction that may write.
        words: the text of each mark that is given; empty: it is taken back.
        at: when; UTC, ISO 8601.

    Raises:
        UsageError: a text that cannot be kept, or a label that another run has.
    """
    before = marks_of(annotations(connection, run, refuse)).get(run, Marks())
    for mark, given in words.items():
        text = checked(mark, given)
        if mark is Mark.LABEL and text:
            _require_free(connection, text, run)
        if text != before.text(mark):
            add(connection, Annotation(run=run, mark=mark, text=text, by=by, at=at))
    return marks_of(annotations(connection, run, refuse)).get(run, Marks())


def _require_free(connection: Connection, label: str, run: str) -> None:
    others = [other for other in labelled(connection, label) if other != run]
    if others:
        raise UsageError(
            "another run has this label",
            where=f"label {label}",
            observed=f"run {', '.join(others)}",
            fix=f"choose another label, or take that one back: nfvbed runs {others[0]} --no-label",
        )


def add(connection: Connection, entry: Annotation) -> None:
    """Write what was said of a run, whatever the labels of others are."""
    connection.execute(insert(ANNOTATION).values(**entry.model_dump(mode="json")))


def labelled(connection: Connection, label: str) -> list[str]:
    """Return the ids of the runs that have a label; several where runs of other stores were imported."""
    return list(connection.execute(said(Mark.LABEL).where(ANNOTATION.c.text == label)).scalars())


def annotations(connection: Connection, run: str | None, tell: Tell) -> list[Annotation]:
    """Return all that was said of a run, or of all, in its order; what cannot be read is told, and left out."""
    query = select(ANNOTATION).order_by(ANNOTATION.c.id)
    if run is not None:
        query = query.where(ANNOTATION.c.run == run)
    rows = connection.execute(query).mappings()
    return readable(rows, _annotation_of, tell)


def _annotation_of(row: RowMapping) -> Annotation:
    values = {key: value for key, value in row.items() if key != "id"}
    return rebuilt(Annotation, values, "annotation", ("run", "mark", "at"))
