"""A row: what the trials of one cell say over all placement states, or why they say nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import Field

from nfvbed.compare.rows.cost import CpuUse, Share, cpu_use, cycles_per_packet
from nfvbed.compare.rows.labelling import OF_A_VISIT
from nfvbed.compare.rows.paced import PacedSummary, at_common_load, summarise_paced, traffic_of
from nfvbed.compare.rows.placement import MIXED, SINGLE
from nfvbed.compare.rows.rates import RateSummary, summarise_rate
from nfvbed.compare.rows.rowwarnings import WarningCount, row_warnings
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.visits import ALL_STATES, LabelledTrial
from nfvbed.compare.samples.statistics import Interval
from nfvbed.compare.verdict import Rules
from nfvbed.records import (
    NOT_SEPARABLE,
    CellRecord,
    CellRole,
    PortKind,
    Preset,
    QualityWarning,
    Record,
    Sessions,
    Status,
    TrialRecord,
)
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.spec.layout import EndKind, layout
from nfvbed.units import FrameSize

LOAD_SPREAD: Final = 1.25
"""Paced loads of one row that differ by more are named."""

NOT_TESTED: Final = "the MRR is none of this run's tests"


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
    interval: Interval | None = None
    """Interval of the row's rate over the ceiling's; None where the limit was stored with the trials."""


class ExceededCeiling(Record):
    """A ceiling that a row of the run is above: it bounds nothing in the whole run, and is not used."""

    cell: str
    """The ceiling's cell."""
    role: CellRole
    ratio: float
    """This row's rate over the ceiling's."""
    ceiling_pps: float
    by: str = ""
    """The cell that lies above it; empty: this one."""
    detail: str


class RateShare(Record):
    """A row's rate as a fraction of a ceiling's: of testpmd io in the switch's place, or of the bare ports.

    Paired by round where both have rounds in common.
    """

    ratio: float
    interval: Interval | None
    ceiling_pps: float


class CellSummary(Record):
    """One row: a cell over all placement states, or in the one that was asked for."""

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
    """Kind of the ports, and what few have set (`veth-no-offloads`): ceilings must have it too."""
    io_path: str = ""
    """The way by which frames pass the ports outside: vhost, memif, af_xdp, netdev, ...; empty: not known."""
    host_hash: str
    config_hash: str
    rig_hash: str
    sessions: Sessions = Field(default=Sessions.UNREPLIED, exclude_if=lambda form: form is Sessions.UNREPLIED)
    """Sessions of its traffic; rows from before there was a choice have unreplied ones."""
    neighbour: str = Field(default="", exclude_if=lambda line: not line)
    """The noisy neighbour beside its trials; empty: there was none."""
    simulated: bool
    placement_class: str
    """`all`: every trial counts; else the class that was asked for."""
    status: Status
    reason: str
    mrr: RateSummary | None
    paced: PacedSummary | None
    """At half of its own maximum receive rate."""
    common: PacedSummary | None = None
    """At the load that all variants of its traffic point share: what is compared."""
    cpu: CpuUse
    cycles_per_packet: Share
    cycles_source: str
    engine: str
    census: Census
    warnings: tuple[WarningCount, ...] = ()
    limits: tuple[Limit, ...] = ()
    """What bounds it. Whether that bears on a verdict depends on both sides: `limits.bounds_of`."""
    possible_limits: tuple[Limit, ...] = ()
    """Ceilings that it may be at: shown, they bound nothing."""
    loopback_pps: float | None = None
    """The generator's own ceiling on such ports, same run; None also where it is exceeded."""
    vnf_pps: float | None = None
    """The VNF looped back alone, same run; None also where it is exceeded or was not measured."""
    exceeded: tuple[ExceededCeiling, ...] = ()
    switching_overhead: RateShare | None = None
    of_bare_ports: RateShare | None = None
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
    def at_most(self) -> bool:
        """Whether the rate is an upper bound only: most trials counted more frames back than were sent."""
        found = (entry for entry in self.warnings if entry.kind is QualityWarning.LOSS_AT_LEAST)
        return any(entry.preset is Preset.MRR and 2 * entry.trials > entry.of for entry in found)

    @property
    def unranked(self) -> str:
        """Why the rate decides nothing, though there is one; empty: it does."""
        if self.emulated:
            return "ran in an emulated guest: its rates mean nothing"
        return "counted more frames back than were sent: its rate is at most the one given" if self.at_most else ""

    @property
    def given_load(self) -> PacedSummary | None:
        """The trials at a given load that compare best with those of others: at the common load, else at its own."""
        return self.common or self.paced

    @property
    def point(self) -> TrafficPoint:
        """What rows must share to be compared: path, VNFs and traffic."""
        return TrafficPoint(self.topology, self.vnf, self.frame_size, self.flows, self.bidirectional)


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


