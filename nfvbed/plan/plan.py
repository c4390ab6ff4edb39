"""Expands an experiment into the ordered list of trials of all its rounds."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from nfvbed.plan.ceilings import Choices, choice_of, planned_ceilings, references
from nfvbed.plan.cells import OF_A_VISIT, CellPlan, DeploymentKey, cell_id, shared_mtu
from nfvbed.plan.order import at_one_path, ordered_round
from nfvbed.plan.points import compared_points, looks_at
from nfvbed.records import CellRole, Preset, Sessions, TrialPreset, VnfKind
from nfvbed.records.results import ResultKind
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.spec.choices import explicit_label
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.layout import EndKind, layout
from nfvbed.spec.testkinds.base import MRR
from nfvbed.spec.testkinds.loads import LatencyTest, SearchTest
from nfvbed.spec.tests import AnyTest, MrrTest
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.units import FrameSize

TrialKey = tuple[int, str, str, TrialPreset]
"""(round, cell, label of the test, preset): what identifies a unit of a plan, also after a crash."""
Unit = tuple[str, TrialPreset]
"""Label of a test, and the preset of its trials. Those of the MRR are a unit for each preset: of its maximum that is
all `mrr_trials` of a visit."""


@dataclass(frozen=True)
class PlannedTrial:
    """One unit at its place: trials of the MRR test of one preset, or another test with all its trials."""

    sequence: int
    """Place in the plan, from 1."""
    round: int
    cell: str
    preset: TrialPreset
    test: str = MRR
    """Label of its test."""

    @property
    def key(self) -> TrialKey:
        """What identifies it."""
        return (self.round, self.cell, self.test, self.preset)

    @property
    def is_trial(self) -> bool:
        """Whether it is of the MRR test: plain trials; any other unit ends with a result of its own."""
        return self.preset in OF_A_VISIT


@dataclass(frozen=True)
class Plan:
    """All that may be measured; the run ends earlier when every cell has enough."""

    experiment: Experiment
    cells: tuple[CellPlan, ...]
    """Ceilings first, then the variants in the experiment's order."""
    absent: tuple[tuple[CellPlan, str], ...]
    """Cells that the matrix has and a variant has not, each with the reason."""
    trials: tuple[PlannedTrial, ...]
    choices: Choices = field(default_factory=dict)
    """The VNFs by (variant, label)."""
    skipped: tuple[tuple[CellPlan, str], ...] = ()
    """Cells that the experiment leaves out although they could be measured, each with the reason."""
    slow: frozenset[str] = frozenset()
    """Variants whose deployments take long."""
    references: Mapping[str, str] = field(default_factory=dict)
    """Cells of testpmd in the switch's place to which searches of other cells are relative."""
    tracking: frozenset[str] = frozenset()
    """Variants that track connections, where traffic has answered sessions."""

    def choice(self, key: DeploymentKey) -> VnfChoice | None:
        """Return the VNF of a deployment; None where it has none."""
        return choice_of(self.choices, key)

    def boots(self, key: DeploymentKey) -> bool:
        """Return whether virtual machines are booted for a deployment: its VNFs."""
        return _is_guest(self.choice(key))

    def is_slow(self, key: DeploymentKey) -> bool:
        """Return whether a deployment takes long."""
        return key.variant in self.slow or self.boots(key)

    @cached_property
    def cell_by_id(self) -> dict[str, CellPlan]:
        """The cells by their ids."""
        return {cell.id: cell for cell in self.cells}

    @cached_property
    def trial_by_key(self) -> dict[TrialKey, PlannedTrial]:
        """The units by what identifies them."""
        return {trial.key: trial for trial in self.trials}

    @cached_property
    def _rounds(self) -> dict[int, tuple[PlannedTrial, ...]]:
        return {number: tuple(trials) for number, trials in groupby(self.trials, key=lambda trial: trial.round)}

    def round(self, number: int) -> tuple[PlannedTrial, ...]:
        """Return one round's trials, from 1."""
        return self._rounds.get(number, ())

    @cached_property
    def compared(self) -> Mapping[TrafficPoint, tuple[str, ...]]:
        """The traffic points at which variants are compared, each with its cells in the experiment's order."""
        return compared_points(self.experiment, self.cells)

    @cached_property
    def rounds(self) -> tuple[int, int]:
        """The fewest rounds in which all that is asked for is measured, and the most."""
        repetitions = self.experiment.repetitions
        units = [(cell.id, label) for cell in self.cells for label, _ in self.units(cell.id)]
        least = max((self.expected(cell, label) for cell, label in units), default=0)
        only_mrr = all(label == MRR for _, label in units)
        most = repetitions.looks[-1] if self.compared else least
        return least, max(least, min(most, repetitions.max_rounds) if only_mrr else repetitions.max_rounds)

    def units(self, cell: str) -> tuple[Unit, ...]:
        """Return what one repetition of a cell is made of."""
        planned = self.cell_by_id[cell]
        return units_of(self.experiment, planned, compared=self.is_compared(cell))

    def trials_of(self, preset: TrialPreset) -> int:
        """Return the trials that a unit of the MRR test has."""
        return self.experiment.trials.mrr_trials if preset is Preset.MRR else 1

    def is_compared(self, cell: str) -> bool:
        """Return whether a cell is compared with others at its traffic point."""
        return cell in self.compared.get(self.cell_by_id[cell].point, ())

    def needed(self, cell: str, test: str = MRR) -> int:
        """Return the repetitions that a cell must have.

        Args:
            test: label of a test. For the MRR where variants are compared: the rounds of the first look; for any other:
                repetitions in one placement class.
        """
        repetitions = self.experiment.repetitions
        planned = self.cell_by_id[cell]
        if planned.role is CellRole.REFERENCE and test != MRR:
            return repetitions.needed
        if planned.role is not CellRole.SUBJECT:
            return min(self._most_rounds_needed, repetitions.needed_ceilings)
        if test == MRR and self.is_compared(cell):
            return repetitions.looks[0]
        fewer = repetitions.needed_slow if self.is_slow(planned.deployment) else None
        return repetitions.needed if fewer is None else min(repetitions.needed, fewer)

    def looks(self, point: TrafficPoint) -> tuple[int, ...]:
        """Return the rounds after which a traffic point is looked at."""
        return looks_at(self.experiment, len(self.compared[point]))

    def expected(self, cell: str, test: str = MRR) -> int:
        """Return the rounds that a cell has at least: more than it needs where one look comes after all of them."""
        if test == MRR and self.is_compared(cell):
            return self.looks(self.cell_by_id[cell].point)[0]
        return self.needed(cell, test)

    @property
    def _most_rounds_needed(self) -> int:
        repetitions = self.experiment.repetitions
        return max(repetitions.needed, repetitions.looks[0]) if self.compared else repetitions.needed

    def by_deployment(self, trials: Iterable[PlannedTrial]) -> list[tuple[DeploymentKey, tuple[PlannedTrial, ...]]]:
        """Group trials that follow each other on the same deployment of one round, in order."""
        grouped = groupby(trials, key=lambda trial: (trial.round, self.cell_by_id[trial.cell].deployment))
        return [(key, tuple(group)) for (_, key), group in grouped]


