"""Starts processes that may outlive the command: each is recorded, and ends with what it is for."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from nfvbed.errors import DeployError
from nfvbed.host.ledger.entries import ProcessEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.processes import ManagedProcess, start_time


def spawn(
    name: str, argv: Sequence[str], log: Path, ledger: Ledger, environment: Mapping[str, str] | None = None
) -> ManagedProcess:
    """Start a process in a session of its own, in the folder of its log, and record it.

    Args:
        name: name in the ledger and in messages.
        argv: the program and its arguments; it must stay in the foreground.
        ledger: undoing it ends the process.
        environment: variables on top of nfvbed's own.

    Raises:
        DeployError: the process ended at once.
    """
    with log.open("ab") as output:
        popen = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=log.parent,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    started = start_time(popen.pid)
    if started is None:
        raise DeployError(f"{name} could not be started", where=argv[0], observed="gone at once")
    ledger.record(ProcessEntry(name=name, pid=popen.pid, start_time=started, log=str(log)))
    return ManagedProcess(name, popen.pid, started, log, popen)
