"""Runs the programs that make an image, with what decides their output set."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError

_LAST_LINES = 12


@dataclass(frozen=True)
class Tool:
    """How programs are run: one time stamp, one language, one log."""

    epoch: int
    log: Path

    def run(self, argv: Sequence[str | Path], *, given: str = "", environment: dict[str, str] | None = None) -> str:
        """Run a program and return its output.

        Raises:
            PrerequisiteError: it is missing or fails; with its last lines.
        """
        words = [str(word) for word in argv]
        settings = {"SOURCE_DATE_EPOCH": str(self.epoch), "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(
                words,
                input=given,
                capture_output=True,
                text=True,
                errors="replace",
                env=os.environ | settings | (environment or {}),
                check=False,
            )
        except FileNotFoundError as error:
            fix = "make images installs it: [images] in setup/packages-debian.txt"
            raise PrerequisiteError(f"{words[0]} is missing", observed=str(error), fix=fix) from error
        with self.log.open("a") as log:
            log.write(f"$ {' '.join(words)}\n{done.stdout}{done.stderr}")
        if done.returncode != 0:
            last = "\n".join((done.stderr or done.stdout).splitlines()[-_LAST_LINES:])
            raise PrerequisiteError(
                f"{words[0]} failed (exit {done.returncode})", where=str(self.log), observed=last, fix="read the log"
            )
        return done.stdout
