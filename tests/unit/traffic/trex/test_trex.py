"""TRex in nfvgen's place: the program of its host as a process, with a double of TRex, asked by nfvgen's client."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError, GeneratorError
from nfvbed.measure.warnings import traffic_warnings
from nfvbed.records import GeneratorPort, PortKind, QualityWarning
from nfvbed.spec.remote import TrexSpec
from nfvbed.traffic.generator import Addressing, TrafficRequest
from nfvbed.traffic.nfvgen import NfvgenClient
from nfvbed.traffic.trexoptions import TrexOptions, write_archive
from tests.unit.traffic.trex.folder import API, CONFIGURATION, PORTS, install, program
from tests.unit.traffic.trex.processes import Started

SECOND = 1_000_000_000
REQUEST = TrafficRequest(duration_ns=SECOND // 20, frame_size=64, rate_pps=20_000)


@pytest.fixture(name="options")
def _options(tmp_path):
    folder = install(tmp_path / "trex")
    write_archive(tmp_path)
    ports = tuple(GeneratorPort(engine="dpdk", spec=f"pci:{pci}", kind=PortKind.PCI) for pci in PORTS)
    return TrexOptions(
        binary=Path(sys.executable),
        engine="dpdk",
        ports=ports,
        core=1,
        socket_path=tmp_path / "trex.sock",
        trex=TrexSpec(folder=str(folder), configuration=str(folder / CONFIGURATION)),
    )


@pytest.fixture(name="process")
def _process(tmp_path):
    # Nothing of nfvbed's but what the archive has: no package is found beside it.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    started = Started(tmp_path / "log", environment, tmp_path)
    yield started
    started.stop()


def _left(folder: Path) -> str:
    found = subprocess.run(["pgrep", "-af", str(folder)], check=False, stdout=subprocess.PIPE, text=True)
    return found.stdout


def _wait_until(seen: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_trial(options, process, tmp_path):
    generator = NfvgenClient(options, process.spawn)
    hello = generator.hello()
    assert (hello.engine.name, hello.engine.version) == ("trex-stl", "1 (TRex double)")
    assert hello.link_up == (True, True) and hello.raw["ports"][0]["speed_mbps"] == 10_000
    result = generator.run(REQUEST)
    first, second = result.directions
    assert (first.intended, first.sent, first.received, first.lost, first.unsent) == (1000, 1000, 990, 10, 0)
    assert second.received == 990 and result.foreign == (0, 7) and result.duration_ns == SECOND // 20
    assert result.latency_hdr == (None, None) and not result.checked and result.missed == 3
    assert {QualityWarning.FRAMES_UNCHECKED, QualityWarning.SINK_MISSED} <= set(traffic_warnings(result, paced=True))
    some = generator.run(replace(REQUEST, rate_pps=None, frames=200, backward=True, bidirectional=False))
    assert [(one.sent, one.received) for one in some.directions] == [(200, 198)]
    generator.close()
    assert process.ended() == 0
    configuration = tmp_path / "trex" / CONFIGURATION
    said = f"-i --cfg {configuration} -c 1 --no-scapy-server --iom 0 --no-key"
    assert said in process.log_tail(), "TRex's program was started in its folder"
    assert not (tmp_path / "trex.sock").exists() and not _left(tmp_path)


def test_more_than_trex_can_send(options, process):
    generator = NfvgenClient(options, process.spawn)
    try:
        full = generator.run(replace(REQUEST, rate_pps=None, bidirectional=False))
        over = generator.run(replace(REQUEST, rate_pps=4_000_000, bidirectional=False))
    finally:
        generator.close()
    (one,) = full.directions
    # It sends a million frames/s, and for as long as it was left to: a busy machine is late to end it.
    assert one.sent * SECOND / full.duration_ns == pytest.approx(1_000_000, rel=0.2)
    assert one.intended == one.sent and full.duration_ns >= SECOND // 20
    (one,) = over.directions
    assert one.intended == 200_000 and one.unsent == one.late == 200_000 - one.sent > 0


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"timeline_ns": 1_000_000}, "timeline_ns"),
        ({"addressing": Addressing(flow_address="destination")}, "flow_address"),
        ({"frame_size": 64, "flows": 70_000}, "70000 flows"),
        ({"addressing": Addressing(ipv4=("198.18.255.250", "198.19.0.1")), "flows": 16}, "flows"),
    ],
)
def test_what_trex_is_not_asked_for(options, process, change, key):
    generator = NfvgenClient(options, process.spawn)
    try:
        with pytest.raises((ConfigurationError, GeneratorError)) as error:
            generator.run(replace(REQUEST, **change))
        assert key in str(error.value)
        assert generator.run(REQUEST).directions[0].received == 990, "it goes on"
    finally:
        generator.close()


def test_killed_it_leaves_nothing(options, process, tmp_path):
    generator = NfvgenClient(options, process.spawn)
    _wait_until(lambda: "_t-rex-64" in _left(tmp_path))
    os.kill(process.pid, signal.SIGKILL)
    _wait_until(lambda: not _left(tmp_path))
    generator.close()


def test_another_machines_ports(options, process, tmp_path):
    other = (options.ports[1], options.ports[0])
    with pytest.raises(GeneratorError, match="ended before it was ready") as error:
        NfvgenClient(replace(options, ports=other), process.spawn)
    assert "TRex's ports are 0000:3b:00.0, 0000:3b:00.1" in str(error.value)
    assert process.ended() == 24 and not (tmp_path / "trex.sock").exists() and not _left(tmp_path)


def test_another_trex_is_there(options, process, tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        (tmp_path / "trex" / CONFIGURATION).write_text(f'[{{"zmq_rpc_port": {port}}}]')
        with pytest.raises(GeneratorError, match=f"TCP port {port} of this host is taken"):
            NfvgenClient(options, process.spawn)
    assert process.ended() == 24


@pytest.mark.parametrize("text", [None, "[", "{}", "7"])
def test_a_file_that_is_none_of_trexs(options, process, tmp_path, text):
    configuration = tmp_path / "trex" / CONFIGURATION
    configuration.unlink()
    if text is not None:
        configuration.write_text(text)
    with pytest.raises(GeneratorError, match="cannot be read"):
        NfvgenClient(options, process.spawn)


def test_a_python_that_trex_is_not_for(options, process, tmp_path):
    (tmp_path / "trex" / API).write_text("import nothing_of_this_name\n")
    with pytest.raises(GeneratorError, match="does not load with Python") as error:
        NfvgenClient(options, process.spawn)
    assert "nothing_of_this_name" in str(error.value) and process.ended() == 24


def test_trex_that_does_not_start(options, process, tmp_path):
    api = tmp_path / "trex" / API
    text = api.read_text().replace('"""Answer at once."""', 'raise TRexError("no server")')
    api.write_text(text)
    program(tmp_path / "trex", "t-rex-64", "echo no hugepages\nexit 3\n")
    with pytest.raises(GeneratorError) as error:
        NfvgenClient(options, process.spawn)
    assert "TRex ended with status 3" in str(error.value) and "no hugepages" in str(error.value)


def _with_counts(api: Path, back: str) -> None:
    """Let the double count so many frames back by stream; its ports count as before."""
    was = "            back = out - out // LOST_OF\n"
    text = api.read_text()
    assert text.count(was) == 1
    api.write_text(text.replace(was, f"            back = {back}\n"))


def test_a_nic_that_counts_no_streams_is_an_error_that_names_the_software_mode(options, process, tmp_path):
    _with_counts(tmp_path / "trex" / API, "0")
    generator = NfvgenClient(options, process.spawn)
    try:
        with pytest.raises(GeneratorError, match="TRex's trial failed") as error:
            generator.run(REQUEST)
    finally:
        generator.close()
    assert "rx_pkts 0, ipackets 990" in error.value.observed and "software: true" in error.value.fix


def test_a_site_chooses_the_software_mode(options, process, tmp_path):
    spec = options.trex.model_copy(update={"software": True})
    NfvgenClient(replace(options, trex=spec), process.spawn).close()
    assert process.ended() == 0 and "--iom 0 --no-key --software" in process.log_tail()
    # It has NICs all the same: they are the site's.
    other = replace(options, trex=spec, ports=(options.ports[1], options.ports[0]))
    with pytest.raises(GeneratorError, match="ended before it was ready"):
        NfvgenClient(other, process.spawn)


def test_frames_that_came_twice_are_in_no_rate_and_hide_no_loss(options, process, tmp_path):
    # One way a tenth is lost, the other way a tenth comes twice.
    _with_counts(tmp_path / "trex" / API, "out * 9 // 10 if port == 0 else out * 11 // 10")
    generator = NfvgenClient(options, process.spawn)
    try:
        result = generator.run(REQUEST)
    finally:
        generator.close()
    assert [(way.received, way.lost, way.duplicated) for way in result.directions] == [(900, 100, 0), (1000, 0, 100)]
    warned = traffic_warnings(result, paced=True)
    assert {QualityWarning.DUPLICATED, QualityWarning.LOSS_AT_LEAST} <= set(warned)
