"""Rounds are the samples of rows and verdicts: over all states, in a class, at a common load, in surveys."""

import dataclasses

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.verdict import Rules, Verdict
from nfvbed.records import Preset, RenewedPart
from tests.sample_records import BRIDGE, OVS, Scenario, build


def row(comparison: Comparison, cell: str) -> CellSummary:
    return next(r for r in comparison.rows if r.cell == cell)


def test_every_trial_counts_and_rounds_are_the_samples():
    found = compare([build()])
    choice = found.placement[0].choice
    assert (choice.name, choice.mixed) == ("all", 1)
    ovs = row(found, "ovs-dpdk/p2p/64")
    assert ovs.placement_class == "all"
    assert ovs.mrr is not None
    assert (ovs.mrr.rounds, ovs.mrr.trials, len(ovs.mrr.samples_pps)) == (9, 9, 9)
    assert ovs.census.by_class == {"far": 2, "near": 6}
    assert ovs.census.mixed == 1
    assert [(entry.name, entry.trials) for entry in ovs.mrr.by_class] == [("near", 6), ("far", 2)]
    assert ovs.mrr.by_class[1].median_pps == pytest.approx(7.0e6, rel=0.02)


def test_rounds_are_matched_by_class_where_both_sides_have_one():
    found = compare([build()], ComparisonOptions(baseline="linux-bridge"))
    difference = found.difference(row(found, "ovs-dpdk/p2p/64"))
    assert difference is not None
    assert [pair.placement for pair in difference.pairs] == [
        "near",
        "near",
        "far",
        "near",
        "near",
        "far",
        "near",
        "",
        "near",
    ]
    judged = difference.judgement
    assert (judged.pairs, judged.look, judged.matched, judged.unpaired) == (9, 8, 7, False)
    assert {entry.name: entry.pairs for entry in judged.by_class} == {"near": 5, "far": 2}
    assert judged.interval is not None and judged.interval.level == pytest.approx(1 - 2 * 3 / 256)


def test_a_class_that_is_asked_for_restricts_rows_and_pairs():
    found = compare([build()], ComparisonOptions(baseline="linux-bridge", placement_class="near"))
    ovs = row(found, "ovs-dpdk/p2p/64")
    assert ovs.mrr is not None and ovs.placement_class == "near"
    assert ovs.mrr.trials == 6
    assert min(ovs.mrr.samples_pps) > 11e6, "a trial of the far class got in"
    difference = found.difference(ovs)
    assert difference is not None and {pair.placement for pair in difference.pairs} == {"near"}
    assert found.placement[0].choice.others == {"far": 8}


def test_visits_of_several_short_trials_make_one_sample_a_round():
    data = build(Scenario(one_state=True, far_rounds=(), changing=()))
    short = [t for t in data.trials if t.preset is Preset.MRR]
    more = [t.model_copy(update={"sequence": 10_000 + t.sequence, "renewed": RenewedPart.DEPLOYMENT}) for t in short]
    found = compare([dataclasses.replace(data, trials=(*data.trials, *more))])
    ovs = row(found, "ovs-dpdk/p2p/64")
    assert ovs.mrr is not None
    assert (ovs.mrr.rounds, ovs.mrr.trials, ovs.mrr.visits[0].trials) == (9, 18, 2)
    assert found.hosts[0].renewed == (RenewedPart.DEPLOYMENT,)


def test_latency_and_missing_frames_are_compared_at_the_common_load():
    data = build(Scenario(systems=(BRIDGE, OVS), one_state=True, far_rounds=(), changing=()))
    paced = [t for t in data.trials if t.preset is Preset.PACED]
    loads = {0: 5_000_000}
    more = [
        t.model_copy(
            update={
                "sequence": 10_000 + t.sequence,
                "preset": Preset.COMMON,
                "intended_load_pps": loads.get(t.round, 500_000 + 1_000 * t.round),
            }
        )
        for t in paced
    ]
    found = compare([dataclasses.replace(data, trials=(*data.trials, *more))])
    for cell in ("ovs-dpdk/p2p/64", "linux-bridge/p2p/64"):
        measured = row(found, cell)
        assert measured.common is not None and measured.paced is not None
        assert measured.common.trials == 8, "the first round's load was another"
        assert measured.common.load_pps == pytest.approx(504_500)
        assert measured.given_load == measured.common
    alone = row(compare([build(Scenario(systems=(OVS,)))]), "ovs-dpdk/p2p/64")
    assert alone.common is None and alone.given_load == alone.paced


def test_a_survey_shows_ranges_and_makes_no_verdicts():
    rules = Rules(purpose="survey", needed=3)
    found = compare([build(Scenario(rounds=4, far_rounds=(), changing=()))], ComparisonOptions(rules=rules))
    assert found.purpose == "survey"
    assert {entry.judgement.verdict for entry in found.differences} == {Verdict.UNDECIDED}
    ovs = row(found, "ovs-dpdk/p2p/64")
    assert ovs.mrr is not None and ovs.mrr.interval is not None and ovs.mrr.interval.is_range
    assert ovs.warnings == ()
    assert not any("undecided" in note for note in found.notes)


def test_many_comparisons_at_a_point_are_looked_at_once_and_corrected():
    others = [dataclasses.replace(OVS, name=f"other-{number}", capacity={64: (9e6, 6e6)}) for number in range(5)]
    scenario = Scenario(systems=(OVS, *others), rounds=12, one_state=True, far_rounds=(), changing=())
    found = compare([build(scenario)])
    judged = [entry.judgement for entry in found.differences]
    assert [entry.look for entry in judged] == [12] * 5
    assert all(entry.adjusted_p is not None and entry.verdict is Verdict.LOWER for entry in judged)
    few = compare([build(dataclasses.replace(scenario, systems=(OVS, *others[:3])))])
    assert [(e.judgement.look, e.judgement.adjusted_p) for e in few.differences] == [(8, None)] * 3
