"""OpenFlow 1.4 as bytes: requests by hand from the specification, replies captured from Open vSwitch 3.1.0."""

import socket
import struct
import threading
from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import openflow
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.openflow import Rule, add_rule
from nfvbed.errors import DeployError

CAPTURED = Path(__file__).parent / "captured"


def captured(name):
    return bytes.fromhex((CAPTURED / name).read_text())


def test_rule_from_port_to_port():
    body = openflow.add_rule(Rule(in_port=1, output=2, cookie=7))
    assert body.hex() == (
        "0000000000000007"
        "0000000000000000"  # cookie, mask
        "00"
        "00"
        "0000"
        "0000"
        "8000"  # table, add, time-outs, priority
        "ffffffff"
        "ffffffff"
        "ffffffff"
        "0000"
        "0000"  # buffer, out port and group, flags, importance
        "0001000c"
        "80000004"
        "00000001"
        "00000000"  # match of 12 bytes, padded to 16
        "0004001800000000"  # apply actions
        "00000010"
        "00000002"
        "0000"
        "000000000000"  # output
    )


def test_rule_for_all_frames_has_an_empty_match():
    body = openflow.add_rule(Rule(output=openflow.PORT_NORMAL))
    assert body[40:48].hex() == "0001000400000000"
    assert body[48 + 8 + 4 : 48 + 8 + 8].hex() == "fffffffa"


def test_ports_with_the_reasons_of_their_drops():
    ports = {port.port: port for port in openflow.parse_ports(captured("port-statistics.hex"))}
    assert set(ports) == {1, 2, 0xFFFFFFFE}
    first = ports[1]
    assert first.rx_packets > 1_000_000
    assert first.tx_packets == first.reasons["tx_q0_good_packets"]
    assert first.tx_dropped == first.reasons["ovs_tx_failure_drops"]
    assert first.rx_errors is None, "a vhost-user port does not count errors: that is not zero"
    assert ports[0xFFFFFFFE].reasons == {}


def test_rules_with_their_counters():
    rules = {rule.cookie: rule for rule in openflow.parse_rules(captured("flow-statistics.hex"))}
    assert set(rules) == {1, 2}
    assert rules[1].octets == rules[1].packets * 60


@pytest.mark.parametrize("length", [0, 40, 9000])
def test_damaged_entry(length):
    body = bytearray(captured("port-statistics.hex"))
    body[8:10] = length.to_bytes(2, "big")
    with pytest.raises(DeployError, match="damaged"):
        openflow.parse_ports(bytes(body))


class Bridge:
    """A bridge that answers what it was asked to, in order; {xid} stands for the request's."""

    def __init__(self, path, answers):
        self.seen = []
        self._answers = answers
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen(1)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        client, _ = self._socket.accept()
        with client:
            while header := client.recv(8):
                _, kind, length, xid = openflow.HEADER.unpack(header)
                body = client.recv(length - 8) if length > 8 else b""
                self.seen.append((kind, body))
                for answer, text in self._answers.get(kind, []):
                    # In two parts, as a stream may deliver it.
                    data = openflow.message(answer, xid, text)
                    client.sendall(data[:5])
                    client.sendall(data[5:])
        self._socket.close()


HELLO = {openflow.HELLO: [(openflow.HELLO, b"")]}


def test_rules_are_in_force_after_the_barrier(tmp_path):
    bridge = Bridge(tmp_path / "m", HELLO | {openflow.BARRIER_REQUEST: [(openflow.BARRIER_REPLY, b"")]})
    with BridgeController(tmp_path / "m") as controller:
        controller.add_rules([Rule(in_port=1, output=2)])
    bridge.thread.join(5)
    assert [kind for kind, _ in bridge.seen] == [openflow.HELLO, openflow.FLOW_MOD, openflow.BARRIER_REQUEST]


def test_refused_rule(tmp_path):
    refusal = struct.pack("!HH", 5, 1) + b"..."
    confirmed = {openflow.BARRIER_REQUEST: [(openflow.BARRIER_REPLY, b"")]}
    Bridge(tmp_path / "m", HELLO | confirmed | {openflow.FLOW_MOD: [(openflow.ERROR, refusal)]})
    with BridgeController(tmp_path / "m") as controller, pytest.raises(DeployError) as caught:
        controller.add_rules([Rule(in_port=1, output=2)])
    assert caught.value.observed == "OpenFlow error type 5 code 1"


