"""Signatures of VNF packages (ETSI GS NFV-SOL 004, clause 5): of the manifest, of artifacts, of the whole archive.

Of the manifest (option 1): it ends with the signature, and gives a digest of each other member, which then cannot be
changed either. Of the whole (option 2): a zip archive with the package, its signature, and a certificate.
"""

import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nfvbed.errors import ConfigurationError
from nfvbed.spec.textfile import read_bytes
from nfvbed.vnfs.descriptors import artifacts, cms
from nfvbed.vnfs.descriptors.archive import Archive
from nfvbed.vnfs.descriptors.cms import Signer
from nfvbed.vnfs.descriptors.manifest import META

_REST = re.compile(r"\s+[A-Za-z0-9+/=\s]+\s-----END CMS-----\s*\Z")
"""What follows the marker that begins a signature: it, and nothing else."""
_MOST_BYTES = 2**20
"""The largest signature or certificate."""
_PACKAGES = (".csar", ".zip")
_SIGNATURE, _CERTIFICATE = ".cms", ".cert"
_AGAIN = "get the package again from who made it; it was changed after it was signed, or signed wrongly"


@dataclass(frozen=True)
class TrustedCertificates:
    """The certificates that a user trusts."""

    certificates: tuple[bytes, ...] = ()
    """In PEM. Empty: a signature is verified for any signer, and a package may have none."""


def read_trust(paths: Sequence[Path]) -> TrustedCertificates:
    """Read certificates that are trusted.

    Raises:
        ConfigurationError: one cannot be read, or has no certificate in PEM.
    """
    found = []
    for path in paths:
        content = read_bytes(path, "name a file with a certificate in PEM", _MOST_BYTES)
        if b"-----BEGIN CERTIFICATE-----" not in content:
            raise ConfigurationError(
                "this is no certificate",
                where=str(path),
                observed=f"it begins with {content[:20]!r}",
                fix="a certificate in PEM: openssl x509 -inform DER -in FILE -out FILE.pem",
            )
        found.append(content)
    return TrustedCertificates(tuple(found))


def is_signed_whole(archive: Archive) -> bool:
    """Return whether an archive is the second option: one package, and its signature, in its root."""
    inner, signatures = _of_ending(archive, _PACKAGES), _of_ending(archive, (_SIGNATURE,))
    return META not in archive.sizes and len(inner) == len(signatures) == 1


def opened_whole(archive: Archive, trust: TrustedCertificates) -> tuple[Archive, Signer]:
    """Verify the signature of a package within an archive; return the package, from a file that goes with it.

    Raises:
        ConfigurationError: the signature is not right.
    """
    (inner,), (signature,) = _of_ending(archive, _PACKAGES), _of_ending(archive, (_SIGNATURE,))
    certificates = _of_ending(archive, (_CERTIFICATE,))
    certificate = archive.content(certificates[0], _MOST_BYTES) if certificates else b""
    folder = tempfile.TemporaryDirectory(prefix="nfvbed-package-")
    copy = Path(folder.name) / PurePosixPath(inner).name
    archive.copy(inner, copy)
    signer = _verified(archive, (signature, None), copy, certificate, trust)
    return Archive(copy, shown=archive.where(inner), folder=folder), signer


def of_manifest(
    archive: Archive, meta: Mapping[str, tuple[str, int]], manifest: str, trust: TrustedCertificates
) -> Signer | None:
    """Verify the signature at a manifest's end, and those of single artifacts; return who signed, None: unsigned.

    Args:
        meta: the keys of TOSCA.meta, with their lines.
        manifest: its member; empty: there is none.

    Raises:
        ConfigurationError: one is not right, or a member is not covered by it; it is not trusted, or missing.
    """
    content = archive.content(manifest, artifacts.MOST_MANIFEST_BYTES) if manifest in archive.sizes else b""
    signed, begin, rest = content.partition(artifacts.BEGIN_CMS)
    certificate = _certificate(archive, meta, manifest)
    of_artifacts = list(_of_artifacts(archive, manifest, (certificate, trust)))
    if not begin:
        if trust.certificates:
            raise archive.fault(
                f"{archive.path.name} is not signed",
                manifest or META,
                "its manifest ends without a signature" if manifest else "it has no manifest",
                "get a signed package; without --trusted one without a signature is taken",
            )
        return None
    line = signed.count(b"\n") + 1
    if _REST.match(archive.decoded(manifest, rest)) is None:
        fix = "let the manifest end with one signature, from -----BEGIN CMS----- to -----END CMS-----"
        observed = "something else is in it, or follows it" if b"-----END" in rest else "it has no end"
        raise archive.fault(f"the signature of {manifest} is malformed", manifest, observed, fix, line)
    with _as_file(signed) as file:
        signer = _verified(archive, (manifest, line), file, certificate, trust, begin + rest)
    _require_covered(archive, manifest, meta, [one for pair in of_artifacts for one in pair])
    return signer


