"""The path of what is deployed on a site, as `nfvbed steer` gives it, and the jobs that change it.

To read a path is to start a process as the user that runs the dashboard, so operators' pages alone do; all others show
what these have read.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from nfvbed.dashboard.audit import AuditSubject
from nfvbed.dashboard.commands import called, error_of
from nfvbed.dashboard.jobs.folder import Jobs
from nfvbed.dashboard.jobs.records import Job, State
from nfvbed.dashboard.results.shared import QUEUE_S, SharedReadings
from nfvbed.errors import BusyError
from nfvbed.host.workspace.trialsign import going_trial
from nfvbed.records.chain import ChainReport

FRESH_S: Final = 3.0
"""How long a reading answers who asks again: pages that are loaded at once, and the one after a change."""
DRAFT_S: Final = 30.0
"""The same for who is making an order on the page: each move would wait for a reading otherwise."""
CHANGE_S: Final = 30.0
"""How long a change is waited for; one that takes longer is watched on its job's page."""
LOG: Final = 8192
"""Bytes of a job's log in which its error is."""
_TICK_S: Final = 0.05

Call = Callable[[Path, list[str]], str]


@dataclass(frozen=True)
class ChainReading:
    """A path, and when it was read."""

    report: ChainReport
    at: datetime
    """UTC."""


class Chains:
    """Reads paths, one at a time, and starts the jobs that change them; may be called from several threads.

    Args:
        call: calls a verb that changes nothing.
    """

    def __init__(self, jobs: Jobs, call: Call = called) -> None:
        self._jobs = jobs
        self._call = call
        self._one_at_a_time = threading.Lock()
        self._paths: SharedReadings[ChainReading] = SharedReadings("the path", FRESH_S)
        self._foreseen: SharedReadings[str] = SharedReadings("what another length would change", FRESH_S)

    def read(self, site: str, *, draft: bool = False) -> ChainReading:
        """Return the path on a site.

        Args:
            draft: an order or a length is being chosen, for which a reading may be older.

        Raises:
            NfvbedError: nothing is deployed there, it cannot be read, or a job or a trial would be disturbed.
        """

        def make() -> ChainReading:
            return _chain_of(self._ask("steer", "--site", site, "--json"))

        return self._paths.read(site, make, DRAFT_S if draft else FRESH_S)

    def newest(self, site: str) -> ChainReading | None:
        """Return the path on a site as it was read last, for users who may not have it read; None: it never was.

        Raises:
            NfvbedError: the last reading failed; this is why.
        """
        return self._paths.newest(site)

    def foresee(self, site: str, length: int) -> str:
        """Return what a chain of another length would change.

        Raises:
            NfvbedError: such a chain is not possible; else as `read`.
        """

        def make() -> str:
            return self._ask("steer", "--site", site, *length_of(length), "--dry-run").strip()

        return self._foreseen.read((site, length), make, FRESH_S)

    def change(self, site: str, arguments: tuple[str, ...], who: AuditSubject) -> Job:
        """Start the job that changes a path.

        Args:
            arguments: those of `nfvbed steer`: the order or the length.

        Raises:
            BusyError: another job runs on this site.
        """
        return self._jobs.start("steer", site, ("steer", "--site", site, *arguments, "--json"), who, document=True)

    def awaited(self, job: Job) -> Job:
        """Wait for a bounded time for the end of a job, and return the job as it then is.

        Raises:
            NfvbedError: what it failed with; the path is as it was.
        """
        until = time.monotonic() + CHANGE_S
        now = job
        while now.is_alive and time.monotonic() < until:
            time.sleep(_TICK_S)
            now = self._jobs.job(job.spec.id) or now
        if now.state is State.FAILED and now.ended is not None:
            raise error_of(now.ended.status, self._jobs.log(job.spec.id, LOG), " ".join(job.spec.arguments))
        if now.state is State.DONE:
            self._paths.keep(job.spec.site, _chain_of(self._jobs.output(job.spec.id).decode()))
        return now

    def _ask(self, *arguments: str) -> str:
        """Call a verb and return what it printed; no two are called at once.

        Raises:
            NfvbedError: what the verb failed with, or it would disturb a measurement.
        """
        if not self._one_at_a_time.acquire(timeout=QUEUE_S):
            raise BusyError(
                "another path is being read", observed=f"for more than {QUEUE_S:g} s", fix="load the page again"
            )
        try:
            self._require_quiet()
            return self._call(self._jobs.root, list(arguments))
        finally:
            self._one_at_a_time.release()

    def _require_quiet(self) -> None:
        """Refuse to start a process beside a measurement.

        Raises:
            BusyError: there is a measurement, or a job.
        """
        for job in self._jobs.alive():
            raise BusyError(
                "the path is not read while a job runs, as that would disturb it",
                where=f"job {job.spec.id}",
                observed=f"nfvbed {' '.join(job.spec.arguments)}",
                fix=f"wait for its end, or cancel it: /jobs/{job.spec.id}",
            )
        if trial := going_trial():
            raise BusyError(
                "the path is not read while a trial is running, as that would disturb it",
                observed=str(trial),
                fix="load the page again",
            )


def _chain_of(document: str) -> ChainReading:
    return ChainReading(ChainReport.model_validate_json(document), datetime.now(UTC))


def length_of(length: int) -> tuple[str, str]:
    """Return the option of `nfvbed steer` that says how many VNFs."""
    return "--length", str(length)
