"""The cache of what set-up makes, outside the clone and shared by all clones: the folder that `NFVBED_CACHE` names.

An entry is `KIND/HASH` there. The hash is of what makes it (lists, pins, scripts) and of this machine's Debian, never
of dates or of the clone. It holds `content`, and `entry.json` with a digest of all of it. It is made beside its place
and put there by one rename. Who takes it copies it, and compares the digest of the copy: no clone works on an entry
itself. Nothing but Python's own library is needed: `setup/cache` works where there is no environment yet.
"""

import fcntl
import hashlib
import json
import os
import platform
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import ConfigurationError, PrerequisiteError

VARIABLE = "NFVBED_CACHE"
COLD = "NFVBED_CACHE_COLD"
WHEELS = "wheels"
"""uv's own cache: it has locks, and holds the hashes that requirements name."""
KINDS = {
    WHEELS: "Python packages as uv keeps them: .venv and .nfvbed/kolla are made of them",
    "unpacked": "Open vSwitch, QEMU, netperf, nextepc, OpenSSH, PostgreSQL, the guest node's kernel",
    "images": "the images vloop and vepc",
    "kolla": "Ocata's environment; the guest and the container image with which roles are tried",
    "devcloud-root": "the private root of a cloud on this machine",
    "box-root": "the root that the machines of a rack in a box share",
    "devcloud-seed": "its databases after the first start, with the passwords that they were made with",
    "box-images": "the images of a rack in a box, as its registry serves them",
    "debian": "the other Debian's root, as make test-hosts begins with it",
}
UNUSED_DAYS = 30
"""After so many days without use an entry is pruned, unless a number is given."""
_FORMAT = 1
_DAY_S = 86400
_FACTS = "entry.json"
_CONTENT = "content"
_DRAFT = "new"


@dataclass(frozen=True)
class Entry:
    """One thing that is kept."""

    kind: str
    path: Path
    names: tuple[str, ...]
    size_bytes: int
    used: float
    """When it was made or last taken, in seconds since 1970."""


