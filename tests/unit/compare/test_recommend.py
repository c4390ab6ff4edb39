"""Recommendations from runs with known truths."""

import dataclasses

import pytest

from nfvbed.compare.recommendation.needs import Need
from nfvbed.compare.recommendation.rawethernet import RawEthernetEvidence
from nfvbed.compare.recommendation.recommendation import Recommendation, RecommendationRequest, recommend, unchecked
from nfvbed.compare.verdict import Verdict
from nfvbed.records import CellRole, PortKind, Status
from nfvbed.records.results import ResultKind
from nfvbed.records.words import CHECKSUM_TRAP
from tests.sample_records import CEILINGS, HOST, OVS, RUN, SIMULATED
from tests.sample_runs import SURVEY, began, doctor, examined, flow_scaling, plane, result, run_of, through, trapped

OLD, NEW, FIRST, OTHER = (f"01950000-0000-7000-8000-00000000000{place}" for place in range(4))
FAST, SLOW = plane("fast", 9e6), plane("slow", 3e6)


def asked(*runs, need: Need = Need.THROUGHPUT, **wanted) -> Recommendation:
    return recommend(runs, RecommendationRequest(need=need, **wanted), HOST, unchecked)


def places(found: Recommendation) -> list[tuple[int, str]]:
    assert found.answer is not None
    return [(entry.place, entry.variant) for entry in found.answer.ranked]


def test_the_one_that_forwards_most_is_first_with_its_evidence():
    found = asked(examined(run_of(SLOW, FAST)))
    assert found.enough and found.answer is not None and found.answer.is_clear
    assert places(found) == [(1, "fast"), (2, "slow")]
    first = found.answer.ranked[0]
    assert (first.run, first.cell, first.rounds) == (RUN, "fast/p2p/64", 12)
    assert first.value == pytest.approx(9e6, rel=0.02)
    (pair,) = found.answer.pairs
    assert pair.ahead == "fast" and not pair.by_ranges
    assert pair.judgement.verdict in (Verdict.HIGHER, Verdict.LOWER)
    assert found.proposals == ()


def test_what_no_verdict_tells_apart_shares_a_place():
    one, other = plane("one", 5e6, noise=0.1), plane("other", 5.1e6, noise=0.1)
    found = asked(examined(run_of(one, other, SLOW, rounds=8)))
    assert found.answer is not None
    assert sorted(found.answer.first) == ["one", "other"]
    assert not found.answer.is_clear and not found.answer.is_shared_by_equals
    assert places(found)[2] == (3 - 1, "slow")
    (proposal,) = found.proposals
    assert (proposal.why, sorted(proposal.variants)) == ("decide", ["one", "other"])


def test_who_is_undecided_against_one_of_a_place_shares_it():
    # The first is ahead of the third, and neither of them of the second, which scatters over both.
    wide = plane("wide", 5e6, noise=0.4)
    found = asked(examined(run_of(plane("high", 5.6e6), wide, plane("low", 4.6e6))))
    assert found.answer is not None
    pair = found.answer.pair("high", "low")
    assert pair is not None and pair.ahead == "high"
    assert {entry.place for entry in found.answer.ranked} == {1}


def test_equals_are_the_same_and_nothing_is_proposed():
    found = asked(examined(run_of(plane("one", 5e6), plane("other", 5e6))))
    assert found.answer is not None and found.answer.is_shared_by_equals
    assert found.proposals == ()


def test_a_bounded_rate_shares_the_place_and_more_rounds_would_not_help():
    limit = dataclasses.replace(CEILINGS[1], capacity={64: (3e6, 3e6)})
    found = asked(examined(run_of(FAST, SLOW, limit)))
    assert found.answer is not None
    # Both are at or above the generator's own ceiling: what it bounded may be faster.
    assert any(entry.at_least for entry in found.answer.ranked) or found.answer.is_clear
    bounded = plane("bounded", 3e6, port_kind=PortKind.VETH)
    ceiling = dataclasses.replace(CEILINGS[0], capacity={64: (3e6, 3e6)})
    found = asked(examined(run_of(FAST, bounded, ceiling)))
    assert found.answer is not None
    assert {entry.place for entry in found.answer.ranked} == {1}
    assert [entry.at_least for entry in found.answer.ranked] == [False, True]
    assert found.proposals == ()


