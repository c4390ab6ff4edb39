"""Lets one user of a node reach one port of this machine: `python -m` this module, with `NODE SOCKET UID PORT`.

It listens on a Unix socket in the folder that node and machine share, and connects to the port on the loopback here.
Who may connect is said by the socket's owner and mode: the node's network has no way to this machine, and its other
services have none either. What it passes on comes from that user here, too: a server that asks the kernel who is at the
other end of a connection does not take the node's user for root.
"""

import asyncio
import os
import socket
import sys
from functools import partial
from pathlib import Path

from nfvbed.cloud.devcloud.nodes.relay import relay

_OWNERS_ALONE = 0o600


def listen(path: Path, uid: int) -> socket.socket:
    """Listen on a socket that a user (and root) alone can connect to; one that a killed relay left is replaced.

    Args:
        path: of the socket; its folder may have a longer name than sockets can.
        uid: of the user.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        draft = path.with_name(path.name + ".new")
        draft.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(f"/proc/self/fd/{folder}/{draft.name}")
        finally:
            os.umask(before)
        draft.chmod(_OWNERS_ALONE)
        os.chown(draft, uid, -1)
        listener.listen(16)
        draft.rename(path)
    except OSError:
        listener.close()
        raise
    finally:
        os.close(folder)
    return listener


def become(uid: int) -> None:
    """Go on as a user, with the group of its number and no other one; there is no way back."""
    os.setgroups(())
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


async def _serve(listener: socket.socket, port: int) -> None:
    await asyncio.start_unix_server(partial(relay, port), sock=listener)
    await asyncio.Event().wait()


def main() -> None:
    """Listen until the node ends."""
    node, path, uid, port = sys.argv[1:]
    ends = os.pidfd_open(int(node))
    listener = listen(Path(path), int(uid))
    become(int(uid))
    print("ready", flush=True)
    loop = asyncio.new_event_loop()
    loop.add_reader(ends, loop.stop)
    serving = loop.create_task(_serve(listener, int(port)))
    loop.run_forever()
    serving.cancel()


if __name__ == "__main__":
    main()