@dataclass(frozen=True)
class SummaryOptions:
    """How rows are made from trials."""

    rules: Rules
    classes: tuple[str, ...] = (SINGLE,)
    """Classes of the host, nearest first."""
    placement_class: str = ALL_STATES
    common_loads: Mapping[TrafficPoint, int] = field(default_factory=dict)
    """Frames/s, by traffic point of the run."""
    alone: frozenset[TrafficPoint] = frozenset()
    """Traffic points of the run with one variant: without a comparison they need the rounds of a survey."""
    latency: bool = True
    """Whether latency is summed up."""


def summarise(data: RunData, cell: CellRecord, trials: Sequence[LabelledTrial], view: SummaryOptions) -> CellSummary:
    """Return the summary of one cell; with a class asked for, trials of others are counted and not used.

    A ceiling's trial without a core distance counts in every class: a loopback has no switch to be far from.
    """
    shown = [entry for entry in trials if entry.trial.status is Status.OK and _is_shown(entry.label, cell, view)]
    # What a cell showed before it failed stays in the store, and is no figure of it.
    usable = [] if cell.status is Status.FAILED else shown
    used = [entry.trial for entry in usable]
    at_maximum = [entry for entry in usable if entry.trial.preset is Preset.MRR]
    maximum = [entry.trial for entry in at_maximum]
    paced = [trial for trial in used if trial.preset is Preset.PACED]
    census = take_census(trials)
    status, reason = _status(cell, census, len(maximum), view.placement_class)
    if status is Status.SKIPPED and any(entry.trial.preset not in OF_A_VISIT for entry in trials):
        reason = NOT_TESTED
    mrr = summarise_rate(at_maximum, cell.frame_size, view.classes) if maximum else None
    pace = summarise_paced(paced, mrr, latency=view.latency)
    cycles, source = cycles_per_packet(maximum)
    unused = 0 if view.placement_class == ALL_STATES else census.mixed
    return CellSummary(
        **_of_the_cell(data, cell, view),
        status=status,
        reason=reason,
        mrr=mrr,
        paced=pace,
        common=summarise_paced(
            at_common_load(used, view.common_loads.get(traffic_of(cell))), mrr, latency=view.latency
        ),
        cpu=cpu_use(maximum),
        cycles_per_packet=cycles,
        cycles_source=source,
        engine=", ".join(sorted({f"{trial.engine.name} {trial.engine.version}" for trial in used})),
        census=census,
        warnings=row_warnings(used, mrr, (unused, _maximum(census)), _rules_of(cell, view)),
        notes=(*_notes(cell, pace), *_sessions_note(data, cell), *_neighbour_note(data, cell), *_roundings(maximum)),
        simulated=cell.simulated or any(entry.trial.simulated for entry in trials),
    )


