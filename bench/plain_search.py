"""The peer of `csit`: a plain binary search for each loss ratio, as RFC 2544 is commonly read; and what both search."""

import uuid
from dataclasses import dataclass

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.measure.searching import DeploymentMeasurer, SearchedSystem
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.records import Preset, TrialRecord
from nfvbed.search.measurer import Measurer
from nfvbed.search.result import LoadRange
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.traffic.generator import TrafficRequest

FRAME_SIZE_BYTES = 64


@dataclass(frozen=True)
class PlainResult:
    """What a plain binary search found, frames/s over both directions."""

    lower_pps: float
    upper_pps: float
    rate_pps: float
    """Forwarded at the lower bound; 0 where no load was good."""
    trials: int
    trial_time_s: float


def binary_search(
    measurer: Measurer, loss_ratio: float, loads: LoadRange, duration_s: float, width: float
) -> PlainResult:
    """Halve the range of loads until it is narrow; one trial decides.

    The ends of the range are taken for bounds without a trial, which saves this search two of them.

    Args:
        measurer: of the system.
        loss_ratio: up to which a trial is good.
        loads: the range.
        duration_s: of every trial.
        width: distance of the bounds at which it ends, as a part of the upper bound.
    """
    lower, upper, rate, trials = float(loads.min_load_pps), float(loads.max_load_pps), 0.0, 0
    while (upper - lower) / upper > width:
        load = (lower + upper) / 2
        trial = measurer.measure(load, duration_s)
        trials += 1
        if trial.loss_ratio <= loss_ratio:
            lower, rate = load, load * (1 - trial.loss_ratio)
        else:
            upper = load
    return PlainResult(lower, upper, rate, trials, trials * duration_s)


def simulated_measurer(
    offset: int, records: list[TrialRecord] | None = None, topology: str = "p2p", **options: object
) -> DeploymentMeasurer:
    """Set up a simulated system and return its measurer.

    Args:
        offset: equal ones lead to equal trials.
        records: where the records of its trials go.
        topology: without VNFs.
        options: of `SimulatedOptions`.
    """
    values = {"name": "simulated", "title": "s", "port_kind": "simulated", "topologies": (topology,)}
    variant = VariantModel.model_validate({**values, "options": {"dataplane": "simulated", **options}})
    site = SimulatedSite(offset=offset)
    deployment = site.deploy(variant, topology)
    system = SearchedSystem(site, deployment, Measurement(site, deployment, site.open_generator(deployment)))
    kept = [] if records is None else records

    def new_task() -> TrialTask:
        request = TrafficRequest(duration_ns=1, frame_size=FRAME_SIZE_BYTES, stamp=False)
        return TrialTask(str(uuid.UUID(int=0)), "simulated", len(kept) + 1, 1, Preset.PACED, request)

    return DeploymentMeasurer(system, new_task, kept.append)
