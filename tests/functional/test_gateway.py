"""Both gateways on real veths between bridges: golden frames, every counter's cause, ARP, its table while it runs."""

import os
import signal
import struct

import pytest

from nfvbed.errors import OnboardError, VnfDiedError
from tests import gtpu_frames as frames
from tests.functional import gateway_bed
from tests.functional.disturbed import PATIENCE_S, wait_until
from tests.functional.gateway_bed import (
    ENB,
    MACS,
    SERVER,
    SGI,
    SGW,
    Bed,
    PollingBed,
    bearer,
    bed_of,
    counted,
    datagram_of_a_socket,
    downlink,
    uplink,
)
from tests.gtpu_frames import Ip

pytestmark = pytest.mark.no_hugepages

SIZES = (0, 1, 18, 22, 63, 64, 65, 500, 1400, None)
"""Sizes of payloads; the last one's packet fills the MTU downlink, with the tunnel's headers."""
HEADERS = 20 + 8 + 36
ONE, TWO = bearer(1), bearer(2)
EMPTY = frames.udp(Ip(str(ONE.ue), SERVER), (1, 2), b"")


@pytest.fixture(name="bed", params=[Bed, pytest.param(PollingBed, marks=pytest.mark.slow)], ids=["xdp", "dpdk"])
def _bed(before, request):
    with bed_of(request.param) as bed:
        yield bed


def payload(size):
    return bytes((7 * at + size) % 256 for at in range(size))


def in_tunnel(message, outer=None, ports=(2152, 2152)):
    """A frame of the eNB's with any GTP-U message."""
    return frames.ethernet(MACS["u0"], MACS["e0"], frames.IPV4, frames.udp(outer or Ip(ENB, SGW), ports, message))


def from_server(packet):
    return frames.ethernet(MACS["u1"], MACS["n0"], frames.IPV4, packet)


@pytest.mark.parametrize("size", SIZES)
def test_frames_are_those_of_the_standards(bed, size):
    """Byte for byte, each way, of each of two bearers."""
    gateway = bed.started()
    size = bed.mtu - HEADERS if size is None else size
    for of in (ONE, TWO):
        sent, expected = uplink(of, payload(size))
        bed.send("s1u", sent)
        assert bed.take("sgi", 1) == [expected]
        sent, expected = downlink(of, payload(size), ttl=2)
        bed.send("sgi", sent)
        assert bed.take("s1u", 1) == [expected]
    counted(gateway, "s1u", forwarded=2)
    counted(gateway, "sgi", forwarded=2)
    gateway.stop()


def test_frames_in_are_frames_out(bed):
    """1,000 frames each way, of 100 bearers in turn."""
    gateway = bed.started(100)
    for make, there, back in ((uplink, "s1u", "sgi"), (downlink, "sgi", "s1u")):
        pairs = [make(bearer(1 + at % 100), payload(100 + at % 50)) for at in range(1000)]
        received = []
        for at in range(0, 1000, 100):
            bed.send(there, *(sent for sent, _ in pairs[at : at + 100]))
            received += bed.take(back, 100)
        assert received == [expected for _, expected in pairs]
        counted(gateway, there, forwarded=1000)
    gateway.stop()


def test_outer_checksums_can_be_left_out(bed):
    gateway = bed.started(outer_checksum=False)
    sent, expected = downlink(ONE, payload(100), summed=False)
    bed.send("sgi", sent)
    assert bed.take("s1u", 1) == [expected]
    gateway.stop()


def test_padding_options_and_sequence_numbers(bed):
    """What is not of the packet stays behind; both headers may have options, GTP-U its optional fields."""
    gateway = bed.started()
    options = b"\x94\x04\x00\x00"  # router alert (RFC 2113)
    ip = Ip(str(ONE.ue), SERVER, options=options)
    inner = frames.udp(ip, (1, 2), payload(9))
    expected = frames.ethernet(MACS["n0"], MACS["u1"], frames.IPV4, frames.udp(ip.hop(), (1, 2), payload(9)))
    numbered = frames.gtpu(ONE.uplink_teid, inner, flags=0x32, optional=b"\x12\x34\x00\x00")
    for message in (numbered, numbered + b"padding"):
        bed.send("s1u", in_tunnel(message, Ip(ENB, SGW, options=3 * options)) + bytes(11))
        assert bed.take("sgi", 1) == [expected]
    sent, expected = downlink(ONE, b"")
    bed.send("sgi", sent.ljust(60, b"\0"))
    assert bed.take("s1u", 1) == [expected]
    gateway.stop()


