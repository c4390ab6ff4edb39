"""The PCRF stand-in, a process: it answers the PDN gateway on Gx, on the control network alone.

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
from nfvbed.vnfs.epc import gx
from nfvbed.vnfs.epc.subscribers import Subscriber

BACKLOG = 100
"""Connections that wait while it is stopped; a PDN gateway makes one after the other then."""
MOST_CONNECTIONS = BACKLOG + 28
"""So that those which wait, and have been given up by then, do not keep the last one out."""
MESSAGE_S = patient(10.0)
"""How long a peer may take for what follows the first bytes of a message."""
READY = "nfvbed-pcrf: ready"
_START = 4
"""Bytes that say how long a message is."""


class Server:
    """Serves one PCRF; a peer that sends what cannot be read is disconnected."""

    def __init__(self, pcrf: gx.Pcrf) -> None:
        self._pcrf = pcrf
        self._peers = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one peer until it goes."""
        self._peers += 1
        try:
            if self._peers > MOST_CONNECTIONS:
                raise gx.MalformedMessage(f"there are more than {MOST_CONNECTIONS} peers")
            await self._answer_each(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the peer has gone
        except TimeoutError:
            print("nfvbed-pcrf: a peer is disconnected: it does not take its answers", flush=True)
        except gx.MalformedMessage as failure:
            print(f"nfvbed-pcrf: a peer is disconnected: {failure}", flush=True)
        finally:
            self._peers -= 1
            writer.close()

    async def _answer_each(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        message = await _next_message(reader)
        if not gx.is_capabilities_request(message):
            raise gx.MalformedMessage("it does not introduce itself")
        while True:
            answer = self._pcrf.answer(message)
            writer.write(answer.data)
            await asyncio.wait_for(writer.drain(), MESSAGE_S)
            if answer.ends:
                return
            message = await _next_message(reader)


async def _next_message(reader: asyncio.StreamReader) -> bytes:
    """Wait for a message's first bytes as long as the peer likes, and for what they announce not so long."""
    start = await reader.readexactly(_START)
    try:
        return start + await asyncio.wait_for(reader.readexactly(gx.length_of(start) - _START), MESSAGE_S)
    except TimeoutError as failure:
        raise gx.MalformedMessage("it stopped in the middle of a message") from failure


async def _run(pcrf: gx.Pcrf, address: str, port: int) -> None:
    listening = await asyncio.start_server(Server(pcrf).serve, address, port, limit=gx.LONGEST, backlog=BACKLOG)
    print(READY, flush=True)
    async with listening:
        await listening.serve_forever()


def main(identity: str, address: str, port: str, file: str) -> None:
    """Serve until the process is ended."""
    subscribers = [Subscriber.model_validate(one) for one in json.loads(Path(file).read_text())]
    asyncio.run(_run(gx.Pcrf(identity, IPv4Address(address), subscribers), address, int(port)))


if __name__ == "__main__":
    main(*sys.argv[1:])
