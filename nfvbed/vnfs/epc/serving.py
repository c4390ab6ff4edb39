"""The common part of a mobile core's own servers: a bound on peers, and an end for those that cannot be read."""

import asyncio
from abc import ABC, abstractmethod

BACKLOG = 100
"""Connections that wait while a server is stopped."""


class UnreadableError(Exception):
    """Unreadable data from a peer; its connection is closed, and the reason is logged."""


class PeerServer(ABC):
    """Serves peers on a socket, each until it disconnects.

    Args:
        program: its name in the log.
        peer: the word for clients in the log.
        most: the most connections at once; further ones are closed.
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
        address: the address and port to listen on.
        longest: length of a message, bytes.
        ready: line on standard output that says that it listens.
    """
    listening = await asyncio.start_server(server.serve, *address, limit=longest, backlog=BACKLOG)
    print(ready, flush=True)
    async with listening:
        await listening.serve_forever()
