"""Expands an experiment into the ordered list of trials of all its rounds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from nfvbed.plan.cells import CellPlan, DeploymentKey, cell_id
from nfvbed.plan.order import rotated
from nfvbed.records import CellRole, Preset
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.variant import Variant
from nfvbed.units import FrameSize

CEILINGS = (CellRole.LOOPBACK, CellRole.REFERENCE)

TrialKey = tuple[int, str, Preset]
"""(round, cell, preset): what identifies a trial, also after a crash."""


@dataclass(frozen=True)
class PlannedTrial:
    """One trial at its place."""

    sequence: int
    """Place in the plan, from 1."""
    round: int
    cell: str
    preset: Preset

    @property
    def key(self) -> TrialKey:
        """What identifies it."""
        return (self.round, self.cell, self.preset)


@dataclass(frozen=True)
class Plan:
    """All that may be measured; the run ends earlier when every cell has enough."""

    experiment: Experiment
    cells: tuple[CellPlan, ...]
    """Ceilings first, then the variants in the experiment's order."""
    absent: tuple[tuple[CellPlan, str], ...]
    """Cells that the matrix has and a variant has not, each with the reason."""
    trials: tuple[PlannedTrial, ...]

    @cached_property
    def cell_by_id(self) -> dict[str, CellPlan]:
        """The cells by their ids."""
        return {cell.id: cell for cell in self.cells}

    @cached_property
    def _rounds(self) -> dict[int, tuple[PlannedTrial, ...]]:
        return {number: tuple(trials) for number, trials in groupby(self.trials, key=lambda trial: trial.round)}

    def round(self, number: int) -> tuple[PlannedTrial, ...]:
        """Give one round's trials, from 1."""
        return self._rounds.get(number, ())

    def needed(self, cell: str) -> int:
        """Give the repetitions that a cell must have in one placement class."""
        repetitions = self.experiment.repetitions
        if self.cell_by_id[cell].role is CellRole.SUBJECT:
            return repetitions.needed
        return min(repetitions.needed, repetitions.needed_ceilings)

    def by_deployment(self, trials: Iterable[PlannedTrial]) -> list[tuple[DeploymentKey, tuple[PlannedTrial, ...]]]:
        """Group trials that follow each other on the same deployment of one round, in order."""
        grouped = groupby(trials, key=lambda trial: (trial.round, self.cell_by_id[trial.cell].deployment))
        return [(key, tuple(group)) for (_, key), group in grouped]


def expand(experiment: Experiment, variants: Sequence[Variant]) -> Plan:
    """Expand an experiment.

    Within a round cells are grouped by deployment, ceilings stand first, and the variants rotate.

    Args:
        experiment: what is asked.
        variants: the experiment's variants, in its order.
    """
    subjects = [
        _cell(experiment, variant, CellRole.SUBJECT, (topology, size))
        for variant in variants
        for topology in experiment.topologies
        for size in experiment.frame_sizes
    ]
    topologies = {variant.name: variant.topologies for variant in variants}
    present = [cell for cell in subjects if cell.topology in topologies[cell.variant]]
    absent = [(cell, _absence(cell, topologies[cell.variant])) for cell in subjects if cell not in present]
    ceilings = _ceilings(experiment, variants) if experiment.ceilings else []
    trials = _ordered(experiment, ceilings, present)
    return Plan(experiment, (*ceilings, *present), tuple(absent), trials)


def pending(trials: Iterable[PlannedTrial], done: Iterable[TrialKey]) -> tuple[PlannedTrial, ...]:
    """Give the trials that are not done yet, in their order."""
    finished = set(done)
    return tuple(trial for trial in trials if trial.key not in finished)


def _ordered(experiment: Experiment, ceilings: list[CellPlan], subjects: list[CellPlan]) -> tuple[PlannedTrial, ...]:
    trials: list[PlannedTrial] = []
    for number in range(1, experiment.repetitions.max_rounds + 1):
        ordered = [*_grouped(ceilings, number), *_grouped(subjects, number)]
        for cell in ordered:
            trials += [
                PlannedTrial(len(trials) + offset, number, cell.id, preset)
                for offset, preset in enumerate(cell.presets, start=1)
            ]
    return tuple(trials)


def _grouped(cells: Sequence[CellPlan], round_number: int) -> list[CellPlan]:
    """Order the deployments of a round, and the cells within each."""
    groups = list(dict.fromkeys(cell.deployment for cell in cells))
    return [
        cell
        for group in rotated(groups, round_number)
        for cell in rotated([cell for cell in cells if cell.deployment == group], round_number)
    ]


def _ceilings(experiment: Experiment, variants: Sequence[Variant]) -> list[CellPlan]:
    """Plan the ceilings of every port kind, on behalf of the first variant that has it."""
    first = {variant.port_kind: variant for variant in reversed(variants)}
    kinds = dict.fromkeys(variant.port_kind for variant in variants)
    return [
        _cell(experiment, first[kind], role, (topology, size))
        for kind in kinds
        for role in CEILINGS
        for topology in experiment.topologies
        if topology in first[kind].topologies
        for size in experiment.frame_sizes
    ]


def _cell(experiment: Experiment, variant: Variant, role: CellRole, place: tuple[str, FrameSize]) -> CellPlan:
    topology, size = place
    of = variant.name if role is CellRole.SUBJECT else variant.port_kind.value
    return CellPlan(
        id=cell_id(role, of, topology, size),
        variant=variant.name,
        role=role,
        topology=topology,
        frame_size=size,
        flows=experiment.traffic.flows,
        bidirectional=experiment.traffic.bidirectional,
        port_kind=variant.port_kind,
    )


def _absence(cell: CellPlan, topologies: Sequence[str]) -> str:
    return f"variant {cell.variant} has no topology {cell.topology}; it has {', '.join(topologies) or 'none'}"
