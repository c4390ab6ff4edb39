"""What was not measured, told once for all cells of a variant that lack a number for the same reason."""

from collections.abc import Sequence

from nfvbed.compare.summary import CellSummary
from nfvbed.records import Record, Status
from nfvbed.report import wording


class Hole(Record):
    """Cells of one variant without a number, for one reason."""

    variant: str
    status: Status
    reason: str
    points: tuple[str, ...]
    """Their traffic points; empty: all that the variant has."""

    @property
    def where(self) -> str:
        """Name the traffic points."""
        return "; ".join(self.points) or "everywhere"


def holes(rows: Sequence[CellSummary]) -> tuple[Hole, ...]:
    """Group the rows that have no number, in the order of the rows."""
    groups: dict[tuple[str, Status, str], list[CellSummary]] = {}
    for row in rows:
        if row.mrr is None:
            groups.setdefault((row.variant, row.status, row.reason), []).append(row)
    return tuple(
        Hole(
            variant=variant,
            status=status,
            reason=reason,
            points=_points(found, sum(row.variant == variant for row in rows)),
        )
        for (variant, status, reason), found in groups.items()
    )


def _points(rows: Sequence[CellSummary], of_variant: int) -> tuple[str, ...]:
    return () if len(rows) == of_variant else tuple(wording.row_point(row) for row in rows)


def counted(variants: Sequence[str]) -> str:
    """Write how often each name occurs: `ovs-dpdk (3), vpp`."""
    names = dict.fromkeys(variants)
    return ", ".join(f"{name} ({count})" if (count := variants.count(name)) > 1 else name for name in names)