@pytest.mark.parametrize("need", list(Need))
def test_without_a_run_there_is_not_enough_data_and_an_experiment(need: Need):
    found = asked(need=need)
    assert not found.enough
    assert found.reason == "no run of this host is stored"
    assert found.proposals[0].why == "nothing-measured"
    assert found.proposals[0].command.startswith("nfvbed run demo --variant linux-bridge --variant ovs-dpdk")


def test_one_variant_alone_is_not_enough():
    found = asked(examined(run_of(FAST), doctor=doctor(["fast", "other", "simulated"], ["sriov"])))
    assert (found.enough, found.reason) == (False, "only fast was measured in a way that can be ranked")
    assert (found.not_measured, found.unavailable) == (("other",), ("sriov",))
    assert found.proposals[0].variants == ("fast", "other")
    assert "--topology p2p --frame-size 64" in found.proposals[0].command


def test_a_rate_of_frames_that_came_twice_is_never_ranked():
    doubled = dataclasses.replace(plane("mirror", 20e6), doubled=True)
    found = asked(examined(run_of(FAST, SLOW, doubled)))
    assert places(found) == [(1, "fast"), (2, "slow")]
    left = {entry.variant: entry.reason for entry in found.answer.left_out}
    assert "counted more frames back than were sent" in left["mirror"]


def test_simulated_and_emulated_are_never_ranked():
    simulated = dataclasses.replace(SIMULATED, name="dream", capacity={64: (50e6, 50e6)}, topology="pvp")
    simulated = through(simulated)
    emulated = dataclasses.replace(through(plane("guest", 20e6)), emulated=True)
    found = asked(examined(run_of(through(FAST), through(SLOW), emulated, simulated)))
    assert places(found) == [(1, "fast"), (2, "slow")]
    assert found.answer is not None
    left = {entry.variant: entry.reason for entry in found.answer.left_out}
    assert "emulated" in left["guest"] and "not a measurement" in left["dream"]
    assert not asked(examined(run_of(simulated))).enough


def test_a_survey_ranks_by_ranges_that_do_not_overlap_and_says_so():
    near = plane("near", 3.02e6, noise=0.03)
    found = asked(examined(run_of(FAST, SLOW, near, rounds=4), SURVEY))
    assert found.answer is not None
    assert found.answer.first == ("fast",)
    assert sorted(entry.variant for entry in found.answer.ranked if entry.place == 2) == ["near", "slow"]
    assert all(pair.by_ranges for pair in found.answer.pairs if pair.ahead)
    two = asked(examined(run_of(FAST, SLOW, rounds=2), SURVEY))
    assert two.answer is not None and not two.answer.is_clear
    assert two.proposals[0].why == "decide"


def test_a_run_that_compares_is_taken_before_a_newer_survey():
    compared = began(run_of(FAST, SLOW, run=OLD), "2026-01-01T00:00:00Z")
    surveyed = began(run_of(FAST, SLOW, run=NEW, rounds=3), "2026-02-01T00:00:00Z")
    found = asked(examined(surveyed, SURVEY), examined(compared))
    assert found.answer is not None
    (pair,) = found.answer.pairs
    assert (pair.runs, pair.by_ranges, pair.ahead) == ((OLD,), False, "fast")


def test_runs_without_common_rounds_are_judged_unpaired():
    found = asked(examined(run_of(FAST, run=OTHER)), examined(run_of(SLOW, run=FIRST)))
    assert found.answer is not None
    (pair,) = found.answer.pairs
    assert pair.judgement.unpaired and pair.ahead == "fast"
    assert pair.runs == (OTHER, FIRST)


