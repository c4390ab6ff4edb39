"""The checksum of a server's datagram inside GTP-U, whatever was noted of the outer one."""

import struct

from nfvbed.vnfs.epc.checksums import inside_tunnel
from nfvbed.vnfs.offload import ChecksumPath, incomplete_frame

ENDS = ("198.19.0.1", "10.231.0.2")
FRAME = incomplete_frame("02:4e:46:56:00:01", "02:4e:46:56:01:01", ENDS)
OUTER = bytes(36)
"""IPv4, UDP and GTP-U before the packet; they are not read here."""
NOTE = struct.pack("=BBHHHH", 1, 0, 0, 0, 34, 6)


def tunnelled(checksum=None):
    packet = FRAME[14:] if checksum is None else FRAME[14:40] + struct.pack("!H", checksum) + FRAME[42:]
    return FRAME[:14] + OUTER + packet


def right_checksum():
    """RFC 768 over pseudo header and datagram, word by word."""
    udp = FRAME[34:40] + b"\0\0" + FRAME[42:]
    data = FRAME[26:34] + struct.pack("!HH", 17, len(udp)) + udp
    total = sum(int.from_bytes(data[i : i + 2].ljust(2, b"\0"), "big") for i in range(0, len(data), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def test_a_note_of_the_outer_datagram_does_not_help_the_inner_one():
    assert inside_tunnel(NOTE, tunnelled())[0] is ChecksumPath.BROKEN


def test_a_right_checksum_was_completed_before_the_tunnel():
    result, packet = inside_tunnel(bytes(10), tunnelled(right_checksum()))
    assert result is ChecksumPath.COMPLETED
    assert packet[26:34] == FRAME[26:34], "addresses of server and UE"
