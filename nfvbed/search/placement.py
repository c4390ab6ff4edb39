"""Keeps a search within one placement class, and sees when classes change too fast for its trials.

Classes are derived from raw core distances by the rule of what compares results; it is injected, and asked again
after every trial, as what is known of a host grows with them.

A trial that has both its ends in one class may have left it in between. How often that happens follows from the trials
whose ends differ: for changes at random (a telegraph process of rate r) the ends of a trial of length T differ with
probability (1 - exp(-2rT)) / 2. From 0.3 changes a trial on, one trial in 25 that looks whole is not.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nfvbed.records import CoreDistance
from nfvbed.search.measurer import Trial
from nfvbed.search.stop import Irregularity, SearchStopped, TrialsReclassified

MIXED = "mixed"
SINGLE = "single"
LIMITS_UNDER_WAY = ((4, 0.5),)
"""(trials with a change, estimated changes in a trial of final length): a search gives up where both are reached."""
LIMITS_AT_END = ((2, 0.3), (1, 1.0))
"""The same for a search that has its bounds: there is no more to come that could tell."""

Classify = Callable[[Sequence[CoreDistance | None]], Sequence[str]]
"""Returns the class of each of one host's trials, in order: `compare.placement.classify`."""


def _one_class(distances: Sequence[CoreDistance | None]) -> Sequence[str]:
    return [SINGLE] * len(distances)


@dataclass(frozen=True)
class PlacementRule:
    """How the classes of a search's trials are found."""

    classify: Classify = _one_class
    history: tuple[CoreDistance | None, ...] = ()
    """Core distances of earlier trials on the same host."""
    wanted: str | None = None
    """The class to search in; None: that of the first trial. Where the host shows one class (`single`), it is that."""


@dataclass
class PlacementKeeper:
    """Sorts the trials of one search into usable ones and others."""

    rule: PlacementRule
    wait_s: float
    """How long to go on without a usable trial."""
    final_duration_s: float
    since_s: float
    """When the search, or the last usable trial, ended."""
    trials: list[Trial] = field(default_factory=list)
    used: list[bool] = field(default_factory=list)
    _known: list[str] = field(default_factory=list)
    """Labels of the trials, as of the last one: the rule is asked once a trial."""

    def accepts(self, trial: Trial, now_s: float) -> bool:
        """Return whether a trial that has just ended may be used.

        Raises:
            TrialsReclassified: trials used before turn out to be of several classes.
            SearchStopped: classes change too fast, or it took too long.
        """
        self.trials.append(trial)
        self.used.append(False)
        labels = self._labels()
        own = {label for label, used in zip(labels, self.used, strict=True) if used}
        if len(own) > 1 or MIXED in own:
            raise TrialsReclassified(
                Irregularity.PLACEMENT_UNSTABLE,
                f"trials taken for one placement class turned out to be of several: {', '.join(sorted(own))}",
            )
        if self._suits(labels[-1], own):
            self.used[-1] = True
            self.since_s = now_s
        else:
            self._stop_where_hopeless(LIMITS_UNDER_WAY)
            self.check_patience(now_s)
        return self.used[-1]

    def pass_over(self, trial: Trial, now_s: float) -> None:
        """Take down that a trial which does not count for another reason ran in the search's class, if it did."""
        own = {label for label, used in zip(self._labels(), self.used, strict=True) if used}
        if trial.core_distance_ns is None or self._suits(self._classified(trial.core_distance_ns)[-1], own):
            self.since_s = now_s

    def forget(self, now_s: float) -> None:
        """Use no trial so far, because the search restarts; their distances still tell the host's classes."""
        self.used = [False] * len(self.used)
        self.since_s = now_s

    def suits_now(self, distance_ns: float) -> bool:
        """Return whether a trial that began at this core distance would begin in the search's class."""
        here = CoreDistance(before=distance_ns, after=distance_ns)
        labels = self._classified(here)
        return self._suits(labels[-1], {label for label, used in zip(labels[:-1], self.used, strict=True) if used})

    def check_patience(self, now_s: float) -> None:
        """Raise where the last usable trial is too long ago.

        Raises:
            SearchStopped: the last usable trial is too long ago.
        """
        if now_s - self.since_s > self.wait_s:
            raise SearchStopped(
                Irregularity.PLACEMENT_LOST,
                f"no trial within placement class {self.label or self.rule.wanted or '(any)'} for"
                f" {now_s - self.since_s:.0f} s; {self.rejected} of {len(self.trials)} trials not used",
            )

    def check_end(self) -> None:
        """Raise where a search that has all its bounds does not hold as a whole.

        Raises:
            SearchStopped: classes changed so fast that trials which look whole need not be.
        """
        self._stop_where_hopeless(LIMITS_AT_END)

    @property
    def label(self) -> str:
        """The class of the trials that were used, as it is known now; empty before the first."""
        labels = sorted({label for label, used in zip(self._labels(), self.used, strict=True) if used})
        return "+".join(labels)

    @property
    def rejected(self) -> int:
        """Trials of another class, or of several."""
        return self.used.count(False)

    @property
    def changed(self) -> int:
        """Trials within which the class changed."""
        return self._labels().count(MIXED)

    @property
    def last_changed(self) -> bool:
        """Whether the class changed within the last trial."""
        return bool(self.trials) and self._labels()[-1] == MIXED

    @property
    def changes_per_trial(self) -> float:
        """Estimated changes of class within a trial of final length."""
        ends_differ = [label == MIXED for label in self._labels()]
        rate = _rate_per_s([trial.duration_s for trial in self.trials], ends_differ)
        return rate * self.final_duration_s

    def _suits(self, label: str, own: set[str]) -> bool:
        if label == MIXED:
            return False
        if own:
            return label in own
        return self.rule.wanted in (None, label) or label == SINGLE

    def _stop_where_hopeless(self, limits: Sequence[tuple[int, float]]) -> None:
        changed = self.changed
        if not changed:
            return
        estimate = self.changes_per_trial
        if any(changed >= seen and estimate >= many for seen, many in limits):
            raise SearchStopped(
                Irregularity.PLACEMENT_UNSTABLE,
                f"the placement class changed within {changed} of {len(self.trials)} trials: about"
                f" {estimate:.2g} changes in a trial of {self.final_duration_s:g} s",
            )

    def _labels(self) -> list[str]:
        if len(self._known) != len(self.trials):
            self._known = self._classified()
        return self._known

    def _classified(self, *more: CoreDistance) -> list[str]:
        distances = [*self.rule.history, *(trial.core_distance_ns for trial in self.trials), *more]
        return list(self.rule.classify(distances))[len(self.rule.history) :]


def _rate_per_s(durations_s: Sequence[float], ends_differ: Sequence[bool]) -> float:
    """Estimate the rate of changes from the trials whose ends differ (maximum likelihood, on a logarithmic grid)."""
    if not any(ends_differ):
        return 0.0
    shortest, longest = min(durations_s), max(durations_s)
    # Below 0.001 changes in the longest trial nothing is lost; above 5 in the shortest the ends say no more.
    low, high, steps = math.log(0.001 / longest), math.log(5 / shortest), 200

    def likelihood(rate: float) -> float:
        total = 0.0
        for duration, differ in zip(durations_s, ends_differ, strict=True):
            same = math.exp(-2 * rate * duration)
            total += math.log((1 - same) / 2 if differ else (1 + same) / 2)
        return total

    return max((math.exp(low + (high - low) * step / steps) for step in range(steps + 1)), key=likelihood)
