"""What can be done on a host, topic by topic, that its polling threads are disturbed less."""

from enum import StrEnum

from nfvbed.records import Record


class Plan(StrEnum):
    """What can be done about a topic here."""

    SET = "set"
    ALREADY = "already so"
    LACKING = "not on this host"


class Change(Record):
    """A value for a file, below the host's root."""

    path: str
    value: str
    may_refuse: bool = False
    """Whether the kernel takes no value for some of its kind, as for the interrupts of one core's timer."""
    undone_by: str = ""
    """What undoes it where that is not the value from before; empty: it is."""


class TopicPlan(Record):
    """What is to be done about one topic."""

    topic: str
    plan: Plan
    summary: str
    changes: tuple[Change, ...] = ()
    holds: str = ""
    """A device that is held open with a latency of 0 us; empty: none."""
    group: str = ""
    """A new cgroup (version 2) that nfvbed itself moves into, and with it the command; empty: none."""
