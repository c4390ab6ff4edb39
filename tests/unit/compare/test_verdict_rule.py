"""The same trials have the same verdicts, or the rule by which they are made has another number."""

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.compare.rows.placement import PLACEMENT_RULE
from nfvbed.compare.verdict import VERDICT_RULE
from nfvbed.store import content_hash
from tests.sample_records import BRIDGE, CEILINGS, OVS, PVP, Scenario, build

KNOWN = {(1, 2): "91ffd41e8b145ee70d59a54366e592748b1d0c1c8388b8f9a3c3e2e77777f390"}
"""By the rules of verdicts and of placement: the hash of what they say of the sample's trials."""


def test_what_the_sample_trials_become_is_that_of_the_rules_number():
    data = build(Scenario(systems=(BRIDGE, OVS, *CEILINGS, *PVP), rounds=12))
    found = compare([data], ComparisonOptions(baseline="linux-bridge")).differences
    said = [(entry.cell, entry.judgement.verdict.value, entry.judgement.bound.value) for entry in found]
    rules = (VERDICT_RULE, PLACEMENT_RULE)
    assert KNOWN.get(rules) == content_hash(said), "raise VERDICT_RULE where the same trials get another verdict"
    assert len({verdict for _, verdict, _ in said}) > 1
