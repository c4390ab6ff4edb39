"""Recorded files of another machine, in place of a tree on disk."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from nfvbed.host.probes.host import Host

NOWHERE = Path("/nonexistent")


@dataclass(frozen=True)
class RecordedHost(Host):
    """Files by path, without the first slash: their text, or `{"link": target}`."""

    root: Path = NOWHERE
    files: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)

    def exists(self, name: str) -> bool:
        """Return whether it was there."""
        return name in self.files or bool(self.names(name))

    def text(self, name: str) -> str | None:
        """Return a file's text; None where it was missing."""
        content = self.files.get(name)
        return content.strip() if isinstance(content, str) else None

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the sorted names in a folder; none where it was missing."""
        start = folder.rstrip("/") + "/"
        return tuple(sorted({path[len(start) :].partition("/")[0] for path in self.files if path.startswith(start)}))

    def link(self, name: str) -> str | None:
        """Return a symbolic link's target; None where it was none."""
        content = self.files.get(name)
        return None if content is None or isinstance(content, str) else content["link"]

    def link_name(self, name: str) -> str | None:
        """Return the last part of a symbolic link's target."""
        target = self.link(name)
        return None if target is None else PurePosixPath(target).name
