"""Processes by id and start time, so that a reused id is never taken for the earlier process."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from nfvbed.errors import InternalError, SwitchDiedError
from nfvbed.patience import patient

_STATE, _START_TIME, _EXIT_CODE = 0, 19, 49
"""Places in /proc/<pid>/stat after the name in parentheses (proc(5): fields 3, 22 and 52)."""

_KILL_WAIT_S = patient(5.0)


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name may hold spaces and parentheses: the last ")" ends it.
    return text[text.rindex(")") + 2 :].split()


def start_time(pid: int) -> int | None:
    """Return clock ticks from boot to the start of the process; None when there is no such process."""
    fields = _stat(pid)
    return int(fields[_START_TIME]) if fields else None


def is_alive(pid: int, started: int) -> bool:
    """Return whether exactly that process runs; a zombie does not."""
    fields = _stat(pid)
    return fields is not None and int(fields[_START_TIME]) == started and fields[_STATE] not in "ZX"


def terminate(pid: int, started: int, timeout_s: float = 3.0) -> bool:
    """End exactly that process: SIGTERM, and SIGKILL after the time-out. A stopped process is continued to end.

    Returns:
        Whether the process is gone.
    """
    return _end(pid, started, ((signal.SIGTERM, 0), (signal.SIGCONT, timeout_s), (signal.SIGKILL, _KILL_WAIT_S)))


def kill(pid: int, started: int) -> bool:
    """Kill exactly that process with SIGKILL, as a crash would.

    Returns:
        Whether the process is gone.
    """
    return _end(pid, started, ((signal.SIGKILL, _KILL_WAIT_S),))


def _end(pid: int, started: int, signals: Iterable[tuple[signal.Signals, float]]) -> bool:
    """Send signals, one after the other, until the process is gone; each has its own time, in s."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        # With the handle open the id cannot be given to another process between this check and the signal.
        if not is_alive(pid, started):
            return True
        for number, wait_s in signals:
            try:
                signal.pidfd_send_signal(handle, number)
            except ProcessLookupError:
                return True
            if _ended(handle, wait_s):
                return True
        return False
    finally:
        os.close(handle)


def _ended(handle: int, timeout_s: float) -> bool:
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    return bool(poller.poll(timeout_s * 1000))


LOG_LINES = 15
"""Last lines of the log of a process that are reported when it has ended."""


def tail(log: Path, lines: int) -> str:
    """Return the last lines of a log; none where there is no log."""
    try:
        text = log.read_text(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


class ManagedProcess:
    """A process of a workspace, started by this nfvbed or found in the ledger of an earlier one."""

    def __init__(
        self, name: str, pid: int, started: int, log: Path, popen: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.name = name
        self.pid = pid
        self.start_time = started
        self.log = log
        self._popen = popen

    def alive(self) -> bool:
        """Return whether the process runs."""
        if self._popen is not None:
            return self._popen.poll() is None
        return is_alive(self.pid, self.start_time)

    @property
    def exit_status(self) -> int | None:
        """Exit status; negative: the signal that ended it; None: it runs, or it is not known any more."""
        if self._popen is not None:
            return self._popen.poll()
        fields = _stat(self.pid)
        if not fields or int(fields[_START_TIME]) != self.start_time or fields[_STATE] not in "ZX":
            return None
        return os.waitstatus_to_exitcode(int(fields[_EXIT_CODE]))

    def log_tail(self, lines: int = 20) -> str:
        """Return its last lines of output."""
        return tail(self.log, lines)

    def stop(self, timeout_s: float = 3.0) -> None:
        """End it: SIGTERM, and SIGKILL after the time-out. Idempotent.

        Raises:
            InternalError: it does not even end after SIGKILL (it hangs in the kernel).
        """
        self._expect_gone(terminate(self.pid, self.start_time, timeout_s))

    def kill(self) -> None:
        """Kill it (SIGKILL).

        Raises:
            InternalError: it does not even end then.
        """
        self._expect_gone(kill(self.pid, self.start_time))

    def _expect_gone(self, gone: bool) -> None:
        if self._popen is not None and gone:
            self._popen.wait()
        if not gone:
            raise InternalError(
                f"process {self.name} does not end",
                where=f"pid {self.pid}",
                observed="alive after SIGKILL",
                fix="see its stack in /proc/<pid>/stack; it waits for the kernel",
            )

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end; return its exit status, or None when it still runs."""
        deadline = time.monotonic() + timeout_s
        while self.alive() and time.monotonic() < deadline:
            time.sleep(0.005)
        return self.exit_status


def check_alive(process: ManagedProcess, what: str = "") -> None:
    """Check that a process of the switch runs.

    Args:
        what: what it means that the process has ended, for the message; empty: that it has ended.

    Raises:
        SwitchDiedError: it has ended; with its exit status and the last lines of its log.
    """
    if process.alive():
        return
    raise SwitchDiedError(
        what or f"{process.name} has ended",
        where=f"pid {process.pid}, log {process.log}",
        observed=how_it_ended(process),
        fix="deploy again; with the same end, report the log",
    )


def how_it_ended(process: ManagedProcess) -> str:
    """Return the exit status or signal of a process that has ended, and the last lines of its log."""
    status = process.exit_status
    cause = "exit status unknown" if status is None else f"signal {-status}" if status < 0 else f"exit status {status}"
    return f"{cause}; the last lines of its log:\n{process.log_tail(LOG_LINES)}"
