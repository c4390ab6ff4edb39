"""A reset of a switch under traffic: what is done to it, and how long its configuration then takes."""

from nfvbed.records import Record


class ResetReport(Record):
    """What a reset did."""

    kind: str
    """What was done to the switch: results of different kinds are not the same test (RFC 6201 section 4)."""
    steps: tuple[tuple[str, int], ...]
    """(step, duration in ns), from the blow on. Simulated: none."""

    @property
    def duration_ns(self) -> int:
        """Time from the reset's start until the former configuration is complete; frames may flow sooner or later."""
        return sum(duration for _, duration in self.steps)
