"""VSPERF's packet forwarder in the switch's place, on nfvgen's two ports."""

from pathlib import Path

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.host.testpmd import command
from nfvbed.vsperf.conf import read_settings
from nfvbed.vsperf.conf.released import releases
from nfvbed.vsperf.driver.configuration import find_case
from nfvbed.vsperf.driver.forwarder import FORWARDER, NO_SWITCH, forwarder_ports
from nfvbed.vsperf.driver.ports import generator_ports
from nfvbed.vsperf.driver.request import check_request, planned
from tests.unit.vsperf.driver.test_vsperf_driver import Bed
from tests.unit.vsperf.driver.vsperf_double import ARRANGEMENT, make_double
from tests.unit.vsperf.recorded import NEWEST, recorded

WITHOUT_SWITCH = f"VSWITCH={NO_SWITCH}; TRAFFICGEN_PKT_SIZES=(64,); TRAFFICGEN_DURATION=1"


def test_what_the_forwarder_is_given_has_vsperfs_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command, "program", lambda: "/usr/bin/dpdk-testpmd")
    stock = read_settings([make_double(tmp_path / "double") / "conf"])
    case = find_case(stock, stock, "phy2phy_cont")
    found = forwarder_ports(case, tmp_path, tmp_path / "huge", ARRANGEMENT, ("--burst=64",))
    assert {*found.forced, *found.defaults} <= recorded(NEWEST).settings
    assert FORWARDER in recorded(NEWEST).classes("PKTFWD")
    assert (found.forced["VSWITCH"], found.forced["PKTFWD"]) == ("none", "TestPMD")
    assert found.paths["vswitch"][NO_SWITCH] == releases()[NEWEST].defaults["PATHS"]["vswitch"][NO_SWITCH]
    assert found.paths["dpdk"]["bin"]["testpmd"] == "/usr/bin/dpdk-testpmd"
    words = found.forced["VSWITCHD_DPDK_ARGS"]
    devices = [word for before, word in zip(words, words[1:], strict=False) if before == "--vdev"]
    for port, device in zip(generator_ports(tmp_path), devices, strict=True):
        assert port.spec.split("path=")[1].split(",")[0] == device.split("iface=")[1].split(",")[0]
    # VSPERF joins them by blanks, and adds the memory itself.
    assert not [word for word in words if " " in word or word.startswith("--socket-mem")]
    assert found.forced["TESTPMD_ARGS"][-1] == "--burst=64", "the user's own come last"


def test_its_results_are_those_of_the_forwarder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command, "program", lambda: "/usr/bin/dpdk-testpmd")
    bed = Bed(tmp_path, monkeypatch, variant=f"vsperf:{FORWARDER}")
    run = bed.run("phy2phy_cont", "NfvGen", WITHOUT_SWITCH)
    (cell,) = bed.data(run).cells
    assert cell.id == "vsperf:TestPMD/p2p/64"


def test_it_forwards_from_port_to_port_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bed = Bed(tmp_path, monkeypatch)
    assert planned(bed.request("phy2phy_cont", "NfvGen", WITHOUT_SWITCH))["switch"] == FORWARDER
    with pytest.raises(UnsupportedError, match="from port to port alone"):
        check_request(bed.request("pvp_cont", "NfvGen", WITHOUT_SWITCH))
    with pytest.raises(UnsupportedError, match="Open vSwitch with DPDK and testpmd"):
        check_request(bed.request("phy2phy_cont", "NfvGen", f"{WITHOUT_SWITCH}; PKTFWD=Another"))
