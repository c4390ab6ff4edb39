"""What TRex is asked to send, and what is made of its counts."""

import json
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.traffic.nfvgen_protocol import TrialMessage
from nfvbed.traffic.nfvgen_words import result_of
from nfvbed.traffic.trex import counts, frames, server
from nfvbed.traffic.trex.counts import SendingCounts, UncountedFramesError
from nfvbed.traffic.trex.frames import Part
from nfvbed.traffic.trex.serving import RequestRefused
from nfvbed.traffic.trex.trials import Trials
from tests.unit.traffic.trex import trex_double

SECOND = 1_000_000_000
MILLION = 1_000_000
IMIX = [[64, 7], [570, 4], [1518, 1]]
MACS = ("02:00:00:00:00:00", "02:00:00:00:00:01")
LINE = (10_000_000_000, 10_000_000_000)


def test_parts():
    found = frames.parts({"duration_ns": SECOND, "rate_pps": 12_000, "frame_sizes": IMIX}, LINE)
    assert [(part.id, part.tx, part.size_bytes, part.due, round(part.rate_pps)) for part in found] == [
        *((1, 0, 64, 7000, 7000), (2, 0, 570, 4000, 4000), (3, 0, 1518, 1000, 1000)),
        *((4, 1, 64, 7000, 7000), (5, 1, 570, 4000, 4000), (6, 1, 1518, 1000, 1000)),
    ]


@pytest.mark.parametrize("rate_pps", [1, 2, 1000, 1201, 999_999])
def test_parts_are_together_what_is_due(rate_pps):
    found = frames.parts(
        {"duration_ns": SECOND, "rate_pps": rate_pps, "frame_sizes": IMIX, "directions": [[0, 1]]}, LINE
    )
    assert sum(part.due for part in found) == rate_pps
    # None is due after the end.
    assert all((part.due - 1) / part.rate_pps < 1 for part in found)


def test_maximum_load_is_the_lines():
    (part,) = frames.parts({"duration_ns": SECOND, "directions": [[1, 0]]}, (0, LINE[1]))
    assert part.due == 14_880_952 and part.is_full
    mix = frames.parts({"duration_ns": SECOND, "directions": [[1, 0]], "frame_sizes": IMIX}, LINE)
    on_the_wire = sum(part.due * (part.size_bytes + 20) * 8 for part in mix)
    assert on_the_wire == pytest.approx(LINE[1], rel=1e-5)
    with pytest.raises(RequestRefused, match="speed of port 0"):
        frames.parts({"duration_ns": SECOND}, (0, LINE[1]))


def test_frames():
    keys = {
        "duration_ns": SECOND,
        "rate_pps": 12_000,
        "frame_sizes": [[128, 1]],
        "stack": {"vlan": 7, "ip": 6},
        "destination_macs": ["02:aa:00:00:00:01", "02:aa:00:00:00:02"],
        "flows": 3,
    }
    part = frames.parts(keys, LINE)[0]
    packet = frames.stream(trex_double, part, keys, MACS).packet
    assert [kind for kind, _ in packet.pkt.layers] == ["Ether", "Dot1Q", "IPv6", "UDP", "payload"]
    assert len(packet.pkt) == 128 - frames.FCS_BYTES
    assert packet.pkt.layers[0][1] == {"src": MACS[0], "dst": "02:aa:00:00:00:01"}
    (_, number), _, (_, port), _ = packet.vm.asked
    assert (number["min_value"], number["max_value"]) == (1, 3)
    # Flow 0 is 1 in the address: the port counts from 0.
    assert port["pkt_offset"] == "UDP.sport" and port["add_value"] == -1 and port["mask"] == 0x3FFF
    with pytest.raises(RequestRefused, match="too small") as refused:
        frames.stream(trex_double, replace(part, size_bytes=64), keys, MACS)
    assert refused.value.body["limit"] == 14 + 4 + 40 + 8 + frames.FCS_BYTES


