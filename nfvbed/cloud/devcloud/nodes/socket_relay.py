"""Lets one user of a node reach one port of this machine: `python -m` this module, with `NODE SOCKET UID PORT`.

It listens on a Unix socket in the folder that node and machine share, and connects to the port on the loopback here.
The socket's owner and mode say who may connect: the node's network has no way to this machine, nor have its other
services. What is passed on comes from the same user here. So a server that asks the kernel who is at the other end of a
connection does not take the node's user for root.
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
    """Listen on a socket for one user (and root); a socket that a killed relay left is replaced.

    Args:
        path: its folder's name may be longer than a socket's may be.
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
    """Run on as a user, with only the group of the same number; there is no way back."""
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
