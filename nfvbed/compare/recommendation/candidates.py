"""What a host's newest runs measured of each variant at each traffic point, for ranking them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from nfvbed.compare.comparison import ComparisonOptions, rows_of
from nfvbed.compare.recommendation.costs import HostCost, cost_of
from nfvbed.compare.recommendation.needs import MEASURES, Figures, Need, figures_at_common_load
from nfvbed.compare.rows.paced import at_common_load, common_loads
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.samples.statistics import Interval, median, median_interval
from nfvbed.compare.verdict import Rules
from nfvbed.records import Preset, QualityWarning, Status, TrialRecord
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.spec.vnf import RAW_FORWARDING


@dataclass(frozen=True)
class ExaminedRun:
    """One run, its rows made by the rules of its own experiment.

    Its trials are not kept: those of all runs that a recommendation looks at are many.
    """

    data: RunData
    """Without its trials."""
    rows: tuple[CellSummary, ...]
    rules: Rules
    figures: Mapping[str, Mapping[Need, Figures]]
    """Figures of the measures at the common load, by cell, of the rows that may be ranked."""
    costs: Mapping[str, HostCost]
    """What each of these cells takes."""
    doctor: Mapping[str, Any] = field(default_factory=dict)
    """Its doctor's report; empty: none was made."""

    @classmethod
    def of(
        cls,
        data: RunData,
        options: ComparisonOptions,
        variants: Mapping[str, Mapping[str, Any]] | None = None,
        doctor: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return a run as it is looked at.

        Args:
            options: those of its experiment.
            variants: resolved configurations by hash.
            doctor: its doctor's report.
        """
        configurations, report = variants or {}, doctor or {}
        # A recommendation rests on the latency of visits, which it reads from their trials.
        rows = rows_of(data, options.model_copy(update={"latency": False}))
        loads = common_loads(data.cells, data.trials)
        trials: dict[str, list[TrialRecord]] = {}
        for trial in data.trials:
            trials.setdefault(trial.cell, []).append(trial)
        figures: dict[str, Mapping[Need, Figures]] = {}
        costs: dict[str, HostCost] = {}
        for row in rows:
            if _unfit(row) is None:
                own, load_pps = trials.get(row.cell, []), loads.get(row.point)
                figures[row.cell] = figures_at_common_load(own, load_pps)
                configuration = configurations.get(row.config_hash, {})
                costs[row.cell] = cost_of(row, list(_given(own, load_pps)), configuration, report)
        return cls(replace(data, trials=()), rows, options.rules, figures, costs, report)


@dataclass(frozen=True)
class Candidate:
    """One variant at one traffic point in one run, with its figure for a need."""

    row: CellSummary
    started_at: str
    rules: Rules
    rigs: dict[str, dict[str, Any]]
    figures: Figures
    """Figures of a measure at the common load; empty for other measures."""
    value: float
    interval: Interval | None
    cost: HostCost

    @property
    def rounds(self) -> int:
        """The number of rounds that its figure is from."""
        return len(self.figures.by_round) or (self.row.mrr.rounds if self.row.mrr else 0)


@dataclass
class Point:
    """A traffic point with the candidates that were measured there."""

    traffic: TrafficPoint
    by_variant: dict[str, list[Candidate]] = field(default_factory=dict)
    """The newest first."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Variants without a figure that may be ranked, each with the reason of its newest run."""
    ran_without: tuple[str, ...] = ()
    """Those of them that were measured, for something else than this need asks."""


def points_of(runs: Sequence[ExaminedRun], need: Need) -> tuple[Point, ...]:
    """Return the candidates by traffic point, those points of most variants first.

    Args:
        runs: those of one host, the newest first.
    """
    found: dict[TrafficPoint, Point] = {}
    for run in runs:
        for row in run.rows:
            if need is Need.RAW_ETHERNET and not is_raw(row, run.data.rigs):
                continue
            point = found.setdefault(row.point, Point(row.point))
            candidate = _candidate(run, row, need)
            if isinstance(candidate, Candidate):
                point.by_variant.setdefault(row.variant, []).append(candidate)
            else:
                point.left_out.setdefault(row.variant, candidate)
                if _unfit(row) is None and not _has_trap(row, need):
                    point.ran_without = (*point.ran_without, row.variant)
    for point in found.values():
        point.left_out = {name: why for name, why in point.left_out.items() if name not in point.by_variant}
        point.ran_without = tuple(name for name in dict.fromkeys(point.ran_without) if name in point.left_out)
    return tuple(sorted(found.values(), key=_importance))


def is_raw(row: CellSummary, rigs: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a row's path leads through a VNF that reads and writes whole frames, as its rig says."""
    vnf = rigs.get(row.rig_hash, {}).get("vnf")
    return bool(row.vnf) and isinstance(vnf, dict) and vnf.get("forwarding") in RAW_FORWARDING


def _importance(point: Point) -> tuple[object, ...]:
    traffic = point.traffic
    # Through VNFs before port to port, through the same VNF before each variant's own, small frames before large ones.
    size = 10**6 if traffic.frame_size == "imix" else int(traffic.frame_size)
    path = not traffic.vnf, traffic.vnf == "native", len(traffic.topology), traffic.topology
    return -len(point.by_variant), *path, size, traffic.flows, not traffic.bidirectional


def _candidate(run: ExaminedRun, row: CellSummary, need: Need) -> Candidate | str:
    """Return a row's candidate, or why it has none."""
    reason = _unfit(row)
    if reason is not None or row.mrr is None:
        return reason or ""
    if _has_trap(row, need):
        return "checksum trap: offloads are on at the VNF's ports, and a stack's frames would be lost"
    figures, value, interval = Figures(), row.mrr.median_pps, row.mrr.interval
    if MEASURES[need].at_common_load:
        figures = run.figures[row.cell][need]
        if figures.lacking:
            return figures.lacking
        samples = list(figures.by_round.values())
        value, interval = median(samples), median_interval(samples)
    return Candidate(
        row=row,
        started_at=run.data.run.started_at,
        rules=run.rules,
        rigs=run.data.rigs,
        figures=figures,
        value=value,
        interval=interval,
        cost=run.costs[row.cell],
    )


def _unfit(row: CellSummary) -> str | None:
    """Return why a row has no place in any order; None where it may have one."""
    if row.simulated:
        return "simulated: not a measurement"
    if row.emulated:
        return "its guests were emulated: rates and times mean nothing"
    if row.unranked:
        return row.unranked
    if row.mrr is None:
        return f"{row.status.value}: {row.reason}" if row.reason else row.status.value
    return None


def _has_trap(row: CellSummary, need: Need) -> bool:
    return need is Need.RAW_ETHERNET and any(entry.kind is QualityWarning.OFFLOADS_ON for entry in row.warnings)


def _given(trials: Sequence[TrialRecord], load_pps: int | None) -> Iterable[TrialRecord]:
    """Return the trials at the common load; without any, those at the cell's own half load."""
    usable = [trial for trial in trials if trial.status is Status.OK]
    return at_common_load(usable, load_pps) or (trial for trial in usable if trial.preset is Preset.PACED)
