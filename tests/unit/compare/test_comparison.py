"""From records to rows and verdicts: every trial counts, limits and scopes hold, what is missing says why."""

import dataclasses

import pytest

from nfvbed.compare.advice.advice import ADVICE
from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare, require_comparable
from nfvbed.compare.differences.scope import Scope
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.verdict import Bound, Rules, Verdict
from nfvbed.errors import NotComparableError, UnknownNameError, UsageError
from nfvbed.records import NOT_SEPARABLE, CellRole, QualityWarning, Readiness, Status, Support
from nfvbed.records.results import ResultRecord
from tests.sample_records import BRIDGE, CEILINGS, HOST, OVS, RUN, SIMULATED, Scenario, build

SECOND_RUN = "01940000-0000-7000-8000-000000000002"


def row(comparison: Comparison, cell: str, run: str | None = None) -> CellSummary:
    return next(r for r in comparison.rows if r.cell == cell and run in (None, r.run))


def verdict(comparison: Comparison, cell: str) -> Verdict:
    found = comparison.difference(row(comparison, cell))
    assert found is not None
    return found.judgement.verdict


def test_tests_beside_the_maximum_load_choose_the_class_where_they_have_results():
    data = build()
    results = []
    for cell in data.cells:
        far = [
            t
            for t in data.trials
            if t.cell == cell.id and t.core_distance_ns is not None and t.core_distance_ns.before > 100
        ]
        searched = {"run": data.run.id, "cell": cell.id, "round": 1, "test": "search", "kind": "search"}
        spans = {"first_sequence": far[0].sequence, "last_sequence": far[0].sequence} if far else {}
        results.append(ResultRecord(**searched, **spans, placement_class="far", started_at="", ended_at=""))
    found = compare([dataclasses.replace(data, results=tuple(results))])
    assert found.placement[0].choice.name == "far"


