"""How far a run is: what every cell has, of which rounds or in which placement class, and whether that is enough."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nfvbed.plan.plan import Plan, TrialKey
from nfvbed.records import CellRole, CoreDistance, Preset, TrialPreset
from nfvbed.records.results import ResultKind, placement_of
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.spec.testkinds.base import MRR

Classify = Callable[[Sequence[CoreDistance | None]], list[str]]
"""Gives the placement class of every trial; the rule itself belongs to `compare`."""

MIXED = "mixed"
"""A trial within which the placement changed; it counts for no class."""
SINGLE = "single"


@dataclass(frozen=True)
class CompletedTrial:
    """A trial that ended well, as far as planning needs to know it."""

    round: int
    cell: str
    preset: TrialPreset
    distance: CoreDistance | None

    @property
    def key(self) -> TrialKey:
        """What identifies it."""
        return (self.round, self.cell, MRR, self.preset)


@dataclass(frozen=True)
class CompletedTest:
    """A test that ended, with the trials that it took."""

    round: int
    cell: str
    test: str
    kind: ResultKind
    label: str
    """Placement class when it ended."""
    distances: tuple[CoreDistance | None, ...]
    """Core distances of its trials; none where it could not be begun."""
    settled: bool = False
    """Whether it counts in every class: it failed or was blocked, or lasts longer than classes do (a soak)."""

    @property
    def key(self) -> TrialKey:
        """What identifies it."""
        return (self.round, self.cell, self.test, self.kind)

    def placement(self, labels: Sequence[str]) -> str:
        """Return the placement class of the test, as it is known now.

        Args:
            labels: those of its trials.
        """
        if self.settled:
            return SINGLE
        return placement_of(self.kind, self.label, labels)


@dataclass(frozen=True)
class MissingTrials:
    """What a cell still needs of one thing."""

    have: int
    needed: int
    what: str
    """`pairs`, `rounds`, or `repetitions of search in class near`."""
    of_a_test: bool = False
    """Lack of a test beside the MRR, whose repetitions must be in one placement class."""
    of_class: bool = False
    """There are enough, but not in the class."""

    @property
    def text(self) -> str:
        """Return it as text."""
        return f"{self.have} of {self.needed} {self.what}"


OfCell = tuple[str, str, MissingTrials]
"""A cell, the label of a test, and what the cell lacks of it."""


@dataclass(frozen=True)
class Completeness:
    """What is there and what is missing."""

    placement: str
    """The placement class in which the tests beside the MRR lack least."""
    classes: tuple[str, ...]
    """All classes that were seen."""
    mixed: int
    """Trials that are of no class."""
    missing: Mapping[str, MissingTrials]
    """What cells still need most of; cells that need nothing are not in it. Ceilings never are."""
    complete: frozenset[str]
    """Ceilings that were measured in as many rounds as they need; measuring them again would tell nothing."""
    lacking: frozenset[str] = frozenset()
    """Labels of the tests that some subject still needs; of the MRR only where nothing is compared."""
    pairs: Mapping[TrafficPoint, int] = field(default_factory=dict)
    """At each traffic point at which variants are compared: the rounds that visited all that are left of them."""

    @property
    def enough(self) -> bool:
        """Whether every cell has what it needs."""
        return not self.missing

    @property
    def rounds_missing(self) -> int:
        """The rounds that are needed at least."""
        return max((lack.needed - lack.have for lack in self.missing.values()), default=0)


def completeness(
    plan: Plan,
    done: Sequence[CompletedTrial],
    classify: Classify,
    without: Iterable[str] = (),
    tests: Sequence[CompletedTest] = (),
) -> Completeness:
    """Return how far a run is.

    Of the MRR, rounds count, whatever class their trials are in: the rounds that two variants share where they are
    compared, all others in a survey. A test beside it must have its repetitions in one class, common to all cells.

    Args:
        done: the trials of the MRR test that ended well, in any order.
        classify: the placement rule.
        without: cells that cannot be measured here, and so are not waited for.
        tests: the other tests that ended.
    """
    return _Count(plan, frozenset(without), done).completeness(tests, classify)


class _Count:
    """The repetitions that cells have."""

    def __init__(self, plan: Plan, without: frozenset[str], done: Sequence[CompletedTrial]) -> None:
        self._plan = plan
        self._done = done
        self._cells = [cell for cell in plan.cells if cell.id not in without]
        self._subjects = [cell for cell in self._cells if cell.role is CellRole.SUBJECT]
        self._rounds = visited(plan, done)
        measured = {cell.id for cell in self._subjects}
        self._compared = {
            point: left
            for point, cells in plan.compared.items()
            if len(left := tuple(cell for cell in cells if cell in measured)) > 1
        }

    def completeness(self, tests: Sequence[CompletedTest], classify: Classify) -> Completeness:
        labels, of_tests = _labels(self._done, tests, classify)
        every = [*labels, *of_tests]
        classes = _classes(every)
        counts = Counter((test.cell, test.test, label) for test, label in zip(tests, of_tests, strict=True))
        lacks = {name: self._lacks_of_tests(name, counts) for name in classes}
        # Ties go to the class with more trials, then by name, so that the answer never depends on the order.
        best = min(classes, key=lambda name: (_sum(lacks[name]), -every.count(name), name))
        every_lack = [*self._lacks_of_mrr(), *lacks[best]]
        missing: dict[str, MissingTrials] = {}
        for cell, _, lack in every_lack:
            missing[cell] = max(missing.get(cell, lack), lack, key=lambda one: one.needed - one.have)
        in_pairs = {cell for cells in self._compared.values() for cell in cells}
        lacking = frozenset(test for cell, test, _ in every_lack if test != MRR or cell not in in_pairs)
        mixed = every.count(MIXED)
        return Completeness(best, classes, mixed, missing, self._complete(tests), lacking, self._pairs())

    def _lacks_of_mrr(self) -> list[OfCell]:
        if not self._plan.experiment.has_mrr:
            return []
        have = {cell.id: (len(self._rounds.get(cell.id, ())), "rounds") for cell in self._subjects}
        for cells in self._compared.values():
            for cell in cells:
                others = [self._rounds.get(other, frozenset()) for other in cells if other != cell]
                own = self._rounds.get(cell, frozenset())
                have[cell] = max(len(own & other) for other in others), "pairs"
        found = []
        for cell, (number, what) in have.items():
            needed = self._plan.needed(cell) if what == "pairs" else self._needed_alone(cell)
            if number < needed:
                found.append((cell, MRR, MissingTrials(number, needed, what)))
        return found

    def _needed_alone(self, cell: str) -> int:
        """Return the rounds of a cell that is compared with none, also where that is so as its partners failed."""
        return min(self._plan.needed(cell), self._plan.experiment.repetitions.needed)

    def _lacks_of_tests(self, placement: str, counts: Mapping[tuple[str, str, str], int]) -> list[OfCell]:
        found = []
        for cell in self._subjects:
            for test in dict.fromkeys(label for label, _ in self._plan.units(cell.id) if label != MRR):
                in_class = sum(counts.get((cell.id, test, label), 0) for label in {placement, SINGLE})
                needed = self._plan.needed(cell.id, test)
                if in_class < needed:
                    measured = sum(number for key, number in counts.items() if key[:2] == (cell.id, test))
                    what, late = f"repetitions of {test} in class {placement}", measured >= needed
                    found.append((cell.id, test, MissingTrials(in_class, needed, what, of_a_test=True, of_class=late)))
        return found

    def _complete(self, tests: Sequence[CompletedTest]) -> frozenset[str]:
        of_tests = Counter((test.cell, test.test) for test in tests)
        return frozenset(
            cell.id
            for cell in self._cells
            if cell.role is not CellRole.SUBJECT
            and len(self._rounds.get(cell.id, ())) >= self._plan.needed(cell.id)
            and all(
                of_tests[cell.id, label] >= self._plan.needed(cell.id, label)
                for label, _ in self._plan.units(cell.id)
                if label != MRR
            )
        )

    def _pairs(self) -> dict[TrafficPoint, int]:
        none = frozenset[int]()
        return {
            point: len(frozenset.intersection(*(self._rounds.get(cell, none) for cell in cells)))
            for point, cells in self._compared.items()
        }


def visited(plan: Plan, done: Iterable[CompletedTrial]) -> dict[str, frozenset[int]]:
    """Return the rounds in which each cell has all its trials at maximum load."""
    counts = Counter((trial.cell, trial.round) for trial in done if trial.preset is Preset.MRR)
    found: dict[str, set[int]] = {}
    for (cell, number), trials in counts.items():
        if trials >= plan.trials_of(Preset.MRR):
            found.setdefault(cell, set()).add(number)
    return {cell: frozenset(rounds) for cell, rounds in found.items()}


def _sum(lacks: Iterable[OfCell]) -> int:
    return sum(lack.needed - lack.have for _, _, lack in lacks)


def _labels(
    done: Sequence[CompletedTrial], tests: Sequence[CompletedTest], classify: Classify
) -> tuple[list[str], list[str]]:
    """Return the classes of trials and of tests; all distances of the host are sorted together."""
    distances = [trial.distance for trial in done]
    labels = classify([*distances, *(distance for test in tests for distance in test.distances)])
    found, place = [], len(distances)
    for test in tests:
        found.append(test.placement(labels[place : place + len(test.distances)]))
        place += len(test.distances)
    return list(labels[: len(distances)]), found


def _classes(labels: Sequence[str]) -> tuple[str, ...]:
    seen = sorted(set(labels) - {MIXED})
    real = tuple(name for name in seen if name != SINGLE)
    return real or (SINGLE,)
