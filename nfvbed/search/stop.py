"""Why a search or one of its goals has no regular result: a closed list."""

from enum import StrEnum


class Irregularity(StrEnum):
    """What kept a goal from a regular result (RFC 9971, Irregular Goal Result)."""

    NOTHING_CAME_BACK = "nothing-came-back"
    """None of the frames that were sent came back, whatever else there is to be said."""
    GENERATOR_LIMITED = "generator-limited"
    """The generator's ceiling was reached, or it had nothing left at the upper bound: the result is a lower bound."""
    GENERATOR_DISTURBED = "generator-disturbed"
    """The generator was kept from its core in trial after trial, or its late frames alone decide a bound."""
    SYSTEM_DISTURBED = "system-disturbed"
    """The system's threads were kept from their cores in trial after trial."""
    LOSS_AT_LEAST = "loss-at-least"
    """More frames were counted back than were sent in a trial: the path doubles frames, which hide lost ones."""
    VOID_TRIALS = "void-trials"
    """More than half of the trials were void, or their share differs between the two bounds."""
    MAX_LOAD = "max-load"
    """The largest load that was asked for was reached: the result is a lower bound."""
    MIN_LOAD = "min-load"
    """The smallest load is an upper bound already."""
    WIDE = "wide"
    """The search ended by itself with bounds farther apart than the goal asks, or without one."""
    TIME_LIMIT = "time-limit"
    """The time was over; the bounds are those found so far."""
    PLACEMENT_LOST = "placement-lost"
    """The placement class of the search did not come back; the bounds are those found so far."""
    PLACEMENT_UNSTABLE = "placement-unstable"
    """The placement class changes faster than trials last, so that no trial is sure to lie within one."""


class SearchStopped(Exception):
    """Ends the controller from within a trial; what was measured stays."""

    def __init__(self, irregularity: Irregularity, explanation: str) -> None:
        super().__init__(explanation)
        self.irregularity = irregularity
        self.explanation = explanation


class SearchRestarts(SearchStopped):
    """Trials that were used are not what they seemed: the search has to restart."""


class TrialsReclassified(SearchRestarts):
    """Trials that were used lie in several placement classes, as later ones show."""


class TrialsTooShort(SearchRestarts):
    """The host counts stolen time in steps that say nothing of trials so short."""

    def __init__(self, shortest_s: float) -> None:
        super().__init__(Irregularity.SYSTEM_DISTURBED, f"trials must last {shortest_s:g} s for their stolen time")
        self.shortest_s = shortest_s