def summarise_rate_alone(
    data: RunData, cell: CellRecord, trials: Sequence[LabelledTrial], view: SummaryOptions
) -> CellSummary:
    """Return the summary of a cell that is not shown: of its trials it has the rate, which may refute a ceiling.

    Args:
        trials: those of the cell, or those at maximum load alone.
    """
    used = [
        entry
        for entry in trials
        if entry.trial.preset is Preset.MRR
        and entry.trial.status is Status.OK
        and cell.status is not Status.FAILED
        and _is_shown(entry.label, cell, view)
    ]
    return CellSummary(
        **_of_the_cell(data, cell, view),
        status=cell.status,
        reason=cell.reason,
        mrr=summarise_rate(used, cell.frame_size, view.classes) if used else None,
        paced=None,
        cpu=CpuUse(),
        cycles_per_packet=None,
        cycles_source="",
        engine="",
        census=Census(by_class={}, mixed=0, not_ok=0),
        simulated=cell.simulated,
    )


def _of_the_cell(data: RunData, cell: CellRecord, view: SummaryOptions) -> dict[str, Any]:
    """Return the fields of a row that its trials have no part in."""
    return {name: getattr(cell, name) for name in _OF_THE_CELL} | {
        "run": data.run.id,
        "cell": cell.id,
        "ports": data.ports_of(cell),
        "io_path": data.io_path_of(cell),
        "sessions": data.sessions_of(cell),
        "neighbour": data.neighbour_of(cell),
        "host_hash": data.run.host_hash,
        "placement_class": view.placement_class,
    }


def _is_shown(label: str, cell: CellRecord, view: SummaryOptions) -> bool:
    if view.placement_class == ALL_STATES or label == view.placement_class:
        return True
    return cell.role is not CellRole.SUBJECT and label == SINGLE


def _maximum(census: Census) -> int:
    return census.mixed + sum(census.by_class.values())


def _rules_of(cell: CellRecord, view: SummaryOptions) -> Rules:
    """Return the rules of a row: a ceiling is measured as often as its experiment says, which is not known here."""
    if cell.role is not CellRole.SUBJECT:
        return view.rules.model_copy(update={"needed": 1, "purpose": "survey"})
    return view.rules.model_copy(update={"purpose": "survey"}) if traffic_of(cell) in view.alone else view.rules


def take_census(trials: Sequence[LabelledTrial]) -> Census:
    """Count a cell's trials by where they went."""
    ok = [entry for entry in trials if entry.trial.status is Status.OK]
    maximum = Counter(entry.label for entry in ok if entry.trial.preset is Preset.MRR)
    mixed = maximum.pop(MIXED, 0)
    return Census(by_class=dict(sorted(maximum.items())), mixed=mixed, not_ok=len(trials) - len(ok))


def _status(cell: CellRecord, census: Census, count: int, placement_class: str) -> tuple[Status, str]:
    """Return the row's own status: what was measured counts where a cell only lacks some of it; a failed one failed."""
    if cell.status is Status.FAILED:
        return cell.status, cell.reason
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


def _sessions_note(data: RunData, cell: CellRecord) -> tuple[str, ...]:
    """Return which connections a switch that tracks them had; it does not do the same work with the two kinds."""
    form = data.sessions_of(cell)
    if form is Sessions.MIRRORED:
        return ("sessions: mirrored; a switch that tracks connections has them established",)
    if cell.config_hash in data.tracking:
        return ("sessions: unreplied; neither direction answers the other, and every connection stays new",)
    return ()


def _neighbour_note(data: RunData, cell: CellRecord) -> tuple[str, ...]:
    line = data.neighbour_of(cell)
    return (f"beside a noisy neighbour: {line}",) if line else ()


def _roundings(trials: Sequence[TrialRecord]) -> tuple[str, ...]:
    """Return to what the cycles of a packet are known, where the switch rounds them."""
    costs = [trial.cost for trial in trials if trial.cost is not None]
    parts = [
        cost.rounding_cycles / cost.busy_cycles
        for cost in costs
        if cost.rounding_cycles and cost.busy_cycles != NOT_SEPARABLE and cost.busy_cycles
    ]
    return (f"cycles per packet are known to ± {max(parts):.1%}: this Open vSwitch rounds them",) if parts else ()


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
            found.append(f"paced trials ran at {low:.0%} to {high:.0%} of its maximum, not at one load")
    return tuple(found)
