"""Where a root of packages is built and kept, below the layers of the machines that use it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class BuiltRootPlaces:
    """The files of a built root."""

    directory: Path

    @property
    def root(self) -> Path:
        """The root; never written to once it is built."""
        return self.directory / "root"

    @property
    def stamp(self) -> Path:
        """What the root was built from, with the versions of its packages; written last."""
        return self.directory / "root.json"

    @property
    def build(self) -> Path:
        """A root that is being built, with the logs of the tools."""
        return self.directory / "build"
