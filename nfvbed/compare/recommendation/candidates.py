"""What a host's newest runs measured of each variant at each traffic point, for ranking them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nfvbed.compare.comparison import Comparison
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
    """One run, compared by the rules of its own experiment."""

    data: RunData
    comparison: Comparison
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Resolved configurations by hash."""
    doctor: Mapping[str, Any] = field(default_factory=dict)
    """Its doctor's report; empty: none was made."""


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
        loads = common_loads(run.data.cells, run.data.trials)
        trials: dict[str, list[TrialRecord]] = {}
        for trial in run.data.trials:
            trials.setdefault(trial.cell, []).append(trial)
        for row in run.comparison.rows:
            if need is Need.RAW_ETHERNET and not is_raw(row, run.data.rigs):
                continue
            point = found.setdefault(row.point, Point(row.point))
            candidate = _candidate(run, row, need, (trials.get(row.cell, ()), loads.get(row.point)))
            if isinstance(candidate, Candidate):
                point.by_variant.setdefault(row.variant, []).append(candidate)
            else:
                point.left_out.setdefault(row.variant, candidate)
                if not _unfit(row, need):
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


def _candidate(
    run: ExaminedRun, row: CellSummary, need: Need, measured: tuple[Sequence[TrialRecord], int | None]
) -> Candidate | str:
    """Return a row's candidate, or why it has none.

    Args:
        measured: the trials of its cell, and the load that its traffic point shared.
    """
    reason = _unfit(row, need)
    if reason or row.mrr is None:
        return reason
    trials, load_pps = measured
    figures, value, interval = Figures(), row.mrr.median_pps, row.mrr.interval
    if MEASURES[need].at_common_load:
        figures = figures_at_common_load(need, trials, load_pps)
        if figures.lacking:
            return figures.lacking
        samples = list(figures.by_round.values())
        value, interval = median(samples), median_interval(samples)
    return Candidate(
        row=row,
        started_at=run.data.run.started_at,
        rules=run.comparison.rules,
        rigs=run.data.rigs,
        figures=figures,
        value=value,
        interval=interval,
        cost=cost_of(row, list(_given(trials, load_pps)), run.variants.get(row.config_hash, {}), run.doctor),
    )


def _unfit(row: CellSummary, need: Need) -> str:
    if row.simulated:
        return "simulated: not a measurement"
    if row.emulated:
        return "its guests were emulated: rates and times mean nothing"
    if row.unranked:
        return row.unranked
    if row.mrr is None:
        return f"{row.status.value}: {row.reason}" if row.reason else row.status.value
    if need is Need.RAW_ETHERNET and any(entry.kind is QualityWarning.OFFLOADS_ON for entry in row.warnings):
        return "checksum trap: offloads are on at the VNF's ports, and a stack's frames would be lost"
    return ""


def _given(trials: Sequence[TrialRecord], load_pps: int | None) -> Iterable[TrialRecord]:
    """Return the trials at the common load; without any, those at the cell's own half load."""
    usable = [trial for trial in trials if trial.status is Status.OK]
    return at_common_load(usable, load_pps) or (trial for trial in usable if trial.preset is Preset.PACED)