def test_reply_in_parts_with_a_keep_alive_between(tmp_path):
    whole = captured("port-statistics.hex")
    first = struct.pack("!HH4x", 4, 1)
    parts = [(openflow.MULTIPART_REPLY, first), (openflow.ECHO_REQUEST, b"x"), (openflow.MULTIPART_REPLY, whole)]
    bridge = Bridge(tmp_path / "m", HELLO | {openflow.MULTIPART_REQUEST: parts})
    with BridgeController(tmp_path / "m") as controller:
        assert len(controller.ports()) == 3
    bridge.thread.join(5)
    assert (openflow.ECHO_REPLY, b"x") in bridge.seen


@pytest.mark.parametrize(("name", "up"), [("alone", False), ("joined", True)])
def test_links_of_vhost_user_ports_that_somebody_has_opened_or_not(name, up):
    """As Open vSwitch 3.1 described a bridge with two of them, before and after a generator came."""
    links = openflow.parse_links(captured(f"port-descriptions-{name}.hex"))
    assert links == {1: up, 2: up, 0xFFFFFFFE: False}


def test_damaged_descriptions_are_refused():
    body = bytearray(captured("port-descriptions-joined.hex"))
    body[12:14] = b"\0\0"
    with pytest.raises(DeployError, match="damaged"):
        openflow.parse_links(bytes(body))


def test_nobody_listens(tmp_path):
    with pytest.raises(DeployError, match="OpenFlow"):
        BridgeController(tmp_path / "nobody")


def test_rule_for_a_share_of_the_flows():
    body = openflow.add_rule(Rule(in_port=1, output=2, udp_source=openflow.UdpSource(4, 1, 1)))
    assert (
        body[40:]
        .hex()
        .startswith(
            "0001001f"  # OXM match of 31 bytes
            "80000004"
            "00000001"  # in_port
            "80000a02"
            "0800"  # eth_type
            "80001401"
            "11"  # ip_proto
            "80001f04"
            "0001"
            "0001"  # udp_src, masked
            "00"  # padding to 32
            "00040018"
        )
    )


def test_installed_rules_with_what_they_match_and_do():
    (first, second) = sorted(openflow.parse_installed(captured("flow-statistics.hex")), key=lambda rule: rule.cookie)
    assert first.forwarding == Rule(in_port=1, output=2).forwarding
    assert second.forwarding == Rule(in_port=2, output=1, cookie=9).forwarding, "a cookie changes no forwarding"
    assert second.forwarding != first.forwarding
    assert first.octets == first.packets * 60


def test_installed_rule_that_is_cut_off():
    body = bytearray(captured("flow-statistics.hex"))
    start = body.index(bytes.fromhex("0000001000000002"))
    body[start + 2 : start + 4] = (4).to_bytes(2, "big")
    with pytest.raises(DeployError, match="damaged"):
        openflow.parse_installed(bytes(body))


def test_rule_for_one_flow_matches_address_and_port_exactly():
    """Each field after those it needs, an exact port without a mask, as the switch gives it back."""
    flow = Rule(in_port=1, output=2, udp_source=openflow.UdpSource(4, 0xC005, 0xFFFF), ipv4_source=0xC6120006)
    assert openflow.add_rule(flow)[40:-24].hex() == (
        "00010025"  # a match of 37 bytes, padded to 40
        "8000000400000001"  # in_port
        "80000a020800"  # eth_type
        "8000140111"  # ip_proto
        "80001e02c005"  # udp_src
        "80001604c6120006"  # ipv4_src
        "000000"
    )


def test_number_of_rules_is_read_from_the_aggregate():
    assert openflow.aggregate_request()[:8].hex() == "0002000000000000"
    reply = bytes.fromhex("0002000000000000") + struct.pack("!QQI4x", 5, 300, 100_002)
    assert openflow.parse_rule_count(reply) == 100_002


def test_a_rule_that_pushes_a_tag_is_read_back_as_it_was_written():
    plain, tagging = Rule(output=2, in_port=1), Rule(output=2, in_port=1, push_vlan=True)
    assert plain.forwarding != tagging.forwarding
    assert tagging.forwarding.actions == ("action:0011000881000000", "output:2")
    instruction = add_rule(tagging)[len(add_rule(plain)) - 24 :]
    assert instruction[:4] == bytes.fromhex("00040020")
    assert instruction[8:16].hex() == "0011000881000000"