class SharedCache:
    """The cache in a folder.

    The folder is looked at only when something is taken or put.

    Args:
        cold: a kind of which nothing is taken, so that it is made; what was made is put all the same.
        tell: is given a line where something is waited for or thrown away.
    """

    def __init__(self, folder: Path, cold: str = "", tell: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self.cold = cold
        self._tell = tell

    @classmethod
    def from_environment(cls, tell: Callable[[str], None] = lambda _: None) -> "SharedCache | None":
        """Return the cache that `NFVBED_CACHE` names; None where it is not set."""
        named = os.environ.get(VARIABLE, "")
        return cls(Path(named), os.environ.get(COLD, ""), tell) if named else None

    def take(self, kind: str, made_of: str, into: Path) -> bool:
        """Copy an entry's content into a folder, the last of its names last; return whether there was such an entry.

        Files of these names in the folder are replaced, and stay where nothing is taken. An entry that is not what was
        put is thrown away.

        Args:
            kind: one of `KINDS`.
            made_of: a hash, or any text that names all inputs.

        Raises:
            ConfigurationError, PrerequisiteError: the cache cannot be used as it is set, or the disk is full.
        """
        place = self._kind(kind) / _hash(made_of)
        if kind == self.cold or not place.parent.is_dir():
            return False
        draft = into / f".taken-{kind}"
        shutil.rmtree(draft, ignore_errors=True)
        try:
            with self._locked(place.parent, fcntl.LOCK_SH):
                if not place.is_dir():
                    return False
                names = _copied_whole(place, draft)
            if not names:
                with self._locked(place.parent, fcntl.LOCK_EX):
                    shutil.rmtree(place, ignore_errors=True)
                self._tell(f"{place} is damaged: it is thrown away and made again")
                return False
            for name in reversed(names):
                _remove(into / name)
            for name in names:
                (draft / name).rename(into / name)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return True

    def put(self, kind: str, made_of: str, *paths: Path) -> None:
        """Keep files and folders as an entry, in place of one that is there.

        Args:
            kind: one of `KINDS`.
            made_of: a hash, or any text that names all inputs.
            paths: each is kept under its own name; a stamp comes last.

        Raises:
            ConfigurationError, PrerequisiteError: the cache cannot be used as it is set, or the disk is full.
        """
        folder = self._made(kind)
        place, draft = folder / _hash(made_of), folder / _DRAFT
        with self._locked(folder, fcntl.LOCK_EX):
            # What a killed one left; no other process works here now.
            shutil.rmtree(draft, ignore_errors=True)
            try:
                (draft / _CONTENT).mkdir(parents=True)
                _copy(paths, draft / _CONTENT)
                digest, size_bytes = _digest(draft / _CONTENT)
                facts = {"names": [path.name for path in paths], "digest": digest, "size_bytes": size_bytes}
                (draft / _FACTS).write_text(json.dumps(facts))
                shutil.rmtree(place, ignore_errors=True)
                draft.rename(place)
            except OSError as failure:
                raise _not_kept(place, failure.strerror or str(failure)) from failure
            finally:
                shutil.rmtree(draft, ignore_errors=True)

    def wheels(self) -> Path | None:
        """Return uv's folder, which is made; None where it is to be cold.

        Raises:
            ConfigurationError, PrerequisiteError: the cache cannot be used as it is set.
        """
        folder = self._made(WHEELS)
        if self.cold == WHEELS:
            return None
        os.utime(folder)
        return folder

    def entries(self) -> list[Entry]:
        """Return all that is kept, by kind, what was used last first."""
        found = []
        for kind in KINDS:
            folder = self._kind(kind)
            if kind == WHEELS and folder.is_dir():
                found.append(Entry(kind, folder, ("uv's cache",), _size(folder), folder.stat().st_mtime))
            elif folder.is_dir():
                entries = [_entry(kind, path) for path in folder.iterdir() if path.is_dir() and path.name != _DRAFT]
                found += sorted(entries, key=lambda entry: -entry.used)
        return found

    def prune(self, unused_days: float = UNUSED_DAYS) -> list[Entry]:
        """Remove the entries that were not used for some days; return them."""
        old = [entry for entry in self.entries() if time.time() - entry.used >= unused_days * _DAY_S]
        for entry in old:
            folder = entry.path if entry.kind == WHEELS else entry.path.parent
            with self._locked(folder, fcntl.LOCK_EX):
                if entry.path.is_dir():
                    shutil.rmtree(entry.path)
        return old

    @contextmanager
    def _locked(self, folder: Path, how: int) -> Iterator[None]:
        """Hold a kind's lock: shared by those that take, exclusive for one that puts or removes."""
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            try:
                fcntl.flock(handle, how | fcntl.LOCK_NB)
            except BlockingIOError:
                self._tell(f"waiting for another clone that works on {folder}")
                fcntl.flock(handle, how)
            yield
        finally:
            os.close(handle)

    def _made(self, kind: str) -> Path:
        """Return a kind's folder, which its user alone may enter, as all that had to be made above it."""
        folder = self._kind(kind)
        try:
            for path in reversed((folder, *folder.parents)):
                path.mkdir(mode=0o700, exist_ok=True)
        except OSError as failure:
            raise _not_kept(folder, failure.strerror or str(failure)) from failure
        return folder

    def _kind(self, kind: str) -> Path:
        """Return a kind's folder, which may not be there yet, when no other user can write to it.

        Roots in it run as root: who could change one could do everything.
        """
        for name in filter(None, (kind, self.cold)):
            if name not in KINDS:
                raise ConfigurationError(
                    f"{name!r} is no kind of what is kept",
                    observed=f"{COLD}={self.cold}",
                    fix=f"one of {', '.join(KINDS)}",
                )
        if not self.folder.is_absolute():
            raise ConfigurationError(
                f"{VARIABLE} is no absolute path",
                observed=str(self.folder),
                fix="name the folder from / on: it is to be the same one from every folder",
            )
        real = Path(os.path.realpath(self.folder / kind))
        for path in (real, *real.parents):
            _refuse_writable(path, own=path in (real, real.parent))
        return real


def _refuse_writable(path: Path, *, own: bool) -> None:
    """Refuse a folder in which others than this user and root can put something in the place of what is there."""
    try:
        state = path.lstat()
    except FileNotFoundError:
        return
    except NotADirectoryError:
        state = None
    if state is None or not stat.S_ISDIR(state.st_mode):
        raise PrerequisiteError(f"{VARIABLE} leads to no folder", where=str(path), fix="name a folder, which is made")
    owners = {os.geteuid()} if own else {os.geteuid(), 0}
    if state.st_uid not in owners:
        raise PrerequisiteError(
            f"the folder of {VARIABLE} is another user's",
            where=str(path),
            observed=f"it belongs to user {state.st_uid}, and this is user {os.geteuid()}",
            fix="name a folder of this user's own: programs in it run with this user's rights",
        )
    # In a sticky folder, as /tmp, others can add but not replace.
    if state.st_mode & 0o022 and (own or not state.st_mode & stat.S_ISVTX):
        raise PrerequisiteError(
            f"others can write to the folder of {VARIABLE}",
            where=str(path),
            observed=f"its mode is {stat.S_IMODE(state.st_mode):o}",
            fix=f"chmod go-w {path}, if no other user has written there; else name another folder",
        )


def _hash(made_of: str) -> str:
    system = platform.freedesktop_os_release()
    parts = (str(_FORMAT), platform.machine(), system.get("ID", ""), system.get("VERSION_ID", ""), made_of)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _copied_whole(place: Path, draft: Path) -> list[str]:
    """Copy an entry; return the names that it has, none where its content is not what was put."""
    try:
        facts = json.loads((place / _FACTS).read_text())
        names, digest = [str(name) for name in facts["names"]], facts["digest"]
        sources = [place / _CONTENT / name for name in names]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    if not names or not all(path.exists() for path in sources):
        return []
    try:
        draft.mkdir(parents=True)
        _copy(sources, draft)
        if _digest(draft)[0] != digest:
            return []
        os.utime(place / _FACTS)
    except OSError as failure:
        raise _not_kept(draft, failure.strerror or str(failure)) from failure
    return names


def _copy(paths: tuple[Path, ...] | list[Path], target: Path) -> None:
    """Copy with owners, rights and times; blocks are shared where the file system can, and written by none."""
    done = subprocess.run(
        ["cp", "--archive", "--reflink=auto", "--", *map(str, paths), str(target)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise _not_kept(target, done.stderr[-400:].strip())


def _not_kept(place: Path, observed: str) -> PrerequisiteError:
    return PrerequisiteError(
        "copying from or to the cache failed",
        where=str(place),
        observed=observed,
        fix=f"free disk space, or `setup/cache prune`; without {VARIABLE} nothing is kept",
    )


def _digest(folder: Path) -> tuple[str, int]:
    """Return a hash of names, kinds, owners, rights and contents below a folder, and the size of its files in bytes."""
    total, size_bytes = hashlib.sha256(), 0
    for path in _below(folder):
        state = path.lstat()
        if stat.S_ISREG(state.st_mode):
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            size_bytes += state.st_size
        else:
            content = str(path.readlink()) if stat.S_ISLNK(state.st_mode) else str(state.st_rdev)
        rights = f"{state.st_mode:o} {state.st_uid} {state.st_gid}"
        total.update(os.fsencode(f"{path.relative_to(folder)}\0{rights}\0{content}\0"))
    return total.hexdigest(), size_bytes


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(Path(entry.path) for entry in os.scandir(folder)):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in _below(folder))


def _entry(kind: str, path: Path) -> Entry:
    try:
        facts = json.loads((path / _FACTS).read_text())
        names, size_bytes = tuple(map(str, facts["names"])), int(facts["size_bytes"])
        return Entry(kind, path, names, size_bytes, (path / _FACTS).stat().st_mtime)
    except (OSError, ValueError, KeyError, TypeError):
        return Entry(kind, path, ("damaged",), _size(path), path.stat().st_mtime)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