def test_a_row_says_to_what_its_cycles_are_known():
    data = build()
    exact = row(compare([data]), "ovs-dpdk/p2p/64")
    rounded = [
        trial.model_copy(
            update={"cost": trial.cost.model_copy(update={"rounding_cycles": trial.cost.busy_cycles // 50})}
        )
        if trial.cost is not None and trial.cost.busy_cycles != NOT_SEPARABLE
        else trial
        for trial in data.trials
    ]
    found = row(compare([dataclasses.replace(data, trials=tuple(rounded))]), "ovs-dpdk/p2p/64")
    assert found.cycles_per_packet == exact.cycles_per_packet
    assert not [note for note in exact.notes if "cycles" in note]
    assert [note for note in found.notes if "± 2.0%" in note]


def test_a_row_holds_rates_loss_latency_and_cost():
    ovs = row(compare([build()], ComparisonOptions(placement_class="near")), "ovs-dpdk/p2p/64")
    assert ovs.mrr is not None and ovs.paced is not None and ovs.paced.latency is not None
    assert ovs.mrr.median_pps == pytest.approx(11.8e6, rel=0.02)
    assert ovs.mrr.layer2_bits_per_s == pytest.approx(ovs.mrr.median_pps * 512)
    assert ovs.mrr.layer1_bits_per_s == pytest.approx(ovs.mrr.median_pps * 672)
    assert ovs.paced.missing_ratio == 0
    assert ovs.paced.load_fraction is not None
    assert ovs.paced.load_fraction[0] == pytest.approx(0.5, abs=0.02)
    assert ovs.paced.latency.p50_ns == pytest.approx(9_000, rel=0.1)
    assert ovs.paced.latency.p50_ns < ovs.paced.latency.p99_ns <= ovs.paced.latency.max_ns
    assert ovs.paced.latency.frames == sum(d.frames for d in ovs.paced.latency_directions if d)
    assert ovs.cycles_per_packet == pytest.approx(222, rel=0.03)
    assert ovs.cpu.switch == 1.0
    assert ovs.cpu.vnf is None


def test_what_cannot_be_separated_is_never_a_number():
    bridge = row(compare([build()]), "linux-bridge/p2p/64")
    assert bridge.cycles_per_packet == NOT_SEPARABLE
    assert bridge.cpu.switch == pytest.approx(0.96)


def test_different_port_kinds_are_whole_systems_and_the_differences_are_listed():
    found = compare([build()], ComparisonOptions(baseline="linux-bridge"))
    difference = found.difference(row(found, "ovs-dpdk/p2p/64"))
    assert difference is not None
    assert difference.scope.scope is Scope.SYSTEM
    assert "port_kind: veth -> vhost-user" in difference.scope.differences
    assert "generator.engine: nfvgen-xdp -> nfvgen-dpdk" in difference.scope.differences
    assert difference.judgement.verdict is Verdict.HIGHER
    assert difference.judgement.ratio == pytest.approx(10.9, rel=0.03)


def test_the_baseline_has_no_difference_and_the_other_way_round_is_lower():
    found = compare([build()], ComparisonOptions(baseline="ovs-dpdk"))
    assert found.difference(row(found, "ovs-dpdk/p2p/64")) is None
    assert verdict(found, "linux-bridge/p2p/64") is Verdict.LOWER


def test_a_result_at_the_reference_is_port_limited_in_that_class_only():
    data = build(Scenario(far_rounds=(3, 4, 5, 6, 7, 8), changing=()))
    far = row(compare([data], ComparisonOptions(placement_class="far")), "ovs-dpdk/p2p/64")
    assert far.placement_class == "far"
    assert [limit.kind for limit in far.limits] == [QualityWarning.PORT_LIMITED]
    assert far.switching_overhead is not None and far.switching_overhead.ratio == pytest.approx(0.99, abs=0.03)
    near = row(compare([data], ComparisonOptions(placement_class="near")), "ovs-dpdk/p2p/64")
    assert near.limits == ()
    assert near.switching_overhead is not None and near.switching_overhead.ratio == pytest.approx(0.715, abs=0.03)


def test_ports_explain_a_system_and_do_not_bound_it():
    data = build(Scenario(far_rounds=tuple(range(9)), changing=()))
    above = compare([data], ComparisonOptions(baseline="linux-bridge"))
    ovs = row(above, "ovs-dpdk/p2p/64")
    assert [limit.kind for limit in ovs.limits] == [QualityWarning.PORT_LIMITED]
    difference = above.difference(ovs)
    assert difference is not None and difference.scope.scope is Scope.SYSTEM
    assert (difference.judgement.verdict, difference.judgement.bound) == (Verdict.HIGHER, Bound.EXACT)
    twin = dataclasses.replace(OVS, name="twin", capacity={64: (5e6, 3e6)})
    same = compare([build(Scenario(systems=(twin, OVS, *CEILINGS), far_rounds=tuple(range(9)), changing=()))])
    difference = same.difference(row(same, "ovs-dpdk/p2p/64"))
    assert difference is not None and difference.judgement.bound is Bound.AT_LEAST, "the same ports on both sides"


def test_a_result_at_the_loopback_is_generator_limited_and_at_least():
    fast = dataclasses.replace(OVS, capacity={64: (15.5e6, 8.0e6)}, noise=0.002)
    ceilings = tuple(dataclasses.replace(ceiling, noise=0.002) for ceiling in CEILINGS)
    found = compare([build(Scenario(systems=(BRIDGE, fast, *ceilings), far_rounds=(), changing=()))])
    difference = found.difference(row(found, "ovs-dpdk/p2p/64"))
    assert difference is not None
    assert (difference.judgement.verdict, difference.judgement.bound) == (Verdict.HIGHER, Bound.AT_LEAST)
    limits = row(found, "ovs-dpdk/p2p/64").limits
    assert limits[0].kind is QualityWarning.GENERATOR_LIMITED
    assert limits[0].ceiling_pps == pytest.approx(15.9e6, rel=0.02)


def test_a_ceiling_without_a_core_distance_counts_in_every_class():
    found = compare([build()], ComparisonOptions(placement_class="near"))
    assert {c.mrr.trials for c in found.ceilings if c.mrr and c.role is CellRole.LOOPBACK} == {9}
    assert {c.mrr.trials for c in found.ceilings if c.mrr and c.role is CellRole.REFERENCE} == {7}


def test_two_runs_of_one_variant_are_judged_the_same_without_pairs():
    one = build(Scenario(systems=(OVS,), seed=3))
    two = build(Scenario(run=SECOND_RUN, systems=(OVS,), seed=4))
    found = compare([one, two])
    assert [entry.judgement.verdict for entry in found.differences] == [Verdict.SAME, Verdict.SAME]
    assert {entry.scope.reason for entry in found.differences} == {"A/A: nothing differs"}
    assert all(entry.judgement.unpaired and not entry.pairs for entry in found.differences)
    assert any("judged unpaired" in note for note in found.notes)


def test_a_changed_configuration_is_a_trend():
    two = build(Scenario(run=SECOND_RUN, systems=(dataclasses.replace(OVS, config="2"),), seed=4))
    found = compare([build(Scenario(systems=(OVS,))), two])
    assert all(entry.scope.trend and entry.scope.scope is Scope.CONTROLLED for entry in found.differences)


def test_equal_rigs_are_controlled():
    other = dataclasses.replace(OVS, name="ovs-dpdk-smc")
    found = compare([build(Scenario(systems=(OVS, other)))])
    assert {entry.scope.reason for entry in found.differences} == {"only the variant differs"}


def test_each_run_is_judged_against_its_own_baseline():
    found = compare([build(), build(Scenario(run=SECOND_RUN, seed=2))], ComparisonOptions(baseline="linux-bridge"))
    against = {(d.run, d.variant): d.baseline_run for d in found.differences}
    assert against[SECOND_RUN, "ovs-dpdk"] == SECOND_RUN
    assert against[SECOND_RUN, "linux-bridge"] == found.runs[0]


def not_comparable_with(other: RunData) -> str:
    found = compare([build(Scenario(systems=(OVS,))), other], ComparisonOptions(baseline="ovs-dpdk"))
    with pytest.raises(NotComparableError) as caught:
        require_comparable(found)
    return str(caught.value)


def test_another_host_is_not_comparable():
    other = build(Scenario(run=SECOND_RUN, host="b" * 64, systems=(BRIDGE,)))
    assert "different hosts" in not_comparable_with(other)


def test_simulated_and_measured_runs_are_not_compared():
    runs = [build(), build(Scenario(run=SECOND_RUN, systems=(SIMULATED,)))]
    for order in (runs, runs[::-1]):
        with pytest.raises(NotComparableError, match=f"simulated: {SECOND_RUN}; measured: {RUN}"):
            compare(order)


def with_sessions(data: RunData, form: str) -> RunData:
    return dataclasses.replace(data, rigs={cell.rig_hash: {"sessions": form} for cell in data.cells})


def test_connections_that_were_answered_are_not_compared_with_such_that_were_not():
    """A rig that names no form is from before there was a choice: neither direction answered the other."""
    other = build(Scenario(run=SECOND_RUN, systems=(OVS,), seed=4))
    assert "different sessions: mirrored and unreplied" in not_comparable_with(with_sessions(other, "mirrored"))
    both = [with_sessions(build(Scenario(systems=(OVS,))), "mirrored"), with_sessions(other, "mirrored")]
    assert {entry.scope.reason for entry in compare(both).differences} == {"A/A: nothing differs"}


def test_a_run_beside_a_noisy_neighbour_is_not_compared_with_a_quiet_one():
    beside = {"program": "stress-ng 0.15.06", "cores": [2], "workers": {"cpu": 1}, "memory_percent": None}
    other = build(Scenario(run=SECOND_RUN, systems=(OVS,), seed=4))
    noisy = dataclasses.replace(other, rigs={cell.rig_hash: {"neighbour": beside} for cell in other.cells})
    told = not_comparable_with(noisy)
    assert "beside different noisy neighbours: stress-ng 0.15.06: 1 cpu workers on cores 2 and none" in told
    note = "beside a noisy neighbour: stress-ng 0.15.06: 1 cpu workers on cores 2"
    assert all(note in row.notes for row in compare([noisy]).rows)


def test_rows_say_which_connections_they_had_where_it_matters():
    data = build(Scenario(systems=(OVS,)))
    tracking = dataclasses.replace(data, tracking=frozenset(cell.config_hash for cell in data.cells))

    def notes(of: RunData) -> set[str]:
        return {note.split(";")[0] for found in compare([of]).rows for note in found.notes if "sessions" in note}

    assert notes(data) == set()
    assert notes(tracking) == {"sessions: unreplied"}
    assert notes(with_sessions(tracking, "mirrored")) == {"sessions: mirrored"}


def test_rates_of_an_emulated_guest_are_not_comparable():
    other = build(Scenario(run=SECOND_RUN, systems=(BRIDGE,)))
    marked = tuple(t.model_copy(update={"warnings": (QualityWarning.EMULATED_ACCELERATOR,)}) for t in other.trials)
    refused = not_comparable_with(dataclasses.replace(other, trials=marked))
    assert "emulated" in refused
    assert "KVM" in refused, "what to do next"


def test_a_class_that_lacks_trials_is_a_hole_and_not_a_mixture():
    data = build(Scenario(far_rounds=(), changing=()))
    far = build(Scenario(far_rounds=tuple(range(9)), changing=(), seed=5)).trials
    kept = tuple(t for t in data.trials if t.cell != "ovs-dpdk/p2p/1518")
    moved = tuple(t for t in far if t.cell == "ovs-dpdk/p2p/1518")
    renumbered = [t.model_copy(update={"sequence": i}) for i, t in enumerate((*kept, *moved))]
    data = dataclasses.replace(data, trials=tuple(renumbered))
    found = compare([data], ComparisonOptions(placement_class="near"))
    hole = row(found, "ovs-dpdk/p2p/1518")
    assert found.placement[0].choice.complete is False
    assert hole.status is Status.BLOCKED
    assert hole.reason == "placement: no trial in class near (9 far)"
    assert hole.mrr is None and hole.paced is None
    assert verdict(found, "ovs-dpdk/p2p/1518") is Verdict.NOT_COMPARABLE
    every = compare([data])
    difference = every.difference(row(every, "ovs-dpdk/p2p/1518"))
    assert difference is not None and difference.judgement.verdict is Verdict.HIGHER
    assert {pair.placement for pair in difference.pairs} == {""}, "no round has a class on both sides"


def test_few_trials_carry_a_warning():
    found = compare([build(Scenario(rounds=4, far_rounds=(3,), changing=()))])
    ovs = row(found, "ovs-dpdk/p2p/64")
    (few,) = [warning for warning in ovs.warnings if warning.kind is QualityWarning.TOO_FEW_REPETITIONS]
    assert (few.trials, few.of) == (4, 8)
    assert verdict(found, "ovs-dpdk/p2p/64") is Verdict.UNDECIDED
    difference = found.difference(ovs)
    assert difference is not None and difference.judgement.reason.startswith("4 of 8 pairs")


def test_what_was_not_measured_keeps_its_status_and_reason():
    cell = "ovs-dpdk/p2p/1518"
    found = compare([build(Scenario(blocked=((cell, Status.UNSUPPORTED, "no hugepages"),)))])
    assert (row(found, cell).status, row(found, cell).reason) == (Status.UNSUPPORTED, "no hugepages")
    difference = found.difference(row(found, cell))
    assert difference is not None and "no hugepages" in difference.judgement.reason


def test_a_host_with_one_state_has_one_class():
    found = compare([build(Scenario(one_state=True, far_rounds=(), changing=()))])
    assert found.placement[0].classes == ("single",)
    assert row(found, "ovs-dpdk/p2p/64").mrr is not None


def test_a_class_or_a_baseline_that_is_not_there_is_refused():
    with pytest.raises(NotComparableError, match="placement class far"):
        compare([build(Scenario(one_state=True))], ComparisonOptions(placement_class="far"))
    with pytest.raises(UnknownNameError, match="none of these runs"):
        compare([build()], ComparisonOptions(baseline="vpp"))
    with pytest.raises(UsageError, match="no run"):
        compare([])


def test_a_class_can_be_asked_for():
    found = compare([build()], ComparisonOptions(placement_class="far", rules=Rules(needed=2)))
    assert row(found, "ovs-dpdk/p2p/64").placement_class == "far"
    assert "asked for" in found.placement[0].choice.reason


def test_unequal_paced_loads_are_named():
    data = build(Scenario(systems=(OVS,)))
    changed = tuple(
        t.model_copy(update={"intended_load_pps": 11_000_000}) if t.round == 0 and t.intended_load_pps else t
        for t in data.trials
    )
    notes = row(compare([dataclasses.replace(data, trials=changed)]), "ovs-dpdk/p2p/64").notes
    assert "not at one load" in notes[0]


def test_a_simulation_is_marked_all_the_way():
    found = compare([build(Scenario(systems=(SIMULATED,)))])
    assert found.simulated
    assert all(r.simulated for r in found.rows)


def test_the_comparison_survives_json():
    found = compare([build()])
    assert Comparison.model_validate_json(found.model_dump_json()) == found
    assert found.rows[0].host_hash == HOST


def test_every_warning_has_advice():
    assert set(ADVICE) == set(QualityWarning)
    assert all(entry.meaning.endswith(".") and entry.remedy.endswith(".") for entry in ADVICE.values())


def test_one_variant_alone_has_rows_and_is_no_error():
    found = compare([build(Scenario(systems=(OVS,)))])
    assert found.differences == ()
    require_comparable(found)


def test_nothing_measured_is_an_error():
    stopped = tuple((f"ovs-dpdk/p2p/{size}", Status.FAILED, "died") for size in (64, 1518))
    with pytest.raises(NotComparableError, match="nothing here"):
        require_comparable(compare([build(Scenario(systems=(OVS,), blocked=stopped))]))


def test_best_judges_each_row_against_the_highest_of_its_traffic_point():
    found = compare([build()], ComparisonOptions(baseline="best"))
    assert found.baseline == "best"
    against = {entry.cell: entry.baseline_cell for entry in found.differences}
    assert against == {"linux-bridge/p2p/64": "ovs-dpdk/p2p/64", "linux-bridge/p2p/1518": "ovs-dpdk/p2p/1518"}
    assert {entry.judgement.verdict for entry in found.differences} == {Verdict.LOWER}
    rows = [row for row in found.rows if row.frame_size == 64]
    assert [row.variant for row in found.ranked(rows)] == ["ovs-dpdk", "linux-bridge"]


def test_a_doctor_that_is_not_right_is_noted():
    ready = Support(variant="linux-bridge", readiness=Readiness.READY)
    said = (Support(variant="ovs-dpdk", readiness=Readiness.UNSUPPORTED, reason="no hugepages"),)
    found = compare([dataclasses.replace(build(), supports=(*said, ready))])
    assert [note for note in found.notes if "doctor" in note] == [
        "doctor and run disagree on ovs-dpdk: the doctor says unsupported (no hugepages), and frames came through it"
    ]