def broken(frame, at, value):
    """A frame with one byte changed, its checksums left as they were."""
    return frame[:at] + bytes([frame[at] ^ value]) + frame[at + 1 :]


UP, DOWN = uplink(ONE, b"x" * 40)[0], downlink(ONE, b"x" * 40)[0]
GOOD = frames.gtpu(ONE.uplink_teid, EMPTY)
FOREIGN = "02:00:00:00:00:99"
CAUSES = (
    *(("s1u", "unknown_teid", in_tunnel(frames.gtpu(teid, EMPTY))) for teid in (0x10000003, ONE.downlink_teid, 0)),
    *(("sgi", "unknown_ue", from_server(frames.udp(Ip(SERVER, to), (1, 2), b""))) for to in ("45.45.0.3", SGI)),
    ("s1u", "wrong_source", in_tunnel(frames.gtpu(TWO.uplink_teid, EMPTY))),
    *(("s1u", "ttl_expired", uplink(ONE, b"", ttl=ttl)[0]) for ttl in (0, 1)),
    ("sgi", "ttl_expired", downlink(ONE, b"", ttl=1)[0]),
    ("s1u", "foreign", frames.mac(FOREIGN) + UP[6:]),
    ("sgi", "foreign", frames.mac(FOREIGN) + DOWN[6:]),
    ("sgi", "foreign", frames.ethernet("ff:ff:ff:ff:ff:ff", MACS["n0"], frames.IPV4, DOWN[14:])),
    *(("s1u", "not_ipv4", frames.ethernet(MACS["u0"], MACS["e0"], kind, bytes(60))) for kind in (frames.IPV6, 0x88CC)),
    ("s1u", "not_ipv4", in_tunnel(frames.gtpu(ONE.uplink_teid, b"\x60" + bytes(50)))),
    ("s1u", "not_gtpu", in_tunnel(GOOD, Ip(ENB, SGI))),
    ("s1u", "not_gtpu", in_tunnel(GOOD, ports=(2152, 2153))),
    ("s1u", "not_gtpu", frames.ethernet(MACS["u0"], MACS["e0"], frames.IPV4, Ip(ENB, SGW, protocol=6).packet(GOOD))),
    *(("s1u", "not_gtpu", in_tunnel(frames.gtpu(ONE.uplink_teid, EMPTY, kind=kind))) for kind in (2, 26, 254)),
    *(("s1u", "not_gtpu", in_tunnel(frames.gtpu(ONE.uplink_teid, EMPTY, flags=flags))) for flags in (0x50, 0x20, 0)),
    ("s1u", "extension", in_tunnel(frames.gtpu(1, EMPTY, flags=0x34, optional=b"\0\0\0\x85\1\0\0\0"))),
    *(("s1u", "fragments", in_tunnel(GOOD, Ip(ENB, SGW, flags=flags))) for flags in (0x2000, 0x0001, 0x3FFF)),
    *(("s1u", "malformed", UP[:length]) for length in (14, 20, 33, 34, 41, 42, 50, 60, len(UP) - 1)),
    *(("sgi", "malformed", DOWN[:length]) for length in (14, 20, 33, 34, len(DOWN) - 1)),
    *(("s1u", "malformed", broken(UP, at, 0x80)) for at in (14, 17, 22, 25, 33, 38, 44, 53, 58)),
    *(("sgi", "malformed", broken(DOWN, at, 0x80)) for at in (14, 16, 17, 22, 24, 33)),
    ("s1u", "malformed", in_tunnel(struct.pack("!BBHI", 0x30, 0xFF, len(EMPTY) + 1, ONE.uplink_teid) + EMPTY)),
    ("s1u", "malformed", in_tunnel(frames.gtpu(ONE.uplink_teid, b"", flags=0x32))),
    ("s1u", "malformed", in_tunnel(frames.gtpu(ONE.uplink_teid, b""))),
    ("s1u", "malformed", frames.ethernet(MACS["u0"], MACS["e0"], frames.ARP, bytes(40))),
)


