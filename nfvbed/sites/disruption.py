"""A disruption of a deployment under traffic: an operation on its VNFs, and when each part of it was done."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from nfvbed.records import Accelerator, Record
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation, Monitor
from nfvbed.traffic.generator import Addressing


class Mark(StrEnum):
    """A moment of a disruption. Those that an operation has come in this order."""

    BEGAN = "began"
    """The VNF was killed, or the command began."""
    DETECTED = "detected"
    """Its death showed for the first time."""
    DECIDED = "decided"
    """The operation was begun: by the command, or by the monitor after as many looks as it takes."""
    ACTED = "acted"
    """What replaces the VNF, or joins it, is started; or it is removed."""
    BOOTED = "booted"
    """The VNF says of itself that it forwards."""
    DEALT = "dealt"
    """The switch deals the flows out to the VNFs that are side by side now."""


@dataclass(frozen=True)
class FlowShares:
    """Flows of which each VNF side by side has a share."""

    flows: int
    """Number of flows: as many as there can be VNFs."""
    addressing: Addressing
    """Addressing of the flows' frames, by which the switch tells one share from another."""


@dataclass(frozen=True)
class Disruption:
    """What is to be done to a deployment's VNFs."""

    operation: LifeCycleOperation
    after_s: float
    """How long it is left alone first."""
    monitor: Monitor


class DisruptionReport(Record):
    """What was done, and when."""

    vnf: str
    """Name of the VNF that it was done to."""
    marks: tuple[tuple[Mark, int], ...]
    """Moments in ns since the site was asked. Simulated: none."""
    accelerator: Accelerator = Accelerator.NONE
    """What executes the VNF's instructions: an emulated boot takes many times as long."""
    settings: tuple[tuple[str, str], ...] = ()
    """Settings that decide its times, of the monitor that acted; empty: none did."""

    @property
    def spans(self) -> tuple[tuple[Mark, int], ...]:
        """Each moment but the first, with the time since the one before, ns."""
        return tuple((mark, at - before) for (_, before), (mark, at) in pairwise(self.marks))

    @property
    def end_ns(self) -> int:
        """The last moment; 0: there is none."""
        return self.marks[-1][1] if self.marks else 0
