"""The folder of jobs: starts one, lists them, cancels one."""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from nfvbed.dashboard.audit import Audit, AuditSubject
from nfvbed.dashboard.jobs import files
from nfvbed.dashboard.jobs.processes import is_alive, send
from nfvbed.dashboard.jobs.records import (
    CANCELLED,
    ENDED,
    INTERRUPTED,
    LOG,
    OUTPUT,
    RUNNING,
    SPEC,
    Cancelled,
    Job,
    JobEnd,
    JobSpec,
    RunningJob,
    State,
)
from nfvbed.errors import BusyError, InternalError, NfvbedError, UsageError
from nfvbed.spec.below import below

KEEPER: Final = "nfvbed.dashboard.jobs.keeper"
OWN_LOG: Final = "keeper"
"""What the keeper itself had to complain of."""
START_S: Final = 10.0
"""How long a job may take until its process is known; one that is older and has none is lost."""
LOOKED_AT: Final = 50
"""Newest jobs among which that of a run is looked for."""
_TICK_S: Final = 0.02
_RUN: Final = re.compile(r"^run ([0-9a-f-]{36}) of \S+ (?:begins|goes on)", re.MULTILINE)
"""A line of `nfvbed run`."""
_ID: Final = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9]{6}")
_HEAD: Final = 16_384
"""Bytes of a log in which that line is."""


