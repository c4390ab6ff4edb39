"""The library MLRsearch behind our interface: it chooses loads and durations, and classifies loads."""

from collections.abc import Callable, Sequence
from typing import SupportsFloat

from MLRsearch import Config, GoalResult, MeasurementResult, MultipleLossRatioSearch, SearchGoal

from nfvbed.errors import InternalError
from nfvbed.search.bounds import Bounds, SearchEnd
from nfvbed.search.measurer import Trial
from nfvbed.search.result import LoadRange
from nfvbed.search.stop import SearchStopped
from nfvbed.spec.searchpresets import Goal

NEVER_S = float("inf")
"""The library's own time limit is of the wall clock and loses all bounds; ours is kept between trials."""

TakeTrial = Callable[[float, float], Trial]
"""Measures one usable trial at a load (frames/s) for a duration (s)."""


class _Adapter:
    """A measurer with the one method that the library calls."""

    def __init__(self, take: TakeTrial) -> None:
        self._take = take

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        """Give the library the counts of one trial.

        The effective duration is the intended one: sums of durations are sums of traffic, and a measured 59.9999 s does
        not make a trial of 60 s a short one. Unsent frames are reported by the intended count, so they count as lost.
        """
        trial = self._take(intended_load, intended_duration)
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            intended_count=trial.base,
            offered_count=trial.sent,
            forwarding_count=min(trial.received, trial.sent),
        )


def control(goals: Sequence[Goal], loads: LoadRange, take: TakeTrial) -> SearchEnd:
    """Search for all goals together, until they are reached or a trial stops it.

    Raises:
        NfvbedError: a trial failed.
        InternalError: the library found itself inconsistent.
    """
    theirs = [_search_goal(goal) for goal in goals]
    config = Config()
    config.goals = theirs
    # Each is checked against the other as it is set.
    config.max_load = max(float(loads.max_load_pps), config.max_load)
    config.min_load = float(loads.min_load_pps)
    config.max_load = float(loads.max_load_pps)
    config.search_duration_max = NEVER_S
    config.warmup_duration = 0.0
    library = MultipleLossRatioSearch(config=config)
    stopped = None
    try:
        library.search(measurer=_Adapter(take), debug=_ignore)
    except SearchStopped as stop:
        stopped = stop
    except RuntimeError as error:
        raise InternalError(
            "the search's controller met something that cannot be", where="MLRsearch", observed=str(error)
        ) from error
    return SearchEnd(tuple(_bounds(library, goal) for goal in theirs), stopped)


def _ignore(_: str) -> None:
    """The library tells each step it considers; the trials tell enough."""


def _search_goal(goal: Goal) -> SearchGoal:
    return SearchGoal(
        loss_ratio=goal.loss_ratio,
        exceed_ratio=goal.exceed_ratio,
        relative_width=goal.relative_width,
        initial_trial_duration=goal.initial_trial_duration_s,
        final_trial_duration=goal.final_trial_duration_s,
        duration_sum=goal.duration_sum_s,
        preceding_targets=goal.preceding_targets,
        expansion_coefficient=goal.expansion_coefficient,
        # A goal that the smallest load misses must not end the search for the others.
        fail_fast=False,
    )


def _bounds(library: MultipleLossRatioSearch, goal: SearchGoal) -> Bounds:
    """Read a goal's relevant bounds from the library's database, which also a stopped search leaves behind."""
    target = library.scaling.goal_to_final_target[goal]
    found = GoalResult.from_bounds(library.database.get_relevant_bounds(target))
    return Bounds(
        lower=_float(found.relevant_lower_bound),
        upper=_float(found.relevant_upper_bound),
        conditional_throughput=_float(found.conditional_throughput),
    )


def _float(load: SupportsFloat | None) -> float | None:
    return None if load is None else float(load)