def test_every_counter_has_its_cause(bed):
    """One frame after the other: each is counted under its cause, once, and nothing comes out."""
    gateway = bed.started()
    expected: dict[str, dict[str, int]] = {"s1u": {}, "sgi": {}}
    too_big = ("sgi", "too_big", downlink(ONE, payload(bed.mtu - HEADERS + 1))[0])
    for port, cause, frame in (*(row for row in CAUSES if row[1] not in bed.kept_away), too_big):
        expected[port][cause] = expected[port].get(cause, 0) + 1
        bed.send(port, frame)
        counted(gateway, port, **expected[port])
    assert bed.nothing_comes()
    counts = gateway.client.counters()
    assert counts.s1u.dropped == counts.s1u.received
    gateway.stop()


def arp_of(operation, who, asked):
    """A frame of one of the tests' ends: who it is and whom it asks for."""
    own, address = who
    return frames.ethernet(
        "ff:ff:ff:ff:ff:ff", own, frames.ARP, frames.arp(operation, (own, address), ("00:00:00:00:00:00", asked))
    )


@pytest.mark.parametrize(
    ("port", "asker", "own"),
    [("s1u", (MACS["e0"], ENB), (MACS["u0"], SGW)), ("sgi", (FOREIGN, "198.19.0.7"), (MACS["u1"], SGI))],
)
def test_arp_is_answered_for_its_own_addresses(bed, port, asker, own):
    gateway = bed.started()
    bed.send(port, arp_of(1, asker, own[1]))
    expected = frames.ethernet(asker[0], own[0], frames.ARP, frames.arp(2, own, asker))
    assert bed.take(port, 1) == [expected]
    bed.send(port, arp_of(1, asker, "45.45.0.1"))
    counted(gateway, port, arp=1, foreign=1)
    gateway.stop()


def test_neighbours_are_asked_for_and_learnt(bed):
    """Until a neighbour has answered, frames to it are counted; then they go where it says, also when it moves."""
    gateway = bed.started(enb_mac="", next_hop_mac="")
    question = frames.arp(1, (MACS["u1"], SGI), ("00:00:00:00:00:00", SERVER))
    assert bed.take("sgi", 1) == [frames.ethernet("ff:ff:ff:ff:ff:ff", MACS["u1"], frames.ARP, question)]
    sent, expected = uplink(ONE, b"first")
    bed.send("s1u", sent)
    counted(gateway, "s1u", no_neighbour=1)
    answer = frames.arp(2, (MACS["n0"], SERVER), (MACS["u1"], SGI))
    bed.send("sgi", frames.ethernet(MACS["u1"], MACS["n0"], frames.ARP, answer))
    wait_until(lambda: gateway.client.counters().sgi.neighbour == MACS["n0"])
    assert gateway.client.counters().s1u.neighbour is None
    bed.send("s1u", sent)
    found = [frame for frame in bed.take("sgi", 20, 3.0) if frame[12:14] == b"\x08\x00"]
    assert found == [expected]
    bed.send("sgi", arp_of(1, (FOREIGN, SERVER), SERVER))
    wait_until(lambda: gateway.client.counters().sgi.neighbour == FOREIGN)
    bed.send("s1u", sent)
    assert [frame[:6] for frame in bed.take("sgi", 1)] == [frames.mac(FOREIGN)]
    gateway.stop()


def test_neighbours_that_are_given_are_not_learnt(bed):
    gateway = bed.started()
    bed.send("sgi", arp_of(1, (FOREIGN, SERVER), SERVER))
    counted(gateway, "sgi", foreign=1)
    assert gateway.client.counters().sgi.neighbour == MACS["n0"]
    gateway.stop()


