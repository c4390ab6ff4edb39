"""Steps of a demonstration: each is a command that its user can type, and is printed before it runs."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from nfvbed.errors import DeployError, NotComparableError
from nfvbed.host.memory.meminfo import available_kib

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_S = 300.0
"""How long a step may take to end what it has begun after Ctrl-C; then it is killed."""
_LOOK_S = 1.0


class Resources:
    """Watches how much less memory and disk is available than at the beginning, while it is entered."""

    def __init__(self) -> None:
        self._memory = self._least_memory = available_kib()
        self._disk = self._least_disk = self._free()
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Resources":
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watch.join()

    @property
    def memory_mib(self) -> int:
        """The most that was taken, hugepages included; of all that runs on this machine."""
        return (self._memory - self._least_memory) // 1024

    @property
    def disk_mib(self) -> int:
        """The most that was taken of the file system of the checkout, by whatever writes there."""
        return (self._disk - self._least_disk) >> 20

    @property
    def kept_mib(self) -> int:
        """What is taken of it now."""
        return (self._disk - self._free()) >> 20

    @staticmethod
    def _free() -> int:
        return shutil.disk_usage(ROOT).free

    def _look(self) -> None:
        while not self._ended.wait(_LOOK_S):
            self._least_memory = min(self._least_memory, available_kib())
            self._least_disk = min(self._least_disk, self._free())


def run(words: Sequence[str]) -> tuple[int, float]:
    """Run one command of nfvbed as its user would, and return its exit status and its length in seconds.

    Ctrl-C reaches it once, through this process; this waits until it has ended what it had begun.
    """
    print(f"\n$ nfvbed {' '.join(words)}", flush=True)
    began = time.monotonic()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell's background ignores it, and so would the child, which is ended by it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    child = subprocess.Popen([sys.executable, "-m", "nfvbed", *words], cwd=ROOT, start_new_session=True)
    try:
        status = child.wait()
    except KeyboardInterrupt:
        _end(child)
        raise
    seconds = time.monotonic() - began
    print(f"  ({seconds:.0f} s)", flush=True)
    return status, seconds


def compare(runs: Sequence[str] = ()) -> int:
    """Compare runs, or the newest one, and return the exit status: 0 also where the answer is that nothing compares.

    That is what emulated guests give: their frames count, and their rates mean nothing. `compare` has said why.
    """
    status, _ = run(("compare", *runs))
    if status == NotComparableError.exit_code:
        print("  that is the answer here, and no fault: the frames were counted, and no rate is compared", flush=True)
        return 0
    return status


def answer(words: Sequence[str]) -> str:
    """Return what a command of nfvbed prints; its exit status may say that something is not well.

    Raises:
        DeployError: it printed nothing.
    """
    argv = [sys.executable, "-m", "nfvbed", *words]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        raise DeployError(
            f"nfvbed {words[0]} did not answer",
            where=" ".join(words),
            observed=done.stderr.strip() or f"exit status {done.returncode}",
            fix="correct what it says; then the same command",
        )
    return done.stdout


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.send_signal(signal.SIGINT)
    try:
        child.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
