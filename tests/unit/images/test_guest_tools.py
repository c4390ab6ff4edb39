"""The agent's tools, with ordinary programs in their place: started, waited for, read, ended."""

import binascii
import time
import zlib

import pytest
from agent import ethtool, service
from agent import request as requests
from agent.refusal import Refusal
from agent.tools import PROGRAMS, Tools

LEAD = {"address": "198.18.0.1", "peer": "198.19.0.1", "peer_mac": "02:00:00:00:00:02", "ports": ["02:00:00:00:00:01"]}


@pytest.fixture(name="tools")
def _tools(tmp_path):
    found = Tools(str(tmp_path / "tools"), ("sh", "sleep"))
    yield found
    found.stop()


def text(answer):
    return zlib.decompress(binascii.a2b_base64(answer["part"]))


def test_one_that_ends_is_told_with_its_output_and_files(tools):
    started = tools.start({"program": "sh", "arguments": ["-c", "echo words; echo kept > file.csv; exit 3"]})
    assert tools.wait({"process": started["process"], "timeout_ms": 20_000}) == {"status": 3}
    assert text(tools.read({"name": started["log"]})) == b"words\n"
    assert tools.read({"name": started["log"], "offset": 2})["bytes"] == 6
    assert text(tools.read({"name": started["log"], "offset": 2})) == b"rds\n"
    assert text(tools.read({"name": "file.csv"})) == b"kept\n"
    assert tools.remove({"name": "file.csv"}) == tools.remove({"name": "file.csv"}) == {}
    with pytest.raises(Refusal, match="no such file"):
        tools.read({"name": "file.csv"})


def test_one_that_runs_on_is_waited_for_no_longer_than_asked_and_ended(tools):
    process = tools.start({"program": "sleep", "arguments": ["100"]})["process"]
    began = time.monotonic()
    assert tools.wait({"process": process, "timeout_ms": 50}) == {"status": None}
    assert time.monotonic() - began >= 0.05
    assert tools.end({"process": process}) == {"status": -9} == tools.end({"process": process})


@pytest.mark.parametrize("program", ["rm", "../sh", ""])
def test_other_programs_are_refused(tools, program):
    with pytest.raises(Refusal, match="no such tool"):
        tools.start({"program": program})


@pytest.mark.parametrize("name", ["../passwd", "/etc/passwd", ".", ""])
def test_files_elsewhere_are_refused(tools, name):
    with pytest.raises(Refusal, match="plain name"):
        tools.read({"name": name})


def test_a_process_that_was_not_started_is_refused(tools):
    with pytest.raises(Refusal, match="no such tool was started"):
        tools.end({"process": 1})


def test_netperfs_server_is_a_tool():
    assert set(PROGRAMS) == {"iperf3", "netperf", "netserver", "sockperf"}


def test_a_way_to_a_peer_needs_all_of_it():
    assert requests.lead(LEAD)["mtu"] == 1500
    for key in LEAD:
        with pytest.raises(Refusal, match="lead needs") as caught:
            requests.lead({name: value for name, value in LEAD.items() if name != key})
        assert caught.value.document["observed"] == f"no {key}"


def test_segmentation_goes_off_before_checksums_and_on_after_them():
    assert ethtool.in_order({"tx": False, "tso": False, "gso": False}) == ["gso", "tso", "tx"]
    assert ethtool.in_order({"gso": True, "tso": True, "tx": True, "rx": None}) == ["tx", "tso", "gso"]


def test_an_offload_that_is_refused_keeps_no_other_from_being_set(monkeypatch):
    done = []

    def switch(name, key, on):
        if key == "tso":
            raise Refusal("the offload tso cannot be switched on")
        done.append((key, on))

    monkeypatch.setattr(service.ethtool, "switch", switch)
    agent = service.Service([])
    monkeypatch.setattr(agent, "_of_kernel", lambda found: [type("Port", (), {"name": "eth0"})()])
    with pytest.raises(Refusal, match="tso"):
        agent.answer({"do": "offloads", "tx": True, "tso": True, "gso": True})
    assert done == [("tx", True), ("gso", True)]
