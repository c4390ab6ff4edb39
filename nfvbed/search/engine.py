"""One search from its warm-up to its result."""

from dataclasses import dataclass, replace

from nfvbed.errors import ConfigurationError, GeneratorError
from nfvbed.records import GeneratorPlace
from nfvbed.search.bounds import Bounds, SearchEnd
from nfvbed.search.measurer import Measurer, Trial
from nfvbed.search.placement import PlacementKeeper, PlacementRule
from nfvbed.search.result import Bound, GoalResult, LoadRange, PlacementSummary, SearchResult
from nfvbed.search.stop import Irregularity, SearchRestarts, SearchStopped, TrialsTooShort
from nfvbed.search.void import SETTLE_S, STEPS_A_TRIAL, UnusableTrials, VoidTrials, against, differs, was_too_slow
from nfvbed.spec.search import Search
from nfvbed.spec.searchpresets import Goal

RESTARTS = 3
"""The most restarts of a search whose first trials were not what they seemed: a host shows its classes only in time."""
POLL_S = 0.5
"""Pause between two looks at the core distance while another placement class lasts."""
SHORT_TRIAL = 0.9
"""Part of its duration that a trial must last to be one."""
WIDTH_TOLERANCE = 1e-6
"""Loads are reported in whole frames/s, which moves a width by less than this at 1 Mpps."""


@dataclass(frozen=True)
class Setting:
    """What surrounds a search."""

    loads: LoadRange
    directions: int = 2
    placement: PlacementRule = PlacementRule()
    generator_place: GeneratorPlace = GeneratorPlace.NOT_KNOWN


def search(what: Search, measurer: Measurer, setting: Setting) -> SearchResult:
    """Search for all goals.

    Args:
        setting: loads in frames/s over all directions, and the rule for placement classes.

    Raises:
        ConfigurationError: the largest load is not above the smallest.
        NfvbedError: a trial failed.
    """
    # The library looks through every module that is loaded, once for each of its properties.
    from nfvbed.search.controller import control

    loads = setting.loads
    if loads.max_load_pps <= loads.min_load_pps:
        raise ConfigurationError(
            f"search {what.label} has no loads to choose from",
            observed=f"largest {loads.max_load_pps} frames/s ({loads.limit}), smallest {loads.min_load_pps}",
            fix="give a smaller min_load_pps",
        )
    trials = _Trials(what, measurer, setting)
    outcome = control(trials.what.goals, loads, trials.take)
    for _ in range(RESTARTS):
        if not isinstance(outcome.stopped, SearchRestarts):
            break
        trials.restart(outcome.stopped)
        outcome = control(trials.what.goals, loads, trials.take)
    stopped = outcome.stopped or trials.change_at_end()
    void = trials.void.summary(trials.count) if what.trials == "clean" else None
    found = _JudgementBasis(loads, outcome, stopped, trials, against(void) if void else "")
    goals = tuple(
        _goal_result(goal, bounds, found) for goal, bounds in zip(trials.what.goals, outcome.bounds, strict=True)
    )
    return SearchResult(
        search=trials.what,
        label=trials.what.labelled(void.words if void else ""),
        excludes=trials.what.excludes,
        loads=loads,
        directions=setting.directions,
        goals=goals,
        stopped=stopped.irregularity if stopped else None,
        explanation=stopped.explanation if stopped else "",
        trials=trials.count,
        surplus_trials=trials.surplus_trials,
        disturbed_trials=trials.disturbed.trials,
        stolen_trials=trials.stolen.trials,
        void=void,
        trial_time_s=round(trials.trial_time_s, 6),
        duration_s=round(measurer.now_s() - trials.started_s, 6),
        placement=trials.summary(),
        generator_place=setting.generator_place,
    )


