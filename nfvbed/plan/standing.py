"""Where a run stands: what every cell has in which placement class, and whether that is enough."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nfvbed.plan.plan import Plan, TrialKey, Unit
from nfvbed.records import CellRole, CoreDistance, Preset
from nfvbed.results import ResultKind, placement_of
from nfvbed.spec.testkinds.base import MRR

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
        return (self.round, self.cell, MRR, self.preset)


@dataclass(frozen=True)
class DoneTest:
    """A test that ended, with the trials that it took."""

    round: int
    cell: str
    test: str
    preset: Preset
    label: str
    """Its placement class when it ended."""
    distances: tuple[CoreDistance | None, ...]
    """Of its trials; none where it could not be begun."""
    settled: bool = False
    """It counts in every class: it failed or was blocked, or lasts longer than classes do (a soak)."""

    @property
    def key(self) -> TrialKey:
        """What identifies it."""
        return (self.round, self.cell, self.test, self.preset)

    def placement(self, labels: Sequence[str]) -> str:
        """Give its class, as it is known now.

        Args:
            labels: of its trials.
        """
        if self.settled:
            return ONLY
        return placement_of(ResultKind(self.preset.value), self.label, labels)


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
    lacking: frozenset[str] = frozenset()
    """Labels of the tests that some subject still needs in that class."""

    @property
    def enough(self) -> bool:
        """Whether every cell has what it needs in one common class."""
        return not self.missing


def standing(
    plan: Plan,
    done: Sequence[DoneTrial],
    classify: Classify,
    without: Iterable[str] = (),
    tests: Sequence[DoneTest] = (),
) -> Standing:
    """Find out where a run stands.

    Args:
        plan: what is measured.
        done: the trials of the MRR that ended well, in any order.
        classify: the placement rule.
        without: cells that cannot be measured here, and so are not waited for.
        tests: the other tests that ended.
    """
    cells = [cell.id for cell in plan.cells if cell.id not in set(without)]
    labels, of_tests = _labels(done, tests, classify)
    every = [*labels, *of_tests]
    classes = _classes(every)
    keys = [*(trial.key for trial in done), *(test.key for test in tests)]
    counts = Counter((key[1:], label) for key, label in zip(keys, every, strict=True))

    def repetitions(cell: str, placement: str, unit: Unit) -> int:
        # A trial whose distance could not be taken (a loop-back has no switch) belongs to every class.
        return sum(counts[(cell, *unit), label] for label in {placement, ONLY})

    def least(cell: str, placement: str) -> int:
        return min(repetitions(cell, placement, unit) for unit in plan.units(cell))

    def missing(placement: str) -> dict[str, int]:
        lacks = {cell: plan.needed(cell) - least(cell, placement) for cell in cells}
        return {cell: lack for cell, lack in lacks.items() if lack > 0}

    # Ties go to the class with more trials, then by name, so that the answer never depends on the order.
    best = min(classes, key=lambda name: (sum(missing(name).values()), -every.count(name), name))
    subjects = [cell for cell in cells if plan.cell_by_id[cell].role is CellRole.SUBJECT]
    complete = frozenset(
        cell
        for cell in cells
        if cell not in subjects and all(least(cell, name) >= plan.needed(cell) for name in classes)
    )
    lacking = frozenset(
        unit[0] for cell in subjects for unit in plan.units(cell) if repetitions(cell, best, unit) < plan.needed(cell)
    )
    have = {cell: least(cell, best) for cell in cells}
    return Standing(best, classes, every.count(MIXED), have, missing(best), complete, lacking)


def _labels(done: Sequence[DoneTrial], tests: Sequence[DoneTest], classify: Classify) -> tuple[list[str], list[str]]:
    """Give the classes of trials and of tests; all distances of the host are sorted together."""
    distances = [trial.distance for trial in done]
    labels = classify([*distances, *(distance for test in tests for distance in test.distances)])
    found, place = [], len(distances)
    for test in tests:
        found.append(test.placement(labels[place : place + len(test.distances)]))
        place += len(test.distances)
    return list(labels[: len(distances)]), found


def _classes(labels: Sequence[str]) -> tuple[str, ...]:
    seen = sorted(set(labels) - {MIXED})
    real = tuple(name for name in seen if name != ONLY)
    return real or (ONLY,)
