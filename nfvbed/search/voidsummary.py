"""How many trials of a search were void."""

from nfvbed.records import Record


class VoidSummary(Record):
    """How many trials did not count, by the rule that never looks at loss."""

    limit_s: float
    """Longest time without a core in a trial that counts."""
    trials: int
    """All of them, void ones included; without the warm-up."""
    void_trials: int
    generator_trials: int
    """Void trials in which the generator's loop was held up, or too many frames were late."""
    system_trials: int
    """Void trials in which a thread of the system was kept from its core."""
    changed_trials: int = 0
    """Void trials whose ends are in two placement classes."""
    steal_step_s: float
    """Steps in which the hypervisor's part of the time was counted; 0: exactly."""
    share_at_most: float
    """Void share, with the trials whose stolen time may have gone unseen between two steps."""

    @property
    def share(self) -> float:
        """Void trials over all; 0 without any."""
        return self.void_trials / self.trials if self.trials else 0.0

    @property
    def words(self) -> str:
        """Return the share for a label: `12 % void`."""
        return f"{self.share * 100:.0f} % void"
