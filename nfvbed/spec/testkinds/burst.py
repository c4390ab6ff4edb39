"""One burst of a given number of frames."""

from typing import Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import NamedTest

MAX_FRAMES = 10_000_000
EXPECTED_TRIAL_S = 0.1
"""Of a burst with what is around it, as an estimate."""


class BurstTest(NamedTest):
    """One burst at the port's full speed, in the experiment's directions: how many of its frames come through."""

    kind: Literal["burst"]
    frames: int = Field(1000, ge=1, le=MAX_FRAMES)
    """Of each direction."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        return EXPECTED_TRIAL_S, 1
