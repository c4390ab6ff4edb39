"""Before and after of one variant: what changed at each traffic point, and whether the host is to blame.

Two sides of one run were interleaved, and are judged as any comparison is. Sides of two runs were not: whatever the
host did between them is in the difference. So a *pinned reference* is looked for, which both runs measured at that
point: a variant of the same data plane and ports with the same configuration in both, or testpmd in the switch's place
on such ports. Of another plane it would not do: a bridge knows nothing of the placement that decides a polling switch's
rate.

With a reference each run says what the variant did relative to it, round by round, and these ratios are compared. Where
the reference moved in the same direction, it was the host. Without one a change is shown and nothing is blamed, but for
what the host says itself: a core distance that no trial of both sides shares.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from math import exp
from typing import Any, Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.differences.descriptions import differences
from nfvbed.compare.differences.differences import judge_rows
from nfvbed.compare.differences.limits import bounds_of
from nfvbed.compare.differences.scope import Scope, ScopeFinding, find_scope
from nfvbed.compare.rows.placement import MIXED, SINGLE
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.visits import Visit, pair
from nfvbed.compare.verdict import Bounds, Judgement, Rules, Verdict, judge_unpaired
from nfvbed.errors import UsageError
from nfvbed.records import CellRole, Record
from nfvbed.units import FrameSize

DIFF_FORMAT: Final = 1
LEAST_PAIRS: Final = 4
"""Rounds of variant and reference that each run must have: of four and four the rank test can just decide at 5 %."""
NOT_OF_A_CHANGE: Final = ("variant.name", "variant.title", "variant.summary")
"""What names a configuration and is no part of it."""

Configurations = Mapping[str, Mapping[str, Any]]
"""Resolved configurations by hash, as far as they are stored."""


class ChangeVerdict(StrEnum):
    """What a traffic point says of before and after; those of `Verdict`, and that it was the host."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"
    UNDECIDED = "undecided"
    DEPENDS_ON_PLACEMENT = "depends-on-placement"
    HOST_MOVED = "host-moved"
    """The host changed between the runs, and the difference with it: nothing is said of the variant."""
    NOT_COMPARABLE = "not-comparable"


class VerdictBasis(StrEnum):
    """What a verdict on a traffic point rests on."""

    ROUNDS = "rounds"
    """Both sides are of one run, next to each other in each round."""
    REFERENCE = "reference"
    """Two runs, each relative to the same pinned reference."""
    PLACEMENT = "placement"
    """Two runs, and the host's own state in each."""
    NOTHING = "nothing"
    """Two runs that share nothing that would acquit the host."""


class Side(Record):
    """One side of a diff."""

    run: str
    variant: str = ""
    """Empty: every variant that both sides have."""


class SideRate(Record):
    """What one side showed at a traffic point."""

    run: str
    cell: str
    variant: str
    median_pps: float | None
    """None: no rate was measured."""
    visits: int
    classes: dict[str, int] = {}
    """Visits with trials in each placement class."""


class ReferenceChange(Record):
    """What the pinned reference did between the two runs."""

    cell: str
    same_plane: bool
    """Whether it is of the same data plane; else it is testpmd in its place, on the same ports."""
    ratio: float | None
    """After over before."""
    verdict: Verdict
    visits: tuple[int, int]
    pairs: tuple[int, int] = (0, 0)
    """Rounds in which it was next to the variant, before and after."""


class PointChange(Record):
    """Before and after at one traffic point."""

    variant: str
    topology: str
    vnf: str = ""
    frame_size: FrameSize
    before: SideRate
    after: SideRate
    verdict: ChangeVerdict
    reason: str = ""
    ground: VerdictBasis
    scope: ScopeFinding
    judgement: Judgement
    """Judgement on rounds, or on visits where there are no common rounds; with a reference, on what is relative to it.
    """
    seen: float | None = None
    """After over before as measured, whatever the cause."""
    reference: ReferenceChange | None = None


