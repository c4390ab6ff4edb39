"""What servers among a mobile core's own parts share: so many peers, and one that cannot be read is disconnected."""

import asyncio
from abc import ABC, abstractmethod

BACKLOG = 100
"""Connections that wait while a server is stopped."""


class UnreadableError(Exception):
    """What a peer sent cannot be read; its connection is closed, and the reason is in the log."""


class PeerServer(ABC):
    """Serves peers on a socket, each until it goes.

    Args:
        program: in its log.
        peer: what who connects is called there.
        most: how many of them it has at once; one more is disconnected.
    """

    def __init__(self, program: str, peer: str, most: int) -> None:
        self._program, self._peer, self._most = program, peer, most
        self._connected = 0

    @abstractmethod
    async def answer_each(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one peer's messages.

        Raises:
            UnreadableError: it is to be disconnected.
        """

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one peer until it goes."""
        self._connected += 1
        try:
            if self._connected > self._most:
                raise UnreadableError(f"there are more than {self._most} {self._peer}s")
            await self.answer_each(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # it has gone
        except UnreadableError as failure:
            print(f"{self._program}: a {self._peer} is disconnected: {failure}", flush=True)
        finally:
            self._connected -= 1
            writer.close()


async def run(server: PeerServer, address: tuple[str, int], longest: int, ready: str) -> None:
    """Serve until the process is ended.

    Args:
        server: what serves.
        address: where it listens, and the port.
        longest: message, in bytes.
        ready: line that says on standard output that it listens.
    """
    listening = await asyncio.start_server(server.serve, *address, limit=longest, backlog=BACKLOG)
    print(ready, flush=True)
    async with listening:
        await listening.serve_forever()
