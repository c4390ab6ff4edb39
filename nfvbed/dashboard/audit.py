"""Who asked for what, and what came of it: files to which lines are added, and which are never written again.

Acts, refusals and sign-ins have a file each: a user who is refused a thousand times does not hide what operators
did, or drive it out of a file of bounded size. A line that could not be written whole is taken back; one that a crash
left half is ended before the next one begins.
"""

import fcntl
import logging
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
MOST_BYTES: Final = 1 << 20
"""Bytes of a file; then it is kept beside a new one, and the one that was kept before is dropped."""
ENDED: Final = b"\n"
BEGIN: Final = b'{"id":'
"""Beginning of a line; within one, quotes are escaped."""
NEW_FILE: Final = "begin a new file"
"""Action of a file's first line, where another one is kept beside it."""
LOG: Final = logging.getLogger(__name__)


class Kind(StrEnum):
    """What a line is about; each has its file."""

    ACT = "act"
    REFUSAL = "refusal"
    SIGN_IN = "sign-in"


class Outcome(StrEnum):
    """The outcome of an action, as the audit log has it."""

    ASKED = "asked"
    """Written before anything is done; the last word only where the server was killed."""
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


class AuditSubject(Record):
    """The one that asks for an action, as the audit log names it."""

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


@dataclass(frozen=True)
class Entries:
    """Some of the actions of a kind, newest first."""

    entries: tuple[Entry, ...]
    count: int
    """How many there are on all pages."""


