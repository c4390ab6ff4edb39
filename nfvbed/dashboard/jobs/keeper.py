"""The process beside a job's command: starts it, waits, and writes down how it ended.

It is in a session of its own and no child of the server, which may end and start again meanwhile. It holds the lock
of the job's site as long as it lives.
"""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from nfvbed.dashboard.audit import Audit, Outcome
from nfvbed.dashboard.jobs import files
from nfvbed.dashboard.jobs.processes import process_of, send
from nfvbed.dashboard.jobs.records import (
    CANCELLED,
    ENDED,
    INTERRUPTED,
    LOG,
    OUTPUT,
    RUNNING,
    SPEC,
    JobEnd,
    JobSpec,
    RunningJob,
)
from nfvbed.errors import InternalError

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: list[str]) -> None:
    """Keep one job.

    Args:
        arguments: its folder; the audit log's file; numbers of the cores that its command may use, with commas.
    """
    folder, audit, cores = Path(arguments[0]), Audit(Path(arguments[1])), arguments[2]
    if os.fork():
        os._exit(0)  # The server waits for this one alone; the other is a child of no process here.
    os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
    # A signal that is ignored is ignored by the command too, and could not cancel it; one that is handled is not.
    for number in _SIGNALS:
        signal.signal(number, lambda _number, _frame: None)
    spec = files.read(folder / SPEC, JobSpec)
    if spec is None:
        raise InternalError("a job has no description", where=str(folder))
    status = _run(folder, spec)
    files.write(folder / ENDED, JobEnd(status=status, at=datetime.now(UTC).isoformat(timespec="seconds")))
    outcome = Outcome.DONE if status == 0 else Outcome.FAILED
    said = f"exit status {status}{' after it was cancelled' if (folder / CANCELLED).exists() else ''}"
    audit.write(spec.who, f"job {spec.id} ended", outcome, " ".join(spec.arguments), said)


def _run(folder: Path, spec: JobSpec) -> int:
    if (folder / CANCELLED).exists():  # before it began
        return INTERRUPTED
    with (folder / LOG).open("ab") as log, (folder / OUTPUT).open("ab") as output:
        command = subprocess.Popen(
            [sys.executable, "-m", "nfvbed", *spec.arguments],
            stdin=subprocess.DEVNULL,
            stdout=output if spec.prints_document else log,
            stderr=log,
        )
        keeper, started = process_of(os.getpid()), process_of(command.pid)
        if keeper is not None and started is not None:
            files.write(folder / RUNNING, RunningJob(keeper=keeper, command=started))
            if (folder / CANCELLED).exists():  # while the process was not known, and nothing could be sent to it
                send(started, signal.SIGINT)
        return command.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
