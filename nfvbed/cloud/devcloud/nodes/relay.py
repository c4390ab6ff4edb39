"""Lets programs reach ports of a node's loopback: `python -m` this module, with `FROM TO PORT...`.

It listens on the loopback of the process FROM (this machine's where that is `here`). It connects, inside the network
namespace of the process TO, to the same ports on the loopback there. So addresses are the same on both sides, and no
link, route or firewall rule is added.
"""

import asyncio
import contextlib
import os
import socket
import sys
from functools import partial

from nfvbed.host.network.namespaces import enter

ADDRESS = "127.0.0.1"
HERE = "here"
_CHUNK = 65536


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def relay(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Join a connection to a new one to a port on the loopback of this process's network namespace."""
    try:
        there_reader, there_writer = await asyncio.open_connection(ADDRESS, port)
    except OSError:
        writer.close()
        return
    await asyncio.gather(_copy(reader, there_writer), _copy(there_reader, writer))
    for end in (writer, there_writer):
        end.close()


def _listen(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((ADDRESS, port))
    listener.listen(64)
    return listener


async def _serve(listeners: dict[int, socket.socket]) -> None:
    for port, listener in listeners.items():
        await asyncio.start_server(partial(relay, port), sock=listener)
    await asyncio.Event().wait()


def main() -> None:
    """Listen on one side, then connect from the other, until either process ends."""
    near, far, *ports = sys.argv[1:]
    nodes = [os.pidfd_open(int(word)) for word in (near, far) if word != HERE]
    if near != HERE:
        enter(f"/proc/{near}/ns/net")
    listeners = {int(port): _listen(int(port)) for port in ports}
    enter(f"/proc/{far}/ns/net")
    print("ready", flush=True)
    loop = asyncio.new_event_loop()
    for node in nodes:
        loop.add_reader(node, loop.stop)
    serving = loop.create_task(_serve(listeners))
    loop.run_forever()
    serving.cancel()


if __name__ == "__main__":
    main()
