"""A cell in one placement class: what its trials of that class say, and why it says nothing if it does not."""

import re
from collections.abc import Callable, Iterable, Sequence
from statistics import median as exact_median
from typing import Final, Literal

from nfvbed.compare.latency import LatencySummary, by_direction, merge_latency
from nfvbed.compare.placement import MIXED, ONLY
from nfvbed.compare.rowdoubts import WarningCount, row_warnings
from nfvbed.compare.rundata import RunData
from nfvbed.compare.statistics import Interval, interquartile_range, median, median_interval
from nfvbed.compare.verdict import Rules
from nfvbed.records import (
    NOT_SEPARABLE,
    CellRecord,
    CellRole,
    PortKind,
    Preset,
    QualityWarning,
    Record,
    Role,
    Status,
    TrialRecord,
)
from nfvbed.spec.layout import EndKind, layout
from nfvbed.units import FrameSize, layer1_bits_per_s, layer2_bits_per_s

Point = tuple[str, str, FrameSize, int, bool]
"""Topology, label of the VNFs, frame size, flows, both directions or one."""

Share = float | Literal["not-separable"] | None
"""A fraction of cores; None where nothing was recorded."""

CLOCK_RATE: Final = re.compile(r" at \d+ Hz")
"""Measured anew for every trial, so that it would make every trial's source another one."""

LOAD_SPREAD: Final = 1.25
"""Paced loads of one row that differ by more are named."""


NOT_TESTED: Final = "the MRR is none of this run's tests"


class RateSummary(Record):
    """The maximum receive rate: trials at maximum load, both directions together."""

    trials: int
    median_pps: float
    interval: Interval | None
    iqr_pps: float
    samples_pps: tuple[int, ...]
    layer1_bits_per_s: float
    layer2_bits_per_s: float
    offered_pps: float
    loss_ratio: float | None
    refused_ratio: float | None
    """Frames not taken by the port at the first try, of all tries: how full the switch was."""
    generator_busy: float | None
    """Part of the trial in which the generator's loop had work."""


class PacedSummary(Record):
    """Trials at a given load: loss and latency."""

    trials: int
    load_pps: float
    load_fraction: tuple[float, float] | None
    """Lowest and highest load, as fractions of this class's median maximum receive rate."""
    loss_ratio: float | None
    lost: int
    sent: int
    unsent: int
    latency: LatencySummary | None
    """Both directions together."""
    latency_directions: tuple[LatencySummary | None, ...]


class CpuUse(Record):
    """Cores kept busy at maximum load, by role; a poller's is 1 by nature."""

    switch: Share = None
    vnf: Share = None
    generator: Share = None


class Census(Record):
    """Where all the trials of a cell went."""

    by_class: dict[str, int]
    """Usable trials at maximum load, by placement class."""
    mixed: int
    not_ok: int


class Limit(Record):
    """What bounds a row from above: its rate is a lower bound on what the data plane can do."""

    kind: QualityWarning
    detail: str
    ceiling_pps: float | None = None


class ExceededCeiling(Record):
    """A ceiling that a row is above: it bounds nothing, and is not used."""

    cell: str
    """The ceiling's cell."""
    role: CellRole
    ratio: float
    ceiling_pps: float
    detail: str


class Price(Record):
    """A row's rate as a fraction of a ceiling's, medians: of testpmd io in the switch's place, or of the bare ports."""

    ratio: float
    interval: Interval | None
    ceiling_pps: float


class CellSummary(Record):
    """One row: a cell in one placement class."""

    run: str
    cell: str
    variant: str
    role: CellRole
    topology: str
    vnf: str = ""
    """Label of its VNFs; empty without."""
    vnf_resolved: str = ""
    """What the label stands for on this variant."""
    frame_size: FrameSize
    flows: int
    bidirectional: bool
    port_kind: PortKind
    ports: str
    """As its ceilings must have them too: their kind, and what few have set (`veth-no-offloads`)."""
    host_hash: str
    config_hash: str
    rig_hash: str
    simulated: bool
    placement_class: str
    status: Status
    reason: str
    mrr: RateSummary | None
    paced: PacedSummary | None
    cpu: CpuUse
    cycles_per_packet: Share
    cycles_source: str
    engine: str
    census: Census
    warnings: tuple[WarningCount, ...] = ()
    limits: tuple[Limit, ...] = ()
    loopback_pps: float | None = None
    """The generator's own ceiling on such ports, same run and class; None also where it is exceeded."""
    vnf_pps: float | None = None
    """The VNF looped back alone, same run and class; None also where it is exceeded or was not measured."""
    exceeded: tuple[ExceededCeiling, ...] = ()
    price: Price | None = None
    of_bare_ports: Price | None = None
    """The rate as a fraction of the generator's looped back on such ports; None where that is not known."""
    notes: tuple[str, ...] = ()

    @property
    def limited(self) -> bool:
        """Whether the rate is a lower bound only."""
        return bool(self.limits)

    @property
    def emulated(self) -> bool:
        """Whether a guest was emulated: frame counts hold, and the rate means nothing, not even as a bound."""
        return any(limit.kind is QualityWarning.EMULATED_ACCELERATOR for limit in self.limits)

    @property
    def point(self) -> Point:
        """What rows must share to be compared: path, VNFs and traffic."""
        return self.topology, self.vnf, self.frame_size, self.flows, self.bidirectional


