"""How long nfvbed waits for others: time-outs fit a usual machine, and are stretched on slow ones."""

import os

VARIABLE = "NFVBED_PATIENCE"


def patient(seconds: float) -> float:
    """Return a time-out for this machine: multiplied by $NFVBED_PATIENCE where that is a number above 1."""
    try:
        factor = float(os.environ.get(VARIABLE, "1"))
    except ValueError:
        factor = 1.0
    return seconds * max(factor, 1.0)
