"""Who asked for what, and what came of it: a file to which lines are added, and which is never written again."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final
from uuid import uuid4

from pydantic import ValidationError

from nfvbed.errors import ConfigurationError, NfvbedError, StoreError
from nfvbed.records import Record

LONGEST: Final = 2000
"""Characters of a field."""
READ: Final = 1 << 19
"""Bytes from the file's end that are read for a page."""


class Outcome(StrEnum):
    """What came of it."""

    ASKED = "asked"
    """Written before anything is done; the last word only where the server was killed."""
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


class Who(Record):
    """Who asks."""

    role: str
    client: str = ""
    """Address."""
    user: str = ""
    """Account on this machine, where that is known: of requests over loopback."""


class Entry(Record):
    """A line. Those of one `id` are of one action, and the later one holds."""

    id: str
    at: str
    """ISO 8601, UTC."""
    role: str
    client: str
    """Address."""
    user: str = ""
    """Account on this machine, where it is known."""
    action: str
    asked: str = ""
    """Details, without secrets."""
    outcome: Outcome
    said: str = ""
    """The reason, or what was made."""


class Audit:
    """The log of one project; several processes may add to it."""

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Make the file where there is none.

        Args:
            path: the file; its folder and it are the owner's alone.
            now: the time.

        Raises:
            ConfigurationError: it cannot be written, or others may.
        """
        self.path = path
        self._now = now
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(self._open())
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError as error:
            raise ConfigurationError(
                "the audit log cannot be written", where=str(path), observed=error.strerror or str(error),
                fix="start the dashboard as the owner of the project's folder, or without --operate",
            ) from error  # fmt: skip
        if mode & 0o077:
            raise ConfigurationError(
                "others may read or write the audit log", where=str(path), observed=f"mode {mode:o}",
                fix=f"chmod 600 {path}",
            )  # fmt: skip

    def write(self, who: Who, action: str, outcome: Outcome, asked: str = "", said: str = "") -> Entry:
        """Add a line, and return it.

        Args:
            who: asks.
            action: what they ask for.
            outcome: what came of it.
            asked: details.
            said: the reason.

        Raises:
            StoreError: it cannot be written; then nothing must be done.
        """
        return self._add(
            Entry(
                id=uuid4().hex,
                at="",
                role=who.role,
                client=who.client,
                user=who.user,
                action=action[:LONGEST],
                asked=asked[:LONGEST],
                outcome=outcome,
                said=said[:LONGEST],
            )
        )

    @contextmanager
    def action(self, who: Who, action: str, asked: str) -> Iterator[list[str]]:
        """Log what is done inside: before, and when it ended.

        Yields:
            To which what came of it may be added in words.

        Raises:
            StoreError: it cannot be written.
        """
        begun = self.write(who, action, Outcome.ASKED, asked)
        said: list[str] = []
        outcome = Outcome.FAILED
        try:
            yield said
            outcome = Outcome.DONE
        except NfvbedError as error:
            said.append(f"{error.what}{f': {error.observed}' if error.observed else ''}")
            raise
        finally:
            self._add(begun.model_copy(update={"outcome": outcome, "said": "; ".join(said)[:LONGEST]}))

    def _add(self, entry: Entry) -> Entry:
        dated = entry.model_copy(update={"at": self._now().isoformat(timespec="milliseconds")})
        line = dated.model_dump_json().encode() + b"\n"
        try:
            handle = self._open()
            try:
                if os.write(handle, line) != len(line):
                    raise OSError("only a part of a line was written")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise StoreError(
                "the audit log cannot be written",
                where=str(self.path),
                observed=error.strerror or str(error),
                fix="make room on its file system; what is not logged is not done",
            ) from error
        return dated

    def newest(self, most: int) -> tuple[Entry, ...]:
        """Return the newest actions, each as its last line says, newest first; a damaged line is one that says so."""
        with self.path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - READ)
            file.seek(start)
            lines = file.read().splitlines()[1 if start else 0 :]
        found: dict[str, Entry] = {}
        for number, line in enumerate(lines):
            entry = _entry(line, number)
            found.setdefault(entry.id, entry)
            found[entry.id] = entry.model_copy(update={"at": found[entry.id].at})
        return tuple(reversed(found.values()))[:most]

    def _open(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _entry(line: bytes, number: int) -> Entry:
    try:
        return Entry.model_validate_json(line)
    except ValidationError:
        return Entry(id=f"line {number}", at="", role="", client="", action="a damaged line", outcome=Outcome.FAILED,
                     said=line[:200].decode("utf-8", "replace"))  # fmt: skip
