"""The plug-in's requests: what nfvgen sends for them, and what it does not."""

from pathlib import Path
from typing import Any

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, GeneratorError, NfvbedError, TotalLossError, UnsupportedError
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.traffic.generator import Generator
from nfvbed.traffic.simulated.system import SimulatedSystem
from nfvbed.vsperf.conf.columns import TRAFFIC as TRAFFIC_COLUMNS
from nfvbed.vsperf.conf.released import NEWEST, releases
from nfvbed.vsperf.driver.measuring import PluginMeasurer, plain_request

PROJECT = open_project(Path(__file__).parents[4])
TRAFFIC = {**releases()[NEWEST].defaults["TRAFFIC"], "traffic_type": "rfc2544_continuous"}


def keys(**traffic: Any) -> dict[str, Any]:
    return {"traffic": {**TRAFFIC, **traffic}, "duration_s": 1, "loss_percent": 0.0, "tests": 1}


class Opened:
    """A measurer on the simulated variant, which counts its generators."""

    def __init__(self) -> None:
        self.generators: list[Generator] = []
        self.measurer = PluginMeasurer(self._open, lambda: 30.0)

    def _open(self) -> Generator:
        site = SimulatedSite()
        self.generators.append(site.open_generator(site.deploy(PROJECT.load_variant("simulated"), "p2p")))
        return self.generators[-1]


def test_a_stream_at_full_load_fills_vsperfs_columns():
    opened = Opened()
    assert opened.measurer.handle("connect", {})["engine"]["name"] == "simulated"
    columns = opened.measurer.handle("continuous", keys())
    assert set(columns) == set(TRAFFIC_COLUMNS)
    assert columns["tx_rate_fps"] >= columns["throughput_rx_fps"] > 1e6
    assert columns["tx_rate_mbps"] == pytest.approx(columns["tx_rate_fps"] * 64 * 8 / 1e6)
    assert columns["tx_rate_percent"] == "Unknown", "virtual ports have no line rate"
    assert columns["min_latency_ns"] <= columns["avg_latency_ns"] <= columns["max_latency_ns"]
    (answered,) = opened.measurer.answered
    assert (answered.command, answered.distance.before, answered.search) == ("continuous", 30.0, None)
    opened.measurer.close()
    opened.measurer.close()
    assert len(opened.generators) == 1


def test_throughput_is_what_a_search_finds():
    opened = Opened()
    columns = opened.measurer.handle("throughput", keys(traffic_type="rfc2544_throughput"))
    (answered,) = opened.measurer.answered
    (goal,) = answered.search.goals
    assert columns["tx_rate_fps"] == pytest.approx(goal.lower_bound.load_pps, rel=0.01)
    assert answered.search.search.goals[0].final_trial_duration_s == 1
    assert columns["frame_loss_percent"] == 0


def test_a_switch_that_returns_nothing_has_no_throughput(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(SimulatedSystem, "forwards", lambda self, size: size <= 1518)
    opened = Opened()
    with pytest.raises(TotalLossError, match="no frame came back") as caught:
        opened.measurer.handle("throughput", keys(l2={"framesize": 2000}, traffic_type="rfc2544_throughput"))
    assert "sent frames came back" in caught.value.observed
    assert "VSWITCH_JUMBO_FRAMES_SIZE" in caught.value.fix


def test_a_burst_is_counted():
    columns = Opened().measurer.handle("burst", keys(burst_size=1000, bidir="False"))
    assert (columns["tx_frames"], columns["rx_frames"], columns["tx_bytes"]) == (1000, 1000, 64_000)
    assert (columns["payload_err"], columns["seq_err"]) == (0, 0)


@pytest.mark.parametrize(
    ("command", "given", "error", "said"),
    [
        ("rfc2889_caching", keys(), UnsupportedError, "does not answer"),
        ("continuous", keys(frame_rate=50), UnsupportedError, "part of the line rate"),
        ("continuous", keys(l3={"enabled": True, "proto": "tcp"}), UnsupportedError, "only UDP"),
        (
            "continuous",
            keys(imix={"enabled": True, "type": "genome", "genome": "aaaaaaaddddg"}),
            UnsupportedError,
            "mixes of frame sizes",
        ),
        ("continuous", keys(l2={"framesize": 32}), ConfigurationError, "no such frames"),
        ("continuous", {"traffic": TRAFFIC}, ConfigurationError, "no request"),
        ("throughput", {**keys(), "tests": 3}, UnsupportedError, "NfvGen searches once"),
        ("burst", keys(burst_size=0), ConfigurationError, "no number of frames"),
    ],
)
def test_what_nfvgen_does_not_send_is_refused(command: str, given: dict[str, Any], error: type[NfvbedError], said: str):
    opened = Opened()
    with pytest.raises(error, match=said):
        opened.measurer.handle(command, given)
    assert opened.measurer.answered == []


def test_traffic_is_taken_as_vsperf_gives_it():
    request = plain_request(keys(multistream=8000, bidir="false", vlan={"enabled": True, "id": 7}))
    assert (request.flows, request.bidirectional, request.vlan, request.duration_ns) == (8000, False, 7, 10**9)
    assert (request.rate_pps, request.frames) == (None, None)


def test_ports_that_stay_down_are_reported(monkeypatch: pytest.MonkeyPatch):
    opened = Opened()
    monkeypatch.setattr("nfvbed.vsperf.driver.measuring.LINK_PATIENCE_S", 0.0)
    original = opened._open

    def without_link() -> Generator:
        generator = original()
        hello = generator.hello()
        object.__setattr__(hello, "link_up", (True, False))
        monkeypatch.setattr(generator, "hello", lambda: hello)
        return generator

    opened.measurer.open_generator = without_link
    with pytest.raises(GeneratorError, match="do not come up"):
        opened.measurer.handle("connect", {})
