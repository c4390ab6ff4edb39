"""What bounded a result from above, derived from the ceilings of the same run and placement class.

A ceiling bounds a result that lies at it, within 5 % on either side. A result far above its ceiling shows that
the ceiling is none: a loop-back has one core serve both ends of the ports, where a switch has a core of its own
to share the work. Such a ceiling proves nothing; it is named and left aside.

That a generator was busy while the switch was not full is decided for every trial when it is measured, and stored
with it. It bounds the median when more than half of the trials carry it.
"""

from collections.abc import Sequence
from typing import Final

from nfvbed.compare.statistics import ratio_interval
from nfvbed.compare.summary import CellSummary, ExceededCeiling, Limit, Price
from nfvbed.records import CellRole, Preset, QualityWarning
from nfvbed.spec.layout import layout

WITHIN: Final = 0.05
"""A result this near its ceiling, below or above, is the ceiling's, not the switch's."""
AT_LINE_RATE: Final = 0.99

CEILING_NAMES: Final = {
    CellRole.LOOPBACK: "the generator looped back on these ports",
    CellRole.REFERENCE: "testpmd io in the switch's place on these ports",
    CellRole.VNF: "the VNF looped back alone on these ports",
}
WHY_EXCEEDED: Final = {
    CellRole.LOOPBACK: "exceeded: one core serves both ends",
    CellRole.REFERENCE: "exceeded",
    CellRole.VNF: "exceeded: alone it shares its core with the generator as well",
}

LIMITING: Final = (
    QualityWarning.GENERATOR_LIMITED,
    QualityWarning.PORT_LIMITED,
    QualityWarning.VNF_LIMITED,
    QualityWarning.WIRE_LIMITED,
    QualityWarning.EMULATED_ACCELERATOR,
)


def with_limits(row: CellSummary, ceilings: Sequence[CellSummary], link_bits_per_s: float | None = None) -> CellSummary:
    """Give the row with its limits, its ceilings and its price filled in.

    Args:
        row: a subject.
        ceilings: summaries of the ceilings of all runs; those of another run, class or traffic are passed over.
        link_bits_per_s: speed of each port, where there is a wire.
    """
    if row.mrr is None:
        return row
    loopback = _matching(row, ceilings, CellRole.LOOPBACK)
    reference = _matching(row, ceilings, CellRole.REFERENCE)
    alone = _matching(row, ceilings, CellRole.VNF)
    found = [
        *_stored(row),
        *_at_ceiling(row, loopback, QualityWarning.GENERATOR_LIMITED),
        *_at_ceiling(row, reference, QualityWarning.PORT_LIMITED),
        *_at_ceiling(row, alone, QualityWarning.VNF_LIMITED),
        *_wire(row, link_bits_per_s),
    ]
    unique = {limit.kind: limit for limit in reversed(found)}
    exceeded = tuple(entry for ceiling in (loopback, reference, alone) for entry in _exceeded(row, ceiling))
    unusable = {entry.role for entry in exceeded}
    return row.model_copy(
        update={
            "limits": tuple(unique[kind] for kind in LIMITING if kind in unique),
            "loopback_pps": _usable(loopback, unusable),
            "vnf_pps": _usable(alone, unusable),
            "exceeded": exceeded,
            "price": _price(row, reference) if not row.vnf else None,
            "of_bare_ports": None if QualityWarning.EMULATED_ACCELERATOR in unique else _price(row, loopback),
            "notes": (*row.notes, *(entry.detail for entry in exceeded)),
        }
    )


def _usable(ceiling: CellSummary | None, unusable: set[CellRole]) -> float | None:
    return ceiling.mrr.median_pps if ceiling and ceiling.mrr and ceiling.role not in unusable else None


def _share_of(row: CellSummary, ceiling: CellSummary | None) -> float | None:
    """Give the row's rate as a fraction of a ceiling's; None where one of them was not measured."""
    if row.mrr is None or ceiling is None or ceiling.mrr is None or not ceiling.mrr.median_pps:
        return None
    return row.mrr.median_pps / ceiling.mrr.median_pps


def _exceeded(row: CellSummary, ceiling: CellSummary | None) -> list[ExceededCeiling]:
    share = _share_of(row, ceiling)
    if share is None or share <= 1 + WITHIN or ceiling is None or ceiling.mrr is None:
        return []
    detail = f"at {share:.0%} of {CEILING_NAMES[ceiling.role]}, which bounds nothing ({WHY_EXCEEDED[ceiling.role]})"
    return [
        ExceededCeiling(
            cell=ceiling.cell, role=ceiling.role, ratio=share, ceiling_pps=ceiling.mrr.median_pps, detail=detail
        )
    ]


def _at_ceiling(row: CellSummary, ceiling: CellSummary | None, kind: QualityWarning) -> list[Limit]:
    """Give the limit where the row is at the ceiling: neither below it nor clearly above it."""
    share = _share_of(row, ceiling)
    if share is None or not 1 - WITHIN <= share <= 1 + WITHIN or ceiling is None or ceiling.mrr is None:
        return []
    detail = f"at {share:.0%} of {CEILING_NAMES[ceiling.role]}"
    return [Limit(kind=kind, detail=detail, ceiling_pps=ceiling.mrr.median_pps)]


def _matching(row: CellSummary, ceilings: Sequence[CellSummary], role: CellRole) -> CellSummary | None:
    """Find the measured ceiling of the same run, class, ports and traffic; the same topology is preferred.

    That of a VNF is one of the same VNF. A path that begins or ends at a VNF has no ceiling.
    """
    if layout(row.topology).one_way:
        return None

    def key(cell: CellSummary) -> tuple[object, ...]:
        vnf = cell.vnf_resolved if role is CellRole.VNF else ""
        return cell.run, cell.placement_class, cell.ports, vnf, cell.frame_size, cell.flows, cell.bidirectional

    fitting = [cell for cell in ceilings if cell.role is role and cell.mrr is not None and key(cell) == key(row)]
    fitting.sort(key=lambda cell: (cell.topology != row.topology, cell.cell))
    return fitting[0] if fitting else None


def _stored(row: CellSummary) -> list[Limit]:
    """Take over the limits that most trials at maximum load were stored with: then the median is a lower bound."""
    return [
        Limit(kind=warning.kind, detail=f"stored with {warning.trials} of {warning.of} trials")
        for warning in row.warnings
        if warning.kind in LIMITING and warning.preset is Preset.MRR and 2 * warning.trials > warning.of
    ]


def _wire(row: CellSummary, link_bits_per_s: float | None) -> list[Limit]:
    if row.mrr is None or not link_bits_per_s:
        return []
    line_rate = link_bits_per_s * (2 if row.bidirectional else 1)
    if row.mrr.layer1_bits_per_s < AT_LINE_RATE * line_rate:
        return []
    detail = f"at {row.mrr.layer1_bits_per_s / line_rate:.0%} of line rate"
    return [Limit(kind=QualityWarning.WIRE_LIMITED, detail=detail)]


def _price(row: CellSummary, measured: CellSummary | None) -> Price | None:
    if row.mrr is None or measured is None or measured.mrr is None or not measured.mrr.median_pps:
        return None
    ceiling = measured.mrr
    interval = ratio_interval(row.mrr.samples_pps, ceiling.samples_pps)
    return Price(ratio=row.mrr.median_pps / ceiling.median_pps, interval=interval, ceiling_pps=ceiling.median_pps)