class Diff(Record):
    """Before and after, by traffic point."""

    format: int = DIFF_FORMAT
    before: Side
    after: Side
    interleaved: bool
    """Both sides are of one run."""
    rules: Rules
    changed: dict[str, tuple[str, ...]] = {}
    """By variant (after), what differs between the resolved configurations: `key: before -> after`."""
    unstored: tuple[str, ...] = ()
    """Variants that have another configuration after than before, of which one is not stored."""
    points: tuple[PointChange, ...]
    simulated: bool = False
    notes: tuple[str, ...] = ()

    @property
    def comparable(self) -> bool:
        """Whether any traffic point can be compared."""
        return any(entry.verdict is not ChangeVerdict.NOT_COMPARABLE for entry in self.points)


def find_changes(comparison: Comparison, before: Side, after: Side, configurations: Configurations) -> Diff:
    """Return what changed from one side to the other.

    Raises:
        UsageError: the sides are the same, share no traffic point, or are of different data planes.
    """
    if before == after and not before.variant:
        raise UsageError(
            "a run has no difference to itself",
            observed=f"run {before.run} on both sides",
            fix="name two runs, or two variants of one run: RUN:VARIANT",
        )
    planes = {digest: _plane(configuration) for digest, configuration in configurations.items()}
    sides = _matched(comparison.rows, before, after)
    _require_points(sides, (before, after))
    _require_one_plane(sides, planes)
    # A run that is no comparison of its own still shows what it measured: looks and levels are this diff's.
    rules = comparison.rules.model_copy(update={"purpose": "compare"})
    found = _Changes(comparison, rules, planes)
    points = tuple(found.at(old, new) for old, new in sides)
    return Diff(
        before=before,
        after=after,
        interleaved=before.run == after.run,
        rules=rules,
        changed=dict(_configured(sides, configurations)),
        unstored=_unstored(sides, configurations),
        points=points,
        simulated=comparison.simulated,
        notes=comparison.notes if before.run != after.run else (),
    )


def _matched(rows: Sequence[CellSummary], before: Side, after: Side) -> list[tuple[CellSummary, CellSummary]]:
    """Return the rows of both sides at the same traffic points, in order of the first side's."""
    named = bool(before.variant or after.variant)

    def of_side(side: Side, other: Side) -> list[CellSummary]:
        name = side.variant or other.variant
        return [row for row in rows if row.run == side.run and (not name or row.variant == name)]

    others = {(row.point, "" if named else row.variant): row for row in of_side(after, before)}
    both = ((row, others.get((row.point, "" if named else row.variant))) for row in of_side(before, after))
    return [(row, other) for row, other in both if other is not None and other != row]


def _require_points(sides: Sequence[tuple[CellSummary, CellSummary]], named: tuple[Side, Side]) -> None:
    if not sides:
        shown = [f"{side.run}{':' if side.variant else ''}{side.variant}" for side in named]
        raise UsageError(
            "both sides have no traffic point of one variant in common",
            observed=" and ".join(shown),
            fix="`nfvbed compare RUN` shows what each run measured; name the variants: RUN:VARIANT",
        )


def _require_one_plane(sides: Sequence[tuple[CellSummary, CellSummary]], planes: Mapping[str, str]) -> None:
    for old, new in sides:
        both = [planes.get(row.config_hash, "") for row in (old, new)]
        if all(both) and both[0] != both[1]:
            raise UsageError(
                "a diff is of one data plane, before and after",
                observed=f"{old.variant} ({both[0]}) and {new.variant} ({both[1]})",
                fix=f"nfvbed compare {old.run} --baseline {old.variant}",
            )


def _plane(configuration: Mapping[str, Any]) -> str:
    options = (configuration.get("variant") or {}).get("options") or {}
    return str(options.get("dataplane", ""))


def _configured(
    sides: Sequence[tuple[CellSummary, CellSummary]], configurations: Configurations
) -> Iterable[tuple[str, tuple[str, ...]]]:
    for old, new in sides:
        both = (configurations.get(row.config_hash, {}) for row in (old, new))
        found = tuple(text for text in differences(*both) if text.partition(": ")[0] not in NOT_OF_A_CHANGE)
        if found:
            yield new.variant, found


