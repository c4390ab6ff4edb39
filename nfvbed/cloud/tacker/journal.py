"""A file of ids that were requested: written before the request where the id is known before, else at once after it.

Tags find what still has a description. Stacks of VNFs that Tacker has lost, and images that it has made, have none of
our tags: the ids in this file find them.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from nfvbed.wholefile import append_whole, write_whole

_NAME = "onboarded.jsonl"


@dataclass(frozen=True)
class Note:
    """One line of the journal."""

    kind: str
    """`vnf`, `vnfd`, `package`, `instance`, `image-name`, `vim`."""
    id: str
    owner: str
    name: str
    cloud: str
    """Keystone's address and the project: ids of another cloud are not looked for here."""
    since: str = ""
    """When it was asked for (UTC, as the APIs write it)."""


class Journal:
    """The journal of one project folder; lines are appended, and removed when what they name is gone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, note: Note) -> None:
        """Append a line, which is on the disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_whole(self.path, json.dumps(asdict(note)).encode() + b"\n")

    def read(self, cloud: str, owner: str) -> tuple[Note, ...]:
        """Return an owner's lines for one cloud, without a line that a kill cut off."""
        return tuple(note for note in self._all() if (note.cloud, note.owner) == (cloud, owner))

    def drop(self, cloud: str, owner: str, name: str = "") -> None:
        """Remove an owner's lines for one cloud, or those of one VNF."""
        kept = [n for n in self._all() if (n.cloud, n.owner) != (cloud, owner) or (name and n.name != name)]
        if not kept:
            self.path.unlink(missing_ok=True)
            return
        write_whole(self.path, "".join(json.dumps(asdict(note)) + "\n" for note in kept), 0o600)

    def _all(self) -> list[Note]:
        try:
            lines = self.path.read_text().splitlines()
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            try:
                found.append(Note(**json.loads(line)))
            except (ValueError, TypeError):
                continue
        return found


def of(folder: Path) -> Journal:
    """Return the journal of a cloud, given the folder of the cloud's state."""
    return Journal(folder / _NAME)
