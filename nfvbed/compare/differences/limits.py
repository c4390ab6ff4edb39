"""What bounded a result from above, derived from the ceilings of the same run over the same I/O path.

A ceiling bounds a row where the interval of the row's rate over the ceiling's lies above 0.95; where it only reaches
there, the row is *possibly limited*, which is shown and bounds nothing. A row that lies above its ceiling with its
whole interval shows that the ceiling is none: a loopback has one core serve both ends of the ports, where a switch has
a core of its own to share the work. Such a ceiling is refuted for the whole run; it is named and left aside.

The generator looped back has the ports of the row. testpmd in the switch's place is a ceiling only of what passes the
same ports in the same way (AF_XDP sockets on veth ports say nothing of a bridge inside the kernel), and the VNF alone
is one of the same VNF.

Whether a limit bears on a verdict depends on both sides (`bounds_of`): what belongs to the system explains its rate and
does not bound it.

That a generator was busy while the switch was not full is decided for every trial when it is measured, and stored with
it, and so is a full wire. They bound the median when more than half of the trials carry them.
"""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Final

from nfvbed.compare.differences.scope import Scope
from nfvbed.compare.rows.summary import CellSummary, ExceededCeiling, Limit, RateShare
from nfvbed.compare.rows.visits import pair
from nfvbed.compare.samples.ranks import signed_rank
from nfvbed.compare.samples.statistics import LEVEL, Interval, median_interval
from nfvbed.compare.verdict import Bounds, Pair
from nfvbed.records import CellRole, Preset, QualityWarning
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import NATIVE

WITHIN: Final = 0.05
"""A result this near below its ceiling is the ceiling's, not the switch's."""

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
KINDS: Final = {
    CellRole.LOOPBACK: QualityWarning.GENERATOR_LIMITED,
    CellRole.REFERENCE: QualityWarning.PORT_LIMITED,
    CellRole.VNF: QualityWarning.VNF_LIMITED,
}

LIMITING: Final = (
    QualityWarning.GENERATOR_LIMITED,
    QualityWarning.PORT_LIMITED,
    QualityWarning.VNF_LIMITED,
    QualityWarning.WIRE_LIMITED,
    QualityWarning.EMULATED_ACCELERATOR,
)


class _Shares:
    """Rates as fractions of ceilings, each reckoned once."""

    def __init__(self) -> None:
        self._known: dict[_Both, RateShare | None] = {}
        self._pairs: dict[_Both, tuple[Pair, ...]] = {}

    def of(self, row: CellSummary, ceiling: CellSummary | None) -> RateShare | None:
        """Return `share_of` of them."""
        if ceiling is None:
            return None
        key = row.run, row.cell, ceiling.run, ceiling.cell
        if key not in self._known:
            self._known[key] = _share_of(row, ceiling, self._pairs_of(row, ceiling))
        return self._known[key]

    def may_lie_above(self, row: CellSummary, ceiling: CellSummary) -> bool:
        """Return whether a row may lie above a ceiling with its whole interval.

        The interval lies between averages of the rounds' ratios: where none of these is above 1 it is not either, and
        need not be reckoned. Most rows are far below theirs.
        """
        pairs = self._pairs_of(row, ceiling)
        return not pairs or any(entry.log_ratio > 0 for entry in pairs)

    def _pairs_of(self, row: CellSummary, ceiling: CellSummary) -> tuple[Pair, ...]:
        key = row.run, row.cell, ceiling.run, ceiling.cell
        if key not in self._pairs:
            self._pairs[key] = _rounds_of(row, ceiling)
        return self._pairs[key]


_Both = tuple[str, str, str, str]
"""Run and cell of a row, and those of a ceiling."""
Refuted = dict[tuple[object, ...], CellSummary]
"""Ceilings that a row lies above, by what they are a ceiling of, with that row."""
Ceilings = Mapping[tuple[object, ...], Sequence[CellSummary]]
"""Measured ceilings by role and by what rows they are for."""