_OF_THE_CELL: Final = (
    "variant",
    "role",
    "topology",
    "vnf",
    "vnf_resolved",
    "frame_size",
    "flows",
    "bidirectional",
    "port_kind",
    "config_hash",
    "rig_hash",
)


class LabelledTrial(Record):
    """A trial and the placement class it was given."""

    trial: TrialRecord
    label: str


def summarise(
    data: RunData, cell: CellRecord, trials: Sequence[LabelledTrial], placement_class: str, rules: Rules
) -> CellSummary:
    """Summarise one cell in one class; trials of other classes are counted, never used.

    A ceiling's trial without a core distance counts in every class: a loop-back has no switch to be far from.

    Args:
        data: the run that it was measured in.
        cell: the cell.
        trials: all of the cell's.
        placement_class: that is shown.
        rules: how many trials there should be, and how far they may scatter.
    """
    usable = {placement_class} if cell.role is CellRole.SUBJECT else {placement_class, ONLY}
    used = [entry.trial for entry in trials if entry.trial.status is Status.OK and entry.label in usable]
    maximum = [trial for trial in used if trial.preset is Preset.MRR]
    paced = [trial for trial in used if trial.preset is Preset.PACED]
    census = take_census(trials)
    status, reason = _status(cell, census, len(maximum), placement_class)
    if status is Status.SKIPPED and any(entry.trial.preset not in (Preset.MRR, Preset.PACED) for entry in trials):
        reason = NOT_TESTED
    mrr = _rate(cell, maximum) if maximum else None
    pace = _paced(paced, mrr) if paced else None
    cycles, source = _cycles(maximum)
    return CellSummary(
        **{name: getattr(cell, name) for name in _OF_THE_CELL},
        run=data.run.id,
        cell=cell.id,
        ports=data.ports_of(cell),
        host_hash=data.run.host_hash,
        placement_class=placement_class,
        status=status,
        reason=reason,
        mrr=mrr,
        paced=pace,
        cpu=CpuUse(**{role.value: _busy_cores(maximum, role) for role in Role}),
        cycles_per_packet=cycles,
        cycles_source=source,
        engine=", ".join(sorted({f"{trial.engine.name} {trial.engine.version}" for trial in used})),
        census=census,
        warnings=row_warnings(maximum, paced, (census.mixed, _maximum(census)), _rules_of(cell, rules)),
        notes=_notes(cell, pace),
        simulated=cell.simulated or any(entry.trial.simulated for entry in trials),
    )


def _maximum(census: Census) -> int:
    return census.mixed + sum(census.by_class.values())


def _rules_of(cell: CellRecord, rules: Rules) -> Rules:
    """Give the rules of a row: a ceiling is measured as often as its experiment says, which is not known here."""
    return rules if cell.role is CellRole.SUBJECT else rules.model_copy(update={"needed": 1})


def take_census(trials: Sequence[LabelledTrial]) -> Census:
    """Count a cell's trials by where they went."""
    ok = [entry for entry in trials if entry.trial.status is Status.OK]
    maximum = [entry.label for entry in ok if entry.trial.preset is Preset.MRR]
    classes = {label: maximum.count(label) for label in sorted(set(maximum) - {MIXED})}
    return Census(by_class=classes, mixed=maximum.count(MIXED), not_ok=len(trials) - len(ok))