def test_what_cannot_be_compared_is_left_out_with_the_reason():
    other = plane("other", 20e6)
    elsewhere = run_of(other, run=OTHER, host="b" * 64)
    found = asked(examined(run_of(FAST, SLOW)), examined(elsewhere))
    assert places(found) == [(1, "fast"), (2, "slow")]
    assert found.answer is not None
    assert "different hosts" in found.answer.left_out[0].reason


QUICK, TARDY = plane("quick", 5e6, latency_ns=5_000), plane("tardy", 9e6, latency_ns=15_000)


@pytest.mark.parametrize("need", [Need.LATENCY, Need.JITTER])
def test_the_least_latency_and_its_least_variation_are_first_at_one_load(need: Need):
    found = asked(examined(run_of(TARDY, QUICK)), need=need)
    assert places(found) == [(1, "quick"), (2, "tardy")]
    assert found.answer is not None
    assert {entry.load_pps for entry in found.answer.ranked} == {2.5e6}
    assert found.answer.ranked[0].value < found.answer.ranked[1].value
    assert not any(entry.at_least for entry in found.answer.ranked)


def test_without_a_common_load_there_is_no_latency_to_compare():
    data = run_of(TARDY, QUICK)
    without = dataclasses.replace(data, trials=tuple(trial for trial in data.trials if trial.preset.value != "common"))
    found = asked(examined(without), need=Need.LATENCY)
    assert not found.enough
    assert "no trial at a load that all share" in found.reason
    assert sorted(found.proposals[0].variants) == ["quick", "tardy"]
    assert "--topology p2p --frame-size 64" in found.proposals[0].command


def test_figures_of_two_runs_have_no_load_in_common():
    found = asked(
        examined(run_of(QUICK, TARDY, run=FIRST)),
        examined(run_of(plane("late", 4e6), SLOW, run=OTHER)),
        need=Need.LATENCY,
    )
    assert found.answer is not None
    assert len(found.answer.ranked) == 2
    assert all("no load, in common" in entry.reason for entry in found.answer.left_out)


