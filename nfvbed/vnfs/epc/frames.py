"""Frames of a UE's traffic on S1-U and on SGi, byte for byte but for what a gateway assigns itself."""

import struct
from ipaddress import IPv4Address

from nfvbed.spec.bearers import GTPU_PORT, Bearer, BearerTable

TIME_TO_LIVE = 64
_ETHERNET = struct.Struct("!6s6sH")
_IPV4 = struct.Struct("!BBHHHBBH4s4s")
_UDP = struct.Struct("!HHHH")
_GTPU = struct.Struct("!BBHI")
_NUMBER = struct.Struct("!4sQ")
_MARK = b"nfvb"
_ETHERTYPE_IPV4 = 0x0800
_PROTOCOL_UDP = 17
_USER_PACKET, _FLAGS = 0xFF, 0x30
_PORT = 40000
_OUTER = _IPV4.size + _UDP.size + _GTPU.size


class Path:
    """The form of frames over one bearer.

    Args:
        table: bearers of the ends.
        payload: bytes that each frame carries, number and mark among them.
    """

    def __init__(self, table: BearerTable, bearer: Bearer, payload: int = 64) -> None:
        self._table = table
        self._bearer = bearer
        self._payload = payload

    def from_enb(self, number: int, macs: tuple[bytes, bytes]) -> bytes:
        """Return the frame that the eNB sends; macs: destination, source."""
        return _ethernet(macs) + self._tunnelled(self._uplink(number, TIME_TO_LIVE), self._bearer.uplink_teid)

    def from_server(self, number: int, macs: tuple[bytes, bytes]) -> bytes:
        """Return the frame that the server sends; macs: destination, source."""
        return _ethernet(macs) + self._downlink(number, TIME_TO_LIVE)

    def arrived_at_server(self, frame: bytes) -> int | None:
        """Return the number of a correct frame behind SGi, one hop further; None: it is not correct."""
        number = number_of(frame)
        wanted = b"" if number is None else self._uplink(number, TIME_TO_LIVE - 1)
        return number if number is not None and frame[_ETHERNET.size :][: len(wanted)] == wanted else None

    def arrived_at_enb(self, frame: bytes) -> int | None:
        """Return the number of a correct frame on S1-U; None: it is not correct.

        The outer header's identification, time to live and checksums are the gateway's own, and so is its source port
        (TS 29.281, 4.4.2.3): nextepc's is any.
        """
        number = number_of(frame)
        if number is None or len(frame) < _ETHERNET.size + _OUTER:
            return None
        outer = _IPV4.unpack_from(frame, _ETHERNET.size)
        udp = _UDP.unpack_from(frame, _ETHERNET.size + _IPV4.size)
        gtpu = _GTPU.unpack_from(frame, _ETHERNET.size + _IPV4.size + _UDP.size)
        inner = self._downlink(number, TIME_TO_LIVE - 1)
        right = (
            (outer[0], outer[2], outer[6]) == (0x45, _OUTER + len(inner), _PROTOCOL_UDP)
            and (outer[8], outer[9]) == (self._table.sgw.packed, self._table.enb.packed)
            and udp[1:3] == (GTPU_PORT, _UDP.size + _GTPU.size + len(inner))
            and gtpu == (_FLAGS, _USER_PACKET, len(inner), self._bearer.downlink_teid)
            and frame[_ETHERNET.size + _OUTER :][: len(inner)] == inner
        )
        return number if right else None

    def _uplink(self, number: int, time_to_live: int) -> bytes:
        return self._packet(number, (self._bearer.ue, self._table.server), time_to_live)

    def _downlink(self, number: int, time_to_live: int) -> bytes:
        return self._packet(number, (self._table.server, self._bearer.ue), time_to_live)

    def _packet(self, number: int, ends: tuple[IPv4Address, IPv4Address], time_to_live: int) -> bytes:
        data = _NUMBER.pack(_MARK, number).rjust(self._payload, b"\0")
        return _udp_packet(ends, (_PORT, _PORT), data, time_to_live)

    def _tunnelled(self, packet: bytes, teid: int) -> bytes:
        data = _GTPU.pack(_FLAGS, _USER_PACKET, len(packet), teid) + packet
        return _udp_packet((self._table.enb, self._table.sgw), (GTPU_PORT, GTPU_PORT), data, TIME_TO_LIVE)


def number_of(frame: bytes) -> int | None:
    """Return the number of one of these frames, even if its rest is wrong; None: it is another frame."""
    at = frame.rfind(_MARK)
    if at < 0 or len(frame) < at + _NUMBER.size:
        return None
    return int(_NUMBER.unpack_from(frame, at)[1])


def _ethernet(macs: tuple[bytes, bytes]) -> bytes:
    return _ETHERNET.pack(*macs, _ETHERTYPE_IPV4)


def _udp_packet(ends: tuple[IPv4Address, IPv4Address], ports: tuple[int, int], data: bytes, time_to_live: int) -> bytes:
    """Return an IPv4 packet; its UDP checksum is left out (0), as RFC 768 allows."""
    length = _IPV4.size + _UDP.size + len(data)
    header = (0x45, 0, length, 0, 0, time_to_live, _PROTOCOL_UDP)
    addresses = (ends[0].packed, ends[1].packed)
    checksum = _checksum(_IPV4.pack(*header, 0, *addresses))
    return _IPV4.pack(*header, checksum, *addresses) + _UDP.pack(*ports, _UDP.size + len(data), 0) + data


def _checksum(header: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
