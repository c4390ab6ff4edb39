"""VNF packages (SOL004 CSAR): written, and read with all checks before anything of them is used."""

import io
import posixpath
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml

from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import Document, parse_document
from nfvbed.vnfs.descriptors.archive import Archive
from nfvbed.vnfs.descriptors.manifest import META

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Date of every member: packages of equal content are equal."""
_PACKED_ALREADY = (".qcow2", ".img")
_ALGORITHMS = {"sha-224": "sha224", "sha-256": "sha256", "sha-384": "sha384", "sha-512": "sha512"}
_YAML = (".yaml", ".yml")
_MODE = 0o644


def write(files: Mapping[str, bytes]) -> bytes:
    """Return the archive of these members; the same members give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path, data in files.items():
            member = zipfile.ZipInfo(path, _EPOCH)
            member.external_attr = _MODE << 16
            stored = path.endswith(_PACKED_ALREADY)
            member.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            archive.writestr(member, data)
    return content.getvalue()


@dataclass(frozen=True)
class Package:
    """A package that has passed all checks."""

    archive: Archive
    entry: str
    """Path of the entry definitions."""
    definitions: Mapping[str, Document]
    """Entry definitions and what they import, by path; the entry is first."""
    hashed: tuple[str, ...]
    """Members whose digests were given, and are right."""
    external: tuple[str, ...]
    """Artifacts that the package names by a URL: they were not fetched, nor are their digests known to be right."""


def read(path: Path) -> Package:
    """Read a package of anyone's; nothing is unpacked.

    Raises:
        ConfigurationError: what is wrong, with member and line.
    """
    archive = Archive(path)
    meta = _metadata(archive)
    entry = _entry(archive, meta)
    named = _artifacts(archive, meta, entry)
    checked = [artifact.source for artifact in named if _is_right(archive, artifact)]
    definitions = dict(_definitions(archive, entry))
    external = tuple(artifact.source for artifact in named if artifact.is_external)
    return Package(archive, entry, definitions, tuple(checked), external)


def _metadata(archive: Archive) -> dict[str, tuple[str, int]]:
    """Return the first block of TOSCA.meta, with the line of each key; empty where the package needs none."""
    if META in archive.sizes:
        return _block(archive, META, next(_blocks(archive, META), (1, "")))
    root = [name for name in archive.sizes if "/" not in name and name.endswith(_YAML)]
    if len(root) == 1:
        return {}
    raise archive.fault(
        f"{archive.path.name} has no {META}",
        META,
        f"{len(root)} definitions in its root, of which there would have to be one; "
        f"members: {', '.join(list(archive.sizes)[:6]) or 'none'}",
        f"put {META} with the key Entry-Definitions into the archive's root, not into a folder of it",
    )


def _entry(archive: Archive, meta: Mapping[str, tuple[str, int]]) -> str:
    if not meta and META not in archive.sizes:
        return next(name for name in archive.sizes if "/" not in name and name.endswith(_YAML))
    if "Entry-Definitions" not in meta:
        raise archive.fault(
            f"{META} names no entry definitions",
            META,
            f"it has {', '.join(meta) or 'no keys'}",
            "write Entry-Definitions: Definitions/NAME.yaml",
            1,
        )
    name, line = meta["Entry-Definitions"]
    if name not in archive.sizes:
        there = [one for one in archive.sizes if one.endswith(_YAML)]
        raise archive.fault(
            f"the entry definitions are not in {archive.path.name}",
            META,
            f"Entry-Definitions: {name}",
            f"name one of {', '.join(there[:6])}" if there else "put the file into the archive",
            line,
        )
    return name


@dataclass(frozen=True)
class _Artifact:
    source: str
    algorithm: str
    digest: str
    member: str
    """That names it."""
    line: int

    @property
    def is_external(self) -> bool:
        return "://" in self.source


def _artifacts(archive: Archive, meta: Mapping[str, tuple[str, int]], entry: str) -> list[_Artifact]:
    """Return what TOSCA.meta and the manifest give digests of."""
    stem = PurePosixPath(entry).stem
    manifest, line = meta.get("ETSI-Entry-Manifest", (f"{stem}.mf" if META not in archive.sizes else "", 1))
    if manifest and manifest not in archive.sizes and META in archive.sizes:
        raise archive.fault(
            f"the manifest is not in {archive.path.name}",
            META,
            f"ETSI-Entry-Manifest: {manifest}",
            "put the file into the archive, or take the key out",
            line,
        )
    other = [name for name in archive.sizes if "/" not in name and name.endswith(".mf") and name != manifest]
    if META not in archive.sizes and other:
        raise archive.fault(
            f"{other[0]} is the manifest of nothing",
            other[0],
            f"the entry definitions are {entry}",
            f"name it {manifest}, so that its hashes are looked at",
        )
    members = [name for name in (META, manifest) if name in archive.sizes]
    return [found for name in members for found in _of(archive, name)]


