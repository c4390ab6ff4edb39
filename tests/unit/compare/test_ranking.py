"""The answer is only as sure as its weakest comparison."""

import dataclasses

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.compare.differences.ranking import leaders
from nfvbed.compare.verdict import Rules, Verdict
from tests.sample_records import BRIDGE, OVS, SIMULATED, Scenario, build


def found(*systems: object, **more: object):
    comparison = compare([build(Scenario(systems=systems, **more))])
    return leaders(comparison.rows, comparison.rules)


def test_the_faster_system_leads_clearly():
    answers = found(BRIDGE, OVS)
    assert [a.frame_size for a in answers] == [64, 1518]
    assert all(a.row.variant == "ovs-dpdk" and a.clear for a in answers)
    assert answers[0].runner_up is not None and answers[0].runner_up.variant == "linux-bridge"


def test_a_leader_within_the_noise_is_not_clear():
    twin = dataclasses.replace(OVS, name="ovs-dpdk-twin")
    answers = found(BRIDGE, OVS, twin, rounds=12)
    assert not any(a.clear for a in answers)
    assert all(a.judgement is not None and a.judgement.verdict is Verdict.SAME for a in answers)


def test_a_survey_names_those_whose_ranges_overlap_the_first():
    near = dataclasses.replace(OVS, name="near-it", noise=0.1)
    comparison = compare(
        [
            build(
                Scenario(
                    systems=(BRIDGE, dataclasses.replace(near, name="ovs-dpdk"), near),
                    rounds=5,
                    far_rounds=(),
                    changing=(),
                )
            )
        ],
        ComparisonOptions(rules=Rules(purpose="survey")),
    )
    for point in leaders(comparison.rows, comparison.rules):
        assert point.surveyed and not point.clear
        assert {row.variant for row in (point.row, *point.close)} == {"ovs-dpdk", "near-it"}
        assert [row.variant for row in point.order][-1] == "linux-bridge"


def test_alone_there_is_no_leader():
    answers = found(OVS)
    assert answers[0].runner_up is None and not answers[0].clear


def test_a_simulation_does_not_lead_a_measurement():
    fast = dataclasses.replace(SIMULATED, capacity={64: (99e6, 50e6), 1518: (99e6, 50e6)})
    assert not any(a.clear for a in found(OVS, fast))
