"""What a data plane can be needed for, and the figure of a visit that says how well it does."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Literal

from nfvbed.compare.rows.cost import busy_cores
from nfvbed.compare.rows.latency import least_and_p99
from nfvbed.compare.rows.paced import at_common_load
from nfvbed.compare.samples.statistics import median
from nfvbed.records import NOT_SEPARABLE, Record, Role, Status, TrialRecord

MOST_STOLEN: Final = 0.1
"""Part of the trials' time: a switch that others kept from its cores for longer was as busy as they let it be."""


class Need(StrEnum):
    """What a data plane is chosen for."""

    THROUGHPUT = "throughput"
    LATENCY = "latency"
    JITTER = "jitter"
    CPU = "cpu"
    RAW_ETHERNET = "raw-ethernet"


WITH_LATENCY: Final = (Need.LATENCY, Need.JITTER)
"""Needs for which histograms are read."""


class Measure(Record):
    """The figure by which data planes are ranked for a need."""

    name: str
    unit: Literal["frames/s", "ns", "cores"]
    lower_is_better: bool
    at_common_load: bool
    """Whether it is of the trials at the load that all variants of a traffic point share."""


MEASURES: Final = {
    Need.THROUGHPUT: Measure(name="maximum receive rate", unit="frames/s", lower_is_better=False, at_common_load=False),
    Need.LATENCY: Measure(name="P99 latency at one load for all", unit="ns", lower_is_better=True, at_common_load=True),
    Need.JITTER: Measure(
        name="delay variation (P99 less the least delay) at one load for all",
        unit="ns",
        lower_is_better=True,
        at_common_load=True,
    ),
    Need.CPU: Measure(
        name="cores that switch and VNFs kept busy at one load for all",
        unit="cores",
        lower_is_better=True,
        at_common_load=True,
    ),
    Need.RAW_ETHERNET: Measure(
        name="maximum receive rate through a raw-Ethernet VNF",
        unit="frames/s",
        lower_is_better=False,
        at_common_load=False,
    ),
}


class Figures(Record):
    """A cell's figures at the common load, one for each round that has one."""

    by_round: dict[int, float] = {}
    load_pps: float | None = None
    """Median of the loads."""
    lacking: str = ""
    """Why there are none."""


def figures_at_common_load(trials: Sequence[TrialRecord], load_pps: int | None) -> dict[Need, Figures]:
    """Return a cell's figures by round, from the trials at the load that its traffic point shared.

    Args:
        trials: all of the cell's.
        load_pps: the load that the variants of its traffic point shared in the end; None: they met at none.

    Returns:
        Those of each need whose measure is at the common load.
    """
    used = at_common_load([trial for trial in trials if trial.status is Status.OK], load_pps)
    if not used:
        nothing = Figures(lacking="no trial at a load that all share: a run of purpose compare has them")
        return dict.fromkeys(_LACKING, nothing)
    rounds: dict[int, list[TrialRecord]] = {}
    for trial in used:
        rounds.setdefault(trial.round, []).append(trial)
    visits = [(number, rounds[number]) for number in sorted(rounds)]
    latencies = {number: seen for number, entries in visits if (seen := _latency(entries)) is not None}
    found: dict[Need, dict[int, float]] = {
        Need.LATENCY: {number: float(p99) for number, (_, p99) in latencies.items()},
        # `LatencySummary.delay_variation_ns` of a visit.
        Need.JITTER: {number: float(p99 - least) for number, (least, p99) in latencies.items()},
        Need.CPU: {number: cores for number, entries in visits if (cores := _cores(entries)) is not None},
    }
    load = median([float(trial.intended_load_pps or 0) for trial in used])
    figures = {
        need: Figures(by_round=known, load_pps=load) if known else Figures(lacking=_LACKING[need])
        for need, known in found.items()
    }
    robbed = _robbed(used)
    if robbed > MOST_STOLEN:
        kept_away = f"the switch was kept from its cores for {robbed:.0%} of the time"
        figures[Need.CPU] = Figures(lacking=kept_away)
    return figures


def _robbed(trials: Sequence[TrialRecord]) -> float:
    """Return the part of the trials' time for which the switch was kept from its cores; 0 where it was not read."""
    known = [
        (max(entry.stolen_ns or 0 for entry in trial.cpu if entry.role is Role.SWITCH), trial.duration_ns)
        for trial in trials
        if any(entry.role is Role.SWITCH for entry in trial.cpu)
    ]
    duration_ns = sum(duration for _, duration in known)
    return sum(stolen for stolen, _ in known) / duration_ns if duration_ns else 0.0


def _latency(trials: Sequence[TrialRecord]) -> tuple[int, int] | None:
    """Return the least delay and the P99 of a visit, in ns."""
    return least_and_p99(text for trial in trials for text in trial.latency_hdr if text)


def _cores(trials: Sequence[TrialRecord]) -> float | None:
    """Return busy cores of switch and VNFs; None where the switch's were not recorded, or cannot be separated."""
    switch, vnf = (busy_cores(trials, role) for role in (Role.SWITCH, Role.VNF))
    if not isinstance(switch, float) or vnf == NOT_SEPARABLE:
        return None
    return switch + (vnf if isinstance(vnf, float) else 0.0)


_LACKING: Final = {
    Need.LATENCY: "no frame was stamped: this path has no latency",
    Need.JITTER: "no frame was stamped: this path has no latency",
    Need.CPU: "its CPU time cannot be separated from that of others, or was not recorded",
}
