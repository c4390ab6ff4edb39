"""Measures the trials of a search on one deployment, and hands the record of each to what stores it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from nfvbed.measure.task import TrialTask
from nfvbed.measure.warnings import GENERATOR_BUSY
from nfvbed.records import CoreDistance, CpuTime, Deployment, DirectionCounts, QualityWarning, Role, TrialRecord
from nfvbed.records.readings import Part
from nfvbed.search.measurer import Measurer, Trial
from nfvbed.sites.site import Site
from nfvbed.units import NS_PER_S

NewTask = Callable[[], TrialTask]
"""Gives the next trial's task, with its place in the run; load and duration are the search's."""
Keep = Callable[[TrialRecord], None]
"""Takes the record of a trial as soon as it has ended, the warm-up's and rejected ones' among them."""


class TrialMeasurer(Protocol):
    """What measures one trial: `Measurement`."""

    def measure(self, task: TrialTask) -> TrialRecord:
        """Run one trial."""


@dataclass(frozen=True)
class SearchedSystem:
    """The deployment that a search measures, with its site."""

    site: Site
    deployment: Deployment
    measurement: TrialMeasurer


class DeploymentMeasurer(Measurer):
    """Measures trials with `Measurement.measure`. On a simulated deployment time passes with its trials alone.

    Args:
        new_task: returns the next trial's task.
        keep: takes the record of every trial.
        drain_s: longest wait for a trial's last frames; None: the generator's own.
    """

    def __init__(self, system: SearchedSystem, new_task: NewTask, keep: Keep, *, drain_s: float | None = None) -> None:
        self._drain_ns = None if drain_s is None else round(drain_s * NS_PER_S)
        self._system = system
        self._new_task = new_task
        self._keep = keep
        self._simulated = system.deployment.simulated
        self._passed_ns = 0

    def measure(self, load_pps: float, duration_s: float) -> Trial:
        """Run one trial; the load is split evenly over the directions, in whole frames/s.

        Raises:
            SwitchDiedError, VnfDiedError, GeneratorError: as `Measurement.measure`.
        """
        task = self._new_task()
        request = replace(
            task.request,
            duration_ns=round(duration_s * NS_PER_S),
            rate_pps=task.request.share_of(load_pps),
            frames=None,
            drain_ns=self._drain_ns,
        )
        record = self._system.measurement.measure(replace(task, request=request))
        self._passed_ns += record.duration_ns
        self._keep(record)
        return trial_of(record)

    def now_s(self) -> float:
        """Return the time: of the host, or of the simulation."""
        return self._passed_ns / NS_PER_S if self._simulated else time.monotonic()

    def wait(self, duration_s: float) -> None:
        """Wait; on a simulated deployment only the time that is counted passes."""
        if self._simulated:
            self._passed_ns += round(duration_s * NS_PER_S)
        else:
            time.sleep(duration_s)

    def probe_distance_ns(self) -> float | None:
        """Measure the core distance; a simulated host changes within trials only, so looking at it is no use."""
        if self._simulated:
            return None
        return self._system.site.look(self._system.deployment, Part.DISTANCES).core_distance_ns


def trial_of(record: TrialRecord) -> Trial:
    """Return a stored trial as a search sees it."""
    limited = QualityWarning.GENERATOR_LIMITED in record.warnings
    seen = seen_by_search(record.directions, record.duration_ns, record.core_distance_ns, limited)
    times = [time for time in record.cpu if time.role in (Role.SWITCH, Role.VNF)]
    gaps = record.generator_gaps
    return replace(
        seen,
        stolen_s=max((time.stolen_ns or 0 for time in times), default=0) / NS_PER_S,
        held_s=max((_held_ns(time) for time in times), default=0) / NS_PER_S,
        steal_s=max((time.steal_ns or 0 for time in times), default=0) / NS_PER_S,
        steal_step_s=max((time.steal_step_ns or 0 for time in times), default=0) / NS_PER_S,
        gap_s=None if gaps is None else gaps.longest_ns / NS_PER_S,
        generator_full=record.generator_busy_ns > GENERATOR_BUSY * record.duration_ns,
    )


def _held_ns(time: CpuTime) -> int:
    return (time.stolen_ns or 0) if time.held_ns is None else time.held_ns


def seen_by_search(
    ways: Sequence[DirectionCounts], duration_ns: int, distance: CoreDistance | None, generator_limited: bool
) -> Trial:
    """Return a trial's counts as a search sees them: sums over the directions, of which none hides another's loss.

    Args:
        ways: counts of each direction.
        duration_ns: time for which frames were due.
        generator_limited: whether the generator had nothing left while the system under test had.
    """
    return Trial(
        duration_s=duration_ns / NS_PER_S,
        intended=sum(way.intended for way in ways),
        sent=sum(way.sent for way in ways),
        received=sum(way.received for way in ways),
        unsent=sum(way.unsent for way in ways),
        late=sum(way.late for way in ways),
        core_distance_ns=distance,
        back_pressure=any(way.refused for way in ways),
        generator_limited=generator_limited,
        surplus=sum(way.surplus for way in ways),
    )