class _Trials:
    """Takes usable trials: within the time limit, and within one placement class."""

    def __init__(self, what: Search, measurer: Measurer, setting: Setting) -> None:
        self.what = what
        self._measurer = measurer
        self._overhead_s = what.trial_overhead_s
        self.started_s = measurer.now_s()
        self.trial_time_s = 0.0
        self.used_at: dict[float, list[Trial]] = {}
        self.sent = self.received = 0
        """Frames of all trials, the warm-up and those that do not count among them."""
        self.disturbed = UnusableTrials(Irregularity.GENERATOR_DISTURBED)
        self.stolen = UnusableTrials(Irregularity.SYSTEM_DISTURBED)
        self.void = VoidTrials(what)
        self._rested_since_s = measurer.now_s() - what.rest_s
        warm_up = self._warm_up(setting.loads.max_load_pps)
        rule = setting.placement
        if warm_up is not None:
            rule = replace(rule, history=(*rule.history, warm_up.core_distance_ns))
        self._keeper = PlacementKeeper(
            rule, what.placement_wait_s, what.final_trial_duration_s, since_s=measurer.now_s()
        )

    @property
    def count(self) -> int:
        """How many were used."""
        return sum(len(at) for at in self.used_at.values())

    @property
    def surplus_trials(self) -> int:
        """Those used that counted more frames back than were sent."""
        return sum(trial.surplus > 0 for at in self.used_at.values() for trial in at)

    def _warm_up(self, load_pps: float) -> Trial | None:
        """Run a trial that does not count: caches, tables and rings fill (RFC 9971 asks for it before the search)."""
        if not self.what.warmup_s:
            return None
        trial = self._measure(load_pps, self.what.warmup_s)
        self._rested_since_s = self._measurer.now_s()
        self.trial_time_s += trial.duration_s
        self.void.too_short(trial)
        if self.what.trials == "clean":
            self._lengthen(STEPS_A_TRIAL * trial.steal_step_s)
        return trial

    def _measure(self, load_pps: float, duration_s: float) -> Trial:
        trial = self._measurer.measure(load_pps, duration_s)
        self.sent += trial.sent
        self.received += trial.received
        return trial

    def restart(self, stop: SearchRestarts) -> None:
        """Restart with no trial; the time limit goes on."""
        if isinstance(stop, TrialsTooShort):
            self._lengthen(stop.shortest_s)
        self.used_at.clear()
        self.void.forget()
        self._keeper.forget(self._measurer.now_s())

    def _lengthen(self, shortest_s: float) -> None:
        self.what = self.void.what = self.what.with_trials_of(shortest_s)

    def take(self, load_pps: float, duration_s: float) -> Trial:
        """Measure until a trial may be used.

        Raises:
            SearchStopped: it is too late for another trial, or the placement class does not hold.
            GeneratorError: a trial ended early.
        """
        while True:
            self._rest(duration_s)
            self._wait_for_class(duration_s)
            began_s = self._measurer.now_s()
            self._check_time(began_s, duration_s)
            trial = self._measure(load_pps, duration_s)
            ended_s = self._rested_since_s = self._measurer.now_s()
            _check_length(trial, duration_s)
            self.trial_time_s += trial.duration_s
            self._overhead_s = max(0.0, ended_s - began_s - duration_s)
            too_slow = was_too_slow(trial, self.what)
            trial = replace(trial, late_is_missing=too_slow or self.what.late_ratio is None)
            if self._is_excluded(trial, load_pps):
                self._keeper.pass_over(trial, ended_s)
                continue
            if self._keeper.accepts(trial, ended_s):
                self.used_at.setdefault(load_pps, []).append(trial)
                return trial
            if self._keeper.last_changed:
                self.void.add_changed(load_pps)

    def _rest(self, duration_s: float) -> None:
        """Let the system come to rest after the trial before, as long as that was not long ago anyway."""
        now_s = self._measurer.now_s()
        left_s = self._rested_since_s + self.what.rest_s - now_s
        if left_s > 0:
            self._check_time(now_s + left_s, duration_s)
            self._measurer.wait(left_s)

    def _is_excluded(self, trial: Trial, load_pps: float) -> bool:
        """Return whether a trial does not count; one of another class than the search's never does.

        Raises:
            SearchStopped: too many in a row do not count.
        """
        if self.what.trials == "clean":
            if self.void.is_void(trial, load_pps):
                self._measurer.wait(SETTLE_S)
                return True
        elif self._is_disturbed(trial):
            return True
        return self._is_stolen(trial)

    def _is_disturbed(self, trial: Trial) -> bool:
        """Return whether the generator left out so much of the load that the trial may not be called good.

        What is bad for every goal counts as bad. A generator that is too slow for the load is no disturbance.

        Raises:
            SearchStopped: the disturbance went on for too long.
        """
        limit = self.what.late_ratio
        if limit is None:
            return False
        good = trial.loss_ratio <= max(goal.loss_ratio for goal in self.what.goals)
        if trial.generator_limited or not good or trial.late_ratio <= limit:
            self.disturbed.end_row()
            return False
        self.disturbed.add(
            f"left out more than {limit:.1%} of their frames, the last one {trial.late_ratio:.1%}, as the generator was"
            " kept from its core"
        )
        return True

    def _is_stolen(self, trial: Trial) -> bool:
        """Return whether a trial is bad for a goal, and the system's threads were kept from their cores for as long.

        What such a trial lost says nothing of the system. A trial that lost nothing is good all the same.

        Raises:
            SearchStopped: this went on for too long.
        """
        bad = trial.loss_ratio > min(goal.loss_ratio for goal in self.what.goals)
        if trial.generator_limited or not bad or not trial.is_explained(self.what.stolen_factor):
            self.stolen.end_row()
            return False
        self.stolen.add(
            "lost no more than was due while the system's threads were kept from their cores; in the last one"
            f" {trial.loss_ratio:.2%} in {trial.stolen_s * 1000:.1f} ms"
        )
        return True

    def change_at_end(self) -> SearchStopped | None:
        """Return what speaks against the search as a whole, now that it has its bounds."""
        try:
            self._keeper.check_end()
        except SearchStopped as stop:
            return stop
        return None

    def summary(self) -> PlacementSummary:
        """Return in which class the trials ran."""
        keeper = self._keeper
        return PlacementSummary(
            label=keeper.label,
            rejected_trials=keeper.rejected,
            changed_trials=keeper.changed,
            changes_per_trial=round(keeper.changes_per_trial, 4),
        )

    def _wait_for_class(self, duration_s: float) -> None:
        """Wait where a look at the core distance, which costs no trial, says that one would be in vain."""
        while (distance_ns := self._measurer.probe_distance_ns()) is not None:
            if self._keeper.suits_now(distance_ns):
                return
            self._measurer.wait(POLL_S)
            self._check_time(self._measurer.now_s(), duration_s)
            self._keeper.check_patience(self._measurer.now_s())

    def _check_time(self, now_s: float, duration_s: float) -> None:
        left_s = self.what.time_limit_s - (now_s - self.started_s)
        if duration_s + self._overhead_s > left_s:
            raise SearchStopped(
                Irregularity.TIME_LIMIT,
                f"{max(left_s, 0):.1f} s of {self.what.time_limit_s:g} s were left for a trial of {duration_s:g} s and"
                f" {self._overhead_s:.1f} s around it",
            )


