"""What a bundle says of itself: an in-toto statement with the digests of its files, in a DSSE envelope where signed.

Sources: in-toto Attestation Framework, spec/v1/statement.md and envelope.md; DSSE v1 (secure-systems-lab/dsse).
"""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints, ValidationError

from nfvbed.records import Record
from nfvbed.records.trial import RunId

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:nfvbed:bundle:v1"
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Digest(Record):
    """The SHA-256 of one file."""

    sha256: Sha256


class Subject(Record):
    """One file of the bundle."""

    name: str
    digest: Digest


class Predicate(Record):
    """What the files are, and by which rules its verdicts were made."""

    format: Literal["nfvbed-bundle/1"] = "nfvbed-bundle/1"
    nfvbed: str
    """Version that made it."""
    made_at: str
    """UTC, ISO 8601."""
    run: RunId
    experiment: str
    redacted: bool
    comparison_format: int
    verdict_rule: int
    placement_rule: int
    """Version of the rule that finds placement classes."""
    not_drawn: dict[str, str] = {}
    """Pictures that could not be drawn, with the reason."""
    signer: dict[str, Any] | None = None
    """Public key of who signed it, as securesystemslib writes it; it says nothing about who that is."""


class Statement(Record):
    """An in-toto statement over the other files of a bundle."""

    type: Literal["https://in-toto.io/Statement/v1"] = Field(STATEMENT_TYPE, alias="_type")
    subject: tuple[Subject, ...]
    predicateType: Literal["urn:nfvbed:bundle:v1"] = PREDICATE_TYPE
    predicate: Predicate


def state(files: Mapping[str, bytes], predicate: Predicate) -> bytes:
    """Return the statement over files, as JSON."""
    subject = tuple(Subject(name=name, digest=Digest(sha256=digest_of(content))) for name, content in files.items())
    made = Statement(subject=subject, predicate=predicate)
    return made.model_dump_json(by_alias=True, indent=1, exclude_none=True).encode()


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_statement(content: bytes) -> Statement:
    """Return a statement that was written as JSON.

    Raises:
        ValueError: it is none of a bundle.
    """
    try:
        return Statement.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


class Signature(StrEnum):
    """The signer of a bundle, as far as it is known."""

    TRUSTED = "signed by a key you trust"
    UNKNOWN = "signed by an unknown key"
    NONE = "unsigned"
    BROKEN = "its signature does not fit"


def parse_envelope(content: bytes) -> dict[str, Any]:
    """Return a DSSE envelope as JSON has it, with the forms of its values checked.

    Raises:
        ValueError: it is none, or of something else than an in-toto statement.
    """
    try:
        found = _Envelope.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return found.model_dump(mode="json")


class _SignatureEntry(Record):
    keyid: Annotated[str, StringConstraints(max_length=200)]
    sig: Annotated[str, StringConstraints(max_length=20_000)]


class _Envelope(Record):
    payload: str
    payloadType: Literal["application/vnd.in-toto+json"]
    signatures: Annotated[tuple[_SignatureEntry, ...], Field(min_length=1, max_length=8)]
