"""MongoDB's wire protocol, as libmongoc speaks it to an older server: OP_MSG, with OP_QUERY at the start."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bson
from bson.errors import InvalidBSON, InvalidDocument

from nfvbed.vnfs.epc.serving import UnreadableError

HEADER = struct.Struct("<iiii")
"""Length, request, the request that is answered, operation."""
LONGEST = 1 << 20
"""The longest message, in bytes; nextepc's have a few hundred."""
_REPLY, _QUERY, _MSG = 1, 2004, 2013
_CHECKSUM, _MORE_TO_COME = 1, 2
_BODY, _SEQUENCE = 0, 1


class BadRequest(UnreadableError):
    """A request that cannot be read; the connection is closed, as MongoDB does."""


@dataclass(frozen=True)
class Request:
    """A command with its parts."""

    number: int
    operation: int
    command: Mapping[str, Any]
    """The first key is its name; the documents of a sequence are in it as a list."""
    wants_answer: bool = True

    @property
    def name(self) -> str:
        """The command's name."""
        return next(iter(self.command), "")


def length_of(header: bytes) -> int:
    """Return the length of a message after its header.

    Raises:
        BadRequest: it says that it is longer than any, or shorter than its header.
    """
    length = HEADER.unpack(header)[0]
    if not HEADER.size < length <= LONGEST:
        raise BadRequest(f"a message of {length} B")
    return int(length) - HEADER.size


def request(header: bytes, body: bytes) -> Request:
    """Read a request.

    Raises:
        BadRequest: it is not what it says.
    """
    _, number, _, operation = HEADER.unpack(header)
    try:
        if operation == _QUERY:
            return Request(number, operation, _of_query(body))
        if operation == _MSG:
            return _of_message(number, body)
    except (struct.error, ValueError, InvalidBSON, RecursionError, IndexError) as failure:
        raise BadRequest(f"operation {operation}: {failure}") from failure
    raise BadRequest(f"operation {operation}")


def answer(to: Request, document: Mapping[str, Any]) -> bytes:
    """Return the message that answers a request, in the form for its kind.

    Raises:
        BadRequest: the document is more than a message can hold.
    """
    try:
        data = bson.encode(document)
    except (InvalidDocument, OverflowError) as failure:
        raise BadRequest(str(failure)) from failure
    if to.operation == _QUERY:
        body, operation = struct.pack("<iqii", 8, 0, 0, 1) + data, _REPLY
    else:
        body, operation = struct.pack("<IB", 0, _BODY) + data, _MSG
    return HEADER.pack(HEADER.size + len(body), 0, to.number, operation) + body


def _of_query(body: bytes) -> Mapping[str, Any]:
    end = body.index(b"\0", 4)
    if not body[4:end].endswith(b".$cmd"):
        raise ValueError("an OP_QUERY for something else than a command")
    document, _ = _document(body, end + 1 + 8)
    inner = document.get("$query", document)
    return inner if isinstance(inner, dict) else {}


def _of_message(number: int, body: bytes) -> Request:
    (flags,) = struct.unpack_from("<I", body)
    end = len(body) - (4 if flags & _CHECKSUM else 0)
    place, command = 4, dict[str, Any]()
    while place < end:
        kind, place = body[place], place + 1
        if kind == _BODY:
            document, place = _document(body, place)
            command = {**document, **command}
        elif kind == _SEQUENCE:
            place = _sequence(body, place, command)
        else:
            raise ValueError(f"a section of kind {kind}")
    return Request(number, _MSG, command, not flags & _MORE_TO_COME)


def _sequence(body: bytes, place: int, command: dict[str, Any]) -> int:
    size: int = struct.unpack_from("<i", body, place)[0]
    end, name_end = place + size, body.index(b"\0", place + 4)
    if not place + 4 < end <= len(body):
        raise ValueError("a sequence beyond its message")
    name, documents = body[place + 4 : name_end].decode(), list[Any]()
    at = name_end + 1
    while at < end:
        document, at = _document(body, at)
        documents.append(document)
    command[name] = documents
    return end


def _document(body: bytes, place: int) -> tuple[dict[str, Any], int]:
    (size,) = struct.unpack_from("<i", body, place)
    if not 5 <= size <= len(body) - place:
        raise ValueError("a document beyond its message")
    return bson.decode(body[place : place + size]), place + size
