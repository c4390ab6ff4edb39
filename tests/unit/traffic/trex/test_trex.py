"""TRex in nfvgen's place: the program of its host as a process, with a double of TRex, asked by nfvgen's client."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError, GeneratorError
from nfvbed.measure.warnings import traffic_warnings
from nfvbed.records import GeneratorPort, PortKind, QualityWarning
from nfvbed.spec.remote import TrexSpec
from nfvbed.traffic.generator import Addressing, TrafficRequest
from nfvbed.traffic.nfvgen import NfvgenClient
from nfvbed.traffic.trex import frames
from nfvbed.traffic.trex.serving import Refused
from nfvbed.traffic.trexoptions import TrexOptions, write_archive
from tests.unit.traffic.trex import trex_double
from tests.unit.traffic.trex.folder import API, PORTS, install
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
        trex=TrexSpec(folder=str(folder)),
    )


@pytest.fixture(name="process")
def _process(tmp_path):
    # Nothing of nfvbed's but what the archive has: no package is found beside it.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return Started(tmp_path / "log", environment, tmp_path)


def test_a_trial(options, process, tmp_path):
    generator = NfvgenClient(options, process.spawn)
    hello = generator.hello()
    assert (hello.engine.name, hello.engine.version) == ("trex-stl", "1 (TRex double)")
    assert hello.link_up == (True, True) and hello.raw["ports"][0]["speed_mbps"] == 10_000
    result = generator.run(REQUEST)
    first, second = result.directions
    assert (first.intended, first.sent, first.received, first.lost, first.unsent) == (1000, 1000, 990, 10, 0)
    assert second.received == 990 and result.foreign == (0, 7) and result.duration_ns == SECOND // 20
    assert result.latency_hdr == (None, None) and not result.checked
    assert QualityWarning.FRAMES_UNCHECKED in traffic_warnings(result, paced=True)
    full = generator.run(replace(REQUEST, rate_pps=None, bidirectional=False))
    assert [(one.intended, one.sent) for one in full.directions] == [(50_000, 50_000)]
    some = generator.run(replace(REQUEST, rate_pps=None, frames=200, backward=True, bidirectional=False))
    assert [(one.sent, one.received) for one in some.directions] == [(200, 198)]
    generator.close()
    assert process.ended() == 0
    assert "-i --cfg /etc/trex_cfg.yaml -c 1" in process.log_tail(), "TRex's program was started in its folder"
    assert not (tmp_path / "trex.sock").exists()
    assert subprocess.run(["pgrep", "-f", str(tmp_path / "trex")], check=False, stdout=subprocess.DEVNULL).returncode


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


def test_another_machines_ports(options, process, tmp_path):
    other = (options.ports[1], options.ports[0])
    with pytest.raises(GeneratorError, match="ended before it was ready") as error:
        NfvgenClient(replace(options, ports=other), process.spawn)
    assert "TRex's ports are 0000:3b:00.0, 0000:3b:00.1" in str(error.value)
    assert process.ended() == 24 and not (tmp_path / "trex.sock").exists()


def test_trex_that_does_not_start(options, process, tmp_path):
    api = tmp_path / "trex" / API
    text = api.read_text().replace('"""Answer at once."""', 'raise TRexError("no server")')
    api.write_text(text)
    (tmp_path / "trex" / "t-rex-64").write_text("#!/bin/sh\necho no hugepages\nexit 3\n")
    with pytest.raises(GeneratorError) as error:
        NfvgenClient(options, process.spawn)
    assert "TRex ended with status 3" in str(error.value) and "no hugepages" in str(error.value)


def test_frames():
    keys = {"duration_ns": SECOND, "rate_pps": 12_000, "frame_sizes": [[128, 7], [570, 4], [1518, 1]]}
    found = frames.parts(keys)
    assert [(part.id, part.tx, part.size_bytes, part.intended, round(part.rate_pps)) for part in found] == [
        *((1, 0, 128, 7000, 7000), (2, 0, 570, 4000, 4000), (3, 0, 1518, 1000, 1000)),
        *((4, 1, 128, 7000, 7000), (5, 1, 570, 4000, 4000), (6, 1, 1518, 1000, 1000)),
    ]
    macs = ("02:00:00:00:00:00", "02:00:00:00:00:01")
    asked = {**keys, "stack": {"vlan": 7, "ip": 6}, "destination_macs": ["02:aa:00:00:00:01", "02:aa:00:00:00:02"]}
    packet = frames.stream(trex_double, found[0], {**asked, "flows": 3}, macs).packet
    assert [kind for kind, _ in packet.pkt.layers] == ["Ether", "Dot1Q", "IPv6", "UDP", "payload"]
    assert len(packet.pkt) == 128 - frames.FCS_BYTES
    assert packet.pkt.layers[0][1] == {"src": macs[0], "dst": "02:aa:00:00:00:01"}
    assert packet.vm.asked[0][1]["min_value"] == 1 and packet.vm.asked[0][1]["max_value"] == 3
    with pytest.raises(Refused, match="too small") as refused:
        frames.stream(trex_double, replace(found[0], size_bytes=64), asked, macs)
    assert refused.value.body["limit"] == 14 + 4 + 40 + 8 + frames.FCS_BYTES