def _unstored(sides: Sequence[tuple[CellSummary, CellSummary]], configurations: Configurations) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            new.variant
            for old, new in sides
            if old.config_hash != new.config_hash
            and not (configurations.get(old.config_hash) and configurations.get(new.config_hash))
        )
    )


class _Changes:
    """Judges pairs of rows of one comparison."""

    def __init__(self, comparison: Comparison, rules: Rules, planes: Mapping[str, str]) -> None:
        self._rows = (*comparison.rows, *comparison.ceilings)
        self._rigs = comparison.rigs
        self._rules = rules
        self._planes = planes

    def at(self, old: CellSummary, new: CellSummary) -> PointChange:
        """Return before and after of one traffic point."""
        scope = find_scope(new, old, self._rigs)
        change = PointChange(
            variant=new.variant,
            topology=new.topology,
            vnf=new.vnf,
            frame_size=new.frame_size,
            before=_side(old),
            after=_side(new),
            verdict=ChangeVerdict.NOT_COMPARABLE,
            reason=scope.reason,
            ground=VerdictBasis.NOTHING,
            scope=scope,
            judgement=Judgement(verdict=Verdict.NOT_COMPARABLE, reason=scope.reason),
            seen=new.mrr.median_pps / old.mrr.median_pps if new.mrr and old.mrr and old.mrr.median_pps else None,
        )
        if scope.scope is Scope.NOT_COMPARABLE or old.mrr is None or new.mrr is None:
            return change
        if old.run == new.run:
            (judged,) = judge_rows([(new, old)], [scope], self._rules)
            return _with(change, ChangeVerdict(judged.verdict.value), judged.reason, VerdictBasis.ROUNDS, judged)
        return self._between_runs(change, old, new)

    def _between_runs(self, change: PointChange, old: CellSummary, new: CellSummary) -> PointChange:
        bounds = bounds_of(new, old, change.scope.scope)
        seen = judge_unpaired(_rates(new), _rates(old), self._rules, bounds)
        found = self._reference(old, new)
        if found is not None:
            return self._by_reference(change, (old, new), found, (seen, bounds))
        return self._by_placement(change, seen, "no pinned reference of its plane and ports was measured in both runs")

    def _by_reference(
        self,
        change: PointChange,
        rows: tuple[CellSummary, CellSummary],
        reference: tuple[CellSummary, CellSummary],
        plain: tuple[Judgement, Bounds],
    ) -> PointChange:
        seen, bounds = plain
        moved = judge_unpaired(_rates(reference[1]), _rates(reference[0]), self._rules)
        sides = [_relative(row, other) for row, other in zip(rows, reference, strict=True)]
        kept = ReferenceChange(
            cell=reference[1].cell,
            same_plane=reference[1].role is CellRole.SUBJECT,
            ratio=moved.ratio,
            verdict=moved.verdict,
            visits=(len(_rates(reference[0])), len(_rates(reference[1]))),
            pairs=(len(sides[0]), len(sides[1])),
        )
        change = change.model_copy(update={"reference": kept})
        if moved.verdict in (Verdict.HIGHER, Verdict.LOWER) and not moved.within_margin:
            by = f"the reference {kept.cell} moved, too: {_times(kept.ratio)}"
            # Which way it went: a limit bounds what a verdict may say, and not what the host did.
            if judge_unpaired(_rates(rows[1]), _rates(rows[0]), self._rules).verdict is moved.verdict:
                return _with(change, ChangeVerdict.HOST_MOVED, by, VerdictBasis.REFERENCE, seen)
            reason = f"the host changed (the reference {kept.cell}: {_times(kept.ratio)}), this did not follow it"
            return _with(change, ChangeVerdict.UNDECIDED, reason, VerdictBasis.REFERENCE, seen)
        if min(kept.pairs) < LEAST_PAIRS:
            few = f"the reference {kept.cell} was next to it in {kept.pairs[0]} and {kept.pairs[1]} rounds alone"
            return self._by_placement(change, seen, few)
        judged = judge_unpaired(sides[1], sides[0], self._rules, bounds)
        still = "stood still" if moved.verdict is Verdict.SAME or moved.within_margin else "is undecided itself"
        reason = "; ".join(filter(None, (judged.reason, f"relative to {kept.cell}, which {still}")))
        return _with(change, ChangeVerdict(judged.verdict.value), reason, VerdictBasis.REFERENCE, judged)

    def _by_placement(self, change: PointChange, seen: Judgement, lacking: str) -> PointChange:
        """Blame the host where it was in other states, by its own core distances; else blame nothing."""
        classes = [set(side.classes) for side in (change.before, change.after)]
        if all(classes) and not classes[0] & classes[1]:
            states = " and ".join("/".join(sorted(names)) for names in classes)
            reason = f"the host's cores were {states} of each other, in no trial of both runs alike"
            return _with(change, ChangeVerdict.HOST_MOVED, reason, VerdictBasis.PLACEMENT, seen)
        reason = f"not interleaved, and {lacking}: it may be the host"
        return _with(change, ChangeVerdict.UNDECIDED, reason, VerdictBasis.NOTHING, seen)

    def _reference(self, old: CellSummary, new: CellSummary) -> tuple[CellSummary, CellSummary] | None:
        """Find what both runs measured unchanged on the same ports, of the same plane first."""
        plane = self._planes.get(new.config_hash, "")

        def fits(row: CellSummary) -> bool:
            if row.mrr is None or row.ports != new.ports or row.unranked or row.host_hash != new.host_hash:
                return False
            if row.role is CellRole.REFERENCE:
                return (row.frame_size, row.flows, row.bidirectional) == (new.frame_size, new.flows, new.bidirectional)
            same = row.role is CellRole.SUBJECT and row.point == new.point and plane != ""
            return same and self._planes.get(row.config_hash) == plane and row.cell not in (old.cell, new.cell)

        before = {row.cell: row for row in self._rows if row.run == old.run and fits(row)}
        after = [row for row in self._rows if row.run == new.run and fits(row)]
        both = [(before[row.cell], row) for row in after if row.cell in before]
        pinned = [(a, b) for a, b in both if a.config_hash == b.config_hash and a.rig_hash == b.rig_hash]
        # The plane's own first; of those the one with most visits.
        return max(pinned, key=lambda two: (two[1].role is CellRole.SUBJECT, _visits(two)), default=None)