def _check_length(trial: Trial, duration_s: float) -> None:
    if trial.duration_s < SHORT_TRIAL * duration_s:
        raise GeneratorError(
            "a trial of a search ended early",
            observed=f"{trial.duration_s:g} s of {duration_s:g} s",
            fix="see the generator's log; a limit of frames must not be given with a search",
        )


@dataclass(frozen=True)
class _JudgementBasis:
    """What all goals share when they are judged."""

    loads: LoadRange
    outcome: SearchEnd
    stopped: SearchStopped | None
    trials: _Trials
    void: str
    """Why so many trials are void that there is no result; empty: they are not."""


def _goal_result(goal: Goal, bounds: Bounds, found: _JudgementBasis) -> GoalResult:
    lower = _bound(goal, bounds.lower, found)
    upper = _bound(goal, bounds.upper, found)
    irregularity, explanation = _nothing_came(bounds, found) or _judge(goal, lower, upper, found)
    if irregularity is None and found.trials.what.trials == "clean" and lower and upper:
        explanation = found.void or differs((lower.void_trials, lower.trials), (upper.void_trials, upper.trials))
        irregularity = Irregularity.VOID_TRIALS if explanation else None
    rate = bounds.conditional_throughput
    return GoalResult(
        goal=goal,
        irregularity=irregularity,
        explanation=explanation,
        conditional_throughput_pps=None if rate is None or lower is None else int(rate * (1 - lower.late_ratio)),
        lower_bound=lower,
        upper_bound=upper,
    )


def _nothing_came(bounds: Bounds, found: _JudgementBasis) -> tuple[Irregularity, str] | None:
    """Return why, where no frame came back in the whole search or at the smallest load; None: some did.

    It outranks every other reason: late frames, stalls and classes concern what comes back.
    """
    trials, smallest = found.trials, found.loads.min_load_pps
    if trials.sent and not trials.received:
        return Irregularity.NOTHING_CAME_BACK, f"none of {trials.sent} sent frames came back, at any load"
    at = trials.used_at.get(bounds.upper, []) if bounds.upper is not None and bounds.upper <= smallest else []
    if at and all(trial.nothing_came for trial in at):
        sent = sum(trial.sent for trial in at)
        return Irregularity.NOTHING_CAME_BACK, f"none of {sent} sent frames came back at {smallest} frames/s"
    return None


