"""What is asked of the generator for each trial."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from nfvbed.errors import TotalLossError
from nfvbed.measure.pacing import paced_rate_pps
from nfvbed.plan.cells import CellPlan
from nfvbed.plan.completeness import Classify
from nfvbed.records import Preset, Sessions, TrialRecord
from nfvbed.run.references import TestReferences
from nfvbed.spec.experiment import Experiment
from nfvbed.traffic.generator import GeneratorInfo, TrafficRequest
from nfvbed.units import NS_PER_S, frame_mix

RECENT = 200
"""Trials, the newest, that show the host's placement classes well enough to choose a load by."""


def warm_up(experiment: Experiment, cell: CellPlan) -> TrafficRequest | None:
    """Return the traffic before a cell's trials; None when the experiment wants none."""
    duration_s = experiment.trials.warmup_s
    return _request(experiment, cell, duration_s) if duration_s else None


def maximum(experiment: Experiment, cell: CellPlan) -> TrafficRequest:
    """Return the traffic of an MRR trial."""
    return _request(experiment, cell, experiment.trials.mrr_duration_s)


def paced(
    experiment: Experiment, cell: CellPlan, trials: Sequence[TrialRecord], classify: Classify, fix: str = ""
) -> TrafficRequest:
    """Return the traffic of a paced trial: a fraction of the median MRR of this cell so far.

    Only MRR trials in the placement class of the newest one count; all of them when that one is mixed.

    Args:
        trials: all trials of the run that ended well, in order.
        fix: how to find out where frames are lost, for the message.

    Raises:
        TotalLossError: nothing came through at maximum load.
    """
    # All that a long run has would be sorted into classes again for each visit, between two trials.
    looked_at = [t for t in trials[:-RECENT] if (t.cell, t.preset) == (cell.id, Preset.MRR)] + list(trials[-RECENT:])
    rates, _ = TestReferences(looked_at, (), classify, None).mrr(cell.id)
    _require_frames(cell, rates, fix)
    return _at_part_of(experiment, cell, rates, fix)


def common(
    experiment: Experiment, cell: CellPlan, partners: Sequence[str], trials: Sequence[TrialRecord], fix: str = ""
) -> TrafficRequest:
    """Return the traffic of a trial at the load that all variants of a traffic point share.

    That is a fraction of the lowest median MRR that they have shown so far; before the first visit to a partner it is
    the cell's own.

    Args:
        partners: all cells of its traffic point that are measured.
        trials: all trials of the run that ended well.
        fix: how to find out where frames are lost, for the message.

    Raises:
        TotalLossError: nothing came through at maximum load.
    """
    rates: dict[str, list[int]] = {}
    for trial in trials:
        if trial.preset is Preset.MRR and trial.cell in (cell.id, *partners):
            rates.setdefault(trial.cell, []).append(trial.forwarded_rate_pps)
    _require_frames(cell, rates.get(cell.id, ()), fix)
    lowest = min((of_one for of_one in rates.values() if any(of_one)), key=median)
    return _at_part_of(experiment, cell, lowest, fix)


def plain(experiment: Experiment, cell: CellPlan) -> TrafficRequest:
    """Return a cell's traffic without a load; a test puts its own and a duration into it."""
    return _request(experiment, cell, 0.0)


def misfit(experiment: Experiment, cell: CellPlan, info: GeneratorInfo) -> str:
    """Return why the generator cannot send a cell's traffic; empty when it can."""
    sizes = [length for length, _ in frame_mix(cell.frame_size)]
    engine = f"the generator's engine ({info.engine.name}) on this port kind"
    if max(sizes) > info.max_frame_size_bytes:
        return f"frames of {max(sizes)} bytes; {engine} sends at most {info.max_frame_size_bytes}"
    if min(sizes) < info.min_frame_size_bytes:
        return f"frames of {min(sizes)} bytes; {engine} sends at least {info.min_frame_size_bytes}"
    if cell.flows > info.max_flows:
        return f"{cell.flows} flows; {engine} has at most {info.max_flows}"
    if experiment.traffic.sessions_in(cell.topology) is Sessions.MIRRORED and not info.mirrors:
        return f"mirrored sessions; {engine} sends each direction by itself"
    return ""


def _require_frames(cell: CellPlan, rates: Sequence[int], fix: str) -> None:
    if not any(rates):
        raise TotalLossError(
            f"no frame came back from {cell.id}",
            where=f"variant {cell.variant}, topology {cell.topology}, frames of {cell.frame_size} bytes",
            observed="0 frames/s at maximum load",
            fix=fix,
        )


def _at_part_of(experiment: Experiment, cell: CellPlan, rates: Sequence[int], fix: str) -> TrafficRequest:
    rate = paced_rate_pps(rates, experiment.trials.paced_fraction, 2 if cell.bidirectional else 1, fix)
    return replace(_request(experiment, cell, experiment.trials.paced_duration_s), rate_pps=rate)


def _request(experiment: Experiment, cell: CellPlan, duration_s: float) -> TrafficRequest:
    return TrafficRequest(
        duration_ns=round(duration_s * NS_PER_S),
        frame_size=cell.frame_size,
        flows=cell.flows,
        bidirectional=cell.bidirectional,
        ip=experiment.traffic.ip,
        vlan=experiment.traffic.vlan,
        sessions=experiment.traffic.sessions_in(cell.topology),
    )