def _with(
    change: PointChange, verdict: ChangeVerdict, reason: str, ground: VerdictBasis, judged: Judgement
) -> PointChange:
    return change.model_copy(update={"verdict": verdict, "reason": reason, "ground": ground, "judgement": judged})


def _side(row: CellSummary) -> SideRate:
    visits = row.mrr.visits if row.mrr else ()
    names: dict[str, int] = {}
    for name in (name for visit in visits for name in visit.by_class):
        names[name] = names.get(name, 0) + 1
    return SideRate(
        run=row.run,
        cell=row.cell,
        variant=row.variant,
        median_pps=row.mrr.median_pps if row.mrr else None,
        visits=len(visits),
        classes={name: number for name, number in names.items() if name not in (SINGLE, MIXED)},
    )


def _rates(row: CellSummary) -> tuple[float, ...]:
    return row.mrr.samples_pps if row.mrr else ()


def _visits(rows: Collection[CellSummary]) -> int:
    return min(len(_rates(row)) for row in rows)


def _of_mrr(row: CellSummary) -> tuple[Visit, ...]:
    return row.mrr.visits if row.mrr else ()


def _relative(row: CellSummary, reference: CellSummary) -> tuple[float, ...]:
    """Return the variant's rates over the reference's, of the rounds that both have in one run."""
    return tuple(exp(entry.log_ratio) for entry in pair(_of_mrr(row), _of_mrr(reference)))


def _times(ratio: float | None) -> str:
    return "to or from nothing" if ratio is None else f"×{ratio:.3g}"
