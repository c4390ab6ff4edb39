"""Where a run stands: what every cell has in which placement class, and whether that is enough."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nfvbed.plan.plan import Plan, TrialKey
from nfvbed.records import CellRole, CoreDistance, Preset

Classify = Callable[[Sequence[CoreDistance | None]], list[str]]
"""Gives the placement class of every trial; the rule itself belongs to `compare`."""

MIXED = "mixed"
"""A trial within which the placement changed; it counts for no class."""
ONLY = "only"


@dataclass(frozen=True)
class DoneTrial:
    """A trial that ended well, as far as planning needs to know it."""

    round: int
    cell: str
    preset: Preset
    distance: CoreDistance | None

    @property
    def key(self) -> TrialKey:
        """What identifies it."""
        return (self.round, self.cell, self.preset)


@dataclass(frozen=True)
class Standing:
    """What is there and what is missing."""

    placement: str
    """The class in which the least is missing."""
    classes: tuple[str, ...]
    """All classes that were seen."""
    mixed: int
    """Trials that count for none."""
    have: dict[str, int]
    """Repetitions of every cell in that class."""
    missing: dict[str, int]
    """Repetitions that cells still need in that class; cells that need none are not in it."""
    complete: frozenset[str]
    """Ceilings that have enough in every class seen; measuring them again would tell nothing."""

    @property
    def enough(self) -> bool:
        """Whether every cell has what it needs in one common class."""
        return not self.missing


def standing(plan: Plan, done: Sequence[DoneTrial], classify: Classify, without: Iterable[str] = ()) -> Standing:
    """Find out where a run stands.

    Args:
        plan: what is measured.
        done: the trials that ended well, in any order.
        classify: the placement rule.
        without: cells that cannot be measured here, and so are not waited for.
    """
    cells = [cell.id for cell in plan.cells if cell.id not in set(without)]
    labels = classify([trial.distance for trial in done])
    classes = _classes(labels)
    counts = Counter((trial.cell, trial.preset, label) for trial, label in zip(done, labels, strict=True))

    def repetitions(cell: str, placement: str) -> int:
        # A trial whose distance could not be taken (a loop-back has no switch) belongs to every class.
        usable = {placement, ONLY}
        presets = plan.cell_by_id[cell].presets
        return min(sum(counts[cell, preset, label] for label in usable) for preset in presets)

    def missing(placement: str) -> dict[str, int]:
        lacks = {cell: plan.needed(cell) - repetitions(cell, placement) for cell in cells}
        return {cell: lack for cell, lack in lacks.items() if lack > 0}

    # Ties go to the class with more trials, then by name, so that the answer never depends on the order.
    best = min(classes, key=lambda name: (sum(missing(name).values()), -labels.count(name), name))
    complete = frozenset(
        cell
        for cell in cells
        if plan.cell_by_id[cell].role is not CellRole.SUBJECT
        and all(repetitions(cell, name) >= plan.needed(cell) for name in classes)
    )
    have = {cell: repetitions(cell, best) for cell in cells}
    return Standing(best, classes, labels.count(MIXED), have, missing(best), complete)


def _classes(labels: Sequence[str]) -> tuple[str, ...]:
    seen = sorted(set(labels) - {MIXED})
    real = tuple(name for name in seen if name != ONLY)
    return real or (ONLY,)
