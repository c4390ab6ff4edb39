"""Waiting until something is true; an error says what was last seen."""

import time
from collections.abc import Callable

from nfvbed.errors import DeployError
from nfvbed.patience import patient

_PAUSE_S = 0.2


def wait_until(what: str, missing: Callable[[], str], timeout_s: float) -> None:
    """Ask repeatedly until nothing is missing.

    Args:
        what: the awaited state, as `Keystone answers`.
        missing: returns what is still missing; empty: nothing. An error that it raises ends the waiting.
        timeout_s: the limit, stretched by NFVBED_PATIENCE.

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