def _status(cell: CellRecord, census: Census, count: int, placement_class: str) -> tuple[Status, str]:
    """Give the row's own status: what was measured counts, even when the cell ended badly."""
    if count:
        return Status.OK, "" if cell.status is Status.OK else f"cell ended {cell.status.value}: {cell.reason}"
    if cell.status is not Status.OK:
        return cell.status, cell.reason
    elsewhere = [f"{number} {label}" for label, number in census.by_class.items()]
    if census.mixed:
        elsewhere.append(f"{census.mixed} mixed")
    if elsewhere:
        return Status.BLOCKED, f"placement: no trial in class {placement_class} ({', '.join(elsewhere)})"
    if census.not_ok:
        return Status.FAILED, f"none of its {census.not_ok} trials ended well"
    return Status.SKIPPED, "no trial was stored"


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _total(trials: Iterable[TrialRecord], count: str) -> int:
    return sum(getattr(direction, count) for trial in trials for direction in trial.directions)


def _rate(cell: CellRecord, trials: Sequence[TrialRecord]) -> RateSummary:
    samples = tuple(trial.forwarded_rate_pps for trial in trials)
    rate = median(samples)
    sent, refused = _total(trials, "sent"), _total(trials, "refused")
    busy = [trial.generator_busy_ns / trial.duration_ns for trial in trials if trial.generator_busy_ns]
    return RateSummary(
        trials=len(trials),
        median_pps=rate,
        interval=median_interval(samples),
        iqr_pps=interquartile_range(samples),
        samples_pps=samples,
        layer1_bits_per_s=layer1_bits_per_s(rate, cell.frame_size),
        layer2_bits_per_s=layer2_bits_per_s(rate, cell.frame_size),
        offered_pps=median([trial.offered_load_pps for trial in trials]),
        loss_ratio=_ratio(_total(trials, "lost"), sent),
        refused_ratio=_ratio(refused, sent + refused),
        generator_busy=exact_median(busy) if busy else None,
    )


def _paced(trials: Sequence[TrialRecord], mrr: RateSummary | None) -> PacedSummary:
    loads = [trial.intended_load_pps or trial.offered_load_pps for trial in trials]
    known = mrr is not None and mrr.median_pps > 0
    fraction = (min(loads) / mrr.median_pps, max(loads) / mrr.median_pps) if known and mrr else None
    sent, lost = _total(trials, "sent"), _total(trials, "lost")
    histograms = [trial.latency_hdr for trial in trials]
    return PacedSummary(
        trials=len(trials),
        load_pps=median(loads),
        load_fraction=fraction,
        loss_ratio=_ratio(lost, sent),
        lost=lost,
        sent=sent,
        unsent=_total(trials, "unsent"),
        latency=merge_latency(text for trial in histograms for text in trial if text),
        latency_directions=by_direction(histograms),
    )


def _median_or_word(values: Sequence[Share]) -> Share:
    """Give the median of the numbers, `not-separable` when any value is, None when there is none."""
    if any(value == NOT_SEPARABLE for value in values):
        return NOT_SEPARABLE
    numbers = [value for value in values if isinstance(value, float)]
    return float(exact_median(numbers)) if numbers else None


def _busy_cores(trials: Sequence[TrialRecord], role: Role) -> Share:
    def of_trial(trial: TrialRecord) -> Share:
        parts = [entry.busy_ns for entry in trial.cpu if entry.role is role]
        if any(part == NOT_SEPARABLE for part in parts):
            return NOT_SEPARABLE
        return sum(part for part in parts if isinstance(part, int)) / trial.duration_ns if parts else None

    return _median_or_word(_each(trials, of_trial))


def _each(trials: Sequence[TrialRecord], measure: Callable[[TrialRecord], Share]) -> list[Share]:
    return [measure(trial) for trial in trials]


def _cycles(trials: Sequence[TrialRecord]) -> tuple[Share, str]:
    costs = [trial.cost for trial in trials if trial.cost is not None]
    values: list[Share] = [
        NOT_SEPARABLE if cost.busy_cycles == NOT_SEPARABLE else cost.cycles_per_packet for cost in costs
    ]
    sources = {CLOCK_RATE.sub("", cost.source) for cost in costs}
    return _median_or_word(values), ", ".join(sorted(sources))


def _notes(cell: CellRecord, paced: PacedSummary | None) -> tuple[str, ...]:
    found = []
    plan = layout(cell.topology)
    if plan.ends[0] is EndKind.SOURCE:
        found.append("one direction, at maximum load only: a VNF sends, at its own pace")
    elif plan.one_way:
        found.append("one direction, without latency: a VNF receives, and only counts")
    if paced is not None and paced.load_fraction is not None:
        low, high = paced.load_fraction
        if high > LOAD_SPREAD * low or high > 1:
            found.append(f"paced trials ran at {low:.0%} to {high:.0%} of this class's maximum, not at one load")
    return tuple(found)
