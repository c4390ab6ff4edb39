"""Which trials of a search are void: those whose outcome the host decided, and not the system under test.

The rule never looks at what a trial lost. A rule that looked only at trials that lost something would leave those out
and keep their lucky sisters, and the result would be the system's at its best moments (ADR 0026).
"""

from dataclasses import dataclass, field

from nfvbed.distributions import fisher_exact
from nfvbed.search.measurer import Trial
from nfvbed.search.stop import Irregularity, SearchStopped, TrialsTooShort
from nfvbed.search.voidsummary import VoidSummary
from nfvbed.spec.search import Search

DISTURBED_IN_A_ROW = 20
"""Trials, one after the other, that do not count: then the search gives up."""
SETTLE_S = 0.01
"""After a void trial: what a stall left in queues and caches is gone by then."""
STEPS_A_TRIAL = 100
"""A clock that counts stolen time in steps says nothing of trials of fewer steps than these."""
LEAST_STALL_S = 0.0005
"""Shorter stalls fit the rings of the ports; where stolen time is counted in steps, it bounds how many went unseen."""
MOST_VOID = 0.5
"""Part of the trials that may be void: with more the rest is the exception."""
SIGNIFICANT = 0.05
"""Level of Fisher's test on the void trials at the two bounds."""


@dataclass
class UnusableTrials:
    """Trials that are measured again for one reason, until there are too many in a row."""

    irregularity: Irregularity
    trials: int = 0
    _in_a_row: int = 0

    def end_row(self) -> None:
        """Take down that a trial is none of them."""
        self._in_a_row = 0

    def add(self, why: str) -> None:
        """Count one more.

        Raises:
            SearchStopped: there are too many in a row; `why` says what they did.
        """
        self.trials += 1
        self._in_a_row += 1
        if self._in_a_row >= DISTURBED_IN_A_ROW:
            raise SearchStopped(self.irregularity, f"{self._in_a_row} trials in a row {why}")


def why_void(trial: Trial, what: Search) -> Irregularity | None:
    """Return whose fault it is that a trial says nothing; None: it counts, whatever it lost."""
    if (trial.gap_s or 0.0) > what.clean_limit_s:
        return Irregularity.GENERATOR_DISTURBED
    if trial.held_s > what.clean_limit_s:
        return Irregularity.SYSTEM_DISTURBED
    # A generator that is too slow for the load is no disturbance: its loop went on, or it had no time left.
    late = trial.gap_s is None and not trial.generator_full and _is_late(trial, what)
    return Irregularity.GENERATOR_DISTURBED if late else None


def was_too_slow(trial: Trial, what: Search) -> bool:
    """Return whether a clean trial has late frames that no stall explains: what was not sent then is missing."""
    return what.trials == "clean" and trial.gap_s is not None and _is_late(trial, what)


def _is_late(trial: Trial, what: Search) -> bool:
    return what.late_ratio is not None and trial.late_ratio > what.late_ratio


@dataclass
class VoidTrials:
    """Keeps account of the void trials of one search."""

    what: Search
    changed: int = 0
    steal_step_s: float = 0.0
    _row: int = 0
    _of: dict[Irregularity, int] = field(default_factory=dict)
    _at: dict[float, int] = field(default_factory=dict)
    _steal_s: float = 0.0

    def forget(self) -> None:
        """The search restarts, and with it the loads; what the host did meanwhile stays known."""
        self._at.clear()
        self._row = 0

    def too_short(self, trial: Trial) -> float | None:
        """Return how long trials must be for their stolen time to be known; None: as long as this one will do."""
        shortest_s = STEPS_A_TRIAL * trial.steal_step_s
        self.steal_step_s = max(self.steal_step_s, trial.steal_step_s)
        return shortest_s if trial.duration_s < 0.99 * shortest_s else None

    def is_void(self, trial: Trial, load_pps: float) -> bool:
        """Return whether a trial is void, and count it.

        Raises:
            TrialsTooShort: the stolen time of such short trials is not known.
            SearchStopped: too many in a row are void.
        """
        shortest_s = self.too_short(trial)
        if shortest_s is not None:
            raise TrialsTooShort(shortest_s)
        self._steal_s += trial.steal_s
        why = why_void(trial, self.what)
        if why is None:
            self._row = 0
            return False
        self._of[why] = self._of.get(why, 0) + 1
        self._at[load_pps] = self._at.get(load_pps, 0) + 1
        self._row += 1
        if self._row >= DISTURBED_IN_A_ROW:
            raise SearchStopped(why, f"{self._row} trials in a row are void: {_said(trial, why)} in the last one")
        return True

    def add_changed(self, load_pps: float) -> None:
        """Take down a trial whose ends are in two placement classes."""
        self.changed += 1
        self._at[load_pps] = self._at.get(load_pps, 0) + 1

    def at(self, load_pps: float) -> int:
        """Return the void trials at a load."""
        return self._at.get(load_pps, 0)

    def summary(self, used: int) -> VoidSummary:
        """Return the account.

        Args:
            used: number of trials that counted.
        """
        generator, system = (
            self._of.get(of, 0) for of in (Irregularity.GENERATOR_DISTURBED, Irregularity.SYSTEM_DISTURBED)
        )
        void = generator + system + self.changed
        # One step more than was seen may have been begun.
        hidden_s = self._steal_s + self.steal_step_s if self.steal_step_s > LEAST_STALL_S else 0.0
        unseen = hidden_s / LEAST_STALL_S - system
        every = void + used
        return VoidSummary(
            limit_s=self.what.clean_limit_s,
            trials=every,
            void_trials=void,
            generator_trials=generator,
            system_trials=system,
            changed_trials=self.changed,
            steal_step_s=self.steal_step_s,
            share_at_most=round(min(1.0, (void + max(0.0, unseen)) / every), 4) if every else 0.0,
        )


def against(summary: VoidSummary) -> str:
    """Return why so many void trials leave no result; empty: they do."""
    if summary.share > MOST_VOID:
        return (
            f"{summary.void_trials} of {summary.trials} trials are void ({_whose(summary)}): the rest is the exception"
        )
    if summary.share_at_most > MOST_VOID:
        return (
            f"up to {summary.share_at_most:.0%} of the trials may have been disturbed: stolen time is counted in steps"
            f" of {summary.steal_step_s * 1000:g} ms, so it is not known which"
        )
    return ""


def differs(lower: tuple[int, int], upper: tuple[int, int]) -> str:
    """Return how the void share differs between two bounds, by Fisher's exact test; empty: nothing shows it.

    Args:
        lower: void trials and those that counted at the lower bound.
        upper: the same at the upper bound.
    """
    p_value = fisher_exact(lower, upper)
    if p_value >= SIGNIFICANT:
        return ""
    shares = [f"{void} of {void + used}" for void, used in (lower, upper)]
    return (
        f"{shares[0]} trials are void at the lower bound and {shares[1]} at the upper one (Fisher's test: p"
        f" {p_value:.2g}): what voids them goes with the load"
    )


def _whose(summary: VoidSummary) -> str:
    return (
        f"the generator's {summary.generator_trials}, the system's {summary.system_trials}, of two classes"
        f" {summary.changed_trials}"
    )


def _said(trial: Trial, why: Irregularity) -> str:
    if why is Irregularity.SYSTEM_DISTURBED:
        return f"a thread of the system was kept from its core for {trial.held_s * 1000:.1f} ms"
    held_up = "" if trial.gap_s is None else f"the generator's loop was held up for {trial.gap_s * 1000:.2f} ms, "
    return f"{held_up}{trial.late_ratio:.2%} of the frames late"
