"""The first peer of a virtio-user port that listens.

DPDK's `net_virtio_user` with `server=1` waits in its start, without end, until a vhost-user backend has connected and
agreed on features. The peer of the VNF's ports may come later than that (the generator, when a VNF is looped back
alone), or only once a second (a switch, for one port after the other). This peer says yes to what DPDK's vhost library
offers and leaves when the ports run; the driver then takes the real one.
"""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_HEADER = struct.Struct("=III")
_NUMBER = struct.Struct("=Q")
_GET_FEATURES, _GET_VRING_BASE, _GET_PROTOCOL_FEATURES, _GET_QUEUE_NUM, _SET_STATUS, _GET_STATUS = 1, 11, 15, 17, 39, 40
_REPLY, _NEED_REPLY = 0x5, 0x8
"""Protocol version 1 and the bit for an answer; the request's bit that asks for one."""
_FEATURES = sum(1 << bit for bit in (15, 27, 28, 29, 30, 32, 35))
"""MRG_RXBUF, ANY_LAYOUT, INDIRECT_DESC, EVENT_IDX, PROTOCOL_FEATURES, VERSION_1, IN_ORDER."""
_PROTOCOL_FEATURES = sum(1 << bit for bit in (0, 3, 16))
"""MQ, REPLY_ACK, STATUS."""
_QUEUES = 128
_PAUSE_S = 0.005


@contextmanager
def first_peers(paths: Sequence[str]) -> Iterator[None]:
    """Be the first peer of all these sockets, as soon as they listen, until the block ends."""
    stop = threading.Event()
    connections = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in paths]
    threads = [
        threading.Thread(target=_serve, args=(connection, path, stop), name="nfvbed-first-peer", daemon=True)
        for connection, path in zip(connections, paths, strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for connection in connections:
            with contextlib.suppress(OSError):  # It never was connected, or the VNF has ended.
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for connection in connections:
            connection.close()


def _serve(connection: socket.socket, path: str, stop: threading.Event) -> None:
    while not stop.is_set():
        if Path(path).exists():
            try:
                connection.connect(path)
                break
            except OSError:
                pass  # Not listening yet.
        time.sleep(_PAUSE_S)
    status = 0
    try:
        while not stop.is_set():
            status = _answer(connection, status)
    except (OSError, EOFError):
        return  # The end of the block, or of the VNF.


def _answer(connection: socket.socket, status: int) -> int:
    request, flags, size = _HEADER.unpack(_receive(connection, _HEADER.size))
    payload = _receive(connection, size)
    number = _NUMBER.unpack_from(payload)[0] if size >= _NUMBER.size else 0
    answers = {
        _GET_FEATURES: _FEATURES,
        _GET_PROTOCOL_FEATURES: _PROTOCOL_FEATURES,
        _GET_QUEUE_NUM: _QUEUES,
        # The ring's index is repeated; its base is 0.
        _GET_VRING_BASE: number & 0xFFFFFFFF,
        _GET_STATUS: status,
    }
    if request == _SET_STATUS:
        status = number
    if request in answers or flags & _NEED_REPLY:
        answer = _NUMBER.pack(answers.get(request, 0))
        connection.sendall(_HEADER.pack(request, _REPLY, len(answer)) + answer)
    return status


def _receive(connection: socket.socket, size: int) -> bytes:
    """Return so many bytes; the kernel closes file descriptors that come along, as none are asked for."""
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data
