"""How long onboarding waits: the measured time of each step, times a stated factor."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from nfvbed.patience import patient

FACTOR = 4.0
"""Between what was measured and what is waited for; NFVBED_PATIENCE stretches it on slow hosts."""
MEASURED_S = {
    "package": 10.0,
    "create": 40.0,
    "instantiate": 60.0,
    "servers": 10.0,
    "scale": 25.0,
    "heal": 65.0,
    "change_ext_conn": 25.0,
    "terminate": 25.0,
    "delete": 20.0,
    "stack": 30.0,
    "settle": 15.0,
    "cancel": 20.0,
    "console": 15.0,
    "boot": 45.0,
    "monitor": 40.0,
}
"""Seconds that steps took on two cores with emulated guests (docs/howto/onboard-on-openstack.md); not measured yet is
`change_ext_conn`, which updates a stack as `scale` does."""
_PAUSE_S = 0.5


def limit_s(step: str) -> float:
    """Return the time limit of a step on this machine, in s."""
    return patient(MEASURED_S[step] * FACTOR)


@dataclass(frozen=True)
class WaitOutcome:
    """How a wait ended."""

    done: bool
    seconds: float
    limit_s: float

    @property
    def too_long(self) -> str:
        """Return words that say that it took too long."""
        return f"after {self.limit_s:g} s, {FACTOR:g} times what it took when it was measured, it was not done"


def wait(step: str, done: Callable[[], bool]) -> WaitOutcome:
    """Ask repeatedly until something is done, or the step's time limit is reached."""
    started = time.monotonic()
    limit = limit_s(step)
    while not (found := done()):
        if time.monotonic() - started > limit:
            break
        time.sleep(_PAUSE_S)
    return WaitOutcome(found, time.monotonic() - started, limit)