def expand(experiment: Experiment, variants: Sequence[Variant], choices: Choices | None = None) -> Plan:
    """Return the plan of an experiment.

    Within a round cells are grouped by deployment, ceilings come first, and the variants rotate.

    Args:
        variants: those of the experiment, in its order.
        choices: the VNFs by (variant, label); a variant without one of them lacks its cells.
    """
    choices = choices or {}
    subjects = [
        _subject(experiment, variant, (topology, label), size, choices)
        for variant in variants
        for topology in experiment.laid_out
        for label in [use.label for use in experiment.uses_in(topology)] or [""]
        for size in experiment.sizes_in(topology)
    ]
    by_name = {variant.name: variant for variant in variants}
    reasons = [(c, _absence(c, by_name[c.variant], choices.get((c.variant, c.vnf)))) for c in subjects]
    absent = tuple((cell, reason) for cell, reason in reasons if reason)
    slow = frozenset(variant.name for variant in variants if variant.options.slow_to_deploy)
    left_out = {cell.id: _left_out(experiment, cell, choices, slow) for cell, reason in reasons if not reason}
    present = [cell for cell, reason in reasons if not reason and not left_out[cell.id]]
    skipped = tuple((cell, left_out[cell.id]) for cell, reason in reasons if not reason and left_out[cell.id])
    ceilings = planned_ceilings(experiment, variants, present, choices) if experiment.ceilings else []
    late = frozenset(c.deployment for c in present if c.variant in slow or _is_guest(choices.get((c.variant, c.vnf))))
    late = late if experiment.repetitions.budget_s is not None else frozenset()
    cells = (*ceilings, *present)
    paired = references(experiment, variants, cells)
    trials = _ordered(experiment, ceilings, present, (late, frozenset(paired.values())))
    mirrored = experiment.traffic.sessions is Sessions.MIRRORED
    tracking = frozenset(variant.name for variant in variants if mirrored and variant.options.tracks_connections)
    return Plan(experiment, cells, absent, trials, choices, skipped, slow, paired, tracking)


def _is_guest(choice: VnfChoice | None) -> bool:
    return choice is not None and choice.kind is VnfKind.VM


