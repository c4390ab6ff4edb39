"""The one-way cache-line time between two cores, and the rate of the time-stamp counter."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from nfvbed.errors import DeployError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.native import native_binary
from nfvbed.patience import patient
from nfvbed.records import Record, VnfHandle

_TIMEOUT_S = patient(10.0)
_RATES: dict[str, int] = {}
"""Rates of the time-stamp counter in Hz, by program, as its first call reported them: a rate stays, and takes 20 ms to
measure.
"""
_ATTEMPTS = 3 if patient(1) > 1 else 1
"""Both cores must run at the same time; those of an emulated machine do when the host's scheduler says so."""


class Distance(Record):
    """The measurement of nfvbed-coredistance."""

    one_way_ns: float
    tsc_hz: int


def measure(cores: tuple[int, int], root: Path | None = None) -> Distance:
    """Measure for about 1 ms of both cores' time; the first time 20 ms more, where the processor hides its rate.

    Raises:
        PrerequisiteError: the program is not built.
        DeployError: it failed.
    """
    program = str(native_binary("nfvbed-coredistance", root))
    argv = [program, "--cores", f"{cores[0]},{cores[1]}"]
    argv += ["--tsc-hz", str(_RATES[program])] if program in _RATES else []
    try:
        answer = json.loads(_ask(argv))
        found = Distance(one_way_ns=float(answer["one_way_ns"]), tsc_hz=round(answer["tsc_hz"]))
        _RATES.setdefault(program, found.tsc_hz)
        return found
    except (subprocess.SubprocessError, ValueError, KeyError) as failure:
        words = getattr(failure, "stderr", "") or failure
        raise DeployError(
            "the distance of the cores cannot be measured", where=" ".join(argv), observed=str(words)
        ) from failure


def pairs_of(arrangement: Arrangement, vnfs: Sequence[VnfHandle] = ()) -> tuple[tuple[int, int], ...]:
    """Return the pairs of cores that share the work: each of the switch's with each of the generator's and the VNFs'.

    A guest's cores are those that its vCPUs are pinned to, where they are.
    """
    others = _others(arrangement, vnfs)
    return tuple((one, other) for one in arrangement.switch_cores for other in others if one != other)


def cores_of(arrangement: Arrangement, vnfs: Sequence[VnfHandle] = ()) -> tuple[int, ...]:
    """Return the cores that share the work, each once: the switch's, the generator's and the VNFs'."""
    return tuple(dict.fromkeys((*arrangement.switch_cores, *_others(arrangement, vnfs))))


def _others(arrangement: Arrangement, vnfs: Sequence[VnfHandle]) -> tuple[int, ...]:
    others = [arrangement.generator_core, *arrangement.more_generator_cores]
    for vnf in vnfs:
        pinned = [t.core for t in vnf.threads if t.core is not None and t.tid != t.pid]
        others += pinned or vnf.cores
    return tuple(dict.fromkeys(others))


def _ask(argv: list[str]) -> str:
    for _ in range(_ATTEMPTS - 1):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        if done.returncode == 0:
            return done.stdout
    return subprocess.run(argv, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True).stdout
