"""Acknowledged steps in series of results."""

from nfvbed.records.trial import Record, RunId


class Acknowledgement(Record):
    """A person's word that a step is known; kept with the results, so that it is not reported again."""

    setting: str
    """What the series is of: the name of its setting."""
    run: RunId
    """The first run after the step."""
    reason: str
    by: str
    at: str
    """UTC, ISO 8601."""
    expires_at: str
    """From then on the step is reported again; UTC, ISO 8601, in the form of the store's times."""

    def holds(self, now: str) -> bool:
        """Return whether it has not expired.

        Args:
            now: UTC, ISO 8601, in the form of the store's times.
        """
        return now < self.expires_at
