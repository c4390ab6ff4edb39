"""Lost frames by place: what the generator did not send, and what the switch's ports count as dropped."""

from typing import Any

import pytest

from nfvbed.compare.lostframes import ELSEWHERE, IN_VNF, NOBODY, RECEIVER, SURPLUS, SWITCH, VNF, lost_frames
from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.records import DirectionCounts, TrialRecord
from tests.sample_records import OVS, Scenario, build

SENT = 1_000_000


def trial(lost: int, raw: dict[str, Any] | None) -> TrialRecord:
    counts = DirectionCounts(intended=SENT + 30, sent=SENT, received=SENT - lost, lost=lost, unsent=30, late=10)
    counters: dict[str, Any] = {} if raw is None else {"packets": SENT, "source": "ports", "raw": raw}
    base = build(Scenario(systems=(OVS,))).trials[0]
    return base.model_copy(update={"directions": (counts,), "switch_counters": counters})


def places(*trials: TrialRecord) -> dict[str, int]:
    return {found.place: found.frames for found in lost_frames(trials, CATALOGUE.drop_counters)}


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


@pytest.mark.parametrize(
    ("counters", "says"),
    [
        ({"ovs_tx_mtu_exceeded_drops": 30}, "longer than the MTU"),
        ({"ovs_tx_qos_drops": 30}, "policy"),
        ({"ovs_tx_failure_drops": 30}, "was full"),
        ({}, "does not say why"),
    ],
)
def test_why_is_said_in_the_words_of_the_counter_that_rose(counters: dict[str, int], says: str):
    port = {"rx_packets": 0, "rx_dropped": 0, "tx_dropped": 30} | counters
    (found,) = [
        place
        for place in lost_frames([trial(30, {"ports": {"p1": port}})], CATALOGUE.drop_counters)
        if place.place.endswith(" p1")
    ]
    assert says in found.meaning
    assert ("was full" in found.meaning) == ("ovs_tx_failure_drops" in counters)


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


def test_counters_of_more_frames_than_were_lost_leave_none_elsewhere_and_it_is_said():
    found = places(trial(2, {"ports": {"p1": {"tx_dropped": 6}}}), trial(3, {"ports": {"p1": {"tx_dropped": 1}}}))
    assert (found[f"{RECEIVER} p1"], found[ELSEWHERE], found[SURPLUS]) == (7, 2, 4)
    assert found["lost after sending"] == 7 + 2 - 4


def test_what_a_port_of_the_kernel_refused_was_never_sent_and_is_not_lost():
    """As a bridge in the lab had it: veth counts what it did not take from the generator as dropped."""
    ways = (
        DirectionCounts(intended=900, sent=500, received=490, lost=10, unsent=400, late=100, refused=300),
        DirectionCounts(intended=900, sent=600, received=600, lost=0, unsent=300, late=100, refused=200),
    )
    ports = {"s0": {"rx_dropped": 303, "tx_dropped": 0}, "s1": {"rx_dropped": 200, "tx_dropped": 7}}
    found = places(trial(0, ports).model_copy(update={"directions": ways}))
    assert (found[f"{SWITCH} s0"], found[f"{RECEIVER} s1"], found[ELSEWHERE]) == (3, 7, 0)
    assert f"{SWITCH} s1" not in found
    assert found["not sent: refused"] == 500


def test_what_a_vnf_did_not_give_back_was_lost_in_it():
    """As Open vSwitch with a VNF in the lab had it."""
    ports = {
        "p0": {"rx_packets": 216_579, "tx_packets": 199_139, "tx_dropped": 3_744},
        "v1a": {"rx_packets": 202_883, "tx_packets": 203_363, "tx_dropped": 13_216},
        "v1b": {"rx_packets": 203_203, "tx_packets": 202_979, "tx_dropped": 13_344},
        "p1": {"rx_packets": 216_323, "tx_packets": 199_171, "tx_dropped": 4_032},
    }
    found = places(trial(34_592, {"ports": ports}))
    assert found[f"{IN_VNF} vnf1"] == 256
    assert found[ELSEWHERE] == 0
    assert sum(frames for place, frames in found.items() if place.startswith("lost: ")) == 34_592


def test_a_vnf_that_is_the_end_of_the_path_loses_nothing():
    """What ends at a VNF is not given back; only what is lost can have been lost there."""
    one_port = trial(5, {"ports": {"p0": {"rx_packets": 90}, "v1a": {"tx_packets": 90, "rx_packets": 0}}})
    answers = {"v1a": {"tx_packets": 90, "rx_packets": 10}, "v1b": {"tx_packets": 0, "rx_packets": 60}}
    assert places(one_port)[ELSEWHERE] == 5
    assert not [place for place in places(trial(0, {"ports": answers})) if place.startswith("lost:")]


def test_nothing_is_said_of_places_where_nothing_was_lost():
    found = places(trial(0, {"ports": {"p0": {"rx_dropped": 0}, "p1": {"tx_dropped": 0}}}))
    assert not [place for place in found if place.startswith("lost:")]


def test_frames_that_one_vnf_kept_are_not_given_to_the_next_one_too():
    keeps = {"tx_packets": SENT, "rx_packets": SENT - 5}
    ports = {f"v{vnf}{side}": dict(keeps) for vnf in (1, 2) for side in "ab"}
    found = places(trial(12, {"ports": ports}))
    assert (found[f"{IN_VNF} vnf1"], found[f"{IN_VNF} vnf2"], found[ELSEWHERE]) == (10, 2, 0)
