"""Published claims on own rounds: what is shown, what is refuted, and what so few rounds cannot say."""

import pytest

from nfvbed.compare.claims import ClaimVerdict, RuleJudgement, judge_rule, most_bad_runs, together
from nfvbed.spec.published import ClaimRule

SIDES = {"of": {"variant": "ovs-dpdk"}, "against": {"variant": "linux-bridge"}}
STEPS = (0.0, 0.4, -0.3, 0.2, -0.1, 0.3, -0.2, 0.1, -0.4, 0.0)


def rule(kind: str = "ratio", **given: float) -> ClaimRule:
    return ClaimRule.model_validate({"rule": kind, **SIDES, **given})


def rounds(level: float, spread: float = 0.01, count: int = 10) -> dict[int, float]:
    return {number: level * (1 + spread * STEPS[number]) for number in range(count)}


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [
        ({"low": 1}, ClaimVerdict.HOLDS),
        ({"high": 1}, ClaimVerdict.DOES_NOT),
        ({"low": 1.9, "high": 2.1}, ClaimVerdict.HOLDS),
        ({"low": 2.0}, ClaimVerdict.UNDECIDED),
        ({"low": 0.4, "high": 0.6}, ClaimVerdict.DOES_NOT),
    ],
)
def test_a_ratio_is_judged_by_its_whole_interval(bounds: dict[str, float], verdict: ClaimVerdict):
    seen = judge_rule(rule(**bounds), rounds(20.0), rounds(10.0, spread=0.02))
    assert seen.verdict is verdict, seen.told
    assert seen.rounds == 10 and seen.interval and seen.interval.low < 2.0 < seen.interval.high


def test_what_the_host_does_to_both_sides_of_a_round_cancels():
    drift = {number: 1 + number for number in range(8)}
    own = {number: 1.1 * value for number, value in drift.items()}
    own[3] *= 1.01
    assert judge_rule(rule(low=1.05), own, drift).verdict is ClaimVerdict.HOLDS


def test_few_rounds_decide_nothing_and_say_so():
    seen = judge_rule(rule(low=1), rounds(20, count=5), rounds(10))
    assert seen.verdict is ClaimVerdict.UNDECIDED
    assert "5 rounds have both; fewer than 6 decide nothing at 5 %" in seen.told


def test_steadiness_is_of_spreads_as_parts_of_the_rate():
    calm, wild = rounds(10, spread=0.001), rounds(100, spread=0.5)
    wild = {number: wild[(3 * number) % 10] for number in wild}
    assert judge_rule(rule("steadier"), calm, wild).verdict is ClaimVerdict.HOLDS
    assert judge_rule(rule("steadier"), wild, calm).verdict is ClaimVerdict.DOES_NOT


def test_none_bad_of_twenty_is_no_proof_alone():
    good, few, many = ({n: 10.0 if n >= bad else 5.0 for n in range(20)} for bad in (0, 3, 7))
    seen = judge_rule(rule("fewer-bad-runs"), good, few)
    assert seen.verdict is ClaimVerdict.UNDECIDED and "none in 20 means at most 14 %" in seen.told
    assert judge_rule(rule("fewer-bad-runs"), good, many).verdict is ClaimVerdict.HOLDS
    assert judge_rule(rule("fewer-bad-runs"), many, good).verdict is ClaimVerdict.DOES_NOT
    assert most_bad_runs(20) == pytest.approx(0.1391, abs=1e-4)


def test_a_claim_holds_where_all_its_rules_do():
    def one(verdict: ClaimVerdict) -> RuleJudgement:
        return RuleJudgement(verdict=verdict, told="")

    holds, no, open_, cannot = (
        one(v) for v in (ClaimVerdict.HOLDS, ClaimVerdict.DOES_NOT, ClaimVerdict.UNDECIDED, ClaimVerdict.CANNOT)
    )
    assert together([holds, holds]) is ClaimVerdict.HOLDS
    assert together([holds, open_]) is ClaimVerdict.UNDECIDED
    assert together([holds, cannot, open_]) is ClaimVerdict.CANNOT
    assert together([no, cannot, holds]) is ClaimVerdict.DOES_NOT


def test_one_rule_of_several_refutes_at_its_share_of_the_level():
    # Six rounds: p is 0.031, below 5 % and above half of it.
    own, other = rounds(9, count=6), rounds(10, spread=0.02, count=6)
    assert judge_rule(rule(low=1), own, other).verdict is ClaimVerdict.DOES_NOT
    assert judge_rule(rule(low=1), own, other, parts=2).verdict is ClaimVerdict.UNDECIDED