def _judge(
    goal: Goal, lower: Bound | None, upper: Bound | None, found: _JudgementBasis
) -> tuple[Irregularity | None, str]:
    """Return why a result is irregular, with the gravest reason first; None for a regular one."""
    stopped, loads = found.stopped, found.loads
    if stopped is not None and stopped.irregularity is Irregularity.PLACEMENT_UNSTABLE:
        return stopped.irregularity, stopped.explanation
    if found.trials.surplus_trials:
        # At another load the same doubling may hide a loss, and show no surplus.
        every = found.trials.count
        return Irregularity.LOSS_AT_LEAST, (
            f"{found.trials.surplus_trials} of {every} trials counted more frames back than were sent, so that any may"
            " have lost more than was counted"
        )
    reached = upper is not None and lower is not None and _is_narrow(goal, lower, upper)
    missed = upper is not None and upper.load_pps <= loads.min_load_pps
    if upper is not None and (reached or missed) and 2 * upper.generator_trials > upper.bad_trials:
        return _blame_generator(upper)
    if upper is not None and missed and 2 * upper.late_trials > upper.bad_trials:
        return Irregularity.GENERATOR_DISTURBED, (
            f"no load passes: at the smallest, {upper.load_pps} frames/s, late frames alone are above the"
            f" loss ratio in {upper.late_trials} of {upper.bad_trials} bad trials"
        )
    if upper is not None and missed:
        return Irregularity.MIN_LOAD, f"at the smallest load, {upper.load_pps} frames/s, the goal is missed"
    if upper is None and lower is not None and lower.load_pps >= loads.max_load_pps - 1:
        return loads.limit, f"the goal is reached at the largest load, {loads.max_load_pps} frames/s: a lower bound"
    if reached:
        return None, ""
    if stopped is None:
        return Irregularity.WIDE, "the controller had no load left to try"
    return stopped.irregularity, stopped.explanation


def _is_narrow(goal: Goal, lower: Bound, upper: Bound) -> bool:
    return 1 - lower.load_pps / upper.load_pps <= goal.relative_width + WIDTH_TOLERANCE + 1 / upper.load_pps


def _blame_generator(upper: Bound) -> tuple[Irregularity, str]:
    bad = f"{upper.generator_trials} of {upper.bad_trials} trials above the loss ratio at {upper.load_pps} frames/s"
    if 2 * upper.full_generator_trials > upper.generator_trials:
        return Irregularity.GENERATOR_LIMITED, f"{bad} left the generator's core nothing to spare: a lower bound"
    return Irregularity.GENERATOR_DISTURBED, f"{bad} are so for frames that were not sent though nothing pushed back"


def _bound(goal: Goal, load_pps: float | None, found: _JudgementBasis) -> Bound | None:
    if load_pps is None:
        return None
    trials = found.trials.used_at[load_pps]
    bad = [trial for trial in trials if trial.loss_ratio > goal.loss_ratio]
    return Bound(
        load_pps=round(load_pps),
        trials=len(trials),
        bad_trials=len(bad),
        good_s=round(sum(trial.duration_s for trial in trials) - sum(trial.duration_s for trial in bad), 6),
        bad_s=round(sum(trial.duration_s for trial in bad), 6),
        intended_frames=sum(trial.base for trial in trials),
        late_frames=sum(trial.every - trial.base for trial in trials),
        missing_late_frames=sum(trial.late for trial in trials if trial.late_is_missing),
        void_trials=found.trials.void.at(load_pps),
        late_trials=sum(_is_for_late_frames(goal, trial) for trial in bad),
        lost_frames=sum(trial.sent - trial.received for trial in trials),
        unsent_frames=sum(trial.base - trial.sent for trial in trials),
        back_pressure_trials=sum(trial.back_pressure for trial in trials),
        full_generator_trials=sum(trial.generator_limited for trial in bad),
        generator_trials=sum(_is_the_generators(goal, trial) for trial in bad),
    )


def _is_for_late_frames(goal: Goal, trial: Trial) -> bool:
    """Return whether late frames made a trial bad: they alone would, and no more were lost than were late."""
    return trial.late_is_missing and trial.late_ratio > goal.loss_ratio and trial.sent - trial.received <= trial.late


def _is_the_generators(goal: Goal, trial: Trial) -> bool:
    """Return whether the generator made a trial bad: it was full, or did not send though nothing pushed back."""
    if trial.late_is_missing and not trial.generator_limited:
        return trial.missing - trial.late <= goal.loss_ratio * trial.base
    only_unsent = trial.loss_ratio_of_sent <= goal.loss_ratio
    return trial.generator_limited or (only_unsent and not trial.back_pressure)
