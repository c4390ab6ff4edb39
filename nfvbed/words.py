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


class HopKind(StrEnum):
    """What counts at a hop."""

    GENERATOR_PORT = "generator-port"
    """The generator's own end of a link."""
    SWITCH_PORT = "switch-port"
    """A port of the switch, to the generator or to a VNF."""
    VNF_PORT = "vnf-port"
    """A VNF's own side of a port."""
    INSIDE = "inside"
    """Within the switch: a datapath, a bridge, a link between its parts."""


class CellLack(StrEnum):
    """What a cell cannot be measured without, where that says nothing of its variant."""

    VNF = "vnf"
    """Its VNF cannot run on this host."""


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
