"""Entry definitions and what they import: members of a package, or files of a folder. Nothing is fetched.

ETSI's type files, as ETSI publishes them, import each other by URL. What is named so is taken from beside the file that
imports it, or is one of those that nfvbed has (`typefiles`); for Tacker a package stays as it is.
"""

import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nfvbed.errors import ConfigurationError
from nfvbed.spec.boundedyaml import MOST_CHARACTERS, MOST_NODES
from nfvbed.spec.document import Document, parse_document
from nfvbed.vnfs.descriptors import foreign, shape
from nfvbed.vnfs.descriptors.typefiles import ETSI_RELEASE, ETSI_TYPES, etsi_types


class Members(Protocol):
    """The place of definitions: paths with slashes, below one folder."""

    @property
    def path(self) -> Path:
        """The path of the package, or of the first file."""

    def has(self, member: str) -> bool:
        """Return whether there is a file of this path."""

    def where(self, member: str) -> str:
        """Return the place of a file, for messages."""

    def text(self, member: str) -> str:
        """Return a file's text."""


@dataclass(frozen=True)
class Definitions:
    """Entry definitions, with all their imports."""

    entry: str
    """Path of the entry definitions."""
    definitions: Mapping[str, Document]
    """All of them by path; the entry is first."""
    texts: Mapping[str, str]
    """Texts of the same, with paths in the place of URLs: what tosca-parser reads."""
    notes: tuple[str, ...]
    """Imports by URL, and what was read in their place."""


class Folder:
    """The files beside a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, member: str) -> bool:
        """Return whether there is such a file."""
        return (self.path.parent / member).is_file()

    def where(self, member: str) -> str:
        """Return the place of a file, for messages."""
        return str(self.path.parent / member)

    def text(self, member: str) -> str:
        """Return a file's text.

        Raises:
            ConfigurationError: it cannot be read, or is no text.
        """
        return foreign.read_text(self.path.parent / member)


def read(members: Members, entry: str) -> Definitions:
    """Read entry definitions and their imports.

    Raises:
        ConfigurationError: one is malformed, no TOSCA or missing, or lies outside.
        PrerequisiteError: ETSI's type files are missing, and one of them is named by a URL.
    """
    waiting, documents, texts, notes = [entry], dict[str, Document](), dict[str, str](), list[str]()
    brought: dict[str, str] = {}
    while waiting:
        name = waiting.pop(0)
        text = brought[name] if name in brought else members.text(name)
        document = parse_document(Path(members.where(name)), text)
        if name == entry:
            foreign.require_tosca(document)
        documents[name] = document = shape.definitions(document)
        _require_measure(members, documents.values(), len(text) + sum(map(len, texts.values())))
        urls: dict[str, str] = {}
        for number, wanted in imported(document):
            target, note = _target(members, (name, document, number), wanted)
            if note:
                notes.append(note)
                urls[wanted] = posixpath.relpath(target, posixpath.dirname(name) or ".")
                if not members.has(target):
                    brought[target] = etsi_types()[posixpath.basename(target)].decode()
            if target not in documents and target not in waiting:
                waiting.append(target)
        texts[name] = _with_paths(text, urls)
    return Definitions(entry, documents, texts, tuple(dict.fromkeys(notes)))


def _require_measure(members: Members, documents: Collection[Document], characters: int) -> None:
    """Refuse definitions that are small one by one, and too large together.

    Raises:
        ConfigurationError: they are longer than one text may be, or hold more than one YAML file may.
    """
    values = sum(len(document.places) for document in documents)
    if characters > MOST_CHARACTERS or values > MOST_NODES:
        raise ConfigurationError(
            f"the definitions of {members.path.name} hold too much",
            where=str(members.path),
            observed=f"{len(documents)} files with {characters} characters and {values} values;"
            f" {MOST_CHARACTERS} and {MOST_NODES} are read",
            fix="import what the VNF needs, and no more",
        )


def imported(document: Document) -> Iterator[tuple[int, str]]:
    """Yield the place and name of each import."""
    for place, entry in enumerate(document.data.get("imports") or ()):
        inner = next(iter(entry.values()), "") if isinstance(entry, dict) and "file" not in entry else entry
        yield place, str(inner.get("file", "") if isinstance(inner, dict) else inner)


def _target(members: Members, at: tuple[str, Document, int], wanted: str) -> tuple[str, str]:
    """Return the path of an import, and a text about it.

    Raises:
        ConfigurationError: it is not there.
    """
    name, document, number = at
    folder = posixpath.dirname(name)
    if "://" in wanted:
        last = posixpath.basename(wanted)
        beside = posixpath.join(folder, last)
        if last and members.has(beside):
            return beside, f"{wanted}: {beside} is read in its place"
        if last in ETSI_TYPES:
            return beside, f"{wanted}: ETSI's {ETSI_RELEASE}, as nfvbed has it, is read in its place"
    else:
        target = posixpath.normpath(posixpath.join(folder, wanted))
        if not wanted.startswith("/") and not target.startswith("..") and members.has(target):
            return target, ""
    raise ConfigurationError(
        f"an import of {name} is not in {members.path.name}"
        if members.path.name != name
        else f"an import of {name} is not beside it",
        where=document.where(("imports", number)),
        observed=wanted,
        fix="put the file beside the one that imports it, and name it relative to that; nothing is fetched",
    )


def _with_paths(text: str, urls: Mapping[str, str]) -> str:
    for url in sorted(urls, key=len, reverse=True):
        text = text.replace(url, urls[url])
    return text


def flavours(package: Definitions) -> dict[str, str]:
    """Return the files of deployment flavours among definitions, by the flavours' ids."""
    found = {}
    for member, document in package.definitions.items():
        mapped = (document.data.get("topology_template") or {}).get("substitution_mappings") or {}
        identifier = (mapped.get("properties") or {}).get("flavour_id")
        if isinstance(identifier, str):
            found[identifier] = member
    return found