def _of(archive: Archive, name: str) -> Iterator[_Artifact]:
    for start, text in _blocks(archive, name):
        if not any(word in text for word in ("Algorithm:", "Hash:")):
            continue
        block = _block(archive, name, (start, text))
        source = block.get("Source") or block.get("Name")
        for key, found in (("Source", source), ("Algorithm", block.get("Algorithm")), ("Hash", block.get("Hash"))):
            if found is None or not found[0]:
                raise archive.fault(
                    f"an artifact in {name} has no {key}",
                    name,
                    ", ".join(block) or "an empty block",
                    "each has Source, Algorithm and Hash, and an empty line after them",
                    start,
                )
        assert source is not None
        yield _Artifact(source[0], block["Algorithm"][0], block["Hash"][0], name, block["Hash"][1])


def _is_right(archive: Archive, artifact: _Artifact) -> bool:
    """Whether a member has the digest that is given; False where it is not in the package.

    Raises:
        ConfigurationError: it has another one, or the artifact is missing.
    """
    algorithm = _ALGORITHMS.get(artifact.algorithm.lower())
    at = (artifact.member, artifact.line)
    if algorithm is None:
        observed, fix = artifact.algorithm, f"one of {', '.join(_ALGORITHMS)}"
        raise archive.fault(f"unknown algorithm for {artifact.source}", at[0], observed, fix, at[1])
    if artifact.is_external:
        return False
    if artifact.source not in archive.sizes:
        raise archive.fault(
            f"{artifact.source} is not in {archive.path.name}",
            at[0],
            f"Source: {artifact.source}",
            "put the file into the archive, or take it out of the list",
            at[1],
        )
    found = archive.digest(artifact.source, algorithm)
    if found != artifact.digest.lower():
        raise archive.fault(
            f"{artifact.source} has another hash than {artifact.member} gives",
            at[0],
            f"{artifact.algorithm} {found}, and {artifact.digest} is given",
            "the file was changed after the package was made: get the package again, or make its manifest again",
            at[1],
        )
    return True


def _blocks(archive: Archive, name: str) -> Iterator[tuple[int, str]]:
    """Yield the blocks that empty lines part, with the number of their first lines."""
    start, lines = 1, list[str]()
    for number, line in enumerate([*archive.text(name).splitlines(), ""], 1):
        if line.strip():
            start = start if lines else number
            lines.append(line)
        elif lines:
            yield start, "\n".join(lines)
            lines = []


def _block(archive: Archive, name: str, block: tuple[int, str]) -> dict[str, tuple[str, int]]:
    """Return the keys of a block with their values and lines."""
    start, text = block
    try:
        found = yaml.safe_load(text) or {}
        if not isinstance(found, dict):
            raise yaml.YAMLError("it has no keys")
    except yaml.YAMLError as failure:
        observed = str(failure).splitlines()[0]
        raise archive.fault(f"{name} is malformed", name, observed, "write KEY: VALUE lines", start) from failure
    lines = text.splitlines()

    def line_of(key: str) -> int:
        return start + next((at for at, line in enumerate(lines) if line.strip().startswith(f"{key}:")), 0)

    return {str(key): ("" if value is None else str(value), line_of(str(key))) for key, value in found.items()}


def _definitions(archive: Archive, entry: str) -> Iterator[tuple[str, Document]]:
    """Yield the entry definitions and what they import.

    Raises:
        ConfigurationError: one is malformed or missing, or lies outside the package.
    """
    waiting, seen = [entry], {entry}
    while waiting:
        name = waiting.pop(0)
        document = parse_document(Path(archive.where(name)), archive.text(name))
        yield name, document
        for place, wanted in _imports(document):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), wanted))
            if "://" in wanted or wanted.startswith("/") or target.startswith("..") or target not in archive.sizes:
                raise ConfigurationError(
                    f"an import of {name} is not in {archive.path.name}",
                    where=document.where(("imports", place)),
                    observed=wanted,
                    fix="put the file into the package, and name it relative to the file that imports it; "
                    "nothing is fetched",
                )
            if target not in seen:
                seen.add(target)
                waiting.append(target)


def _imports(document: Document) -> Iterator[tuple[int, str]]:
    entries = document.data.get("imports") or []
    for place, entry in enumerate(entries if isinstance(entries, list) else []):
        inner = next(iter(entry.values()), "") if isinstance(entry, dict) and "file" not in entry else entry
        yield place, str(inner.get("file", "") if isinstance(inner, dict) else inner)