class Jobs:
    """Jobs of one project.

    Args:
        folder: holds the jobs' folders; it is its owner's alone.
        root: the project's folder.
        store: results to which jobs write; given to them in their environment, as a URL may hold a password.
        audit: the log of their ends.
        cores: those that jobs may use.
    """

    def __init__(self, folder: Path, root: Path, store: str, audit: Audit, cores: frozenset[int]) -> None:
        self.folder = folder
        self.root = root
        self.store = store
        self._audit = audit
        self.cores = cores
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def start(
        self, action: str, site: str, arguments: tuple[str, ...], who: AuditSubject, document: bool = False
    ) -> Job:
        """Start a job.

        Args:
            arguments: those of nfvbed, as a list; no shell reads them.
            document: whether its output is JSON.

        Raises:
            BusyError: another one runs on this site.
            InternalError: the job's process does not start.
        """
        with self._site_held(site) as lock:
            now = datetime.now(UTC)
            spec = JobSpec(
                id=now.strftime("%Y%m%d-%H%M%S-%f"), action=action, site=site, arguments=arguments, who=who,
                prints_document=document, asked_at=now.isoformat(timespec="seconds"),
            )  # fmt: skip
            folder = below(self.folder, spec.id)
            folder.mkdir(mode=0o700)
            files.write(folder / SPEC, spec)
            os.pwrite(lock, spec.id.encode(), 0)
            cores = ",".join(map(str, sorted(self.cores)))
            with (folder / OWN_LOG).open("ab") as log:
                keeper = subprocess.run(
                    [sys.executable, "-m", KEEPER, str(folder), str(self._audit.path), cores],
                    cwd=self.root,
                    env={**os.environ, "NFVBED_ROOT": str(self.root), "NFVBED_STORE": self.store},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    start_new_session=True,
                    pass_fds=(lock,),
                    check=False,
                )
        if keeper.returncode:
            raise InternalError(
                "the process of a job does not start",
                where=str(folder / OWN_LOG),
                observed=f"exit status {keeper.returncode}",
                fix="see that file",
            )
        return self._begun(spec.id)

    def job(self, name: str) -> Job | None:
        """Return a job; None where there is none of this id."""
        if not _ID.fullmatch(name):
            return None
        folder = below(self.folder, name)
        spec = files.read(folder / SPEC, JobSpec)
        if spec is None:
            return None
        running = files.read(folder / RUNNING, RunningJob)
        cancelled = files.read(folder / CANCELLED, Cancelled)
        # Looked at before the end is read: a keeper writes the end, and is gone then.
        alive = running is not None and (is_alive(running.keeper) or is_alive(running.command))
        ended = files.read(folder / ENDED, JobEnd)
        return Job(
            spec=spec, state=_state(spec, (running, alive), cancelled, ended), running=running, cancelled=cancelled,
            ended=ended, run=self._run(folder, spec),
        )  # fmt: skip

    def newest(self, most: int) -> tuple[Job, ...]:
        """Return the newest jobs, newest first."""
        names = sorted((entry.name for entry in os.scandir(self.folder) if _ID.fullmatch(entry.name)), reverse=True)
        return tuple(job for name in names[:most] if (job := self.job(name)) is not None)

    def of_run(self, run: str) -> Job | None:
        """Return the newest job of a run; None: none of the newest ones measured it."""
        return next((job for job in self.newest(LOOKED_AT) if job.run == run), None)

    def alive(self) -> tuple[Job, ...]:
        """Return the jobs that run: those that hold their site."""
        found = (self._holder(path.stem) for path in self.folder.glob("*.lock"))
        return tuple(job for job in found if job is not None)

    def cancel(self, name: str, who: AuditSubject) -> Job:
        """Ask a job to end, as Ctrl-C does: it cleans up, and what was measured is kept. May be repeated.

        A job that is only starting is asked too: its keeper looks for that when the command's process is known.

        Raises:
            UsageError: the job does not run.
        """
        job = self._known(name)
        if not job.is_alive:
            raise UsageError(f"job {name} does not run", observed=job.state.value, fix="see its page")
        if job.cancelled is None:
            asked = Cancelled(who=who, at=datetime.now(UTC).isoformat(timespec="seconds"))
            files.write(below(self.folder, name) / CANCELLED, asked)
        # Looked at after that was written: either this process sees the command, or its keeper that it was asked.
        if (running := self._known(name).running) is not None:
            send(running.command, signal.SIGINT)
        return self._known(name)

    def log(self, name: str, most: int) -> str:
        """Return the end of a job's log.

        Args:
            name: that of an existing job.
            most: the most bytes that are returned.
        """
        return files.tail(below(self.folder, name) / LOG, most)

    def output(self, name: str) -> bytes:
        """Return the document that a job printed; empty where it printed none."""
        path = below(self.folder, name) / OUTPUT
        return path.read_bytes() if path.exists() else b""

    def _begun(self, name: str) -> Job:
        """Return a job as soon as its process is known."""
        until = time.monotonic() + START_S
        while True:
            job = self._known(name)
            if job.state is not State.STARTING or time.monotonic() > until:
                return job
            time.sleep(_TICK_S)

    def _known(self, name: str) -> Job:
        """Return an existing job.

        Raises:
            UsageError: there is no such job.
        """
        job = self.job(name)
        if job is None:
            raise UsageError(f"there is no job {name}", fix="see /jobs")
        return job

    @contextlib.contextmanager
    def _site_held(self, site: str) -> Iterator[int]:
        """Hold a site and yield the lock's descriptor, which the job's keeper inherits and holds until it ends.

        Raises:
            BusyError: another job has the site.
        """
        lock = os.open(self._lock(site), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise self._busy(site) from error
            if self._holder(site) is not None:  # its keeper was killed, and its command was not
                raise self._busy(site)
            os.ftruncate(lock, 0)
            yield lock
        finally:
            os.close(lock)

    def _busy(self, site: str) -> NfvbedError:
        job = self._holder(site)
        if job is None:
            return BusyError(f"another job is just starting or ending on site {site}", fix="try again")
        by = f"{job.spec.who.role} {job.spec.who.user or job.spec.who.client}".strip()
        return BusyError(
            f"another job runs on site {site}",
            where=f"job {job.spec.id}",
            observed=f"nfvbed {' '.join(job.spec.arguments)}, started by {by} at {job.spec.asked_at}",
            fix=f"wait for its end, or cancel it: /jobs/{job.spec.id}",
        )

    def _holder(self, site: str) -> Job | None:
        """Return the job that is alive on a site."""
        try:
            job = self.job(self._lock(site).read_text(encoding="ascii"))
        except FileNotFoundError:
            return None
        return job if job is not None and job.is_alive else None

    def _lock(self, site: str) -> Path:
        return below(self.folder, f"{site}.lock")

    def _run(self, folder: Path, spec: JobSpec) -> str:
        if spec.action != "run":
            return ""
        try:
            with (folder / LOG).open("rb") as file:
                head = file.read(_HEAD).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        found = _RUN.search(head)
        return found[1] if found else ""


def _state(
    spec: JobSpec, running: tuple[RunningJob | None, bool], cancelled: Cancelled | None, ended: JobEnd | None
) -> State:
    known, alive = running
    if ended is not None:
        if ended.status == 0:
            return State.DONE
        interrupted = ended.status in (INTERRUPTED, -signal.SIGINT)
        return State.CANCELLED if cancelled is not None and interrupted else State.FAILED
    if alive:
        return State.RUNNING if cancelled is None else State.CANCELLING
    age_s = (datetime.now(UTC) - datetime.fromisoformat(spec.asked_at)).total_seconds()
    if known is not None or age_s >= START_S:
        return State.LOST
    return State.STARTING if cancelled is None else State.CANCELLING
