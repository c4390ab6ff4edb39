"""The UE's end of its bearer, in user space: a tun device whose packets go to the SGW in GTP-U (TS 29.281)."""

import fcntl
import os
import select
import socket
import struct
import threading
from dataclasses import dataclass

PORT = 2152
_HEADER = struct.Struct("!BBHI")
_FLAGS, _OPTIONAL, _MORE = 0x30, 0x07, 4
_USER_PACKET, _ECHO_REQUEST, _ECHO_RESPONSE = 255, 1, 2
_RECOVERY = b"\x0e\x00"
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_LONGEST = 65536


@dataclass(frozen=True)
class Tunnel:
    """A bearer's two ends on S1-U."""

    near: str
    """Address of the eNB."""
    far: str
    """Address of the serving gateway."""
    uplink_teid: int
    downlink_teid: int


def wrapped(packet: bytes, teid: int) -> bytes:
    """Return a UE's packet as it goes to the serving gateway."""
    return _HEADER.pack(_FLAGS, _USER_PACKET, len(packet), teid) + packet


def unwrapped(message: bytes, teid: int) -> bytes | None:
    """Return the packet in a message; None: it carries none, or another tunnel's."""
    if len(message) < _HEADER.size:
        return None
    flags, kind, length, found = _HEADER.unpack_from(message)
    start = _HEADER.size + (_MORE if flags & _OPTIONAL else 0)
    if kind != _USER_PACKET or found != teid or _HEADER.size + length > len(message) or flags & 0x04:
        return None
    return message[start : _HEADER.size + length]


def answered(message: bytes) -> bytes | None:
    """Return the answer to an echo request; None: it is none."""
    if len(message) < _HEADER.size + _MORE or message[1] != _ECHO_REQUEST:
        return None
    more = message[_HEADER.size : _HEADER.size + 2] + b"\0\0" + _RECOVERY
    return _HEADER.pack(0x32, _ECHO_RESPONSE, len(more), 0) + more


class End(threading.Thread):
    """Carries packets between the tun device and the tunnel until the guest ends.

    Args:
        device: name of the tun device, which is made.
        tunnel: the bearer's ends.

    Raises:
        OSError: the kernel refuses the device or the socket.
    """

    def __init__(self, device: str, tunnel: Tunnel) -> None:
        super().__init__(name="gtpu", daemon=True)
        self._tunnel = tunnel
        self._tun = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self._tun, _TUNSETIFF, struct.pack("16sH22x", device.encode(), _IFF_TUN | _IFF_NO_PI))
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((tunnel.near, PORT))
        self.sent = self.received = 0
        """Packets of the UE, and to it."""

    def run(self) -> None:
        """Carry."""
        while True:
            ready, _, _ = select.select([self._tun, self._socket.fileno()], [], [])
            if self._tun in ready:
                packet = os.read(self._tun, _LONGEST)
                self._socket.sendto(wrapped(packet, self._tunnel.uplink_teid), (self._tunnel.far, PORT))
                self.sent += 1
            if self._socket.fileno() in ready:
                self._take()

    def _take(self) -> None:
        message, sender = self._socket.recvfrom(_LONGEST)
        answer = answered(message)
        if answer is not None:
            self._socket.sendto(answer, sender)
            return
        packet = unwrapped(message, self._tunnel.downlink_teid)
        if packet:
            os.write(self._tun, packet)
            self.received += 1
