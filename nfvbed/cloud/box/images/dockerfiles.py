"""Kolla's Dockerfiles, as its own program renders them: who a service runs as, what starts it, and with which files.

Packages that a Dockerfile installs are in the layer that all images share, and what else its `RUN` lines do to them is
in `finish.py`. Of the `RUN` lines only those are followed here that concern Kolla's own files and users.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from nfvbed.errors import PrerequisiteError

_LEFT_OUT = ("/etc/apt/", "/etc/dpkg/", "/tmp/", "/patches")
"""Targets of files that serve the building alone."""
_FILE_MODE = 0o644


@dataclass(frozen=True)
class ImageFile:
    """A file of an image."""

    content: bytes
    mode: int


@dataclass(frozen=True)
class ServiceImage:
    """What is an image's own, beside the layer that all share."""

    name: str
    user: str
    entrypoint: tuple[str, ...]
    command: tuple[str, ...]
    workdir: str
    environment: dict[str, str]
    labels: dict[str, str]
    files: dict[str, ImageFile]
    """By absolute path."""
    links: dict[str, str]
    """Targets of symbolic links, by absolute path."""


@dataclass
class User:
    """A user of Kolla's images."""

    name: str
    uid: int
    gid: int
    group: str
    home: str
    shell: str
    groups: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Instruction:
    """A line of a Dockerfile, continued ones as one."""

    word: str
    text: str


class Dockerfiles:
    """A folder of rendered Dockerfiles.

    Args:
        folder: with a folder for each image, somewhere below.
    """

    def __init__(self, folder: Path) -> None:
        self._folders = {path.parent.name: path.parent for path in sorted(folder.rglob("Dockerfile"))}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all images."""
        return tuple(self._folders)

    def chain(self, name: str) -> tuple[Path, ...]:
        """Return the folders of an image and of those that it is made from, the first one first.

        Raises:
            PrerequisiteError: Kolla has no such image.
        """
        if name not in self._folders:
            raise PrerequisiteError(
                f"Kolla has no image {name}",
                where="nfvbed/cloud/box/images/images.txt",
                observed=f"{len(self._folders)} images of this Kolla",
                fix="setup/kolla, then setup/box-images pin: the list is of another version",
            )
        found: list[Path] = []
        while name in self._folders:
            folder = self._folders[name]
            found.insert(0, folder)
            parents = [one.text for one in instructions(folder / "Dockerfile") if one.word == "FROM"]
            name = parents[0].rpartition("/")[2].partition(":")[0] if parents else ""
        return tuple(found)

    def image(self, name: str) -> ServiceImage:
        """Return what is an image's own.

        Raises:
            PrerequisiteError: Kolla has no such image.
        """
        state = _Reading()
        for folder in self.chain(name):
            for one in instructions(folder / "Dockerfile"):
                state.follow(one, folder)
        return ServiceImage(
            name,
            state.user,
            state.entrypoint,
            state.command,
            state.workdir,
            state.environment,
            state.labels,
            state.files,
            state.links,
        )

    def users(self, names: tuple[str, ...]) -> dict[str, User]:
        """Return all of Kolla's users, as some images need them.

        Args:
            names: of those images.
        """
        found: dict[str, User] = {}
        groups: dict[int, str] = {}
        for folder in dict.fromkeys(folder for name in names for folder in self.chain(name)):
            for one in instructions(folder / "Dockerfile"):
                if one.word == "RUN":
                    for command in commands(one.text):
                        _follow_user(command, found, groups)
        return found


class _Reading:
    """What is known of an image after some instructions."""

    def __init__(self) -> None:
        self.user, self.workdir = "", ""
        self.entrypoint: tuple[str, ...] = ()
        self.command: tuple[str, ...] = ()
        self.environment: dict[str, str] = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.labels: dict[str, str] = {}
        self.files: dict[str, ImageFile] = {}
        self.links: dict[str, str] = {}

    def follow(self, one: Instruction, folder: Path) -> None:
        match one.word:
            case "USER":
                self.user = one.text
            case "WORKDIR":
                self.workdir = one.text
            case "ENTRYPOINT":
                self.entrypoint = tuple(json.loads(one.text))
                self.command = ()
            case "CMD":
                self.command = tuple(json.loads(one.text))
            case "ENV":
                self.environment |= pairs(one.text, self.environment)
            case "LABEL":
                self.labels |= pairs(one.text, self.environment)
            case "COPY":
                self._copy(shlex.split(one.text), folder)
            case "RUN":
                for command in commands(one.text):
                    self._run(command)

    def _copy(self, words: list[str], folder: Path) -> None:
        *sources, target = words
        for name in sources:
            source = folder / name
            if f"{target}/".startswith(_LEFT_OUT):
                continue
            for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
                if path.is_file():
                    below = str(path.relative_to(source)) if source.is_dir() else path.name
                    inside = f"{target.rstrip('/')}/{below}" if source.is_dir() or target.endswith("/") else target
                    self.files[inside] = ImageFile(path.read_bytes(), _FILE_MODE)

    def _run(self, words: list[str]) -> None:
        match words:
            case ["touch", *paths]:
                for path in paths:
                    self.files.setdefault(path, ImageFile(b"", _FILE_MODE))
            case ["chmod", mode, *patterns]:
                for path, file in self.files.items():
                    if any(fnmatch(path, pattern) for pattern in patterns):
                        changed = file.mode | 0o111 if mode == "+x" else int(mode, 8)
                        self.files[path] = ImageFile(file.content, changed)
            case ["update-alternatives", "--set", name, path]:
                self.links[f"/etc/alternatives/{name}"] = path


def instructions(path: Path) -> Iterator[Instruction]:
    """Yield the instructions of a Dockerfile."""
    text = "\n".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\s*\n", " ", text).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word:
            yield Instruction(word.upper(), rest.strip())


def commands(text: str) -> Iterator[list[str]]:
    """Yield the simple commands of a `RUN` instruction; what is no list of words, as a loop, is left out."""
    for part in text.split("&&"):
        try:
            words = shlex.split(part.split(";")[0])
        except ValueError:
            continue
        if words:
            yield words


def pairs(text: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return what an `ENV` or `LABEL` instruction sets, with variables that are known before put in."""
    first, _, rest = text.partition(" ")
    if "=" not in first:
        return {first: _expanded(rest, known)}
    # As in Docker's own reading, quotes group and go; `$(...)` stays as it is.
    found = (word.partition("=") for word in shlex.split(text))
    return {name: _expanded(value, known) for name, _, value in found}


def _expanded(text: str, known: Mapping[str, str]) -> str:
    return re.sub(r"\$\{?(\w+)\}?", lambda found: known.get(found[1], ""), text).rstrip(":")


def _follow_user(words: list[str], found: dict[str, User], groups: dict[int, str]) -> None:
    match words:
        case ["groupadd", "--gid", gid, group]:
            groups[int(gid)] = group
        case ["useradd", *_, "--uid", uid, "--gid", gid, name]:
            shell = words[words.index("--shell") + 1]
            found[name] = User(name, int(uid), int(gid), groups[int(gid)], f"/home/{name}", shell)
        case ["usermod", "--append", "--home", home, "--groups", names, name]:
            found[name].home = home
            found[name].groups |= set(names.split(","))
        case ["usermod", "--append", "--groups", names, name]:
            found[name].groups |= set(names.split(","))
        case ["chsh", "--shell", shell, name]:
            found[name].shell = shell
