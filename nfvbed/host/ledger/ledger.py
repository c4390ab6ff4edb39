"""The ledger: things on the host are recorded before they are made, so that any later nfvbed can undo them."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.errors import DeploymentGoneError, InternalError, NfvbedError
from nfvbed.host.ledger import undo
from nfvbed.host.ledger.entries import (
    CgroupEntry,
    DirectoryEntry,
    Entry,
    EntryReplacement,
    NetnsEntry,
    Owner,
    ProcessEntry,
    UndoMark,
)
from nfvbed.host.ledger.owner import boot_id
from nfvbed.host.ledger.processes import is_alive
from nfvbed.signals import signals_held
from nfvbed.wholefile import append_whole

_OUTLIVES_BOOT = (DirectoryEntry, NetnsEntry)

_Line = Entry | Owner | UndoMark | EntryReplacement
_LINE: TypeAdapter[_Line] = TypeAdapter(_Line)


class Ledger:
    """An append-only file of JSON lines: first the owner, then what was made, learnt, and undone.

    A line is on the disk before the thing it names is made. After `kill -9` the ledger may name things that were never
    made, but nothing was made that it does not name.
    """

    def __init__(self, path: Path, owner: Owner, entries: dict[int, Entry], lines: int) -> None:
        self.path = path
        self.owner = owner
        self._entries = entries
        """Those that are still there, by their place."""
        self._next = lines

    @classmethod
    def create(cls, path: Path, owner: Owner) -> "Ledger":
        """Start a ledger with its owner's line."""
        ledger = cls(path, owner, {}, 0)
        ledger._append(owner)
        return ledger

    @classmethod
    def open(cls, path: Path) -> "Ledger":
        """Read a ledger; a last line that a crash cut off is left out: its thing was never made.

        Raises:
            InternalError: it has no owner.
        """
        owner: Owner | None = None
        entries: dict[int, Entry] = {}
        index = 0
        for line in path.read_bytes().split(b"\n")[:-1]:
            value = _LINE.validate_json(line)
            if isinstance(value, Owner):
                owner = value
            elif isinstance(value, UndoMark):
                entries.pop(value.index, None)
            elif isinstance(value, EntryReplacement):
                entries[value.index] = value.entry
            else:
                entries[index] = value
                index += 1
        if owner is None:
            raise InternalError("a ledger has no owner", where=str(path), fix="nfvbed destroy --all")
        return cls(path, owner, entries, index)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of what is still there, oldest first."""
        return tuple(self._entries.values())

    @property
    def owner_alive(self) -> bool:
        """Whether the nfvbed that made it still runs."""
        return self.this_boot and is_alive(self.owner.pid, self.owner.start_time)

    @property
    def this_boot(self) -> bool:
        """Whether the machine has run without a restart since the ledger was made."""
        return self.owner.boot == boot_id()

    def record(self, entry: Entry) -> int:
        """Record an entry, on the disk when this returns. Call it before making the thing (a process: right after).

        Returns:
            The entry's place, for `amend`.

        Raises:
            DeploymentGoneError: the run directory is gone.
        """
        with signals_held():
            self._append(entry)
            self._entries[self._next] = entry
            self._next += 1
            return self._next - 1

    def amend(self, index: int, entry: Entry) -> None:
        """Replace a recorded entry, now that more is known of the thing."""
        with signals_held():
            self._append(EntryReplacement(index=index, entry=entry))
            self._entries[index] = entry

    def hand_over(self, entry: Entry, other: "Ledger") -> None:
        """Let another ledger answer for what is deployed here. Between two writes both do, so nothing is forgotten."""
        with signals_held():
            index = next(place for place, mine in self._entries.items() if mine is entry)
            other.record(entry)
            self._append(UndoMark(index=index))
            del self._entries[index]

    def undo_all(self) -> list[str]:
        """Undo in reverse order, processes first (they hold the rest), going on after errors; it can be called again.

        Returns:
            What could not be removed and why; empty when all is gone.
        """
        problems: list[str] = []
        if not self.this_boot:
            # Ids and settings are those of another life of the machine; only files can have outlived it.
            self._entries = {i: e for i, e in self._entries.items() if isinstance(e, _OUTLIVES_BOOT)}
        kills = [i for i, e in self._entries.items() if isinstance(e, ProcessEntry)]
        for index in reversed(kills):
            self._undo(index, problems)
        for entry in self.entries:
            if isinstance(entry, CgroupEntry):
                _try(undo.kill_cgroup, entry, problems)
        for index in sorted(self._entries, reverse=True):
            self._undo(index, problems)
        return problems

    def _undo(self, index: int, problems: list[str]) -> None:
        if _try(lambda entry: self._take_away(index, entry), self._entries[index], problems):
            del self._entries[index]
            # Where the disk is full the line is missing: then the next nfvbed finds that there is nothing to undo.
            with suppress(OSError, DeploymentGoneError):
                self._append(UndoMark(index=index))

    def _take_away(self, index: int, entry: Entry) -> None:
        settled = undo.settled(entry)
        if settled is not entry:
            with suppress(DeploymentGoneError):
                self.amend(index, settled)
        undo.undo(settled)

    def _append(self, value: _Line) -> None:
        try:
            append_whole(self.path, value.model_dump_json().encode() + b"\n")
        except FileNotFoundError as failure:
            raise gone(self.path.parent) from failure


def gone(directory: Path) -> DeploymentGoneError:
    """Return the error of a run directory that is not there any more."""
    return DeploymentGoneError(
        "the run directory of a deployment is gone while it was needed",
        where=str(directory),
        observed="no such directory: somebody removed it, or it was on a file system that was unmounted; a mount on"
        f" {directory.parent} ends when that folder is removed outside of its mount namespace",
        fix="let nothing but nfvbed remove it; then deploy again",
    )


def _try(action: Callable[[Any], None], entry: Entry, problems: list[str]) -> bool:
    try:
        action(entry)
    except (OSError, NfvbedError, NetlinkError) as failure:
        problems.append(f"{entry.kind} {entry.model_dump(exclude={'kind'})}: {failure}")
        return False
    return True