@pytest.mark.parametrize("ip", [4, 6])
def test_mirrored_sessions_have_the_flow_on_the_other_side_in_what_port_1_sends(ip):
    keys = {"duration_ns": SECOND, "rate_pps": 100, "frame_sizes": [[128, 1]], "stack": {"ip": ip}, "flows": 3}
    header, layers = ("IPv6", "IP")[ip == 4], []
    for part in frames.parts(keys, LINE):
        packet = frames.stream(trex_double, part, keys | {"sessions": "mirrored"}, MACS).packet
        layers.append((dict(packet.pkt.layers), packet.vm.asked))
    (there, asked), (back, answered) = layers
    assert [back[header][end] for end in ("dst", "src")] == [there[header][end] for end in ("src", "dst")]
    assert (there["UDP"], back["UDP"]) == ({"sport": 49152, "dport": 9}, {"sport": 9, "dport": 49152})
    for (number, address, port, _), (end, udp) in ((asked, ("src", "sport")), (answered, ("dst", "dport"))):
        assert number[1]["min_value"] == 1, "of port 0's address"
        assert (address[1]["pkt_offset"], port[1]["pkt_offset"]) == (f"{header}.{end}", f"UDP.{udp}")
    with pytest.raises(RequestRefused, match="sessions"):
        frames.check({"sessions": "both"})


def test_learning_frames_are_gratuitous_arp():
    keys = {"learning_frames": 2, "ipv4": ["10.0.0.5", "10.0.1.5"], "stack": {"vlan": 7}}
    stream = frames.learning(trex_double, keys, 1, MACS[1])
    layers = dict(stream.packet.pkt.layers)
    assert layers["Ether"] == {"src": MACS[1], "dst": "ff:ff:ff:ff:ff:ff"} and layers["Dot1Q"] == {"vlan": 7}
    assert layers["ARP"]["psrc"] == layers["ARP"]["pdst"] == "10.0.1.5" and len(stream.packet.pkt) == 60
    assert stream.mode.total_pkts == 2 and stream.flow_stats is None


def _counted(out, *, was_full=0, was_stopped=False, rate_pps=1000):
    planned = frames.parts({"duration_ns": SECOND, "rate_pps": rate_pps, "directions": [[0, 1]]}, LINE)
    by_id = {1: {"tx_pkts": {0: out, 1: 0}, "rx_pkts": {0: 0, 1: out}}}
    at_ports = {
        0: {"ipackets": 0, "ierrors": 0},
        1: {"ipackets": out, "ierrors": 0},
        "global": {"queue_full": was_full},
    }
    return counts.trial(planned, by_id, at_ports, SendingCounts(1_004_000_000, SECOND, was_stopped))


def test_time_is_what_was_asked_for_where_all_was_sent():
    assert _counted(1000)["duration_ns"] == SECOND
    assert _counted(990)["duration_ns"] == 1_004_000_000
    assert _counted(14_880_952, rate_pps=None)["duration_ns"] == SECOND
    assert _counted(9_000_000, rate_pps=None)["duration_ns"] == 1_004_000_000


def test_what_was_not_sent():
    (late,) = _counted(990)["directions"]
    assert (late["intended"], late["unsent"], late["late"], late["refused"]) == (1000, 10, 10, 0)
    (full,) = _counted(990, was_full=4)["directions"]
    assert (full["unsent"], full["late"], full["refused"]) == (10, 0, 10)
    (stopped,) = _counted(400, was_stopped=True)["directions"]
    assert (stopped["intended"], stopped["unsent"]) == (400, 0)


def test_a_trial_is_stopped():
    trials = Trials(trex_double, trex_double.STLClient("here", 1, 2), lambda: None)
    trials.start({"duration_ns": 60 * SECOND, "rate_pps": 1000, "learning_frames": 0, "drain_ns": 1_000_000})
    with pytest.raises(RequestRefused, match="a trial is running"):
        trials.start({"duration_ns": SECOND})
    time.sleep(0.1)
    found = trials.stop({})
    assert found["state"] == "done"
    sent = found["trial"]["directions"][0]["sent"]
    assert 0 < sent < 60_000 and found["trial"]["duration_ns"] < 60 * SECOND, "it did not go to its end"
    with pytest.raises(RequestRefused, match="nothing is running"):
        trials.stop({})


class Silent(trex_double.STLClient):
    """Stands for a client whose server has gone: it asks until it gives up."""

    def __init__(self):
        super().__init__("here", 1, 2)
        self.gives_up = threading.Event()

    def start(self, ports, mult="1", force=False):
        """Ask."""
        self.gives_up.wait(60)
        raise trex_double.TRexError("no answer")


