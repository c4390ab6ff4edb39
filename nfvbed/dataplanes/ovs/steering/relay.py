"""Carries connections from a Unix socket to a TCP address: `python -m nfvbed...relay SOCKET HOST PORT`.

It runs in the machine's own network namespace, for a switch whose namespace has no way out.
"""

import asyncio
import contextlib
import sys
from pathlib import Path

_PIECE = 65536


async def relay(path: Path, host: str, port: int) -> None:
    """Serve until cancelled; a connection ends when either side ends it."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(host, port)
        except OSError as failure:
            print(f"{host}:{port}: {failure}", flush=True)
            writer.close()
            return
        pumps = [asyncio.create_task(_pump(reader, far_writer)), asyncio.create_task(_pump(far_reader, writer))]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for pump in pumps:
            pump.cancel()
        writer.close()
        far_writer.close()

    # It appears under its name only once it listens.
    unborn = path.with_name(f"{path.name}.new")
    server = await asyncio.start_unix_server(carry, unborn)
    unborn.rename(path)
    async with server:
        await server.serve_forever()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    # A side that is reset has ended, as one that is closed.
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(_PIECE):
            writer.write(data)
            await writer.drain()


if __name__ == "__main__":
    asyncio.run(relay(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
