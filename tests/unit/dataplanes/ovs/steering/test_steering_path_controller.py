"""The OpenFlow controller with a switch that says what it is told to: no Open vSwitch."""

import socket
import struct
import threading
import time
from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import openflow, tablerules
from nfvbed.dataplanes.ovs.steering import controller
from nfvbed.dataplanes.ovs.steering.controller_process import StatusServer
from nfvbed.dataplanes.ovs.steering.path import SteeringPath, SwitchCable, path_rules
from nfvbed.dataplanes.ovs.steering.path_controller import PathController
from nfvbed.dataplanes.ovs.steering.path_file import write_path

PATH = SteeringPath({"a": 1, "b": 2}, (SwitchCable("a", "b"),))
OTHER = SteeringPath({"a": 1, "b": 2, "c": 3}, (SwitchCable("a", "c"),))
ANSWERS = {
    openflow.FEATURES_REQUEST: (openflow.FEATURES_REPLY, struct.pack("!Q16x", 0xAB)),
    openflow.BARRIER_REQUEST: (openflow.BARRIER_REPLY, b""),
    tablerules.BUNDLE_CONTROL: (tablerules.BUNDLE_CONTROL, b"\0" * 8),
    openflow.MULTIPART_REQUEST: (
        openflow.MULTIPART_REPLY,
        bytes.fromhex((Path(__file__).parents[1] / "captured/flow-statistics.hex").read_text()),
    ),
}
REFUSAL = (openflow.ERROR, struct.pack("!HH", 5, 1))


class Switch:
    """Connects to a controller, and answers what it is asked."""

    def __init__(self, address, refused=()):
        self.seen = []
        self.refused = set(refused)
        self.connection = socket.create_connection(address)
        self.send(openflow.HELLO, 0)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def send(self, kind, xid, body=b""):
        self.connection.sendall(openflow.message(kind, xid, body))

    def close(self):
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()

    def _serve(self):
        stream = self.connection.makefile("rb")
        while header := stream.read(8):
            _, kind, length, xid = openflow.HEADER.unpack(header)
            body = stream.read(length - 8)
            self.seen.append((kind, body))
            answer = REFUSAL if kind in self.refused else ANSWERS.get(kind)
            if answer:
                self.send(answer[0], xid, answer[1])

    def sent(self, kind):
        return [body for seen, body in self.seen if seen == kind]


@pytest.fixture
def served(tmp_path):
    write_path(tmp_path / "path.json", PATH)
    listening = socket.create_server(("127.0.0.1", 0))
    made = PathController(tmp_path / "path.json", listening)
    threading.Thread(target=made.serve, daemon=True).start()
    return made, listening.getsockname()


def wait_for(true):
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def in_force(made):
    return lambda: made.status()["rules"] == 2


def test_a_switch_that_connects_gets_the_rules_and_is_told_of(served):
    made, address = served
    assert made.status() == {"connected": False, "datapath_id": None, "rules": 0, "error": ""}
    assert made.change()["error"] == made.counters()["error"] == "no switch is connected"
    switch = Switch(address)
    wait_for(in_force(made))
    assert switch.sent(openflow.FLOW_MOD) == [openflow.add_rule(rule) for rule in path_rules(PATH)]
    assert made.status() == {"connected": True, "datapath_id": "00000000000000ab", "rules": 2, "error": ""}
    hops = made.counters()["hops"]
    assert [(hop["cookie"], hop["in_port"], hop["output"]) for hop in hops] == [(1, 1, 2), (2, 2, 1)]
    assert hops[0]["octets"] == hops[0]["packets"] * 60 > 0


def test_a_switch_that_comes_back_gets_them_again(served):
    made, address = served
    first = Switch(address)
    wait_for(in_force(made))
    first.close()
    wait_for(lambda: not made.status()["connected"])
    second = Switch(address)
    wait_for(in_force(made))
    assert len(second.sent(openflow.FLOW_MOD)) == 2


def test_a_switch_that_asks_whether_the_controller_lives_is_answered(served):
    made, address = served
    switch = Switch(address)
    wait_for(in_force(made))
    switch.send(openflow.ECHO_REQUEST, 7, b"alive?")
    wait_for(lambda: switch.sent(openflow.ECHO_REPLY) == [b"alive?"])


def test_a_change_is_one_bundle_and_in_force_when_it_is_answered(served, tmp_path):
    made, address = served
    switch = Switch(address)
    wait_for(in_force(made))
    write_path(tmp_path / "path.json", OTHER)
    assert made.change() == {"error": ""}
    assert made.status()["rules"] == 2
    added = [body[16:] for body in switch.sent(tablerules.BUNDLE_ADD)]
    assert added == [openflow.delete_all_rules(), *(openflow.add_rule(rule) for rule in path_rules(OTHER))]
    kinds = (tablerules.BUNDLE_OPEN, tablerules.BUNDLE_COMMIT)
    assert switch.sent(tablerules.BUNDLE_CONTROL) == [tablerules.bundle_control(1, kind) for kind in kinds]


def test_a_change_that_the_switch_refuses_is_discarded_and_the_next_one_is_not_blamed_for_it(served, tmp_path):
    made, address = served
    switch = Switch(address)
    wait_for(in_force(made))
    switch.refused = {tablerules.BUNDLE_ADD}  # each of three messages
    write_path(tmp_path / "path.json", OTHER)
    assert made.change() == {"error": ""}, "what the switch says is in the status"
    assert made.status()["rules"] == 0
    assert made.status()["error"] == "OpenFlow error type 5 code 1"
    kinds = (tablerules.BUNDLE_OPEN, tablerules.BUNDLE_DISCARD)
    assert switch.sent(tablerules.BUNDLE_CONTROL) == [tablerules.bundle_control(1, kind) for kind in kinds]
    switch.refused = set()
    assert made.change() == {"error": ""}
    assert made.status()["rules"] == 2
    assert made.status()["error"] == ""


def test_a_rule_that_the_switch_refuses_at_first_is_told_and_the_switch_stays(served):
    made, address = served
    Switch(address, refused={openflow.FLOW_MOD})
    wait_for(lambda: made.status()["error"])
    status = made.status()
    assert (status["connected"], status["rules"], status["error"]) == (True, 0, "OpenFlow error type 5 code 1")


def test_somebody_who_does_not_speak_openflow_is_let_go(served):
    made, address = served
    with socket.create_connection(address) as stranger:
        stranger.sendall(b"\0" * 64)
        stranger.settimeout(10)
        while stranger.recv(100):
            pass
    Switch(address)
    wait_for(in_force(made))


def test_a_path_that_cannot_be_read_changes_nothing(served, tmp_path):
    made, address = served
    Switch(address)
    wait_for(in_force(made))
    (tmp_path / "path.json").write_text("{}")
    assert "no path can be read" in made.change()["error"]
    assert made.status()["rules"] == 2


def test_it_is_asked_over_its_socket(served, tmp_path):
    made, _ = served
    server = StatusServer(tmp_path / "s", made)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    assert controller.ask(tmp_path / "s", "status")["rules"] == 0
    assert controller.ask(tmp_path / "s", "counters")["error"] == "no switch is connected"
    assert "it answers" in controller.ask(tmp_path / "s", "dance")["error"]
    server.shutdown()
    server.server_close()
