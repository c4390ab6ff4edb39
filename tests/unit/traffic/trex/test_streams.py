"""What TRex is asked to send, and what is made of its counts."""

import threading
import time
from dataclasses import replace

import pytest

from nfvbed.traffic.trex import counts, frames
from nfvbed.traffic.trex.counts import Sent
from nfvbed.traffic.trex.serving import Refused
from nfvbed.traffic.trex.trials import Trials
from tests.unit.traffic.trex import trex_double

SECOND = 1_000_000_000
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
    with pytest.raises(Refused, match="speed of port 0"):
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
    with pytest.raises(Refused, match="too small") as refused:
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
    with pytest.raises(Refused, match="sessions"):
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
    return counts.trial(planned, by_id, at_ports, Sent(1_004_000_000, SECOND, was_stopped))


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
    with pytest.raises(Refused, match="a trial is running"):
        trials.start({"duration_ns": SECOND})
    time.sleep(0.1)
    found = trials.stop({})
    assert found["state"] == "done"
    sent = found["trial"]["directions"][0]["sent"]
    assert 0 < sent < 60_000 and found["trial"]["duration_ns"] < 60 * SECOND, "it did not go to its end"
    with pytest.raises(Refused, match="nothing is running"):
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
    with pytest.raises(Refused, match="a trial is running"):
        trials.start({"duration_ns": SECOND})
    client.gives_up.set()
    while (found := trials.stats({}))["error"].endswith("in the middle of a trial"):
        time.sleep(0.01)
    assert found["state"] == "failed" and found["error"] == "TRex ended with status -9: no answer"
