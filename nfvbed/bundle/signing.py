"""Keys of bundles: files in PEM, of Ed25519, ECDSA or RSA; signatures by securesystemslib."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import FormatError, UnverifiedSignatureError, VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from nfvbed.bundle.statement import PAYLOAD_TYPE, Signature, parse_envelope
from nfvbed.errors import ConfigurationError
from nfvbed.spec.textfile import read_bytes

_MOST_BYTES: Final = 100_000
"""The largest file that is read as a key."""
_MAKE: Final = "openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout -out key.pub"


@dataclass(frozen=True)
class Signer:
    """Who signs: a private key, and its public half as it is put into the bundle."""

    private: CryptoSigner

    @property
    def public(self) -> dict[str, Any]:
        """The public key with its id."""
        key = self.private.public_key
        return {"keyid": key.keyid, **key.to_dict()}

    def sign(self, payload: bytes) -> bytes:
        """Return the envelope with a payload and its signature, as JSON."""
        envelope = Envelope(payload, PAYLOAD_TYPE, {})
        envelope.sign(self.private)
        return json.dumps(envelope.to_dict(), indent=1).encode()


def read_signer(path: Path) -> Signer:
    """Read a private key; a pipe is read too.

    Raises:
        ConfigurationError: it is not there, has a passphrase, or is none of a supported kind.
    """
    content = read_bytes(path, f"make one: {_MAKE}", _MOST_BYTES)
    try:
        return Signer(CryptoSigner(load_pem_private_key(content, password=None)))
    except TypeError as error:
        raise _unusable(path, "it has a passphrase", f"--sign <(openssl pkey -in {path})") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _unusable(path, str(error), f"a private key in PEM: {_MAKE}") from error


def read_trusted(paths: Sequence[Path]) -> tuple[SSlibKey, ...]:
    """Read public keys.

    Raises:
        ConfigurationError: one is not there, or is none of a supported kind.
    """
    return tuple(_read_public(path) for path in paths)


def _read_public(path: Path) -> SSlibKey:
    content = read_bytes(path, "name a public key in PEM", _MOST_BYTES)
    try:
        return SSlibKey.from_crypto(load_pem_public_key(content))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _unusable(path, str(error), "a public key in PEM: openssl pkey -in key.pem -pubout") from error


def _unusable(path: Path, observed: str, fix: str) -> ConfigurationError:
    return ConfigurationError("this key cannot be used", where=str(path), observed=observed, fix=fix)


@dataclass(frozen=True)
class OpenedEnvelope:
    """A payload, and whose signature it has."""

    payload: bytes
    signature: Signature
    keyid: str
    """Id of the key that the signature fits; where it fits none, the id that the envelope states."""


def open_envelope(content: bytes, trusted: Sequence[SSlibKey]) -> OpenedEnvelope:
    """Return what an envelope has, and whose signature: a trusted key's, that of the key in its payload, or none.

    Raises:
        ValueError: it is no envelope.
    """
    try:
        envelope = Envelope.from_dict(parse_envelope(content))
    except (FormatError, KeyError, TypeError) as error:
        raise ValueError(f"no DSSE envelope: {error}") from error
    said = ", ".join(envelope.signatures)
    for keys, signature in ((list(trusted), Signature.TRUSTED), (_own_key(envelope.payload), Signature.UNKNOWN)):
        if keyid := _fitting(envelope, keys):
            return OpenedEnvelope(envelope.payload, signature, keyid)
    return OpenedEnvelope(envelope.payload, Signature.BROKEN, said)


def _fitting(envelope: Envelope, keys: Sequence[SSlibKey]) -> str:
    """Return the id of a key that a signature fits; empty: of none."""
    if not keys:
        return ""
    try:
        return next(iter(envelope.verify(list(keys), 1)))
    except (VerificationError, UnverifiedSignatureError):
        return ""


def _own_key(payload: bytes) -> list[SSlibKey]:
    """Return the key that a statement names as its signer's."""
    try:
        said = json.loads(payload)["predicate"]["signer"]
        key = {name: said[name] for name in ("keytype", "scheme", "keyval")}
        return [SSlibKey.from_dict(str(said["keyid"]), key)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
