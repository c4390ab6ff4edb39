"""The file beside an image: what it is made of, and the digests of its files."""

import hashlib
import json
from pathlib import Path
from typing import Any

_BLOCK = 1024 * 1024


class Sidecar:
    """`images/<name>.json`; it is written last, so that a build that was cut off leaves none."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def is_of(self, key: str) -> bool:
        """Return whether the files that lie there were built from the input with this key and are whole.

        Sizes and times of change stand for the content, which is not read again here; a guest's start reads it.
        """
        try:
            document = json.loads(self.path.read_text())
            return bool(document["key"] == key) and all(
                self._is_same(self.path.parent / file["name"], file) for file in document["files"].values()
            )
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def write(self, key: str, facts: dict[str, str], files: dict[str, Path], packages: dict[str, str]) -> None:
        """Write it in one step."""
        listed: dict[str, Any] = {}
        for ending, path in files.items():
            listed[ending] = {"name": path.name, "sha256": digest(path), "size_bytes": path.stat().st_size}
        document = {"schema": "image/1", **facts, "key": key, "files": listed, "packages": packages}
        new = self.path.with_suffix(".json.new")
        new.write_text(json.dumps(document, indent=1) + "\n")
        new.replace(self.path)

    def remove(self) -> None:
        """Take it away: what lies beside it is in the making."""
        self.path.unlink(missing_ok=True)

    @staticmethod
    def hash(text: str) -> str:
        """Return the SHA-256 of a text."""
        return hashlib.sha256(text.encode()).hexdigest()

    def _is_same(self, path: Path, file: dict[str, Any]) -> bool:
        state = path.stat()
        return bool(state.st_size == file["size_bytes"]) and state.st_mtime <= self.path.stat().st_mtime


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            total.update(block)
    return total.hexdigest()
