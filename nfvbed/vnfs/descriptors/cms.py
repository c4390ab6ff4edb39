"""A detached CMS signature (RFC 5652) over a file, verified by OpenSSL's `cms`; PEM and DER are read."""

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificate

from nfvbed.boundedcommand import ProgramEnd, run

_PEM_BEGIN = b"-----BEGIN "
_WITHIN_S = 120.0
"""For a package of the largest size, whose whole content is hashed."""
_REASONS = {
    "content verify error": "what was signed had another content",
    "signature verification failure": "the signature is not the certificate's",
    "verification failure": "the signature is not the certificate's",
    "signer certificate not found": "the certificate of its signer is neither in it nor in the package",
}
"""The ends of OpenSSL's messages (`CMS_R_...` in its sources), and what they mean here."""
_CHAIN = "Verify error:"


class SignatureRefused(Exception):
    """A signature is not right; its text is the reason."""


@dataclass(frozen=True)
class Signer:
    """The certificate by which something is signed."""

    subject: str
    """Its distinguished name (RFC 4514)."""
    fingerprint: str
    """SHA-256 of the certificate, in hexadecimal digits."""
    is_trusted: bool
    """Whether the certificate leads to one that the user trusts; False: it was not said whom to trust."""


def verify(content: Path, signature: bytes, certificate: bytes = b"", trusted: Sequence[bytes] = ()) -> Signer:
    """Verify a signature, and return who signed.

    Args:
        content: the file that is signed.
        certificate: the signer's, in PEM, where the signature does not contain it.
        trusted: certificates in PEM, of authorities or of signers; empty: for any signer, the signature is verified by
            the certificate that comes with it.

    Raises:
        SignatureRefused: it is not right, or its certificate does not lead to a trusted one.
        PrerequisiteError: there is no `openssl`.
        DeployError: it does not end in time.
    """
    with tempfile.TemporaryDirectory(prefix="nfvbed-cms-") as folder:
        place = Path(folder)
        given, others, roots, signer = (place / name for name in ("signature", "certificate", "trusted", "signer"))
        given.write_bytes(signature)
        form = "PEM" if signature.lstrip().startswith(_PEM_BEGIN) else "DER"
        argv = ["openssl", "cms", "-verify", "-binary", "-inform", form, "-in", str(given), "-content", str(content)]
        if certificate:
            others.write_bytes(certificate)
            argv += ["-certfile", str(others)]
        if trusted:
            roots.write_bytes(b"\n".join(trusted))
            # Without the last three OpenSSL also believes the authorities of the operating system.
            argv += ["-CAfile", str(roots), "-purpose", "any", "-partial_chain", "-no-CApath", "-no-CAstore"]
        else:
            argv += ["-noverify"]
        ended = run([*argv, "-signer", str(signer), "-out", "/dev/null"], within_s=_WITHIN_S)
        if ended.status != 0:
            raise SignatureRefused(_reason(ended))
        return _signer(signer.read_bytes(), is_trusted=bool(trusted))


def _reason(ended: ProgramEnd) -> str:
    """Return why OpenSSL refused, from the last of its lines of errors."""
    if _CHAIN in ended.errors:
        return f"its certificate leads to none that is trusted: {ended.errors.rpartition(_CHAIN)[2].strip()}"
    fields = [field for line in ended.errors.splitlines() if ":error:" in line for field in line.split(":")]
    return next((reason for said, reason in _REASONS.items() if said in fields), ended.said)


def _signer(pem: bytes, *, is_trusted: bool) -> Signer:
    found = load_pem_x509_certificate(pem)
    digest = hashlib.sha256(found.public_bytes(Encoding.DER)).hexdigest()
    return Signer(found.subject.rfc4514_string(), digest, is_trusted)
