"""Closed lists that records are written in; others import them from `nfvbed.records`."""

from enum import StrEnum


class Status(StrEnum):
    """How a trial, cell or run ended. Each but `ok` keeps its reason."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNSUPPORTED = "unsupported"
    BLOCKED = "blocked"
    INTERRUPTED = "interrupted"
    NOT_APPLICABLE = "not-applicable"


class Role(StrEnum):
    """Whose CPU time it is."""

    SWITCH = "switch"
    VNF = "vnf"
    GENERATOR = "generator"


class CellRole(StrEnum):
    """What a cell is measured for: a variant under test, or a ceiling that bounds one."""

    SUBJECT = "subject"
    LOOPBACK = "loopback"
    """The generator looped back on the port kind: its own ceiling."""
    REFERENCE = "reference"
    """testpmd io in the switch's place: the floor of the price of switching."""
    VNF = "vnf"
    """The VNF looped back alone, the generator on its ports: its own ceiling."""


class Renewed(StrEnum):
    """What a visit to a cell set up again before its trials."""

    DEPLOYMENT = "deployment"
    """The data plane, its VNFs and the generator."""
    VNF = "vnf"
    """The VNFs and the generator; the data plane was running."""
    NOTHING = "nothing"
    """All of it was running."""
