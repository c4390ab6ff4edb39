"""How much slower than they can be cores are now: by a sibling hyperthread that works, or a lower clock."""

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from nfvbed.errors import DeployError
from nfvbed.host.native import native_binary
from nfvbed.patience import patient
from nfvbed.records.readings import Slowdowns

_TIMEOUT_S = patient(10.0)
_LEAST: dict[int, int] = {}
"""Shortest time that each core has needed for the piece of work, in ticks: what it can do."""
_FIRST_LOOKS = 12
_BETWEEN_FIRST_LOOKS_S = 0.02
"""Others that share a core pause now and then; in a quarter of a second it was seen alone."""


def measure(cores: Sequence[int], root: Path | None = None) -> Slowdowns:
    """Measure for about 1 ms of each core's time; the first time for a quarter of a second.

    Returns:
        For each core the time of a fixed piece of work now, over the shortest that it was seen to need: at least 1.

    Raises:
        PrerequisiteError: the program is not built.
        DeployError: it failed.
    """
    known = all(core in _LEAST for core in cores)
    for _ in range(0 if known else _FIRST_LOOKS):
        _look(cores, root)
        time.sleep(_BETWEEN_FIRST_LOOKS_S)
    medians = _look(cores, root)
    return {core: max(1.0, median / _LEAST[core]) for core, median in medians.items()}


def _look(cores: Sequence[int], root: Path | None) -> dict[int, int]:
    """Return each core's median time now; the least is kept."""
    argv = [str(native_binary("nfvbed-corepace", root)), "--cores", ",".join(map(str, cores))]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
        found = {int(one["core"]): (int(one["least"]), int(one["median"])) for one in json.loads(done.stdout)["cores"]}
    except (subprocess.SubprocessError, ValueError, KeyError) as failure:
        words = getattr(failure, "stderr", "") or failure
        raise DeployError(
            "the pace of the cores cannot be measured", where=" ".join(argv), observed=str(words)
        ) from failure
    for core, (least, _) in found.items():
        _LEAST[core] = min(least, _LEAST.get(core, least))
    return {core: median for core, (_, median) in found.items()}
