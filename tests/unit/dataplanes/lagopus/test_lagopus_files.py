"""What Lagopus is started with, and what is understood of its datastore (a thread is in its place, a double)."""

import json
import socket
import threading
from pathlib import Path

import pytest

from nfvbed.dataplanes.lagopus import datastore as module
from nfvbed.dataplanes.lagopus.adapter import eal_arguments, rules_of
from nfvbed.dataplanes.lagopus.configuration import configuration, raw_socket, vhost_client
from nfvbed.dataplanes.lagopus.datastore import Datastore
from nfvbed.dataplanes.lagopus.process import PROGRAM_VARIABLE, arguments, locate, version
from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.spec.layout import layout

TWO_PORTS = """\
channel channel01 create -dst-addr 127.0.0.1 -protocol tcp
controller controller01 create -channel channel01 -role equal -connection-type main
interface interface1 create -type ethernet-rawsock -device s0
interface interface2 create -type ethernet-rawsock -device s1
port port1 create -interface interface1
port port2 create -interface interface2
bridge bridge01 create -controller controller01 -port port1 1 -port port2 2 -dpid 0x1
bridge bridge01 enable
flow bridge01 add in_port=1 apply_actions=output:2
flow bridge01 add in_port=2 apply_actions=output:1
"""


def test_configuration_of_two_ports():
    assert configuration({1: raw_socket("s0"), 2: raw_socket("s1")}, rules_of(layout("p2p"))) == TWO_PORTS


def test_rules_of_a_chain_are_its_cables():
    assert rules_of(layout("pvvp")) == ((1, 3), (4, 5), (6, 2))


def test_vhost_ports_are_clients():
    assert vhost_client(0, "/run/p0.sock").device == "eth_vhost0,iface=/run/p0.sock,client=1"


def test_arguments():
    program, directory = Path("/usr/bin/lagopus"), Path("/run/x")
    raw = arguments(program, directory, ())
    assert raw[:2] == ["/usr/bin/lagopus", "-d"]
    assert raw[-2:] == ["-C", "/run/x/lagopus.dsl"]
    eal = eal_arguments((0, 2), 512, Path("/run/x/hugepages-0"), "nfvbed-x")
    assert arguments(program, directory, eal)[len(raw) :] == [
        *("--", "-c", "0x5", "-n", "2", "-m", "512"),
        *("--huge-dir", "/run/x/hugepages-0", "--file-prefix", "nfvbed-x", "--no-pci"),
    ]


def test_absent_program_is_reported_with_how_to_have_it(monkeypatch, tmp_path):
    monkeypatch.setenv(PROGRAM_VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(PrerequisiteError, match="Lagopus is not there") as caught:
        locate()
    assert "github.com/lagopus/lagopus" in caught.value.fix


def test_program_that_does_not_run(monkeypatch, tmp_path):
    program = tmp_path / "lagopus"
    program.write_text("#!/bin/sh\necho 'error while loading shared libraries: libgmp' >&2\nexit 127\n")
    program.chmod(0o755)
    monkeypatch.setenv(PROGRAM_VARIABLE, str(program))
    with pytest.raises(PrerequisiteError, match="libgmp"):
        version()


def asked(monkeypatch, answer, question):
    """Ask a datastore that gives this answer in two parts; give what comes of it and what it was asked."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setattr(module, "ADDRESS", listening.getsockname())
        monkeypatch.setattr(module, "inside", lambda _netns, work: work())
        seen = []

        def serve():
            connection, _ = listening.accept()
            with connection:
                seen.append(connection.recv(100).decode())
                connection.sendall(answer[:9].encode())
                connection.sendall(answer[9:].encode())

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            return question(Datastore("x")), seen
        finally:
            thread.join(5)


def test_flows_and_statistics(monkeypatch):
    # In the form that Lagopus's own tests expect (test/datastore/long_run, flow_add.yml).
    flows = {"ret": "OK", "data": [{"name": ":bridge01", "tables": [{"table": 0, "flows": [{"in_port": 1}, {}]}]}]}
    assert asked(monkeypatch, json.dumps(flows), Datastore.flows) == (2, ["flow bridge01\n"])
    counts = {"name": ":interface1", "rx-packets": 5, "tx-dropped": 1}
    found, seen = asked(monkeypatch, json.dumps({"ret": "OK", "data": [counts]}), lambda asker: asker.statistics(1))
    assert (found, seen) == ({"rx_packets": 5, "tx_dropped": 1}, ["interface interface1 stats\n"])


@pytest.mark.parametrize(
    ("answer", "words"), [('{"ret": "NOT_FOUND", "data": "name = x"}', "refuses"), ('{"ret": "OK",', "does not answer")]
)
def test_no_good_answer(monkeypatch, answer, words):
    with pytest.raises(DeployError, match=words):
        asked(monkeypatch, answer, Datastore.flows)
