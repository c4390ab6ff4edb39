"""Lagopus's process: the program that the user brings, started in the foreground, waited for and watched."""

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.dataplanes.lagopus.datastore import Datastore
from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host.ledger.processes import ManagedProcess, check_alive
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Record, Role, WorkThread

PROGRAM_VARIABLE = "NFVBED_LAGOPUS"
INSTALL = (
    "build Lagopus (github.com/lagopus/lagopus, QUICKSTART.md: ./configure, for lagopus-raw with --disable-dpdk, make,"
    f" make install) and put it on the PATH, or name its program in {PROGRAM_VARIABLE}"
)
NAME = "lagopus"
_PATIENCE_S = 30.0
_LOOK_S = 0.02
_LOG_LINES = 12
DIED = "Lagopus has ended"
_TIMEOUT_S = 10.0


class LagopusSpec(Record):
    """How a Lagopus is started; kept with its deployment, so that it can be started again."""

    netns: str
    """Path of its network namespace."""
    cores: tuple[int, ...]
    flows: int
    """Rules that its configuration holds."""
    eal: tuple[str, ...] = ()
    """Arguments for DPDK; none where it has raw sockets."""


def locate() -> Path:
    """Find the program: $NFVBED_LAGOPUS alone if it is set, else `lagopus` on the PATH.

    Raises:
        PrerequisiteError: it is not there.
    """
    named = os.environ.get(PROGRAM_VARIABLE)
    path = named or shutil.which("lagopus")
    if path is None or not os.access(path, os.X_OK):
        observed = f"{PROGRAM_VARIABLE}={named} is no program" if named else "not on PATH"
        raise PrerequisiteError("Lagopus is not there", where=PROGRAM_VARIABLE, observed=observed, fix=INSTALL)
    return Path(path)


def version() -> str:
    """Ask the program for its version: one that lacks a library fails here.

    Raises:
        PrerequisiteError: it is not there, or does not run.
    """
    program = locate()
    try:
        done = subprocess.run(
            [str(program), "--version"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise PrerequisiteError("Lagopus does not run", where=str(program), observed=str(failure)) from failure
    if done.returncode or not done.stdout.strip():
        observed = done.stderr.strip() or f"exit status {done.returncode}"
        raise PrerequisiteError("Lagopus does not run", where=str(program), observed=observed, fix=INSTALL)
    return done.stdout.strip().rpartition(" ")[2]


@dataclass(frozen=True)
class Lagopus:
    """One Lagopus in its workspace; its configuration lies in `lagopus.dsl` there."""

    workspace: Workspace
    spec: LagopusSpec

    @property
    def datastore(self) -> Datastore:
        """Its datastore."""
        return Datastore(self.spec.netns)

    @property
    def process(self) -> ManagedProcess:
        """Its process, the last one that was started."""
        return self.workspace.process(NAME)

    def start(self) -> None:
        """Start it, and wait until its bridge has its rules.

        Raises:
            SwitchDiedError: it ended; with its words.
            DeployError: it does not come up in time.
        """
        argv = arguments(locate(), self.workspace.directory, self.spec.eal)
        process = self.workspace.spawn(NAME, argv, cores=self.spec.cores, netns=self.spec.netns)
        deadline = time.monotonic() + _PATIENCE_S
        while not self._is_configured():
            check_alive(process, DIED)
            if time.monotonic() > deadline:
                raise DeployError(
                    "Lagopus does not come up", where=str(process.log), observed=process.log_tail(_LOG_LINES)
                )
            time.sleep(_LOOK_S)

    def _is_configured(self) -> bool:
        if not self.datastore.listens():
            return False
        try:
            return self.datastore.flows() >= self.spec.flows
        except DeployError:
            return False  # It listens before it has read its configuration.

    def threads(self) -> tuple[WorkThread, ...]:
        """Return all threads of the process; Lagopus does not report which of them forward."""
        process, found = self.process, []
        for task in sorted(Path(f"/proc/{process.pid}/task").glob("*"), key=lambda path: int(path.name)):
            try:
                name = (task / "comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended meanwhile
            core = self.spec.cores[0] if len(self.spec.cores) == 1 else None
            found.append(WorkThread(role=Role.SWITCH, pid=process.pid, tid=int(task.name), core=core, name=name))
        return tuple(found)


def arguments(program: Path, directory: Path, eal: Sequence[str]) -> list[str]:
    """Return the program and its arguments; -d keeps it in the foreground."""
    argv = [str(program), "-d", "-l", str(directory / "lagopus-own.log"), "-p", str(directory / "lagopus.pid")]
    argv += ["-C", str(configuration_file(directory))]
    return [*argv, "--", *eal] if eal else argv


def configuration_file(directory: Path) -> Path:
    """Return the file of its configuration."""
    return directory / "lagopus.dsl"
