"""The artifacts with digests or signatures in `TOSCA.meta` or the manifest of a package; each digest is checked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

import yaml

from nfvbed.spec import boundedyaml
from nfvbed.vnfs.descriptors.archive import MOST_MEMBERS, MOST_TEXT_BYTES, Archive
from nfvbed.vnfs.descriptors.manifest import META

ALGORITHMS = {"sha-224": "sha224", "sha-256": "sha256", "sha-384": "sha384", "sha-512": "sha512"}
"""Digests by the names that packages have for them, with Python's."""
MOST_BLOCKS = 2 * MOST_MEMBERS
"""The most blocks of TOSCA.meta, or of a manifest: one for each artifact, and some that say something else."""
_SOURCE = "Source:"
_BEGINS = (_SOURCE, "non_mano_artifact_sets:")
"""Lines that begin a block also without an empty line before them."""
MOST_MANIFEST_BYTES = MOST_TEXT_BYTES
BEGIN_CMS = b"-----BEGIN CMS-----"
"""The marker before the signature at a manifest's end."""


@dataclass(frozen=True)
class Artifact:
    """A member, or a URL, whose digest a package gives."""

    source: str
    algorithm: str
    digest: str
    member: str
    """The member that names it."""
    line: int

    @property
    def is_external(self) -> bool:
        """Whether it is not in the package."""
        return "://" in self.source


@dataclass(frozen=True)
class SignedArtifact:
    """A member with a signature of its own."""

    source: str
    signature: str
    """Member with it."""
    certificate: str
    """Member with the signer's certificate; empty: it is in the signature, or the package's own."""
    line: int


def manifest_of(archive: Archive, meta: Mapping[str, tuple[str, int]], entry: str) -> str:
    """Return the member that is the manifest; empty: there is none.

    Raises:
        ConfigurationError: it is not there, or there is one of another name.
    """
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
    return manifest if manifest in archive.sizes else ""


def listed(archive: Archive, *members: str) -> list[Artifact]:
    """Return the artifacts to which TOSCA.meta, or the manifest, gives digests."""
    return [found for name in members if name in archive.sizes for found in _of(archive, name)]


def signed(archive: Archive, manifest: str) -> list[SignedArtifact]:
    """Return the artifacts that have signatures of their own."""
    found = []
    for start, text in blocks(archive, manifest) if manifest in archive.sizes else ():
        if not text.startswith(_SOURCE) or "Signature:" not in text:
            continue
        keys = {key: value for key, (value, _) in block(archive, manifest, (start, text)).items()}
        found.append(SignedArtifact(keys["Source"], keys["Signature"], keys.get("Certificate", ""), start))
    return found


def _of(archive: Archive, name: str) -> Iterator[Artifact]:
    for start, text in blocks(archive, name):
        if not any(word in text for word in ("Algorithm:", "Hash:")):
            continue
        found_keys = block(archive, name, (start, text))
        source = found_keys.get("Source") or found_keys.get("Name")
        for key, found in (
            ("Source", source),
            ("Algorithm", found_keys.get("Algorithm")),
            ("Hash", found_keys.get("Hash")),
        ):
            if found is None or not found[0]:
                raise archive.fault(
                    f"an artifact in {name} has no {key}",
                    name,
                    ", ".join(found_keys) or "an empty block",
                    "each has Source, Algorithm and Hash, and an empty line after them",
                    start,
                )
        assert source is not None
        digest = found_keys["Hash"]
        yield Artifact(source[0], found_keys["Algorithm"][0], digest[0], name, digest[1])


def is_right(archive: Archive, artifact: Artifact) -> bool:
    """Return whether a member has the given digest; False where it is not in the package.

    Raises:
        ConfigurationError: it has another one, or the artifact is missing.
    """
    algorithm = ALGORITHMS.get(artifact.algorithm.lower())
    at = (artifact.member, artifact.line)
    if algorithm is None:
        observed, fix = artifact.algorithm, f"one of {', '.join(ALGORITHMS)}"
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


def blocks(archive: Archive, name: str) -> Iterator[tuple[int, str]]:
    """Yield the blocks between empty lines, each with the number of its first line; some begin without one.

    A signature at the end is none.

    Raises:
        ConfigurationError: there are too many, or it is no text.
    """
    text = archive.text(name).partition(BEGIN_CMS.decode())[0]
    start, lines, count = 1, list[str](), 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if lines and (not line.strip() or line.startswith(_BEGINS)):
            count += 1
            if count > MOST_BLOCKS:
                observed = f"more than {MOST_BLOCKS} blocks; an archive has at most {MOST_MEMBERS} members"
                raise archive.fault(f"{name} is too long to be read", name, observed, "list each artifact once", start)
            yield start, "\n".join(lines)
            lines = []
        if line.strip():
            start = start if lines else number
            lines.append(line)


def block(archive: Archive, name: str, part: tuple[int, str]) -> dict[str, tuple[str, int]]:
    """Return the keys of a block with their values and lines."""
    start, text = part
    try:
        found = boundedyaml.load(text, aliases=0) or {}
        if not isinstance(found, dict):
            raise yaml.YAMLError("it has no keys")
    except yaml.YAMLError as failure:
        observed = str(failure).splitlines()[0]
        raise archive.fault(f"{name} is malformed", name, observed, "write KEY: VALUE lines", start) from failure
    lines = text.splitlines()

    def line_of(key: str) -> int:
        return start + next((at for at, line in enumerate(lines) if line.strip().startswith(f"{key}:")), 0)

    return {str(key): ("" if value is None else str(value), line_of(str(key))) for key, value in found.items()}
