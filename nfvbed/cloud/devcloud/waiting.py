"""Waiting for something to become true, with what was last seen in the error."""

import time
from collections.abc import Callable

from nfvbed.errors import DeployError
from nfvbed.patience import patient

_PAUSE_S = 0.2


def wait_until(what: str, missing: Callable[[], str], timeout_s: float) -> None:
    """Ask again and again until nothing is missing.

    Args:
        what: is waited for, as `Keystone answers`.
        missing: returns what is missing still; empty: nothing. An error that it raises ends the waiting.
        timeout_s: at most, stretched by NFVBED_PATIENCE.

    Raises:
        DeployError: it took too long.
    """
    limit_s = patient(timeout_s)
    deadline = time.monotonic() + limit_s
    while observed := missing():
        if time.monotonic() > deadline:
            raise DeployError(
                f"waited {limit_s:g} s in vain: {what}",
                observed=observed,
                fix="nfvbed devcloud logs shows the services' logs; nfvbed devcloud start goes on where it failed",
            )
        time.sleep(_PAUSE_S)
