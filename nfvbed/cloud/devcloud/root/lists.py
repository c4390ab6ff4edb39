"""The lists of the private root's contents: packages, the tested set of versions, Tacker's wheels."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import PrerequisiteError

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Wheel:
    """A Python package as a file."""

    name: str
    version: str
    file: str
    sha256: str

    def check(self, path: Path) -> None:
        """Check that a downloaded file is the tested one.

        Raises:
            PrerequisiteError: it is not there, or is another file, which is then removed.
        """
        found = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "no such file"
        if found != self.sha256:
            path.unlink(missing_ok=True)
            raise PrerequisiteError(
                f"{self.name} {self.version} is not the package that was tested",
                where=str(path),
                observed=f"SHA-256 {found}",
                fix=f"expected is {self.sha256}: try again, and look what the index serves",
            )


def read_packages(path: Path = _HERE / "packages.txt") -> tuple[str, ...]:
    """Return the packages that are requested by name."""
    return tuple(_lines(path))


def read_versions(path: Path = _HERE / "versions.txt") -> dict[str, str]:
    """Return the version of every package of the tested set."""
    found = (line.split() for line in _lines(path))
    return {words[0]: words[1] for words in found}


def read_wheels(path: Path = _HERE / "wheels.txt") -> tuple[Wheel, ...]:
    """Return Tacker's Python packages."""
    return tuple(Wheel(*line.split()) for line in _lines(path))


def _lines(path: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]