@pytest.mark.parametrize("optional", [b"", b"\xab\xcd\0\0"])
def test_echo_requests_are_answered(bed, optional):
    gateway = bed.started()
    flags = 0x32 if optional else 0x30
    bed.send("s1u", in_tunnel(frames.gtpu(0, b"", kind=1, flags=flags, optional=optional), ports=(33333, 2152)))
    message = frames.gtpu(0, b"\x0e\x00", kind=2, flags=flags, optional=optional)
    answer = frames.udp(Ip(SGW, ENB, flags=0x4000), (2152, 33333), message)
    assert bed.take("s1u", 1) == [frames.ethernet(MACS["e0"], MACS["u0"], frames.IPV4, answer)]
    counted(gateway, "s1u", echo=1)
    gateway.stop()


def test_bearers_come_and_go_while_it_runs(bed):
    gateway = bed.started(1)
    sent, expected = uplink(TWO, b"second")
    bed.send("s1u", sent)
    counted(gateway, "s1u", unknown_teid=1)
    assert gateway.client.add(TWO).bearers == 2
    bed.send("s1u", sent)
    assert bed.take("sgi", 1) == [expected]
    with pytest.raises(OnboardError, match="refuses"):
        gateway.client.add(TWO)
    assert gateway.client.remove(TWO.ue).bearers == 1
    with pytest.raises(OnboardError, match="refuses"):
        gateway.client.remove(TWO.ue)
    bed.send("s1u", sent)
    bed.send("sgi", downlink(TWO, b"")[0])
    counted(gateway, "s1u", unknown_teid=2, forwarded=1)
    counted(gateway, "sgi", unknown_ue=1)
    gateway.stop()


def test_its_table_holds_4096_bearers(bed):
    gateway = bed.started(4096)
    assert gateway.client.counters().bearers == 4096
    with pytest.raises(OnboardError, match="refuses"):
        gateway.client.add(bearer(4097))
    for make, there, back in ((uplink, "s1u", "sgi"), (downlink, "sgi", "s1u")):
        sent, expected = make(bearer(4096), b"last")
        bed.send(there, sent)
        assert bed.take(back, 1) == [expected]
    gateway.client.remove(ONE.ue)
    assert gateway.client.add(bearer(4097)).bearers == 4096
    gateway.stop()


def test_what_it_cannot_do_is_said(bed):
    gateway = bed.gateway(sgi="no-such-port")
    with pytest.raises(VnfDiedError) as failure:
        gateway.start(gateway_bed.table(1))
    assert "no-such-port" in failure.value.observed
    with pytest.raises(OnboardError, match="does not answer"):
        gateway.client.counters()


def test_a_killed_gateway_carries_nothing_until_it_is_started_again(bed):
    gateway = bed.started()
    os.kill(gateway.process.pid, signal.SIGKILL)
    gateway.process.wait(PATIENCE_S)
    with pytest.raises(VnfDiedError, match="its bearers with it"):
        gateway.verify()
    sent, expected = uplink(ONE, b"again")
    bed.send("s1u", sent)
    assert bed.nothing_comes()
    gateway.start(gateway_bed.table(2))
    bed.send("s1u", sent)
    assert bed.take("sgi", 1) == [expected]
    gateway.stop()
    gateway.stop()


def test_outer_headers_are_those_of_a_sockets_datagram(bed):
    """As nextepc's gateways send: an unconnected socket of the kernel's; but for identification, which counts there."""
    gateway = bed.started()
    sent, expected = downlink(ONE, payload(77))
    bed.send("sgi", sent)
    made = bed.take("s1u", 1)
    assert made == [expected]
    theirs, ours = datagram_of_a_socket(bed.netns, made[0][42:]), made[0][14:]
    assert (theirs[:4], theirs[6:10], theirs[12:]) == (ours[:4], ours[6:10], ours[12:])
    gateway.stop()