def _certificate(archive: Archive, meta: Mapping[str, tuple[str, int]], manifest: str) -> bytes:
    """Return the certificate that is a member of its own; empty: there is none."""
    named, line = meta.get("ETSI-Entry-Certificate", ("", None))
    if named and named not in archive.sizes:
        raise archive.fault(
            f"the certificate is not in {archive.path.name}",
            META,
            f"ETSI-Entry-Certificate: {named}",
            "put the file into the archive, or take the key out where the signature contains it",
            line,
        )
    beside = f"{PurePosixPath(manifest).stem}{_CERTIFICATE}" if manifest else ""
    name = named or (beside if beside in archive.sizes else "")
    return archive.content(name, _MOST_BYTES) if name else b""


def _of_artifacts(archive: Archive, manifest: str, by: tuple[bytes, TrustedCertificates]) -> Iterator[tuple[str, str]]:
    """Verify the artifacts that have signatures of their own; yield the members with signature and certificate."""
    common, trust = by
    for one in artifacts.signed(archive, manifest):
        for member in (one.source, one.signature, one.certificate):
            if member and member not in archive.sizes:
                fix = "put the file into the archive, or take it out of the manifest"
                raise archive.fault(f"{member} is not in {archive.path.name}", manifest, one.source, fix, one.line)
        certificate = archive.content(one.certificate, _MOST_BYTES) if one.certificate else common
        signature = archive.content(one.signature, _MOST_BYTES)
        with tempfile.TemporaryDirectory(prefix="nfvbed-artifact-") as folder:
            copy = Path(folder) / "artifact"
            archive.copy(one.source, copy)
            _verified(archive, (one.signature, None), copy, certificate, trust, signature)
        yield one.signature, one.certificate


def _require_covered(
    archive: Archive, manifest: str, meta: Mapping[str, tuple[str, int]], beside: Collection[str]
) -> None:
    """Refuse a member that was put into a package without its signature showing it.

    `TOSCA.meta` may be without a digest, as manifests of several vendors have it: it names the other files alone.
    """
    own = {manifest, META, meta.get("ETSI-Entry-Certificate", ("", 0))[0], *beside}
    own.add(f"{PurePosixPath(manifest).stem}{_CERTIFICATE}")
    hashed = {one.source for one in artifacts.listed(archive, manifest)}
    loose = [name for name in archive.sizes if name not in own | hashed]
    if loose:
        raise archive.fault(
            f"the signature of {archive.path.name} does not cover {loose[0]}",
            manifest,
            f"{len(loose)} members without a digest in the signed manifest: {', '.join(loose[:6])}",
            "the file was put into the package after it was signed, or its Source, Algorithm and Hash are missing",
        )


def _verified(
    archive: Archive,
    at: tuple[str, int | None],
    content: Path,
    certificate: bytes,
    trust: TrustedCertificates,
    signature: bytes | None = None,
) -> Signer:
    """Verify one signature.

    Args:
        at: the member with the signature, and its line there.
        signature: None: all of that member.
    """
    member, line = at
    signature = archive.content(member, _MOST_BYTES) if signature is None else signature
    try:
        return cms.verify(content, signature, certificate, trust.certificates)
    except cms.SignatureRefused as failure:
        trusted = " and --trusted FILE is of its signer or of who certified that" if trust.certificates else ""
        what = f"the signature of {archive.path.name} is not right"
        raise archive.fault(what, member, str(failure), f"{_AGAIN}{trusted}", line) from failure


@contextmanager
def _as_file(content: bytes) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile(prefix="nfvbed-manifest-") as file:
        file.write(content)
        file.flush()
        yield Path(file.name)


def _of_ending(archive: Archive, endings: tuple[str, ...]) -> list[str]:
    return [name for name in archive.sizes if "/" not in name and name.lower().endswith(endings)]
