"""Ends TRex together with the program that started it, however that ended.

TRex's start script is one process and TRex itself another, which runs on when the script is killed. So a guard is
between them and the program: it adopts children of its children that have ended, and ends all of them when its standard
input ends, which is the program's other end of a pipe.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

TERM_S = 4.0
"""How long TRex may take to end. The keeper on a host of another (`TERM_S` there) waits longer."""
AGAIN_S = 0.05
PR_SET_CHILD_SUBREAPER = 36
_ROOT = str(Path(__file__).parents[3])
"""Folder or archive that `nfvbed` is in."""
_MAIN = (
    "import sys\nsys.path.insert(0, sys.argv.pop(1))\nfrom nfvbed.traffic.trex import guard\nsys.exit(guard.main())\n"
)


def start(argv: Sequence[str], folder: Path) -> "subprocess.Popen[bytes]":
    """Start a program under a guard, and return the guard: its exit status is the program's.

    Args:
        argv: program and arguments. Its output goes where this program's errors go.
    """
    command = [sys.executable, "-c", _MAIN, _ROOT, *argv]
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=sys.stderr)


def end(guard: "subprocess.Popen[bytes]") -> None:
    """End a guard with all its descendants; idempotent."""
    if guard.stdin is not None:
        guard.stdin.close()
    guard.wait()


def main() -> int:
    """Guard the program in the arguments; return its exit status."""
    for number in (signal.SIGTERM, signal.SIGINT):
        # They are for all of the group; the guard ends last.
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, preexec_fn=_hear)
    select.select([sys.stdin, os.pidfd_open(child.pid)], [], [])
    return os.waitstatus_to_exitcode(_end_all()[child.pid])


def _hear() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def _end_all() -> dict[int, int]:
    """End all descendants, those of ended parents too; return how they ended."""
    deadline = time.monotonic() + TERM_S
    asked: set[int] = set()
    ended: dict[int, int] = {}
    while True:
        with contextlib.suppress(ChildProcessError):
            while (one := os.waitpid(-1, os.WNOHANG))[0]:
                ended[one[0]] = one[1]
        left = set(_descendants(os.getpid()))
        if not left:
            return ended
        late = time.monotonic() > deadline
        for pid in left if late else left - asked:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
        asked |= left
        time.sleep(AGAIN_S)


def _descendants(parent: int) -> Iterator[int]:
    """Yield the processes below one, ended ones that were not waited for too."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name, in brackets, may hold spaces and brackets.
            above = int(entry.read_text().rpartition(")")[2].split()[1])
            children.setdefault(above, []).append(int(entry.parent.name))
    waiting = [parent]
    while waiting:
        below = children.get(waiting.pop(), [])
        waiting += below
        yield from below
