"""A program that is run once: with a time limit and a limit of output, and killed where it passes one."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from nfvbed.errors import DeployError, InternalError, PrerequisiteError

MOST_OUTPUT_BYTES = 1 << 20
"""Bound of standard output and of standard error, each."""
_SHOWN = 1000
_CHUNK_BYTES = 65536


@dataclass(frozen=True)
class ProgramEnd:
    """How a program ended."""

    status: int
    """Exit status; negative: the signal that ended it."""
    output: str
    errors: str

    @property
    def said(self) -> str:
        """Its status and the end of what it wrote, for messages."""
        how = f"signal {-self.status}" if self.status < 0 else f"exit status {self.status}"
        text = (self.errors.strip() or self.output.strip())[-_SHOWN:]
        return f"{how}: {text}" if text else how


def run(
    argv: Sequence[str], *, within_s: float, text: str = "", environment: Mapping[str, str] | None = None
) -> ProgramEnd:
    """Run a program and return how it ended; what it started in its own session is killed when it passes a limit.

    What it leaves behind may hold its output open: its own end is what counts.

    Args:
        within_s: limit of its time, in s.
        text: what it reads from its standard input, of a pipe's size at most.
        environment: all of its variables; None: nfvbed's own.

    Raises:
        PrerequisiteError: it cannot be started.
        DeployError: it does not end in time, or writes more than 1 MiB.
    """
    try:
        popen = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if environment is None else dict(environment),
            start_new_session=True,
        )
    except OSError as failure:
        raise PrerequisiteError(f"{argv[0]} cannot be run", where=" ".join(argv), observed=str(failure)) from failure
    try:
        output, errors = _read(popen, text, time.monotonic() + within_s, " ".join(argv))
    finally:
        if popen.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(popen.pid, signal.SIGKILL)
            popen.wait()
        for stream in (popen.stdin, popen.stdout, popen.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
    return ProgramEnd(popen.returncode, output.decode(errors="replace"), errors.decode(errors="replace"))


def _read(popen: "subprocess.Popen[bytes]", text: str, deadline: float, where: str) -> tuple[bytes, bytes]:
    """Read both streams until the program has ended."""
    if popen.stdin is None or popen.stdout is None or popen.stderr is None:
        raise InternalError("a program was started without its streams", where=where)
    with contextlib.suppress(BrokenPipeError):
        popen.stdin.write(text.encode())
        popen.stdin.close()
    found = {popen.stdout.fileno(): bytearray(), popen.stderr.fileno(): bytearray()}
    ended = os.pidfd_open(popen.pid)
    try:
        with selectors.DefaultSelector() as selector:
            for handle in (*found, ended):
                os.set_blocking(handle, False)
                selector.register(handle, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select(max(0.0, deadline - time.monotonic()))}
                if not ready:
                    raise DeployError("a command does not end in time", where=where, observed=_tail(found.values()))
                for handle in ready & found.keys():
                    if _take(handle, found[handle], where) is _End.STREAM:
                        selector.unregister(handle)
                if ended in ready:
                    for handle, taken in found.items():
                        while _take(handle, taken, where) is None:
                            pass
                    popen.wait()
                    return bytes(found[popen.stdout.fileno()]), bytes(found[popen.stderr.fileno()])
    finally:
        os.close(ended)


class _End(Enum):
    STREAM = 1
    """Nothing will come."""
    PRESENT = 2
    """Nothing is there now."""


def _take(handle: int, taken: bytearray, where: str) -> _End | None:
    """Take what is there; None: there may be more.

    Raises:
        DeployError: it is too much.
    """
    try:
        chunk = os.read(handle, _CHUNK_BYTES)
    except BlockingIOError:
        return _End.PRESENT
    taken += chunk
    if len(taken) > MOST_OUTPUT_BYTES:
        raise DeployError(
            "a command writes too much",
            where=where,
            observed=f"more than {MOST_OUTPUT_BYTES} bytes",
            fix="ask it for less, such as the counters of one port",
        )
    return None if chunk else _End.STREAM


def _tail(streams: Iterable[bytearray]) -> str:
    texts = [bytes(stream).decode(errors="replace") for stream in streams]
    return "".join(texts).strip()[-_SHOWN:] or "no output"
