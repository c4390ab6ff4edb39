"""A noisy neighbour beside a deployment: stress-ng, started with the generator and ended with it."""

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from nfvbed import boundedcommand
from nfvbed.errors import ConfigurationError, GeneratorError, PrerequisiteError, UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.memory.meminfo import available_kib, total_kib
from nfvbed.measure.task import TrialTask
from nfvbed.records import Deployment, TrialRecord
from nfvbed.run.tools import Measures
from nfvbed.sites.hosted import require_host
from nfvbed.sites.site import Site
from nfvbed.spec.neighbour import NeighbourSpec
from nfvbed.traffic.generator import TrafficRequest

PROGRAM: Final = "stress-ng"
NAME: Final = "neighbour"
"""Name of its process, and of its log in the run directory."""
_OPTIONS: Final = {"cpu": "--cpu", "io": "--iomix", "memory": "--vm"}
_OWN_MIB: Final = 256
"""Memory of each memory worker, where the experiment does not say (stress-ng's `--vm-bytes`)."""
_MOST_OF_FREE: Final = 0.9
_ASK_S: Final = 20.0
_BEGIN_S: Final = 0.5
"""An argument that it does not take ends it within milliseconds."""


@dataclass(frozen=True)
class NeighbourLoad:
    """A neighbour's work on one machine."""

    cores: tuple[int, ...]
    workers: Mapping[str, int]
    memory_mib: int
    """Memory of all memory workers together; 0: there are none."""
    memory_percent: float | None = None
    """Memory in percent, as the experiment has it: the MiB differ a little from boot to boot."""

    @property
    def argv(self) -> tuple[str, ...]:
        """The arguments; without a time limit it runs until it is ended."""
        found = [word for kind, count in self.workers.items() for word in (_OPTIONS[kind], str(count))]
        if self.memory_mib:
            # stress-ng shares it out among its workers by itself.
            found += ["--vm-bytes", f"{self.memory_mib}m"]
        return (*found, "--timeout", "0")


def resolve(
    spec: NeighbourSpec, allowed: tuple[int, ...], arrangement: Arrangement, memory_mib: tuple[int, int]
) -> NeighbourLoad:
    """Decide what a neighbour does on a machine.

    Args:
        allowed: the machine's cores that may be used.
        memory_mib: the machine's memory, and what of it is free.

    Raises:
        ConfigurationError: it names a core that is not there.
        UnsupportedError: it asks for more memory than is free.
    """
    strange = sorted(set(spec.cores) - set(allowed))
    if strange:
        raise ConfigurationError(
            "the noisy neighbour cannot run on a core that is not there",
            where="neighbour.cores",
            observed=f"{strange} of {list(spec.cores)}; there are {list(allowed)}",
            fix="name cores of this machine, or none",
        )
    busy = {
        *arrangement.switch_cores,
        arrangement.generator_core,
        *arrangement.more_generator_cores,
        *arrangement.vnf_cores,
    }
    cores = spec.cores or tuple(core for core in allowed if core not in busy) or allowed
    count = max(1, round(max(1, len(allowed) - spec.reserved_cores) * spec.load_percent / 100))
    parts = sum(spec.workers.values())
    workers: dict[str, int] = {k: max(1, round(count * part / parts)) for k, part in sorted(spec.workers.items())}
    return NeighbourLoad(cores, workers, _memory(spec, workers, memory_mib), spec.memory_percent)


def _memory(spec: NeighbourSpec, workers: Mapping[str, int], memory_mib: tuple[int, int]) -> int:
    total, free = memory_mib
    if "memory" not in workers:
        return 0
    asked = workers["memory"] * _OWN_MIB if spec.memory_percent is None else int(total * spec.memory_percent / 100)
    most = int(free * _MOST_OF_FREE)
    if asked > most:
        raise UnsupportedError(
            "the noisy neighbour would need more memory than is free",
            where="neighbour.memory_percent",
            observed=f"{asked:,} MiB of {total:,} MiB; {free:,} MiB are free, and it is given 90 % of them at most",
            fix=f"memory_percent: {max(1, most * 100 // max(total, 1))} (--set neighbour.memory_percent=...)",
        )
    return asked


def _named(version: str) -> str:
    """Return name and version of the program, of what its `--version` prints: `stress-ng, version 0.15.06 (gcc ...`."""
    found = re.search(r"version (\S+)", version)
    return f"{PROGRAM} {found[1]}" if found else PROGRAM


@dataclass(frozen=True)
class Neighbour:
    """A neighbour that runs."""

    load: NeighbourLoad
    program: str
    """Name and version."""
    process: ManagedProcess

    def described(self) -> dict[str, Any]:
        """Return its part of the rig."""
        return {
            "program": self.program,
            "cores": list(self.load.cores),
            "workers": dict(self.load.workers),
            "memory_percent": self.load.memory_percent,
        }

    def verify(self) -> None:
        """Check that it still runs.

        Raises:
            GeneratorError: it has ended, so that a trial was not beside it all the time.
        """
        if not self.process.alive():
            raise GeneratorError(
                "the noisy neighbour has ended",
                where=str(self.process.log),
                observed=f"exit status {self.process.exit_status}; {self.process.log_tail(3)}",
                fix="ask for less memory or fewer workers (neighbour), and begin a new run",
            )


class MeasuresBeside:
    """Measures trials, each of which the neighbour has outlived."""

    def __init__(self, measures: Measures, neighbour: Neighbour) -> None:
        self._measures = measures
        self._neighbour = neighbour

    def warm_up(self, request: TrafficRequest) -> None:
        """Run traffic whose result is thrown away."""
        self._measures.warm_up(request)

    def measure(self, task: TrialTask) -> TrialRecord:
        """Run one trial.

        Raises:
            GeneratorError: the neighbour has ended meanwhile.
        """
        record = self._measures.measure(task)
        self._neighbour.verify()
        return record


@contextmanager
def beside(site: Site, deployment: Deployment, spec: NeighbourSpec | None) -> Iterator[Neighbour | None]:
    """Run a neighbour beside a deployment for the length of a block; None where there is to be none.

    Raises:
        UnsupportedError: the site is no host, or it has too little memory.
        PrerequisiteError: stress-ng is not there.
        ConfigurationError: as `resolve`.
    """
    if spec is None:
        yield None
        return
    host = require_host(site, deployment, "A noisy neighbour")
    program = shutil.which(PROGRAM)
    if program is None:
        fix = f"make setup, or install {PROGRAM} as this system does"
        raise PrerequisiteError(f"{PROGRAM} is not there", where="PATH", observed="not found", fix=fix)
    load = resolve(spec, read_topology().allowed, host.arrangement, (total_kib() // 1024, available_kib() // 1024))
    version = boundedcommand.run([program, "--version"], within_s=_ASK_S).output
    process = host.workspace.spawn(NAME, [program, *load.argv], cores=load.cores)
    neighbour = Neighbour(load, _named(version), process)
    try:
        process.wait(_BEGIN_S)
        neighbour.verify()
        yield neighbour
    finally:
        process.stop()
