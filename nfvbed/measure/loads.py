"""Trials at given loads: of a loss curve, of latency under load, of a soak."""

from dataclasses import dataclass, replace

from nfvbed.measure.searching import Keep, NewTask, TrialMeasurer, trial_of
from nfvbed.records.results import LoadPoint
from nfvbed.units import NS_PER_S


@dataclass(frozen=True)
class Load:
    """A load to be measured."""

    load_pps: int
    """Frames/s over all directions."""
    duration_s: float
    fraction: float | None = None
    """Part of the reference, where the load is one."""


class LoadMeter:
    """Measures trials at given loads on one deployment.

    Args:
        new_task: returns the next trial's task; load and duration are put into it.
        keep: takes the record of every trial as soon as it has ended.
    """

    def __init__(self, measurement: TrialMeasurer, new_task: NewTask, keep: Keep) -> None:
        self._measurement = measurement
        self._new_task = new_task
        self._keep = keep

    def at(self, load: Load) -> LoadPoint:
        """Measure one trial; the load is split evenly over the directions, in whole frames/s.

        Raises:
            SwitchDiedError, VnfDiedError, GeneratorError: as `Measurement.measure`.
        """
        task = self._new_task()
        rate = task.request.share_of(load.load_pps)
        request = replace(task.request, rate_pps=rate, duration_ns=round(load.duration_s * NS_PER_S))
        record = self._measurement.measure(replace(task, request=request))
        self._keep(record)
        seen = trial_of(record)
        return LoadPoint(
            sequence=record.sequence,
            fraction=load.fraction,
            intended_load_pps=rate * task.request.directions,
            offered_load_pps=record.offered_load_pps,
            forwarded_rate_pps=record.forwarded_rate_pps,
            intended_frames=seen.base,
            lost_frames=seen.sent - seen.received,
            unsent_frames=seen.base - seen.sent,
            late_frames=0 if seen.generator_limited else seen.late,
            duration_ns=record.duration_ns,
            surplus_frames=seen.surplus,
        )