def with_limits(
    rows: Sequence[CellSummary], ceilings: Sequence[CellSummary], among: Sequence[CellSummary] | None = None
) -> tuple[CellSummary, ...]:
    """Return the rows with their limits, their ceilings and their switching overhead filled in.

    Args:
        rows: subjects.
        ceilings: those of all runs; a ceiling of another run, path or traffic is passed over.
        among: the subjects of all runs, each of which may lie above a ceiling; None: they are the rows.
    """
    known, shares = _ceilings_by_use(ceilings), _Shares()
    refuted: Refuted = {}
    for row in rows if among is None else among:
        for role in KINDS:
            ceiling = _matching(row, known, role)
            if ceiling is not None and shares.may_lie_above(row, ceiling):
                share = shares.of(row, ceiling)
                if share is not None and _lies_above(share.interval):
                    refuted.setdefault(_path(ceiling), row)
    return tuple(_with_limits(row, known, refuted, shares) for row in rows)


def bounds_of(candidate: CellSummary, baseline: CellSummary, scope: Scope | None) -> Bounds:
    """Return which sides of a comparison are bound by their limits.

    The generator and the wire always bind. Ports bind where both sides have the same kind, as then they are no part of
    what is compared; a VNF where it is not the variant's own. Where whole systems are compared, ports are part of them.
    """
    return Bounds(
        candidate=any(_binds(limit.kind, candidate, baseline, scope) for limit in candidate.limits),
        baseline=any(_binds(limit.kind, baseline, candidate, scope) for limit in baseline.limits),
    )


def _binds(kind: QualityWarning, row: CellSummary, other: CellSummary, scope: Scope | None) -> bool:
    if kind is QualityWarning.PORT_LIMITED:
        return scope is not Scope.SYSTEM and row.port_kind is other.port_kind
    if kind is QualityWarning.VNF_LIMITED:
        return row.vnf != NATIVE
    return True


def share_of(row: CellSummary, ceiling: CellSummary | None) -> RateShare | None:
    """Return the row's rate as a fraction of a ceiling's; None where one of them was not measured.

    Rounds that both have are paired; without any, the intervals of both sides are divided.
    """
    return None if ceiling is None else _share_of(row, ceiling, _rounds_of(row, ceiling))


def _rounds_of(row: CellSummary, ceiling: CellSummary) -> tuple[Pair, ...]:
    """Return the rounds that a row and a ceiling have in common."""
    if row.mrr is None or ceiling.mrr is None or row.run != ceiling.run:
        return ()
    return pair(row.mrr.visits, ceiling.mrr.visits)


def _share_of(row: CellSummary, ceiling: CellSummary, pairs: Sequence[Pair]) -> RateShare | None:
    if row.mrr is None or ceiling.mrr is None or not ceiling.mrr.median_pps:
        return None
    if not pairs:
        ratio, interval = row.mrr.median_pps / ceiling.mrr.median_pps, _quotient(row.mrr.interval, ceiling.mrr.interval)
        return RateShare(ratio=ratio, interval=interval, ceiling_pps=ceiling.mrr.median_pps)
    logs = [entry.log_ratio for entry in pairs]
    found = signed_rank(logs, 1 - LEVEL)
    interval = found.interval or median_interval(logs)
    if interval is not None:
        interval = interval.model_copy(update={"low": exp(interval.low), "high": exp(interval.high)})
    return RateShare(ratio=exp(found.estimate), interval=interval, ceiling_pps=ceiling.mrr.median_pps)


def _quotient(upper: Interval | None, lower: Interval | None) -> Interval | None:
    if upper is None or lower is None or lower.low <= 0:
        return None
    is_range = upper.is_range or lower.is_range
    level = 0.0 if is_range else min(upper.level, lower.level)
    return Interval(low=upper.low / lower.high, high=upper.high / lower.low, level=level, is_range=is_range)


def _lies_above(interval: Interval | None) -> bool:
    """Return whether a row is above its ceiling with its whole interval; a range covers less, so it needs a margin."""
    return interval is not None and interval.low > (1 + WITHIN if interval.is_range else 1)


