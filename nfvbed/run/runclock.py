"""The pace of a run: the time that passed over the time that was planned for what was done in it."""

from collections.abc import Callable

from nfvbed.plan.estimate import PRIOR_S


class RunClock:
    """The clock of a run, which scales planned times by what the run has shown so far.

    Args:
        clock: seconds; only differences count.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()

    @property
    def elapsed_s(self) -> float:
        """Since the run began or went on."""
        return self._clock() - self._began

    def left_s(self, planned_s: float, done_s: float) -> float:
        """Return how long what is left takes, in s.

        Args:
            planned_s: the planned time of what is left.
            done_s: the planned time of what was done since.
        """
        return planned_s * (self.elapsed_s + PRIOR_S) / (done_s + PRIOR_S)
