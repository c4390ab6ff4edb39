"""VNF packages (SOL004 CSAR): written, and read with all checks before any part is used."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nfvbed.vnfs.descriptors import artifacts, imports, signature
from nfvbed.vnfs.descriptors.archive import Archive
from nfvbed.vnfs.descriptors.cms import Signer
from nfvbed.vnfs.descriptors.imports import Definitions
from nfvbed.vnfs.descriptors.manifest import META
from nfvbed.vnfs.descriptors.signature import TrustedCertificates
from nfvbed.vnfs.descriptors.swimages import require_images

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Date of every member: packages of equal content are equal."""
_PACKED_ALREADY = (".qcow2", ".img")
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
class Package(Definitions):
    """A package that has passed all checks."""

    archive: Archive
    hashed: tuple[str, ...]
    """Members whose digests were given, and are right."""
    external: tuple[str, ...]
    """Artifacts that the package names by a URL: they were not fetched, nor are their digests known to be right."""
    signer: Signer | None = None
    """Who signed its manifest, or the whole of it; None: it is not signed."""


_ANYONE = TrustedCertificates()


def read(path: Path, trust: TrustedCertificates = _ANYONE) -> Package:
    """Read a package from any source; its signatures are verified first. One that is signed whole is copied out of it.

    Raises:
        ConfigurationError: what is wrong, with member and line.
        PrerequisiteError: it is signed, and there is no `openssl`.
    """
    archive, signer = Archive(path), None
    if signature.is_signed_whole(archive):
        archive, signer = signature.opened_whole(archive, trust)
    meta = _metadata(archive)
    entry = _entry(archive, meta)
    manifest = artifacts.manifest_of(archive, meta, entry)
    # The archive around it has its signature; a second one may be missing then.
    of_manifest = signature.of_manifest(archive, meta, manifest, trust if signer is None else _ANYONE)
    named = artifacts.listed(archive, META, manifest)
    checked = [artifact.source for artifact in named if artifacts.is_right(archive, artifact)]
    found = imports.read(archive, entry)
    require_images(archive, found.definitions)
    external = tuple(artifact.source for artifact in named if artifact.is_external)
    return Package(
        **vars(found), archive=archive, hashed=tuple(checked), external=external, signer=signer or of_manifest
    )


def _metadata(archive: Archive) -> dict[str, tuple[str, int]]:
    """Return the first block of TOSCA.meta, with the line of each key; empty where the package needs none."""
    if META in archive.sizes:
        return artifacts.block(archive, META, next(artifacts.blocks(archive, META), (1, "")))
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
