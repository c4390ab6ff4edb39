"""Trials at a given load: missing frames and latency, at each cell's own half load and at the load that all share."""

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import Field

from nfvbed.compare.rows.latency import LatencySummary, both_and_each
from nfvbed.compare.rows.rates import RateSummary, total
from nfvbed.compare.samples.statistics import median
from nfvbed.records import CellRecord, CellRole, Preset, Record, Status, TrialRecord
from nfvbed.records.missing import missing_of
from nfvbed.records.trafficpoint import TrafficPoint

NEAR_COMMON: Final = 0.25
"""The load that all share is found while the run goes on: trials within this part of the last one's are used."""


class PacedSummary(Record):
    """Trials at a given load: missing frames and latency."""

    trials: int
    load_pps: float
    """Median."""
    load_span_pps: tuple[float, float]
    """Least and greatest."""
    load_fraction: tuple[float, float] | None
    """Lowest and highest load, as fractions of the row's maximum receive rate."""
    missing_ratio: float | None
    """Lost and refused over intended frames; frames that the generator was too late for count on neither side."""
    lost: int
    sent: int
    unsent: int
    late: int = 0
    """Unsent frames that no port refused."""
    surplus: int = Field(default=0, exclude_if=lambda value: not value)
    """Counted back beyond what was sent: with any, what is missing is at least the ratio above."""
    latency: LatencySummary | None
    """Both directions together."""
    latency_directions: tuple[LatencySummary | None, ...]


def summarise_paced(
    trials: Sequence[TrialRecord], mrr: RateSummary | None, *, latency: bool = True
) -> PacedSummary | None:
    """Return a summary of trials at a given load; None where there are none.

    Args:
        trials: those of one cell, and used ones alone.
        mrr: that of the same cell.
        latency: whether their histograms are summed up.
    """
    if not trials:
        return None
    loads = [trial.intended_load_pps or trial.offered_load_pps for trial in trials]
    fraction = (min(loads) / mrr.median_pps, max(loads) / mrr.median_pps) if mrr and mrr.median_pps > 0 else None
    together, latency_directions = both_and_each([trial.latency_hdr for trial in trials] if latency else [])
    return PacedSummary(
        trials=len(trials),
        load_pps=median(loads),
        load_span_pps=(min(loads), max(loads)),
        load_fraction=fraction,
        missing_ratio=missing_of(trials),
        lost=total(trials, "lost"),
        sent=total(trials, "sent"),
        unsent=total(trials, "unsent"),
        late=total(trials, "late"),
        surplus=total(trials, "surplus"),
        latency=together,
        latency_directions=latency_directions,
    )


def traffic_of(cell: CellRecord) -> TrafficPoint:
    """Return what a cell has in common with those that it can be compared with."""
    return TrafficPoint(cell.topology, cell.vnf, cell.frame_size, cell.flows, cell.bidirectional)


def alone_at(cells: Sequence[CellRecord]) -> frozenset[TrafficPoint]:
    """Return the traffic points of a run that have one variant only."""
    variants: dict[TrafficPoint, set[str]] = {}
    for cell in cells:
        if cell.role is CellRole.SUBJECT:
            variants.setdefault(traffic_of(cell), set()).add(cell.variant)
    return frozenset(traffic for traffic, names in variants.items() if len(names) == 1)


def common_loads(cells: Sequence[CellRecord], trials: Sequence[TrialRecord]) -> dict[TrafficPoint, int]:
    """Return the load that the variants of each traffic point shared in the end, frames/s.

    It is half of what the slowest of them was known to carry, and is found again in every round; a point whose variants
    met at no common load is left out.
    """
    subjects = {cell.id: traffic_of(cell) for cell in cells if cell.role is CellRole.SUBJECT}
    found: dict[TrafficPoint, int] = {}
    for trial in sorted(trials, key=lambda entry: entry.sequence):
        load = trial.intended_load_pps
        if trial.preset is Preset.COMMON and trial.status is Status.OK and load and trial.cell in subjects:
            found[subjects[trial.cell]] = load
    return found


def at_common_load(trials: Iterable[TrialRecord], load_pps: int | None) -> list[TrialRecord]:
    """Return the trials at the load that all share, within a quarter of it; none where there is no such load."""
    if not load_pps:
        return []
    common = (trial for trial in trials if trial.preset is Preset.COMMON and trial.intended_load_pps)
    return [trial for trial in common if abs((trial.intended_load_pps or 0) / load_pps - 1) <= NEAR_COMMON]
