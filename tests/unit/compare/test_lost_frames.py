"""Lost frames by place: what the generator did not send, and what the switch's ports count as dropped."""

from typing import Any

from nfvbed.compare.lostframes import ELSEWHERE, NOBODY, RECEIVER, SWITCH, VNF, lost_frames
from nfvbed.records import DirectionCounts, TrialRecord
from tests.sample_records import OVS, Scenario, build

SENT = 1_000


def trial(lost: int, raw: dict[str, Any] | None) -> TrialRecord:
    counts = DirectionCounts(intended=SENT + 30, sent=SENT, received=SENT - lost, lost=lost, unsent=30, late=10)
    counters: dict[str, Any] = {} if raw is None else {"packets": SENT, "source": "ports", "raw": raw}
    base = build(Scenario(systems=(OVS,))).trials[0]
    return base.model_copy(update={"directions": (counts,), "switch_counters": counters})


def places(*trials: TrialRecord) -> dict[str, int]:
    return {found.place: found.frames for found in lost_frames(trials)}


def test_what_the_switch_dropped_is_divided_by_port():
    ports = {
        "p0": {"rx_packets": SENT, "rx_dropped": 5, "tx_dropped": 0},
        "v1a": {"rx_packets": SENT, "rx_dropped": 0, "tx_dropped": 40, "ovs_tx_failure_drops": 40},
        "p1": {"rx_packets": 0, "rx_dropped": 0, "tx_dropped": 30},
    }
    found = places(trial(100, {"pmd": [], "ports": ports}))
    assert found["not sent: late"] == 10 and found["not sent: refused"] == 20
    assert found["lost after sending"] == 100
    assert found[f"{SWITCH} p0"] == 5
    assert found[f"{VNF} v1a"] == 40, "the reasons of a counter are not counted a second time"
    assert found[f"{RECEIVER} p1"] == 30
    assert found[ELSEWHERE] == 25
    assert NOBODY not in found


def test_ports_are_found_as_a_bridge_testpmd_and_two_hosts_keep_them():
    bridge = trial(9, {"s1": {"rx_dropped": 0, "tx_dropped": 9}, "napi_run_time_ns": 3})
    bare = trial(4, {"port 0": {"imissed": 4, "oerrors": 0}})
    overlay = trial(3, {"host0": {"ports": {"p0": {"rx_errors": 3}}, "tunnel": {}}})
    assert places(bridge)[f"{RECEIVER} s1"] == 9
    assert places(bare)[f"{SWITCH} port 0"] == 4
    assert places(overlay)[f"{SWITCH} p0"] == 3
    assert places(bridge, bare, overlay)[ELSEWHERE] == 0


def test_trials_without_counters_are_told_apart():
    found = places(trial(7, None), trial(2, {"ports": {"p1": {"tx_dropped": 2}}}))
    assert found[NOBODY] == 7
    assert found[ELSEWHERE] == 0


def test_counters_of_more_frames_than_were_lost_leave_none_elsewhere():
    found = places(trial(2, {"ports": {"p1": {"tx_dropped": 6}}}))
    assert (found[f"{RECEIVER} p1"], found[ELSEWHERE]) == (6, 0)


def test_nothing_is_said_of_places_where_nothing_was_lost():
    found = places(trial(0, {"ports": {"p0": {"rx_dropped": 0}, "p1": {"tx_dropped": 0}}}))
    assert not [place for place in found if place.startswith("lost:")]
