"""The PCRF stand-in, a process: it answers the PDN gateway on Gx, only on the control network.

`python -m nfvbed.vnfs.epc.pcrf IDENTITY ADDRESS PORT FILE`: FILE holds the subscribers, readable by root alone.

Messages are python-diameter's; its own node is not used, as it queues what it receives without an end, and does not
come back from a message that says it has no length.
"""

import asyncio
import json
import sys
from ipaddress import IPv4Address
from pathlib import Path

from nfvbed.patience import patient
from nfvbed.vnfs.epc import gx, serving
from nfvbed.vnfs.epc.subscribers import Subscriber

MOST_CONNECTIONS = serving.BACKLOG + 28
"""A PDN gateway makes one after the other while it is stopped: those which wait, and have been given up by then, do not
keep the last one out."""
MESSAGE_S = patient(10.0)
"""How long a peer may take for what follows the first bytes of a message."""
READY = "nfvbed-pcrf: ready"
_START = 4
"""Bytes that say how long a message is."""


class Server(serving.PeerServer):
    """Serves one PCRF."""

    def __init__(self, pcrf: gx.Pcrf) -> None:
        super().__init__("nfvbed-pcrf", "peer", MOST_CONNECTIONS)
        self._pcrf = pcrf

    async def answer_each(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a peer's messages from its introduction to its farewell."""
        message = await _next_message(reader)
        if not gx.is_capabilities_request(message):
            raise gx.MalformedMessage("it does not introduce itself")
        while True:
            answer = self._pcrf.answer(message)
            writer.write(answer.data)
            await _taken(writer)
            if answer.ends:
                return
            message = await _next_message(reader)


async def _taken(writer: asyncio.StreamWriter) -> None:
    try:
        await asyncio.wait_for(writer.drain(), MESSAGE_S)
    except TimeoutError as failure:
        raise serving.UnreadableError("it does not take its answers") from failure


async def _next_message(reader: asyncio.StreamReader) -> bytes:
    """Wait without limit for a message's first bytes, and for the rest of it with a limit."""
    start = await reader.readexactly(_START)
    try:
        return start + await asyncio.wait_for(reader.readexactly(gx.length_of(start) - _START), MESSAGE_S)
    except TimeoutError as failure:
        raise gx.MalformedMessage("it stopped in the middle of a message") from failure


def main(identity: str, address: str, port: str, file: str) -> None:
    """Serve until the process is ended."""
    subscribers = [Subscriber.model_validate(one) for one in json.loads(Path(file).read_text())]
    server = Server(gx.Pcrf(identity, IPv4Address(address), subscribers))
    asyncio.run(serving.run(server, (address, int(port)), gx.LONGEST, READY))


if __name__ == "__main__":
    main(*sys.argv[1:])
