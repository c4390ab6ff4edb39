"""The one-way cache-line time between two cores, and the rate of the time-stamp counter."""

import json
import subprocess
from pathlib import Path

from nfvbed.deploy.native import native_binary
from nfvbed.errors import DeployError
from nfvbed.patience import patient
from nfvbed.records import Record

_TIMEOUT_S = patient(10.0)
_ATTEMPTS = 3 if patient(1) > 1 else 1
"""Both cores must run at the same time; those of an emulated machine do when the host's scheduler says so."""


class Distance(Record):
    """What nfvbed-coredistance measured."""

    one_way_ns: float
    tsc_hz: int


def measure(cores: tuple[int, int], root: Path | None = None) -> Distance:
    """Measure; about 1 ms of both cores' time.

    Raises:
        PrerequisiteError: the program is not built.
        DeployError: it failed.
    """
    argv = [str(native_binary("nfvbed-coredistance", root)), "--cores", f"{cores[0]},{cores[1]}"]
    try:
        answer = json.loads(_ask(argv))
        return Distance(one_way_ns=float(answer["one_way_ns"]), tsc_hz=round(answer["tsc_hz"]))
    except (subprocess.SubprocessError, ValueError, KeyError) as failure:
        words = getattr(failure, "stderr", "") or failure
        raise DeployError(
            "the distance of the cores cannot be measured", where=" ".join(argv), observed=str(words)
        ) from failure


def _ask(argv: list[str]) -> str:
    for _ in range(_ATTEMPTS - 1):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        if done.returncode == 0:
            return done.stdout
    return subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True).stdout