class Audit:
    """The log of one project; several processes may add to it.

    Args:
        path: the file of acts; its folder and it are the owner's alone. The others are beside it.
        most_bytes: the largest size of a file.

    Raises:
        ConfigurationError: the file cannot be written, or others may write it.
    """

    def __init__(
        self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC), most_bytes: int = MOST_BYTES
    ) -> None:
        self.path = path
        self._now = now
        files = {Kind.ACT: path} | {kind: path.with_name(f"{path.stem}-{kind}s.jsonl") for kind in OTHERS}
        self._files = {kind: _File(file, most_bytes) for kind, file in files.items()}
        for file in self._files.values():
            file.make()

    def file(self, kind: Kind) -> Path:
        """Return where the lines of a kind are."""
        return self._files[kind].path

    def write(
        self, who: AuditSubject, action: str, outcome: Outcome, asked: str = "", said: str = "", kind: Kind = Kind.ACT
    ) -> Entry:
        """Add a line, and return it.

        Args:
            asked: details of the action.
            said: the reason of the outcome.
            kind: the file that the line is added to.

        Raises:
            StoreError: the line cannot be written; then nothing must be done.
        """
        return self._add(
            kind,
            Entry(
                id=uuid4().hex,
                at="",
                role=who.role,
                client=who.client,
                user=who.user[:LONGEST],
                action=action[:LONGEST],
                asked=asked[:LONGEST],
                outcome=outcome,
                said=said[:LONGEST],
            ),
        )

    @contextmanager
    def action(self, who: AuditSubject, action: str, asked: str) -> Iterator[list[str]]:
        """Log what is done inside the `with`: before it, and when it ended.

        What cannot be logged before is not done. If only the end cannot be logged, the file system became full
        meanwhile. What was done is then answered as done, and the log says that it was asked for.

        Yields:
            A list to which the outcome may be added in words.

        Raises:
            StoreError: the line before the action cannot be written.
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
            try:
                self._add(Kind.ACT, begun.model_copy(update={"outcome": outcome, "said": "; ".join(said)[:LONGEST]}))
            except StoreError as error:
                LOG.error("%s by %s %s: %s", outcome, who.role, who.user or who.client, error)

    def refuse(self, who: AuditSubject, action: str, said: str) -> None:
        """Log a refusal; it is one also where that cannot be written."""
        try:
            self.write(who, action, Outcome.REFUSED, said=said, kind=Kind.REFUSAL)
        except StoreError as error:
            LOG.error("a refusal is not logged: %s", error)

    def newest(self, most: int, kind: Kind = Kind.ACT) -> tuple[Entry, ...]:
        """Return the newest actions, each as its last line says, newest first; a damaged line is one that says so."""
        return self.some(kind, 0, most).entries

    def some(self, kind: Kind, offset: int, limit: int) -> Entries:
        """Return actions of a kind as `newest` does, without so many of the newest."""
        found = self._files[kind].entries()
        return Entries(found[offset : offset + limit], len(found))

    def _add(self, kind: Kind, entry: Entry) -> Entry:
        dated = entry.model_copy(update={"at": self._now().isoformat(timespec="milliseconds")})
        file = self._files[kind]
        try:
            file.add(dated)
        except OSError as error:
            raise StoreError(
                "the audit log cannot be written",
                where=str(file.path),
                observed=error.strerror or str(error),
                fix="make room on its file system; what is not logged is not done",
            ) from error
        return dated


OTHERS: Final = (Kind.REFUSAL, Kind.SIGN_IN)


class _File:
    """One file of lines, and the one that was kept when it became too large."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self.path = path
        self._kept = path.with_name(f"{path.stem}.1{path.suffix}")
        self._most_bytes = most_bytes
        self._known: tuple[object, tuple[Entry, ...]] = (None, ())
        self._one_at_a_time = threading.Lock()

    def make(self) -> None:
        """Make the file where there is none.

        Raises:
            ConfigurationError: as for `Audit`.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(self._open())
            mode = stat.S_IMODE(self.path.stat().st_mode)
        except OSError as error:
            raise ConfigurationError(
                "the audit log cannot be written", where=str(self.path), observed=error.strerror or str(error),
                fix="start the dashboard as the owner of the project's folder, or without --operate",
            ) from error  # fmt: skip
        if mode & 0o077:
            raise ConfigurationError(
                "others may read or write the audit log", where=str(self.path), observed=f"mode {mode:o}",
                fix=f"chmod 600 {self.path}",
            )  # fmt: skip

    def add(self, entry: Entry) -> None:
        """Add a line, all of it or nothing.

        Raises:
            OSError: the line cannot be written.
        """
        with self._held() as handle:
            if os.fstat(handle).st_size < self._most_bytes:
                self._append(handle, entry)
                return
            self.path.rename(self._kept)
        with self._held() as handle:
            self._append(handle, entry)

    def entries(self) -> tuple[Entry, ...]:
        """Return all actions, newest first; read again where something was added."""
        with self._one_at_a_time:
            files = [path for path in (self._kept, self.path) if path.exists()]
            states = [path.stat() for path in files]
            key = tuple((state.st_ino, state.st_size) for state in states)
            if self._known[0] != key:
                content = b"".join(_whole(path.read_bytes()) for path in files)
                self._known = key, _merged(content.split(ENDED))
            return self._known[1]

    def _open(self) -> int:
        return os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)

    @contextmanager
    def _held(self) -> Iterator[int]:
        """Hold the file for this process alone: no other process adds to it meanwhile, or keeps it for a new one."""
        while True:
            handle = self._open()
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if _is_same(handle, self.path):
                    yield handle
                    return
            finally:
                os.close(handle)

    def _append(self, handle: int, entry: Entry) -> None:
        """Add a line; a new file beside a kept one begins with a line about that.

        Raises:
            OSError: the line cannot be written.
        """
        if os.fstat(handle).st_size == 0 and self._kept.exists():
            with self._kept.open("rb") as kept:
                dropped = f'"{NEW_FILE}"'.encode() in kept.readline()
            said = f"{self._kept.name} has what is before" + ("; what it had before was dropped" if dropped else "")
            server = {"id": uuid4().hex, "role": "server", "client": "", "user": "", "asked": "", "said": said}
            _append(handle, entry.model_copy(update={**server, "action": NEW_FILE, "outcome": Outcome.DONE}))
        _append(handle, entry)


def _is_same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False  # another process has just kept it for a new one


def _append(handle: int, entry: Entry) -> None:
    """Add a line to a file whose lock is held.

    Raises:
        OSError: the line cannot be written; the file is as it was.
    """
    size = os.fstat(handle).st_size
    half = size > 0 and os.pread(handle, 1, size - 1) != ENDED
    line = (ENDED if half else b"") + entry.model_dump_json().encode() + ENDED
    try:
        written = os.write(handle, line)
        if written != len(line):
            raise OSError(f"{written} of {len(line)} bytes were written")
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise


def _whole(content: bytes) -> bytes:
    return content if not content or content.endswith(ENDED) else content + ENDED


def _merged(lines: list[bytes]) -> tuple[Entry, ...]:
    found: dict[str, Entry] = {}
    for number, line in enumerate(lines, 1):
        for entry in _entries_in(line, number):
            before = found.get(entry.id)
            # The later line holds, at the place and the time of the first one.
            found[entry.id] = entry.model_copy(update={"at": before.at}) if before else entry
    return tuple(reversed(found.values()))


def _entries_in(line: bytes, number: int) -> Iterator[Entry]:
    """Yield the entry of a line; for a damaged line one that says so, and the entry that was added to its half."""
    if not line:
        return
    try:
        yield Entry.model_validate_json(line)
        return
    except ValidationError:
        half, begin, rest = line.rpartition(BEGIN)
    yield Entry(id=f"line {number}", at="", role="", client="", action="a damaged line", outcome=Outcome.FAILED,
                said=(half if half else line)[:200].decode("utf-8", "replace"))  # fmt: skip
    if half:
        yield from _after_half(begin + rest)


def _after_half(rest: bytes) -> Iterator[Entry]:
    try:
        yield Entry.model_validate_json(rest)
    except ValidationError:
        return
