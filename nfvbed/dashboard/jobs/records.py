"""What is written down of a job: small files in its folder, each written once."""

from enum import StrEnum
from typing import Final

from nfvbed.dashboard.audit import AuditSubject
from nfvbed.records import Record

SPEC: Final = "job.json"
RUNNING: Final = "running.json"
CANCELLED: Final = "cancelled.json"
INTERRUPTED: Final = 130
"""Exit status of a command that an interrupt ended."""
ENDED: Final = "ended.json"
LOG: Final = "log"
"""What the command wrote: errors, and its output where that is no document."""
OUTPUT: Final = "output"
"""The document that the command printed."""


class JobSpec(Record):
    """A job as it was asked for."""

    id: str
    action: str
    """What it is for people: deploy, onboard, run, ..."""
    site: str
    """Site of the job; at most one job runs on a site."""
    arguments: tuple[str, ...]
    """Arguments of nfvbed, without secrets."""
    prints_document: bool = False
    """Whether its output is JSON, and kept apart from its log."""
    who: AuditSubject
    asked_at: str
    """ISO 8601, UTC."""


class Process(Record):
    """A process that cannot be mistaken for a later one with its number."""

    pid: int
    began: int
    """Clock ticks after boot (proc_pid_stat(5), starttime)."""
    boot: str
    """Id of the boot."""


class RunningJob(Record):
    """The two processes of a job that was started."""

    keeper: Process
    """Waits for the command's end, and writes it down."""
    command: Process


class Cancelled(Record):
    """That it was asked to end."""

    who: AuditSubject
    at: str


class JobEnd(Record):
    """The end of a job's command."""

    status: int
    """Exit status; a signal's number below 0."""
    at: str


class State(StrEnum):
    """The state of a job."""

    STARTING = "starting"
    RUNNING = "running"
    CANCELLING = "being cancelled"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    LOST = "lost"
    """Killed, or ended with the machine: how the job ended was not written down."""


ALIVE: Final = (State.STARTING, State.RUNNING, State.CANCELLING)


class Job(Record):
    """A job as it is now."""

    spec: JobSpec
    state: State
    running: RunningJob | None = None
    cancelled: Cancelled | None = None
    ended: JobEnd | None = None
    run: str = ""
    """Id of the run that it measures, as soon as there is one."""

    @property
    def is_alive(self) -> bool:
        """Whether it may still do something."""
        return self.state in ALIVE