def test_trex_has_ended_is_told_before_its_client_gives_up():
    client, status = Silent(), []
    trials = Trials(trex_double, client, lambda: status[0] if status else None)
    trials.start({"duration_ns": SECOND, "rate_pps": 1000})
    assert trials.stats({})["state"] == "running"
    status.append(-9)
    found = trials.stats({})
    assert (found["state"], found["trial"]) == ("failed", None)
    assert found["error"] == "TRex ended with status -9 in the middle of a trial"
    with pytest.raises(RequestRefused, match="a trial is running"):
        trials.start({"duration_ns": SECOND})
    client.gives_up.set()
    while (found := trials.stats({}))["error"].endswith("in the middle of a trial"):
        time.sleep(0.01)
    assert found["state"] == "failed" and found["error"] == "TRex ended with status -9: no answer"


NAMES = json.loads((Path(__file__).parent / "recorded" / "names.json").read_text())
RELEASES = NAMES["releases"]
"""Names of TRex's own, as its released source has them."""


@pytest.mark.parametrize("release", RELEASES)
def test_counters_and_options_have_trexs_names(release):
    known = RELEASES[release]
    assert {counts.TX, counts.RX} <= set(known["of a stream"])
    assert {counts.PORT_TX, counts.PORT_RX, counts.MISSED} <= set(known["of a port"])
    assert counts.QUEUE_FULL in known["of all ports"]
    started = server.argv_of(Path("trex_cfg.yaml"), workers=1, software=True)
    assert {word for word in started if word.startswith("-")} <= set(known["options"])
    # What the client does not have is a text, and no number.
    assert known["not available"] == "str N/A" and known["asserts that streams run forwards"]


@pytest.mark.parametrize("release", RELEASES)
def test_the_double_speaks_as_trex_does(release):
    known = RELEASES[release]
    client = trex_double.STLClient("here", 1, 2)
    assert {name for name in vars(trex_double.STLClient) if not name.startswith("_")} <= set(known["client"])
    planned = frames.parts({"duration_ns": SECOND, "rate_pps": 1000}, LINE)
    for part in planned:
        client.add_streams(frames.stream(trex_double, part, {"duration_ns": SECOND}, MACS), ports=[part.tx])
    client.start(ports=[0, 1])
    client.stop(ports=[0, 1], rx_delay_ms=1)
    by_id = client.get_pgid_stats([1, 2])["flow_stats"]
    assert set(by_id.pop("global")) == set(known["of streams together"])
    assert {name for one in by_id.values() for name in one} <= set(known["of a stream"])
    at_ports = client.get_stats([0, 1])
    assert set(at_ports.pop("global")) <= set(known["of all ports"])
    assert {name for port in at_ports.values() for name in port} <= set(known["of a port"])


def _both_ways(forward, back, *, came=None, software=False, size=64, went=None):
    """Count a million frames each way; `forward` and `back` came of them, `came` is what ports counted."""
    planned = [Part(1, 0, 1, size, MILLION, 1e6), Part(2, 1, 0, size, MILLION, 1e6)]
    by_id = {
        1: {"tx_pkts": {0: MILLION, 1: 0}, "rx_pkts": {0: 0, 1: forward}},
        2: {"tx_pkts": {0: 0, 1: MILLION}, "rx_pkts": {0: back, 1: 0}},
    }
    ports = (back, forward) if came is None else came
    sent = (MILLION, MILLION) if went is None else went
    at_ports = {port: {"ipackets": ports[port], "opackets": sent[port], "ierrors": 0} for port in (0, 1)}
    at_ports["global"] = {"queue_full": 0}
    return counts.trial(planned, by_id, at_ports, SendingCounts(SECOND, SECOND, False), software=software)


@pytest.mark.parametrize(
    ("forward", "back", "lost", "surplus"),
    [
        (MILLION, MILLION, (0, 0), (0, 0)),
        (2 * MILLION, 2 * MILLION, (0, 0), (MILLION, MILLION)),
        (900_000, 1_100_000, (100_000, 0), (0, 100_000)),
        (1_000_003, MILLION, (0, 0), (3, 0)),
    ],
)
def test_what_came_more_than_once_hides_no_loss(forward, back, lost, surplus):
    told = _both_ways(forward, back)
    ways = result_of(TrialMessage.model_validate(told)).directions
    assert tuple(way.lost for way in ways) == lost
    assert tuple(way.surplus for way in ways) == tuple(way.duplicated for way in ways) == surplus
    assert all(way.received == MILLION - way.lost and way.received_bytes == 64 * way.received for way in ways)