def units_of(experiment: Experiment, cell: CellPlan, *, compared: bool) -> tuple[Unit, ...]:
    """Return what one repetition of a cell is made of, in order; where it is compared, with a trial at the common load.

    A ceiling has its MRR alone; the generator looped back also latency at a fixed load, which is its own floor, and
    testpmd in the switch's place the searches that are relative to it.
    """
    if cell.role is not CellRole.SUBJECT:
        floors = [(label, ResultKind.LATENCY) for label, test in experiment.labelled_tests.items() if _has_floor(test)]
        own = floors if cell.role is CellRole.LOOPBACK else []
        if cell.role is CellRole.REFERENCE:
            own = [(label, ResultKind.SEARCH) for label, test in experiment.labelled_tests.items() if _is_paired(test)]
        return (*((MRR, preset) for preset in cell.presets), *own)
    found: list[Unit] = []
    for label, test in experiment.labelled_tests.items():
        if isinstance(test, MrrTest):
            presets = OF_A_VISIT if compared and cell.takes_loads else cell.presets
            found += [(label, preset) for preset in presets]
        else:
            found.append((label, ResultKind(test.kind)))
    return tuple(found)


def _has_floor(test: AnyTest) -> bool:
    return isinstance(test, LatencyTest) and test.fixed_load_pps is not None


def _is_paired(test: AnyTest) -> bool:
    return isinstance(test, SearchTest) and test.relative


def pending(trials: Iterable[PlannedTrial], done: Iterable[TrialKey]) -> tuple[PlannedTrial, ...]:
    """Return the trials that are not done yet, in their order."""
    finished = set(done)
    return tuple(trial for trial in trials if trial.key not in finished)


def _ordered(
    experiment: Experiment,
    ceilings: list[CellPlan],
    subjects: list[CellPlan],
    last: tuple[frozenset[DeploymentKey], frozenset[str]],
) -> tuple[PlannedTrial, ...]:
    """Return all rounds' trials in order; late deployments come last in each, so that a budget does not end there.

    Where variants are compared, all of a path come last together, so that partners stay next to each other.

    Args:
        last: late deployments, and ceilings that take turns with the subjects that are paired with them.
    """
    late, turning = last
    points = compared_points(experiment, subjects)
    late = at_one_path(subjects, late) if points else late
    compared = {cell for cells in points.values() for cell in cells}
    trials: list[PlannedTrial] = []
    for number in range(1, experiment.repetitions.max_rounds + 1):
        for cell in ordered_round(ceilings, subjects, number, late, turning):
            trials += [
                PlannedTrial(len(trials) + offset, number, cell.id, preset, label)
                for offset, (label, preset) in enumerate(
                    units_of(experiment, cell, compared=cell.id in compared), start=1
                )
            ]
    return tuple(trials)


def _subject(
    experiment: Experiment, variant: Variant, path: tuple[str, str], size: FrameSize, choices: Choices
) -> CellPlan:
    topology, label = path
    choice = choices.get((variant.name, label))
    return CellPlan(
        id=cell_id(CellRole.SUBJECT, variant.name, path, size),
        variant=variant.name,
        role=CellRole.SUBJECT,
        topology=topology,
        vnf=label,
        vnf_resolved=explicit_label(choice) if choice else "",
        frame_size=size,
        flows=experiment.traffic.flows,
        bidirectional=experiment.traffic.bidirectional and not layout(topology).one_way,
        port_kind=variant.port_kind,
        ports=variant.ports,
        mtu=shared_mtu(size, experiment.sizes_in(topology)),
    )


def _left_out(experiment: Experiment, cell: CellPlan, choices: Choices, slow: Container[str]) -> str:
    """Return why the experiment leaves a cell out that could be measured; empty where it does not."""
    if experiment.chains is None or experiment.chains.slow or cell.topology not in experiment.longer:
        return ""
    if cell.variant in slow or _is_guest(choices.get((cell.variant, cell.vnf))):
        return f"experiment {experiment.name} leaves longer chains out where a deployment takes long (chains.slow)"
    return ""


def _absence(cell: CellPlan, variant: Variant, choice: VnfChoice | None) -> str:
    """Return why a variant does not have a cell; empty when it has it."""
    lacking = variant.lacks(cell.topology)
    if lacking:
        return lacking
    misfit = variant.misfit(cell.topology) or (None if choice is None else variant.without_gateway(choice))
    if misfit is not None:
        return f"{misfit.what} ({misfit.observed}); {misfit.fix}"
    if cell.vnf and not cell.vnf_resolved:
        return f"variant {cell.variant} has no VNF of its own (native_vnf)"
    if cell.frame_size == "imix" and layout(cell.topology).ends[0] is EndKind.SOURCE:
        return "a VNF that is the source sends frames of one size"
    return ""
