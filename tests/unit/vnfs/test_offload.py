"""What a frame's checksum tells: kept incomplete, completed, broken."""

import struct

import pytest

from nfvbed.errors import OnboardError
from nfvbed.records import Deployment, GeneratorPort, PortKind
from nfvbed.vnfs.offload import ChecksumPath, incomplete_frame, judge, probe_checksums

NO_NOTE = bytes(10)
NOTE = struct.pack("=BBHHHH", 1, 0, 0, 0, 34, 6)
FRAME = incomplete_frame("02:4e:46:56:00:00", "02:4e:46:56:00:01")


def with_checksum(value):
    return FRAME[:40] + struct.pack("!H", value) + FRAME[42:]


def full_checksum():
    """RFC 768 over pseudo header and datagram, computed word by word."""
    udp = with_checksum(0)[34:]
    data = FRAME[26:34] + struct.pack("!HH", 17, len(udp)) + udp
    total = sum(int.from_bytes(data[i : i + 2].ljust(2, b"\0"), "big") for i in range(0, len(data), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def test_incomplete_checksum_with_its_note_is_kept():
    assert judge(NOTE, FRAME) is ChecksumPath.KEPT


def test_incomplete_checksum_without_a_note_is_broken():
    assert judge(NO_NOTE, FRAME) is ChecksumPath.BROKEN


def test_right_checksum_was_completed():
    assert judge(NO_NOTE, with_checksum(full_checksum())) is ChecksumPath.COMPLETED


def test_padding_behind_the_datagram_is_no_part_of_it():
    assert judge(NO_NOTE, with_checksum(full_checksum()) + b"\x55" * 9) is ChecksumPath.COMPLETED


def test_ports_without_a_kernel_stack_are_refused():
    port = GeneratorPort(engine="dpdk", spec="net_virtio_user0", kind=PortKind.VHOST_USER)
    deployment = Deployment(id="1", variant="ovs-dpdk", site="lab", topology="pvp", ports=(port, port))
    with pytest.raises(OnboardError, match="kernel ports"):
        probe_checksums(deployment, ("02:00:00:00:00:01", "02:00:00:00:00:02"))
