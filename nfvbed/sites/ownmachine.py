"""The part of a site that is a machine of its own, booted for a command, which runs in it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

Output = Callable[[str, bytes], None]
"""Reported what a program writes, as it does: `stdout` or `stderr`, and the bytes."""


@dataclass(frozen=True)
class ProgramResult:
    """A program that has ended."""

    status: int
    """Exit status; negative: the signal that ended it."""
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class Program:
    """A program that is to be executed."""

    argv: Sequence[str]
    directory: Path = Path("/")
    environment: Mapping[str, str] | None = None
    """On top of a plain one."""


class OwnMachine(ABC):
    """A running machine; it sees the project's files."""

    kernel: str
    """Its release."""
    boot_ns: int

    @abstractmethod
    def execute(self, program: Program, output: Output | None = None, timeout_s: float | None = None) -> ProgramResult:
        """Run a program to its end.

        Raises:
            DeployError: it cannot be started, does not end in time, or the machine went away.
        """

    @abstractmethod
    def read(self, path: Path) -> bytes:
        """Return a file of the machine.

        Raises:
            DeployError: it cannot be read, or the machine went away.
        """


Boot = Callable[[], AbstractContextManager[OwnMachine]]
"""Boots the machine; it ends with the context."""
