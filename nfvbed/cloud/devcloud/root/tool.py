"""Runs the tools that build the private root, with their output in logs; they end with nfvbed."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.host.ledger.processes import tail
from nfvbed.patience import patient

_LAST_LINES = 15
_FIX = "check apt's sources, the network and the disk, then start again"


class Tool:
    """Runs programs, each with a log in one folder.

    Args:
        fix: what to do where one fails.
    """

    def __init__(self, logs: Path, fix: str = _FIX) -> None:
        self._logs = logs
        self._fix = fix

    def run(
        self, name: str, argv: Sequence[str], timeout_s: float, environment: Mapping[str, str] | None = None
    ) -> str:
        """Run a program to its end; return its output.

        Args:
            name: of its log file.
            timeout_s: the limit, stretched by NFVBED_PATIENCE.
            environment: variables beside nfvbed's own.

        Raises:
            PrerequisiteError: it failed, took too long or is not there; with its last lines of output.
        """
        self._logs.mkdir(parents=True, exist_ok=True)
        log = self._logs / f"{name}.log"
        own = {**os.environ, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **(environment or {})}
        with log.open("a") as errors:
            process = subprocess.Popen(
                # A download must not go on when nfvbed was killed: the next start would meet it.
                ["setpriv", "--pdeathsig", "KILL", "--", *argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=own,
                start_new_session=True,
            )
            try:
                printed, _ = process.communicate(timeout=patient(timeout_s))
            except BaseException as failure:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if isinstance(failure, subprocess.TimeoutExpired):
                    raise self._failed(argv, log, f"did not end within {patient(timeout_s):g} s") from failure
                raise
            errors.write(printed)
        if process.returncode != 0:
            raise self._failed(argv, log, f"exit status {process.returncode}")
        return printed

    def _failed(self, argv: Sequence[str], log: Path, how: str) -> PrerequisiteError:
        return PrerequisiteError(
            f"{next(word for word in argv if word not in _WRAPPERS and not word.startswith('-'))} failed: {how}",
            where=str(log),
            observed=tail(log, _LAST_LINES),
            fix=self._fix,
        )


_WRAPPERS = ("unshare", "setpriv")
