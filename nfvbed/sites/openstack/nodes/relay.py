"""Lets programs of this machine reach the cloud's APIs: `python -m nfvbed.sites.openstack.nodes.relay PID PORT...`.

It listens on this machine's loopback and connects from inside a node's network namespace to the same ports on the
node's loopback: addresses are the same on both sides, and no link, route or firewall rule is added to this machine.
"""

import asyncio
import contextlib
import os
import socket
import sys
from functools import partial

from nfvbed.host.namespaces import enter

ADDRESS = "127.0.0.1"
_CHUNK = 65536


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def _relay(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
        await asyncio.start_server(partial(_relay, port), sock=listener)
    await asyncio.Event().wait()


def main() -> None:
    """Listen here, then connect from there until the node ends."""
    pid, ports = int(sys.argv[1]), [int(word) for word in sys.argv[2:]]
    listeners = {port: _listen(port) for port in ports}
    enter(f"/proc/{pid}/ns/net")
    node = os.pidfd_open(pid)
    print("ready", flush=True)
    loop = asyncio.new_event_loop()
    loop.add_reader(node, loop.stop)
    serving = loop.create_task(_serve(listeners))
    loop.run_forever()
    serving.cancel()


if __name__ == "__main__":
    main()