def test_of_several_sizes_each_is_a_stream_with_its_own_loss():
    planned = [Part(1, 0, 1, 64, 100, 100), Part(2, 0, 1, 1518, 100, 100)]
    by_id = {1: {"tx_pkts": {0: 100}, "rx_pkts": {1: 90}}, 2: {"tx_pkts": {0: 100}, "rx_pkts": {1: 110}}}
    at_ports = {port: {"ipackets": 200, "ierrors": 0} for port in (0, 1)} | {"global": {"queue_full": 0}}
    (way,) = counts.trial(planned, by_id, at_ports, SendingCounts(SECOND, SECOND, False))["directions"]
    assert (way["received"], way["lost"], way["surplus"]) == (190, 10, 10)


def test_background_frames_are_no_traffic():
    told = _both_ways(MILLION, MILLION, came=(MILLION + 40, MILLION - 7))
    assert told["foreign"] == [40, 0] and all(way["received"] == MILLION for way in told["directions"])
    # TRex #964: a port's counter that ran backwards.
    assert _both_ways(MILLION, MILLION, came=(-250_000_000, MILLION))["foreign"] == [0, 0]


@pytest.mark.parametrize("software", [False, True])
def test_a_nic_that_counts_no_streams_is_no_loss(software):
    with pytest.raises(UncountedFramesError) as error:
        _both_ways(0, 0, came=(MILLION, MILLION), software=software)
    assert "port 0: rx_pkts 0, ipackets 1000000" in str(error.value)
    assert ("software: true" in error.value.fix) is not software
    with pytest.raises(UncountedFramesError, match="port 1: rx_pkts 0, ipackets 1000000"):
        _both_ways(0, MILLION, came=(MILLION, MILLION), software=software)


def test_a_path_that_loses_all_is_loss_with_background_frames_too():
    told = _both_ways(0, 0, came=(counts.BACKGROUND_PPS, 0))
    assert [way["lost"] for way in told["directions"]] == [MILLION, MILLION]
    assert told["foreign"] == [counts.BACKGROUND_PPS, 0]


@pytest.mark.parametrize(
    ("by_id", "said"),
    [
        ({}, "tx_pkts and rx_pkts of pg_id 1"),
        ({1: {"tx_pkts": {0: 5}}}, "rx_pkts of pg_id 1"),
        ({1: {"tx_pkts": {0: 5}, "rx_pkts": {1: "N/A"}}}, "rx_pkts of pg_id 1"),
        ({1: {"tx_pkts": {0: 0}, "rx_pkts": {1: 0}}}, "port 0: tx_pkts 0, opackets 900"),
    ],
)
def test_what_is_not_counted_is_not_zero(by_id, said):
    at_ports = {port: {"ipackets": 0, "opackets": 900, "ierrors": 0} for port in (0, 1)} | {"global": {}}
    with pytest.raises(UncountedFramesError, match=said):
        counts.trial([Part(1, 0, 1, 64, 5, 5)], by_id, at_ports, SendingCounts(SECOND, SECOND, False))


class Backwards(trex_double.STLClient):
    """Stands for a client of whose streams' counters one ran backwards."""

    def __init__(self):
        super().__init__("here", 1, 2)

    def get_pgid_stats(self, ids):
        """Assert as TRex's client does."""
        raise AssertionError("Negative pg_id stat value: -5 (1 rx_pkts 1)")


def test_a_counter_that_runs_backwards_fails_the_trial():
    trials = Trials(trex_double, Backwards(), lambda: None)
    trials.start({"duration_ns": SECOND // 100, "rate_pps": 1000, "learning_frames": 0, "drain_ns": 1_000_000})
    while (found := trials.stats({}))["state"] == "running":
        time.sleep(0.01)
    assert found["state"] == "failed" and found["error"] == "Negative pg_id stat value: -5 (1 rx_pkts 1)"
