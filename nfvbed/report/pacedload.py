"""The load at which latency and missing frames of rows were taken: reported once where it is common, else beside each.

A row without trials at the load that its traffic point shares has those at half of its own maximum, which is no load of
the others.
"""

from collections.abc import Sequence
from typing import Final

from nfvbed.compare.rows.paced import PacedSummary
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.report import wording

OWN_HALF: Final = "half"
"""After a load that is of one row alone: half of its own maximum."""


def load_of(row: CellSummary) -> str:
    """Return the given load of a row's trials, in Mpps: `0.490`, `0.485–0.497`, `5.857 half`; a dash: none."""
    if row.common is not None:
        return span_of(row.common)
    return f"{span_of(row.paced)} {OWN_HALF}" if row.paced is not None else wording.NOTHING


def common_load(rows: Sequence[CellSummary]) -> str:
    """Return the load, as `load_of` writes it, that is common to all rows with such trials; empty: there is none."""
    given = [row for row in rows if row.given_load is not None]
    texts = {load_of(row) for row in given}
    return texts.pop() if len(texts) == 1 and all(row.common is not None for row in given) else ""


def loads_differ(rows: Sequence[CellSummary]) -> bool:
    """Return whether each row needs its own load beside it: of some traffic point it is not common."""
    points: dict[object, list[CellSummary]] = {}
    for row in rows:
        if row.given_load is not None:
            points.setdefault(row.point, []).append(row)
    return any(not common_load(group) for group in points.values())


def span_of(found: PacedSummary) -> str:
    """Return the load of trials, in Mpps; where they had several the least and the greatest, to three digits."""
    low, high = (f"{load / 1e6:.3g}" for load in found.load_span_pps)
    return wording.mpps(found.load_pps) if low == high else f"{low}–{high}"
