"""Before and after: sides of one run by rounds, sides of two by a reference, and the host where it is to blame."""

import dataclasses

import pytest

from nfvbed.compare.comparison import compare
from nfvbed.compare.diff import ChangeVerdict, Diff, PointChange, Side, VerdictBasis, find_changes
from nfvbed.compare.rows.rundata import RunData
from nfvbed.errors import UsageError
from tests.sample_records import BRIDGE as VETH
from tests.sample_records import CEILINGS, RUN, Scenario, System, build
from tests.sample_records import OVS as TWO_SIZES

LATER = RUN[:-1] + "2"
ROUNDS = 8
ALL = tuple(range(ROUNDS))


def at_64(system: System) -> System:
    return dataclasses.replace(system, capacity={64: system.capacity[64]})


OVS, BRIDGE, REFERENCE = map(at_64, (TWO_SIZES, VETH, CEILINGS[2]))


def scaled(system: System, ratio: float, **changed: str) -> System:
    capacity = {size: (near * ratio, far * ratio) for size, (near, far) in system.capacity.items()}
    return dataclasses.replace(system, capacity=capacity, **changed)


def run_of(*systems: System, run: str = RUN, far: tuple[int, ...] = (), seed: int = 1) -> RunData:
    return build(Scenario(run=run, systems=systems, rounds=ROUNDS, far_rounds=far, changing=(), seed=seed))


def changed(data: list[RunData], before: Side, after: Side) -> Diff:
    configurations = {
        cell.config_hash: {
            "variant": {
                "name": cell.variant,
                "options": {"dataplane": "linux-bridge" if "bridge" in cell.variant else "ovs-dpdk"},
            },
            "version": cell.config_hash[:16],
        }
        for entry in data
        for cell in entry.cells
    }
    return find_changes(compare(data), before, after, configurations)


def between(first: RunData, second: RunData, variant: str = "ovs-dpdk") -> PointChange:
    return changed([first, second], Side(run=RUN, variant=variant), Side(run=LATER, variant=variant)).points[0]


def test_two_variants_of_one_run_are_judged_by_rounds():
    found = changed(
        [run_of(TWO_SIZES, scaled(TWO_SIZES, 0.9, name="ovs-new"))],
        Side(run=RUN, variant="ovs-dpdk"),
        Side(run=RUN, variant="ovs-new"),
    )
    assert found.interleaved and [entry.frame_size for entry in found.points] == [64, 1518]
    for entry in found.points:
        assert (entry.verdict, entry.ground) == (ChangeVerdict.LOWER, VerdictBasis.ROUNDS)
        assert entry.judgement.look and entry.seen == pytest.approx(0.9, abs=0.02)
    assert "version" in found.changed["ovs-new"][0]
    assert not any(text.startswith("variant.name") for text in found.changed["ovs-new"])


def test_runs_without_a_reference_blame_nothing():
    found = between(run_of(BRIDGE), run_of(scaled(BRIDGE, 0.8, config="2"), run=LATER), "linux-bridge")
    assert (found.verdict, found.ground) == (ChangeVerdict.UNDECIDED, VerdictBasis.NOTHING)
    assert "not interleaved" in found.reason and found.seen == pytest.approx(0.8, abs=0.03)


def test_a_change_is_the_variants_where_the_reference_stood_still():
    found = between(run_of(OVS, REFERENCE), run_of(scaled(OVS, 0.9, config="2"), REFERENCE, run=LATER, seed=2))
    assert (found.verdict, found.ground) == (ChangeVerdict.LOWER, VerdictBasis.REFERENCE)
    assert found.reference is not None and not found.reference.same_plane
    assert found.judgement.ratio == pytest.approx(0.9, abs=0.02) and "stood still" in found.reason


def test_it_was_the_host_where_the_reference_moved_as_well():
    found = between(run_of(OVS, REFERENCE), run_of(OVS, REFERENCE, run=LATER, far=ALL, seed=2))
    assert found.verdict is ChangeVerdict.HOST_MOVED and found.seen == pytest.approx(0.59, abs=0.03)
    assert found.reference is not None and found.reference.ratio == pytest.approx(0.43, abs=0.03)


def test_a_reference_of_the_same_plane_comes_before_testpmd():
    pinned = dataclasses.replace(OVS, name="ovs-pinned")
    found = between(
        run_of(OVS, pinned, REFERENCE), run_of(scaled(OVS, 1.1, config="2"), pinned, REFERENCE, run=LATER, seed=2)
    )
    assert found.reference is not None and found.reference.same_plane
    assert found.reference.cell.startswith("ovs-pinned/") and found.verdict is ChangeVerdict.HIGHER


def test_a_reference_that_was_changed_itself_is_none():
    pinned = dataclasses.replace(OVS, name="ovs-pinned")
    other = dataclasses.replace(pinned, config="2")
    found = between(run_of(OVS, pinned), run_of(scaled(OVS, 0.8, config="2"), other, run=LATER))
    assert found.reference is None and found.verdict is ChangeVerdict.UNDECIDED


def test_a_bridge_does_not_acquit_open_vswitch():
    found = between(run_of(OVS, BRIDGE), run_of(scaled(OVS, 0.8, config="2"), BRIDGE, run=LATER))
    assert found.reference is None and found.verdict is ChangeVerdict.UNDECIDED


def test_a_host_that_moved_and_a_variant_that_did_not_are_no_verdict():
    stays = dataclasses.replace(OVS, capacity={64: (11.8e6, 11.8e6)})
    found = between(run_of(stays, REFERENCE), run_of(stays, REFERENCE, run=LATER, far=ALL, seed=2))
    assert found.verdict is ChangeVerdict.UNDECIDED and "did not follow" in found.reason


def test_states_that_no_trial_shares_are_the_hosts_doing():
    found = between(run_of(OVS), run_of(OVS, run=LATER, far=ALL, seed=2))
    assert (found.verdict, found.ground) == (ChangeVerdict.HOST_MOVED, VerdictBasis.PLACEMENT)
    assert found.before.classes == {"near": ROUNDS} and found.after.classes == {"far": ROUNDS}


def test_equal_runs_are_the_same():
    found = between(run_of(OVS, REFERENCE), run_of(OVS, REFERENCE, run=LATER, seed=2))
    assert found.verdict is ChangeVerdict.SAME


def test_what_no_diff_can_be_of_is_refused():
    data = [run_of(OVS, BRIDGE), run_of(OVS, run=LATER)]
    with pytest.raises(UsageError, match="itself"):
        changed(data, Side(run=RUN), Side(run=RUN))
    with pytest.raises(UsageError, match="one data plane"):
        changed(data, Side(run=RUN, variant="linux-bridge"), Side(run=RUN, variant="ovs-dpdk"))
    with pytest.raises(UsageError, match="in common"):
        changed(data, Side(run=RUN, variant="linux-bridge"), Side(run=LATER))


def test_hosts_that_differ_are_not_comparable():
    other = build(Scenario(run=LATER, host="b" * 64, systems=(OVS,), rounds=ROUNDS, far_rounds=(), changing=()))
    found = between(run_of(OVS), other)
    assert found.verdict is ChangeVerdict.NOT_COMPARABLE and "hosts" in found.reason
