"""Which runs are meant, as conditions of queries; inside a transaction that the caller holds."""

from typing import Final

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select, true

from nfvbed.records.annotations import Mark
from nfvbed.records.selection import OmittedRuns, Selection
from nfvbed.store.schema import ANNOTATION, BLOB, CELL, RUN

_SAYS_SO: Final = '"simulated":true'
"""In the description of a host that is simulated, as `canonical_json` writes it."""


def only(selection: Selection) -> list[ColumnElement[bool]]:
    """Return the conditions of a query on runs."""
    found: list[ColumnElement[bool]] = []
    if selection.simulated is not None:
        found.append(is_simulated() if selection.simulated else ~is_simulated())
    if not selection.hidden:
        found.append(~is_hidden())
    return found


def is_simulated() -> ColumnElement[bool]:
    """Return the condition that a run is simulated: its cells say so, and before the first of them its host does."""
    cells = select(CELL.c.run).where(CELL.c.simulated == true())
    hosts = select(RUN.c.host_hash).distinct()
    made_up = select(BLOB.c.sha256).where(BLOB.c.sha256.in_(hosts), BLOB.c.json.contains(_SAYS_SO, autoescape=True))
    return or_(RUN.c.id.in_(cells), RUN.c.host_hash.in_(made_up))


def is_hidden() -> ColumnElement[bool]:
    """Return the condition that the newest word on whether a run is shown hides it."""
    return RUN.c.id.in_(said(Mark.HIDDEN).where(ANNOTATION.c.text != ""))


def said(mark: Mark) -> Select[str]:
    """Return the runs of which something is said that may hold: a query of the newest annotations of a mark."""
    newest = select(func.max(ANNOTATION.c.id)).where(ANNOTATION.c.mark == mark.value).group_by(ANNOTATION.c.run)
    return select(ANNOTATION.c.run).where(ANNOTATION.c.id.in_(newest))


def left_out(connection: Connection) -> OmittedRuns:
    """Count the runs that are not shown where nothing is asked for."""

    def number(*conditions: ColumnElement[bool]) -> int:
        return int(connection.execute(select(func.count()).select_from(RUN).where(*conditions)).scalar_one())

    return OmittedRuns(simulated=number(is_simulated()), hidden=number(~is_simulated(), is_hidden()))


def simulated_runs(connection: Connection) -> frozenset[str]:
    """Return the ids of the simulated runs."""
    return frozenset(connection.execute(select(RUN.c.id).where(is_simulated())).scalars())