def _with_limits(row: CellSummary, ceilings: Ceilings, refuted: Refuted, shares: _Shares) -> CellSummary:
    if row.mrr is None:
        return row
    matching = {role: _matching(row, ceilings, role) for role in KINDS}
    usable = {role: cell for role, cell in matching.items() if cell is not None and _path(cell) not in refuted}
    found, possible = _stored(row), list[Limit]()
    for role, ceiling in usable.items():
        limit, is_certain = _at_ceiling(ceiling, KINDS[role], shares.of(row, ceiling))
        if limit is not None:
            (found if is_certain else possible).append(limit)
    unique = {limit.kind: limit for limit in reversed(found)}
    exceeded = tuple(
        entry
        for cell in matching.values()
        if cell is not None and cell.role not in usable
        for entry in _exceeded(cell, refuted[_path(cell)], shares.of(row, cell))
    )
    return row.model_copy(
        update={
            "limits": tuple(unique[kind] for kind in LIMITING if kind in unique),
            "possible_limits": tuple(limit for limit in possible if limit.kind not in unique),
            "loopback_pps": _rate_of(usable.get(CellRole.LOOPBACK)),
            "vnf_pps": _rate_of(usable.get(CellRole.VNF)),
            "exceeded": exceeded,
            "switching_overhead": shares.of(row, matching[CellRole.REFERENCE]) if not row.vnf else None,
            "of_bare_ports": None
            if QualityWarning.EMULATED_ACCELERATOR in unique
            else shares.of(row, matching[CellRole.LOOPBACK]),
            "notes": (*row.notes, *(entry.detail for entry in exceeded)),
        }
    )


def _rate_of(ceiling: CellSummary | None) -> float | None:
    return ceiling.mrr.median_pps if ceiling and ceiling.mrr else None


def _exceeded(ceiling: CellSummary, by: CellSummary, share: RateShare | None) -> list[ExceededCeiling]:
    """Return a ceiling as refuted where a row, with its share of it, is above it, or would be bound by it."""
    if share is None or (share.interval.high if share.interval else share.ratio) <= 1 - WITHIN:
        return []
    name, own = CEILING_NAMES[ceiling.role], _lies_above(share.interval)
    why = WHY_EXCEEDED[ceiling.role] if own else f"{by.cell} is above it"
    return [
        ExceededCeiling(
            cell=ceiling.cell,
            role=ceiling.role,
            ratio=share.ratio,
            ceiling_pps=share.ceiling_pps,
            by="" if own else by.cell,
            detail=f"at {share.ratio:.0%} of {name}, which bounds nothing ({why})",
        )
    ]


def _at_ceiling(ceiling: CellSummary, kind: QualityWarning, share: RateShare | None) -> tuple[Limit | None, bool]:
    """Return the limit where a row, with its share of the ceiling, is at it, and whether that is certain."""
    if share is None:
        return None, False
    low, high = (share.interval.low, share.interval.high) if share.interval else (0.0, share.ratio)
    if high <= 1 - WITHIN:
        return None, False
    detail = f"at {share.ratio:.0%} of {CEILING_NAMES[ceiling.role]}"
    limit = Limit(kind=kind, detail=detail, ceiling_pps=share.ceiling_pps, interval=share.interval)
    return limit, low > 1 - WITHIN


def _ceilings_by_use(ceilings: Sequence[CellSummary]) -> Ceilings:
    found: dict[tuple[object, ...], list[CellSummary]] = {}
    for cell in ceilings:
        if cell.mrr is not None:
            found.setdefault(_use(cell, cell.role), []).append(cell)
    return found


def _use(cell: CellSummary, role: CellRole) -> tuple[object, ...]:
    """Return what a row and a ceiling of that role have in common."""
    return *_path(cell, role), cell.placement_class, cell.frame_size, cell.flows, cell.bidirectional


def _matching(row: CellSummary, ceilings: Ceilings, role: CellRole) -> CellSummary | None:
    """Find the measured ceiling of the same run, path and traffic; the same topology is preferred.

    A path that begins or ends at a VNF has no ceiling.
    """
    if layout(row.topology).one_way or (role is CellRole.REFERENCE and not row.io_path):
        return None
    fitting = ceilings.get(_use(row, role), ())
    return min(fitting, key=lambda cell: (cell.topology != row.topology, cell.cell), default=None)


def _path(cell: CellSummary, role: CellRole | None = None) -> tuple[object, ...]:
    """Return what a ceiling is one of: the ports of a run, and their I/O path, or the VNF on them."""
    role = role or cell.role
    io_path = cell.io_path if role is CellRole.REFERENCE else ""
    return cell.run, role, cell.ports, io_path, cell.vnf_resolved if role is CellRole.VNF else ""


def _stored(row: CellSummary) -> list[Limit]:
    """Take over the limits that most trials at maximum load were stored with: then the median is a lower bound."""
    return [
        Limit(kind=warning.kind, detail=f"stored with {warning.trials} of {warning.of} trials")
        for warning in row.warnings
        if warning.kind in LIMITING and warning.preset is Preset.MRR and 2 * warning.trials > warning.of
    ]