def test_the_fewest_busy_cores_are_first():
    idle = plane("idle", 9e6, cycles=None)
    data = run_of(idle, FAST)
    cheap = tuple(
        trial.model_copy(
            update={"cpu": tuple(entry.model_copy(update={"busy_ns": entry.busy_ns // 3}) for entry in trial.cpu)}
        )
        if trial.cell.startswith("idle") and trial.intended_load_pps
        else trial
        for trial in data.trials
    )
    found = asked(examined(dataclasses.replace(data, trials=cheap)), need=Need.CPU)
    assert places(found) == [(1, "idle"), (2, "fast")]
    assert found.answer is not None
    kernel, poller = (entry.cost for entry in found.answer.ranked)
    assert (kernel.polls, poller.polls) == (False, True)
    assert kernel.cores_at_load == pytest.approx(0.32, abs=0.01)


def test_cpu_time_that_cannot_be_separated_is_no_figure():
    data = run_of(FAST, SLOW)
    mixed = tuple(
        trial.model_copy(
            update={"cpu": tuple(entry.model_copy(update={"busy_ns": "not-separable"}) for entry in trial.cpu)}
        )
        for trial in data.trials
    )
    found = asked(examined(dataclasses.replace(data, trials=mixed)), need=Need.CPU)
    assert not found.enough and "cannot be separated" in found.reason


def test_a_switch_that_was_kept_from_its_cores_was_as_busy_as_it_could_be():
    data = run_of(FAST, SLOW)
    robbed = tuple(
        trial.model_copy(
            update={"cpu": tuple(entry.model_copy(update={"stolen_ns": trial.duration_ns // 2}) for entry in trial.cpu)}
        )
        for trial in data.trials
    )
    data = dataclasses.replace(data, trials=robbed)
    found = asked(examined(data), need=Need.CPU)
    assert (found.enough, found.reason) == (False, "the switch was kept from its cores for 50% of the time")
    assert asked(examined(data)).enough, "the rate is what it was"


def test_costs_are_those_of_the_file_and_of_the_doctor():
    vf = plane("vf", 5e6, port_kind=PortKind.VF)
    data = run_of(FAST, vf)
    configurations = {
        cell.config_hash: {"variant": {"hugepages_mib": 640}} for cell in data.cells if cell.variant == "fast"
    }
    report = doctor(["fast", "vf"], sriov={"summary": "0000:01:00.0 (ixgbe): 0 of 63 functions"})
    found = asked(examined(data, variants=configurations, doctor=report))
    assert found.answer is not None
    costs = {entry.variant: entry.cost for entry in found.answer.ranked}
    assert (costs["fast"].hugepages_mib, costs["fast"].nic) == (640, "")
    assert costs["vf"].hugepages_mib is None
    assert costs["vf"].nic == "0000:01:00.0 (ixgbe): 0 of 63 functions"


def test_the_frame_size_at_which_the_order_flips_would_change_the_answer():
    small = (plane("one", 9e6), plane("other", 5e6))
    large = (plane("one", 2e6, 1518), plane("other", 4e6, 1518))
    both = [dataclasses.replace(a, capacity=a.capacity | b.capacity) for a, b in zip(small, large, strict=True)]
    found = asked(examined(run_of(*both)))
    assert found.answer is not None and (found.answer.frame_size, found.answer.first) == (64, ("one",))
    (flip,) = found.flips
    assert (flip.what, flip.here, flip.there) == ("frame size", "64 B", "1518 B")
    assert (flip.first, flip.behind) == (("other",), ("one",))
    assert asked(examined(run_of(*both)), frame_size=1518).answer.first == ("other",)


def test_the_chain_length_at_which_the_order_flips():
    systems = [
        through(plane(name, rate), topology=f"pv{length}p")
        for name, rates in (("one", (9e6, 2e6)), ("other", (6e6, 4e6)))
        for length, rate in enumerate(rates, start=1)
    ]
    (flip,) = asked(examined(run_of(*systems))).flips
    assert (flip.what, flip.here, flip.there) == ("chain length", "1 VNF", "2 VNFs")


def test_the_number_of_flows_from_which_the_order_flips_is_read_from_tests():
    data = run_of(FAST, SLOW)
    data = flow_scaling(data, "fast/p2p/64", {1: 9e6, 1_000: 5e6, 100_000: 1e6})
    data = flow_scaling(data, "slow/p2p/64", {1: 3e6, 1_000: 3e6, 100_000: 3e6})
    (flip,) = asked(examined(data)).flips
    assert (flip.what, flip.there, flip.first, flip.behind) == (
        "flows",
        "100,000, and as far as measured",
        ("slow",),
        ("fast",),
    )
    assert not flip.judged and flip.run == RUN
    steady = flow_scaling(run_of(FAST, SLOW), "fast/p2p/64", {1: 9e6, 1_000: 8e6})
    assert asked(examined(flow_scaling(steady, "slow/p2p/64", {1: 3e6, 1_000: 3e6}))).flips == ()


def test_a_clear_first_place_through_vnfs_comes_before_one_without():
    found = asked(examined(run_of(FAST, SLOW, through(FAST), through(SLOW))))
    assert found.answer is not None
    assert (found.answer.topology, found.answer.vnf) == ("pvp", "process-io")
    assert [(entry.topology, entry.is_clear) for entry in found.elsewhere] == [("p2p", True)]


def test_raw_ethernet_ranks_what_carries_it_and_names_the_trap():
    data = run_of(*(through(system) for system in (FAST, SLOW, plane("bridge", 20e6), plane("silent", 1e6))))
    data = trapped(data, "bridge/pvp+process-io/64")
    data = result(data, "fast/pvp+process-io/64", ResultKind.TCP_THROUGHPUT)
    reason = f"{CHECKSUM_TRAP}: it sends frames whose checksum was left to a NIC"
    data = result(data, "silent/pvp+process-io/64", ResultKind.REQUEST_RESPONSE, Status.UNSUPPORTED, reason=reason)
    found = asked(examined(data), need=Need.RAW_ETHERNET)
    carried = {entry.variant: entry.carries for entry in found.carriers}
    assert carried == {
        "fast": RawEthernetEvidence.PROVEN,
        "slow": RawEthernetEvidence.FRAMES,
        "bridge": RawEthernetEvidence.TRAP,
        "silent": RawEthernetEvidence.TRAP,
    }
    assert found.answer is not None
    assert "bridge" not in {entry.variant for entry in found.answer.ranked}
    assert "checksum trap" in {e.variant: e.reason for e in found.answer.left_out}["bridge"]
    sockets = [proposal for proposal in found.proposals if proposal.why == "sockets"]
    assert [proposal.variants for proposal in sockets] == [("slow",)]


def test_who_lost_a_stack_s_frames_has_no_place_for_raw_ethernet():
    data = run_of(*(through(system) for system in (FAST, SLOW, plane("silent", 20e6))))
    reason = f"{CHECKSUM_TRAP}: it sends frames whose checksum was left to a NIC"
    data = result(data, "silent/pvp+process-io/64", ResultKind.TCP_THROUGHPUT, Status.UNSUPPORTED, reason=reason)
    found = asked(examined(data), need=Need.RAW_ETHERNET)
    assert places(found) == [(1, "fast"), (2, "slow")]


def test_paths_without_a_raw_vnf_say_nothing_of_raw_ethernet():
    found = asked(
        examined(run_of(FAST, SLOW, through(FAST, "process-bridge"), through(SLOW, "process-bridge"))),
        need=Need.RAW_ETHERNET,
    )
    assert not found.enough and found.carriers == ()
    assert [proposal.why for proposal in found.proposals] == ["nothing-measured", "sockets"]


def test_emulated_guests_show_that_frames_come_through_and_have_no_place():
    guest = dataclasses.replace(through(plane("guest", 20e6)), emulated=True)
    found = asked(examined(run_of(through(FAST), through(SLOW), guest)), need=Need.RAW_ETHERNET)
    (carrier,) = [entry for entry in found.carriers if entry.variant == "guest"]
    assert (carrier.carries, carrier.emulated) == (RawEthernetEvidence.FRAMES, True)
    assert places(found) == [(1, "fast"), (2, "slow")]


def test_a_cell_that_failed_does_not_carry_and_one_that_was_not_reached_says_nothing():
    cells = (
        ("slow/pvp+process-io/64", Status.FAILED, "the VNF died"),
        ("fast/pvp+process-io/64", Status.BLOCKED, "budget"),
    )
    found = asked(examined(run_of(through(FAST), through(SLOW), blocked=cells)), need=Need.RAW_ETHERNET)
    assert [(entry.variant, entry.carries, entry.detail) for entry in found.carriers] == [
        ("slow", RawEthernetEvidence.NOT, "failed: the VNF died")
    ]


def test_recommendations_survive_json():
    found = asked(examined(run_of(FAST, SLOW)))
    assert Recommendation.model_validate_json(found.model_dump_json()) == found


def test_ceilings_are_no_data_planes():
    found = asked(examined(run_of(FAST, SLOW, *CEILINGS)))
    assert all(CellRole.LOOPBACK.value not in entry.variant for entry in found.answer.ranked)
    assert {entry.variant for entry in found.answer.ranked} == {"fast", "slow"}
    assert OVS.role is CellRole.SUBJECT
