"""A process of this machine, as the generator's client expects one."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


class Started:
    """A program whose output is in a file.

    Args:
        log: where it goes.
        environment: of the program.
        folder: that it starts in.
    """

    def __init__(self, log: Path, environment: Mapping[str, str], folder: Path) -> None:
        self._log, self._environment, self._folder = log, environment, folder
        self._process: subprocess.Popen[bytes] | None = None

    def spawn(self, argv: Sequence[str]) -> "Started":
        """Start it."""
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                argv, env=self._environment, cwd=self._folder, stdout=log, stderr=log, start_new_session=True
            )
        return self

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid if self._process else 0

    @property
    def exit_status(self) -> int | None:
        """Exit status; None while it runs."""
        return self._process.poll() if self._process else None

    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def log_tail(self, lines: int = 20) -> str:
        """What it wrote last."""
        return "\n".join(self._log.read_text().splitlines()[-lines:])

    def stop(self) -> None:
        """End it."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(10)

    def ended(self) -> int:
        """Wait for it, and return its exit status."""
        assert self._process is not None
        return self._process.wait(10)
