"""Verbs that only read, called in a process of their own: the server itself does nothing to a host.

What a verb says on its error output comes back as the error that it was.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from nfvbed.errors import BusyError, DeployError, InternalError, NfvbedError

PATIENCE_S: Final = 60.0
"""For a verb that only reads; a site far away may not answer at all."""
ENDING_S: Final = 20.0
"""For one that was interrupted: it cleans up."""
_MARK: Final = "nfvbed: "
_PARTS: Final = ("where", "observed", "fix")


def called(root: Path, arguments: Sequence[str], patience_s: float = PATIENCE_S) -> str:
    """Call a verb and return what it printed.

    Args:
        root: the project's folder.
        patience_s: how long the verb may take; then it is interrupted.

    Raises:
        NfvbedError: what the verb failed with.
        BusyError: the verb took longer.
    """
    argv = [sys.executable, "-m", "nfvbed", "--root", str(root), *arguments]
    # A session of its own: what it has begun beside a deployment it takes down itself, whatever ends the server.
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            _interrupt(process)
            raise BusyError(
                f"nfvbed {arguments[0]} does not answer",
                where=" ".join(arguments),
                observed=f"nothing within {patience_s:g} s",
                fix="try again, or in a terminal",
            ) from None
    if process.returncode:
        raise error_of(process.returncode, err, " ".join(arguments))
    return out


def _interrupt(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=ENDING_S)
        return
    process.kill()
    process.communicate()


def error_of(status: int, text: str, command: str) -> NfvbedError:
    """Return the error that a verb ended with.

    Args:
        text: what it wrote to its error output.
    """
    lines = text.splitlines()
    begins = [number for number, line in enumerate(lines) if line.startswith(_MARK)]
    kind = _kinds().get(status, DeployError if status > 0 else InternalError)
    if not begins:
        said = lines[-1] if lines else "nothing"
        return kind(f"nfvbed {command.split()[0]} failed", where=command, observed=f"status {status}, it said: {said}")
    parts = {"what": lines[begins[-1]].removeprefix(_MARK)}
    part = "what"
    for line in lines[begins[-1] + 1 :]:
        label, colon, rest = line.strip().partition(": ")
        if colon and line.startswith("  ") and label in _PARTS:
            part, parts[label] = label, rest
        else:
            parts[part] += f" {line.strip()}"
    return kind(parts["what"], **{name: parts.get(name, "") for name in _PARTS})


def _kinds() -> dict[int, type[NfvbedError]]:
    """Return the classes of errors by their exit status."""
    return {kind.exit_code: kind for kind in reversed(NfvbedError.__subclasses__())}
