"""The one-way cache-line time between two cores, and the rate of the time-stamp counter."""

import json
import subprocess
from pathlib import Path

from nfvbed.deploy.native import native_binary
from nfvbed.errors import DeployError
from nfvbed.patience import patient
from nfvbed.records import Record

_TIMEOUT_S = patient(10.0)


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
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
        answer = json.loads(done.stdout)
        return Distance(one_way_ns=float(answer["one_way_ns"]), tsc_hz=round(answer["tsc_hz"]))
    except (subprocess.SubprocessError, ValueError, KeyError) as failure:
        words = getattr(failure, "stderr", "") or failure
        raise DeployError(
            "the distance of the cores cannot be measured", where=" ".join(argv), observed=str(words)
        ) from failure
