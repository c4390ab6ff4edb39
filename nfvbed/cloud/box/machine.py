"""A machine of a box: started with its keeper, found again by the ledger, and gone with it."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.box.places import MachinePlaces
from nfvbed.errors import DeployError
from nfvbed.host.cgroups import unified_mount
from nfvbed.host.ledger.entries import CgroupEntry, Entry, ProcessEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.processes import ManagedProcess, is_alive
from nfvbed.host.ledger.spawn import spawn
from nfvbed.patience import patient

_PREFIX = "machine-"
_START_S = patient(20.0)
_BOOT_S = patient(90.0)
_COMMAND_S = 60.0
_CHECKOUT = Path(__file__).resolve().parents[3]
_LAST_LINES = 12
_ENVIRONMENT = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8")


@dataclass(frozen=True)
class Boot:
    """One life of a machine, from a start to a restart."""

    pid: int
    """The machine's first process, as this machine numbers it."""
    starts: int
    """How often it was started, this time included."""


class Machine:
    """A machine that was started."""

    def __init__(self, places: MachinePlaces, keeper: ManagedProcess) -> None:
        self.places = places
        self.name = places.name
        self._keeper = keeper

    @classmethod
    def start(
        cls, places: MachinePlaces, lower: Path, ledger: Ledger, binds: Sequence[tuple[Path, str]] = ()
    ) -> "Machine":
        """Start a machine, and wait until its first process is there; it boots meanwhile.

        Args:
            lower: the root below its own layer.
            ledger: undoing it ends the machine.
            binds: folders of this machine, each with its path in the other, without the first slash.

        Raises:
            DeployError: it did not start; with its output.
        """
        for folder in (places.layer, places.work, places.merged, places.docker):
            folder.mkdir(parents=True, exist_ok=True)
        places.state.unlink(missing_ok=True)
        group = unified_mount() / f"{places.box.mark}-{places.name}"
        ledger.record(CgroupEntry(path=str(group)))
        group.mkdir(exist_ok=True)
        spec = {
            "name": places.name,
            "site": places.box.name,
            "state": str(places.state),
            "cgroup": str(group),
            "merged": str(places.merged),
            "lower": str(lower),
            "layer": str(places.layer),
            "work": str(places.work),
            "kernel_files": str(places.kernel_files),
            "binds": [[str(places.docker), "var/lib/docker"], *([str(one), path] for one, path in binds)],
        }
        places.spec.write_text(json.dumps(spec))
        argv = [sys.executable, "-m", "nfvbed.cloud.box.keeper", str(places.spec)]
        environment = {"PYTHONPATH": str(_CHECKOUT)}
        places.log.unlink(missing_ok=True)
        machine = cls(places, spawn(f"{_PREFIX}{places.name}", argv, places.log, ledger, environment))
        machine._wait_for_start()
        return machine

    @classmethod
    def find(cls, places: MachinePlaces, entries: Sequence[Entry]) -> "Machine | None":
        """Return a machine that runs; None: it does not."""
        for entry in reversed(entries):
            if isinstance(entry, ProcessEntry) and entry.name == f"{_PREFIX}{places.name}":
                if not is_alive(entry.pid, entry.start_time):
                    return None
                return cls(places, ManagedProcess(entry.name, entry.pid, entry.start_time, Path(entry.log)))
        return None

    @property
    def space(self) -> str:
        """Path of its network namespace, which outlives its restarts."""
        return f"/proc/{self._keeper.pid}/ns/net"

    def boot(self) -> Boot:
        """Return the present life.

        Raises:
            DeployError: it is off, or between two lives.
        """
        try:
            state = json.loads(self.places.state.read_text())
        except FileNotFoundError:
            state = None
        if state is None or not is_alive(state["pid"], state["start_time"]):
            raise DeployError(
                f"machine {self.name} is off",
                where=str(self.places.log),
                observed=self._keeper.log_tail(_LAST_LINES) or "its first process has ended",
                fix=f"nfvbed rack start --site {self.places.box.name}",
            )
        return Boot(state["pid"], state["starts"])

    def enter_argv(self, words: Sequence[str]) -> list[str]:
        """Return the command line that runs a command in the machine.

        Raises:
            DeployError: it is off.
        """
        pid = str(self.boot().pid)
        root = f"/proc/{pid}/root"  # nsenter opens both in its own namespaces
        spaces = ["-m", "-u", "-i", "-n", "-p", "-C", f"--root={root}", f"--wd={root}"]
        return ["nsenter", "-t", pid, *spaces, "--", "/usr/bin/env", "-i", *_ENVIRONMENT, *words]

    def run(self, *words: str, timeout_s: float = _COMMAND_S) -> subprocess.CompletedProcess[str]:
        """Run a command in the machine to its end, whatever its exit status.

        Raises:
            DeployError: the machine is off, or the command did not end in its time.
        """
        try:
            return subprocess.run(
                self.enter_argv(words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=patient(timeout_s),
                check=False,
            )
        except subprocess.TimeoutExpired as failure:
            raise DeployError(
                f"{words[0]} did not end within {patient(timeout_s):g} s",
                where=f"machine {self.name}: {' '.join(words)}",
                fix=f"nfvbed rack logs --site {self.places.box.name} {self.name}",
            ) from failure

    def check(self, *words: str, timeout_s: float = _COMMAND_S) -> str:
        """Run a command that must succeed; return what it printed.

        Raises:
            DeployError: as `run`; or it failed, with its last lines.
        """
        done = self.run(*words, timeout_s=timeout_s)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines()[-_LAST_LINES:]
            raise DeployError(
                f"{words[0]} failed on machine {self.name}",
                where=" ".join(words),
                observed=f"exit status {done.returncode}: " + "\n".join(said),
                fix=f"nfvbed rack logs --site {self.places.box.name} {self.name}",
            )
        return done.stdout

    def wait_until_booted(self, units: Sequence[str], starts: int = 1) -> str:
        """Wait until systemd has started everything, and units run; return its state.

        Args:
            units: those that must be active.
            starts: number of the start that is waited for.

        Raises:
            DeployError: a unit does not run; with the end of its journal.
        """
        deadline, state = time.monotonic() + _BOOT_S, "it does not answer"
        while time.monotonic() < deadline:
            try:
                if self.boot().starts >= starts:
                    state = self.run("systemctl", "is-system-running").stdout.strip()
            except DeployError:
                if not self._keeper.alive():
                    raise
            if state in ("running", "degraded"):
                break
            time.sleep(0.2)
        for unit in units:
            found = self.run("systemctl", "is-active", unit).stdout.strip()
            if found != "active":
                said = self.run("journalctl", "--no-pager", "-q", "-n", str(_LAST_LINES), "-u", unit).stdout.strip()
                raise DeployError(
                    f"{unit} does not run on machine {self.name}",
                    where=str(self.places.log),
                    observed=f"it is {found or 'unknown'}, systemd: {state}\n{said}",
                    fix=f"nfvbed rack logs --site {self.places.box.name} {self.name}",
                )
        return state

    def _wait_for_start(self) -> None:
        deadline = time.monotonic() + _START_S
        while not self.places.state.is_file():
            if not self._keeper.alive() or time.monotonic() > deadline:
                raise DeployError(
                    f"machine {self.name} did not start",
                    where=str(self.places.log),
                    observed=self._keeper.log_tail(_LAST_LINES) or "nothing was printed",
                    fix=f"nfvbed rack stop --site {self.places.box.name}, then start; this needs root and overlayfs",
                )
            time.sleep(0.02)
