"""What a file may say of tests with bursts."""

from math import ceil, log2
from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.base import NamedTest

MAX_FRAMES = 10_000_000
EXPECTED_TRIAL_S = 0.1
"""Estimate of a burst with what is around it: most bursts take less than the wait for late frames."""


class BackToBackTest(NamedTest):
    """Bursts at the port's full speed, one way: how many frames pass without loss (RFC 9004, RFC 2544 section 26.4)."""

    kind: Literal["back-to-back"]
    min_frames: int = Field(16, ge=1, le=1_000_000)
    """Shortest burst that is tried."""
    max_frames: int = Field(1_000_000, ge=2, le=1_000_000_000)
    """Longest burst that is tried; where it passes the result is a lower bound."""
    resolution_frames: int = Field(16, ge=1)
    """Resolution of the length, frames."""
    verifications: int = Field(1, ge=0, le=10)
    """Number of times that a burst with loss is sent again; it has failed when each of them loses frames."""
    repetitions: int = Field(10, ge=1, le=100)
    """Number of searches; the result is their mean (RFC 2544 asks for 50)."""
    rate_duration_s: float = Field(1, ge=0.05, le=600)
    """Length of the trial at maximum load that measures the forwarding rate, by which the result is corrected, s."""

    @model_validator(mode="after")
    def lengths_fit(self) -> Self:
        if self.min_frames >= self.max_frames:
            raise ValueError(f"min_frames ({self.min_frames}) must be below max_frames ({self.max_frames})")
        return self

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        steps = 2 + ceil(log2(max(2, (self.max_frames - self.min_frames) / self.resolution_frames)))
        trials = self.repetitions * round(steps * (1 + self.verifications / 2))
        return self.rate_duration_s + trials * EXPECTED_TRIAL_S, 1 + trials


class BurstTest(NamedTest):
    """One burst at the port's full speed, in the experiment's directions: how many of its frames come through."""

    kind: Literal["burst"]
    frames: int = Field(1000, ge=1, le=MAX_FRAMES)
    """Frames of the burst in each direction."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        return EXPECTED_TRIAL_S, 1
