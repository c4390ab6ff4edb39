"""The answer claims only what was judged."""

import dataclasses

from sample_records import BRIDGE, CEILINGS, OVS, SIMULATED, Scenario, build

from nfvbed.compare.comparison import Options, compare
from nfvbed.records import Status
from nfvbed.report.answer import Answer, answer


def said(*systems: object, **more: object) -> Answer:
    return answer(compare([build(Scenario(systems=systems, **more))], Options(baseline=systems[0].name)))


def test_a_clear_leader_is_named_with_its_lead():
    found = said(BRIDGE, OVS)
    assert found.headline.startswith("ovs-dpdk forwards most, at every traffic point measured: ")
    assert found.headline.endswith("the rate of linux-bridge.")
    assert "whole systems compared; 95% interval" in found.sentences[0]


def test_a_limited_leader_is_at_least():
    found = said(BRIDGE, OVS, *CEILINGS, far_rounds=tuple(range(1, 9)), changing=())
    assert "at least" in found.headline
    assert "forwards at least 7.0" in found.sentences[0]


def test_twins_have_no_winner():
    found = said(OVS, dataclasses.replace(OVS, name="twin"))
    assert found.headline == "No data plane is clearly ahead."
    assert all("the same as" in text for text in found.sentences)


def test_leaders_that_change_with_the_size_are_no_single_winner():
    other = dataclasses.replace(OVS, name="other", capacity={64: (9e6, 6e6), 1518: (5.7e6, 3.1e6)})
    found = said(other, OVS)
    assert found.headline.startswith("No single winner: ovs-dpdk at 64 B clearly ahead; 1 of 2 ")


def test_one_data_plane_is_no_comparison():
    assert said(OVS).headline == "No comparison: one data plane."
    assert said(OVS, SIMULATED).headline == "No comparison: no two data planes that can be compared."


def test_nothing_measured_is_said():
    stopped = tuple((f"ovs-dpdk/p2p/{size}", Status.FAILED, "died") for size in (64, 1518))
    assert said(OVS, blocked=stopped).headline == "Nothing was measured."
