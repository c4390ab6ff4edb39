"""The subscriber store, a process: the part of MongoDB that HSS and PCRF use, only on the control network.

`python -m nfvbed.vnfs.epc.store ADDRESS PORT FILE`: FILE holds the subscribers, readable by root alone.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from bson import Int64

from nfvbed.patience import patient
from nfvbed.vnfs.epc import serving, wire
from nfvbed.vnfs.epc.collection import Collection, QueryRefused
from nfvbed.vnfs.epc.subscribers import Subscriber

COLLECTION = "subscribers"
MOST_CONNECTIONS = 16
MESSAGE_S = patient(10.0)
"""How long a client may take for what follows a header."""
READY = "nfvbed-store: ready"
_COMMAND_NOT_FOUND, _BAD_VALUE = 59, 2
_VERSION = "4.4.0"
_WIRE = 9
"""What a MongoDB 4.4 speaks, the newest that libmongoc 1.23 expects nothing more of than this store has."""


def reply(collection: Collection, request: wire.Request) -> dict[str, Any]:
    """Return the answer to a command."""
    command = request.command
    match request.name:
        case "isMaster" | "ismaster" | "hello":
            limits = {"maxBsonObjectSize": wire.LONGEST, "maxMessageSizeBytes": wire.LONGEST, "maxWriteBatchSize": 1}
            return {
                "ismaster": True,
                "isWritablePrimary": True,
                "minWireVersion": 0,
                "maxWireVersion": _WIRE,
                **limits,
                **_ok(),
            }
        case "serverStatus":
            return {"version": _VERSION, "process": "nfvbed-store", **_ok()}
        case "ping" | "endSessions" | "killCursors":
            return _ok()
        case "find" | "update" if command.get(request.name) != COLLECTION:
            return _refusal(f"the collection {COLLECTION} is the only one", _BAD_VALUE)
        case "find":
            return _answered(lambda: _find(collection, command))
        case "update":
            return _answered(lambda: _update(collection, command))
    return _refusal(f"no such command: {request.name[:40]!r}", _COMMAND_NOT_FOUND)


def _find(collection: Collection, command: Any) -> dict[str, Any]:
    found = collection.find(_document(command, "filter"), _document(command, "projection"))
    batch = {"id": Int64(0), "ns": f"{command.get('$db', '')}.{COLLECTION}", "firstBatch": found}
    return {"cursor": batch, **_ok()}


def _update(collection: Collection, command: Any) -> dict[str, Any]:
    changed = 0
    updates = command.get("updates")
    for update in updates if isinstance(updates, list) else []:
        if not isinstance(update, dict):
            raise QueryRefused("an update that is no document")
        changed += collection.update(_document(update, "q"), _document(update, "u"))
    return {"n": changed, "nModified": changed, **_ok()}


def _document(command: Any, name: str) -> dict[str, Any]:
    found = command.get(name, {})
    if not isinstance(found, dict):
        raise QueryRefused(f"{name} is no document")
    return found


def _answered(work: Any) -> dict[str, Any]:
    try:
        found: dict[str, Any] = work()
    except QueryRefused as failure:
        return _refusal(str(failure), _BAD_VALUE)
    return found


def _refusal(why: str, code: int) -> dict[str, Any]:
    return {"ok": 0.0, "errmsg": why, "code": code}


def _ok() -> dict[str, Any]:
    return {"ok": 1.0}


class Server(serving.PeerServer):
    """Serves one collection."""

    def __init__(self, collection: Collection) -> None:
        super().__init__("nfvbed-store", "client", MOST_CONNECTIONS)
        self._collection = collection

    async def answer_each(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a client's requests, unless they want no answer."""
        while True:
            request = await _next_request(reader)
            if request.wants_answer:
                writer.write(wire.answer(request, reply(self._collection, request)))
                await writer.drain()


async def _next_request(reader: asyncio.StreamReader) -> wire.Request:
    """Wait without limit for a header, and for the rest of the request with a limit."""
    header = await reader.readexactly(wire.HEADER.size)
    try:
        body = await asyncio.wait_for(reader.readexactly(wire.length_of(header)), MESSAGE_S)
    except TimeoutError as failure:
        raise wire.BadRequest("it stopped in the middle of a message") from failure
    return wire.request(header, body)


def main(address: str, port: str, file: str) -> None:
    """Serve until the process is ended."""
    subscribers = [Subscriber.model_validate(one) for one in json.loads(Path(file).read_text())]
    server = Server(Collection([subscriber.document() for subscriber in subscribers]))
    asyncio.run(serving.run(server, (address, int(port)), wire.LONGEST, READY))


if __name__ == "__main__":
    main(*sys.argv[1:])
