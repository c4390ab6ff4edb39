"""What is asked of the generator for each trial."""

from collections.abc import Sequence
from dataclasses import replace

from nfvbed.errors import DeployError
from nfvbed.measure.pacing import paced_rate_pps
from nfvbed.plan.cells import CellPlan
from nfvbed.plan.standing import Classify
from nfvbed.records import TrialRecord
from nfvbed.run.references import Known
from nfvbed.spec.experiment import Experiment
from nfvbed.traffic.generator import GeneratorInfo, TrafficRequest
from nfvbed.units import NS_PER_S, frame_mix


def warm_up(experiment: Experiment, cell: CellPlan) -> TrafficRequest | None:
    """Give the traffic before a cell's trials; None when the experiment wants none."""
    duration_s = experiment.trials.warmup_s
    return _request(experiment, cell, duration_s) if duration_s else None


def maximum(experiment: Experiment, cell: CellPlan) -> TrafficRequest:
    """Give the traffic of an MRR trial."""
    return _request(experiment, cell, experiment.trials.mrr_duration_s)


def paced(experiment: Experiment, cell: CellPlan, trials: Sequence[TrialRecord], classify: Classify) -> TrafficRequest:
    """Give the traffic of a paced trial: a fraction of the median MRR of this cell so far.

    Only MRR trials in the placement class of the newest one count; all of them when that one is mixed.

    Args:
        experiment: as declared.
        cell: the cell.
        trials: all trials of the run that ended well, in order.
        classify: the placement rule.

    Raises:
        DeployError: nothing came through at maximum load.
    """
    rates, _ = Known(trials, (), classify, None).mrr(cell.id)
    if not any(rates):
        raise DeployError(
            f"no frame came through {cell.id}",
            where=f"variant {cell.variant}, topology {cell.topology}",
            observed="0 frames/s at maximum load",
            fix=f"nfvbed trace {cell.variant} shows the hop that loses them",
        )
    rate = paced_rate_pps(rates, experiment.trials.paced_fraction, 2 if cell.bidirectional else 1)
    return replace(_request(experiment, cell, experiment.trials.paced_duration_s), rate_pps=rate)


def plain(experiment: Experiment, cell: CellPlan) -> TrafficRequest:
    """Give a cell's traffic without a load; a test puts its own and a duration into it."""
    return _request(experiment, cell, 0.0)


def misfit(cell: CellPlan, info: GeneratorInfo) -> str:
    """Say why the generator cannot send a cell's traffic; empty when it can."""
    sizes = [length for length, _ in frame_mix(cell.frame_size)]
    engine = f"the generator's engine ({info.engine.name}) on this port kind"
    if max(sizes) > info.max_frame_size_bytes:
        return f"frames of {max(sizes)} bytes; {engine} sends at most {info.max_frame_size_bytes}"
    if min(sizes) < info.min_frame_size_bytes:
        return f"frames of {min(sizes)} bytes; {engine} sends at least {info.min_frame_size_bytes}"
    if cell.flows > info.max_flows:
        return f"{cell.flows} flows; {engine} has at most {info.max_flows}"
    return ""


def _request(experiment: Experiment, cell: CellPlan, duration_s: float) -> TrafficRequest:
    return TrafficRequest(
        duration_ns=round(duration_s * NS_PER_S),
        frame_size=cell.frame_size,
        flows=cell.flows,
        bidirectional=cell.bidirectional,
        ip=experiment.traffic.ip,
        vlan=experiment.traffic.vlan,
    )
