"""What a file may say of tests of a VNF's life under traffic: it dies and is healed or respawned, or is scaled."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.model import SpecModel
from nfvbed.spec.testkinds.base import NamedTest
from nfvbed.spec.testkinds.resets import check_bins

LEAST_LOAD_PPS = 1000
"""The load below which gaps of a few milliseconds would not show."""


class LifeCycleOperation(StrEnum):
    """An operation on VNFs that carry traffic."""

    HEAL = "heal"
    """A VNF is killed; as soon as its death shows, it is healed by command."""
    RESPAWN = "respawn"
    """A VNF is killed; a monitor finds that out, and has it respawned."""
    SCALE_OUT = "scale-out"
    """One VNF more is made by command."""
    SCALE_IN = "scale-in"
    """One VNF is removed by command."""


class Monitor(SpecModel):
    """The monitor of `respawn`: its settings decide how long a respawn takes."""

    delay_s: float = Field(5, ge=0, le=600)
    """Time until it looks first, s after the VNF is there; of a VNF that is there already: after the test's begin."""
    interval_s: float = Field(1, ge=0.1, le=600)
    """Time between two looks, s."""
    failures: int = Field(3, ge=1, le=100)
    """Looks in a row that find the VNF dead until it is respawned."""


class LifeCycleTest(NamedTest):
    """VNFs die and come back, or are scaled, while a paced load is sent: times apart, the longest gap, lost frames."""

    kind: Literal["life-cycle"]
    operations: tuple[LifeCycleOperation, ...] = Field(
        (LifeCycleOperation.HEAL, LifeCycleOperation.RESPAWN), min_length=1
    )
    """Operations, in this order; what the site cannot do is a row with the reason."""
    load_pps: int = Field(2000, ge=LEAST_LOAD_PPS)
    """Intended load, frames/s over all directions."""
    before_s: float = Field(1, ge=0.1, le=600)
    """Seconds of traffic before the operation."""
    duration_s: float = Field(30, ge=1, le=3_600)
    """Length of a whole trial, s; what takes longer has not come back."""
    loss_free_s: float = Field(5, ge=0.1, le=600)
    """Seconds without a missing frame by which the path is taken as recovered."""
    resolution_s: float = Field(0.001, ge=0.000_01, le=1)
    """Width of the bins in which frames are counted; time stamps are exact."""
    monitor: Monitor = Monitor()
    """Monitor of `respawn`."""
    repetitions: int = Field(3, ge=1, le=100)
    """Number of trials of each operation."""

    @model_validator(mode="after")
    def operations_differ(self) -> Self:
        if len(set(self.operations)) < len(self.operations):
            raise ValueError("each operation can be named once")
        return self

    @model_validator(mode="after")
    def times_fit(self) -> Self:
        least = self.before_s + self.loss_free_s
        if least >= self.duration_s:
            raise ValueError(f"before_s and loss_free_s ({least:g}) must be below duration_s ({self.duration_s:g})")
        check_bins(self.duration_s, self.resolution_s)
        return self

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        trials = self.repetitions * len(self.operations)
        return trials * self.duration_s, trials
