"""TCP between UE and server: what the UE sends over its bearer comes back whole. A program for a namespace.

serve ADDRESS     send back what comes over each connection, for ever
carry ADDRESS     send bytes there, and print how many came back, of how many, in how many seconds
"""

import os
import socket
import sys
import threading
import time

PORT = 5001
BYTES = 128 * 1024
_WAIT_S = 60.0
"""Time without a byte after which nothing more is waited for; an emulated core passes some ten packets a second."""
_PIECE = 65536


def serve(address: str) -> None:
    """Send back what comes over each connection, one after the other."""
    listening = socket.create_server((address, PORT))
    while True:
        connection, _ = listening.accept()
        with connection:
            connection.settimeout(_WAIT_S)
            try:
                while piece := connection.recv(_PIECE):
                    connection.sendall(piece)
            except OSError:
                continue


def carry(address: str, count: int) -> tuple[int, float]:
    """Send bytes over a connection of its own; return how many came back as they were sent, and in how many seconds.

    Raises:
        OSError: nothing answers, or no byte came for a minute.
    """
    sent, came, started = os.urandom(count), bytearray(), time.monotonic()
    with socket.create_connection((address, PORT), timeout=_WAIT_S) as connection:
        # Both ways at once: each side's buffers are smaller than what is sent.
        sender = threading.Thread(target=connection.sendall, args=(sent,), daemon=True)
        sender.start()
        while len(came) < count and (piece := connection.recv(_PIECE)):
            came += piece
        sender.join(_WAIT_S)
    same = next((place for place, pair in enumerate(zip(sent, came, strict=False)) if pair[0] != pair[1]), len(came))
    return same, time.monotonic() - started


def main(do: str, address: str) -> None:
    """Serve, or carry."""
    if do == "serve":
        serve(address)
    same, seconds = carry(address, BYTES)
    print(same, BYTES, seconds)


if __name__ == "__main__":
    main(*sys.argv[1:])
