"""Rows through VNFs: the same VNF is controlled, native stacks are systems, and the two are never judged together."""

import dataclasses
import itertools

import pytest

from nfvbed.compare.comparison import Comparison, compare
from nfvbed.compare.differences.ranking import leaders
from nfvbed.compare.differences.scope import Scope, find_scope
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.verdict import Bound, Verdict
from nfvbed.records import CellRole, PortKind, QualityWarning, Status
from tests.sample_records import BRIDGE, CEILINGS, OVS, PVP, Scenario, System, build, with_vnf

ALL = (BRIDGE, OVS, *CEILINGS, *PVP)
NEAR = {"far_rounds": (), "changing": ()}


def found(*systems: System, **more: object) -> Comparison:
    return compare([build(Scenario(systems=systems, **{**NEAR, **more}))])


def scope_of(comparison: Comparison, cell: str):
    return next(entry.scope for entry in comparison.differences if entry.cell == cell)


def test_each_row_is_judged_against_the_one_through_the_same_vnf():
    pairs = {(entry.baseline_cell, entry.cell) for entry in found(*ALL).differences}
    assert pairs == {
        ("linux-bridge/p2p/64", "ovs-dpdk/p2p/64"),
        ("linux-bridge/p2p/1518", "ovs-dpdk/p2p/1518"),
        ("linux-bridge/pvp+native/64", "ovs-dpdk/pvp+native/64"),
        ("linux-bridge/pvp+process-io/64", "ovs-dpdk/pvp+process-io/64"),
    }


def test_the_same_vnf_is_controlled_and_its_ports_are_listed():
    scope = scope_of(found(*ALL), "ovs-dpdk/pvp+process-io/64")
    assert scope.scope is Scope.CONTROLLED
    assert scope.differences == (
        "port_kind: veth -> vhost-user",
        "generator.engine: nfvgen-xdp -> nfvgen-dpdk",
    )


def test_native_is_a_system_and_its_vnf_is_listed():
    scope = scope_of(found(*ALL), "ovs-dpdk/pvp+native/64")
    assert scope.scope is Scope.SYSTEM
    assert scope.differences[0] == "VNF: process-bridge -> process-io"


def test_without_a_vnf_other_ports_stay_a_system():
    assert scope_of(found(*ALL), "ovs-dpdk/p2p/64").scope is Scope.SYSTEM


def test_native_stays_a_system_where_both_run_the_same():
    twin = dataclasses.replace(OVS, name="twin")
    systems = [with_vnf(system, "native", "process-io", (4e6, 4e6)) for system in (OVS, twin)]
    assert scope_of(found(*systems), "twin/pvp+native/64").scope is Scope.SYSTEM


def other_rig(change: dict[str, object]) -> RunData:
    """Return a run in which the rig of one side differs in more than its ports."""
    data = build(Scenario(systems=PVP, **NEAR))
    hashes = {cell.rig_hash for cell in data.cells if cell.port_kind is PortKind.VHOST_USER}
    rigs = {digest: rig | change if digest in hashes else rig for digest, rig in data.rigs.items()}
    return dataclasses.replace(data, rigs=rigs)


@pytest.mark.parametrize(
    "change",
    [
        {"accelerator": "kvm"},
        {"vnf": {"digest": "another"}},
        {"arrangement": {"switch_core": 2, "generator_core": 1}},
        {"generators": "x"},
        {"computes": ["the hash of a machine that is no twin"]},
    ],
)
def test_what_the_ports_do_not_explain_is_no_controlled_comparison(change: dict[str, object]):
    scope = scope_of(compare([other_rig(change)]), "ovs-dpdk/pvp+process-io/64")
    assert scope.scope is Scope.SYSTEM
    assert scope.reason == "the rigs differ in more than the switch's ports"
    assert any(text.startswith(next(iter(change))) for text in scope.differences)


def test_how_neutron_bound_the_ports_follows_from_their_kind():
    scope = scope_of(compare([other_rig({"vif_types": [["vhostuser", "vhostuser"]]})]), "ovs-dpdk/pvp+process-io/64")
    assert scope.scope is Scope.CONTROLLED
    assert any(text.startswith("vif_types") for text in scope.differences)


def test_rigs_that_are_not_known_are_not_claimed_to_be_equal():
    data = dataclasses.replace(build(Scenario(systems=PVP, **NEAR)), rigs={})
    assert scope_of(compare([data]), "ovs-dpdk/pvp+process-io/64").scope is Scope.SYSTEM


def test_every_path_has_its_own_leader():
    comparison = found(*ALL)
    answers = leaders(comparison.rows, comparison.rules)
    assert [(a.topology, a.vnf, a.frame_size) for a in answers] == [
        ("p2p", "", 64),
        ("p2p", "", 1518),
        ("pvp", "native", 64),
        ("pvp", "process-io", 64),
    ]


def row_of(comparison: Comparison, cell: str):
    return next(row for row in comparison.rows if row.cell == cell)


def test_a_rate_at_that_of_the_vnf_alone_is_the_vnfs():
    comparison = found(*ALL)
    row = row_of(comparison, "linux-bridge/pvp+process-io/64")
    assert [limit.kind for limit in row.limits] == [QualityWarning.VNF_LIMITED]
    assert row.vnf_pps == pytest.approx(0.42e6, rel=0.03)
    assert row_of(comparison, "linux-bridge/pvp+native/64").vnf_pps is None, "another VNF's ceiling"
    difference = next(d for d in comparison.differences if d.baseline_cell == row.cell)
    assert difference.judgement.bound is Bound.AT_MOST
    assert difference.judgement.verdict is Verdict.UNDECIDED, "the baseline's switch may do more"


def test_a_native_vnf_has_the_ceiling_of_what_it_is():
    row = row_of(found(*ALL), "ovs-dpdk/pvp+native/64")
    assert row.vnf_pps == pytest.approx(6.5e6, rel=0.03)
    assert not row.limits


def test_a_vnf_ceiling_that_is_exceeded_bounds_nothing():
    slow = with_vnf(dataclasses.replace(OVS, role=CellRole.VNF), "process-io", "process-io", (3e6, 3e6))
    row = row_of(found(PVP[3], slow), "ovs-dpdk/pvp+process-io/64")
    assert row.vnf_pps is None and not row.limits
    assert [entry.role for entry in row.exceeded] == [CellRole.VNF]


def test_switching_overhead_is_that_of_one_crossing():
    comparison = found(*ALL)
    assert row_of(comparison, "ovs-dpdk/p2p/64").switching_overhead is not None
    assert row_of(comparison, "ovs-dpdk/pvp+process-io/64").switching_overhead is None


def test_one_way_paths_say_what_they_lack():
    systems = [with_vnf(OVS, "process-io", "process-io", (1e6, 1e6), topology) for topology in ("v2v", "p2v")]
    notes = {row.topology: row.notes for row in found(*systems, *CEILINGS).rows}
    assert "a VNF sends" in notes["v2v"][0]
    assert "a VNF receives" in notes["p2v"][0]


def test_an_emulated_guest_has_frames_and_no_rates():
    systems = [
        dataclasses.replace(with_vnf(system, "vm-io", "vm-io", (0.03e6, 0.03e6)), emulated=True)
        for system in (BRIDGE, OVS)
    ]
    comparison = found(*systems)
    assert all(row.emulated and row.status is Status.OK for row in comparison.rows)
    assert [entry.judgement.verdict for entry in comparison.differences] == [Verdict.NOT_COMPARABLE]
    assert leaders(comparison.rows, comparison.rules) == ()


GATEWAYS = ("nextepc", "xdp", "dpdk")
VEPC = tuple(
    with_vnf(system, f"process-{name}-vepc", f"process-{name}-vepc", rates, "vepc")
    for system, rates in ((BRIDGE, (0.4e6, 0.4e6)), (OVS, (2e6, 2e6)))
    for name in ("nextepc", "xdp-gateway", "dpdk-gateway")
)


def test_results_through_different_gateways_are_never_judged_against_each_other():
    """Judge each gateway of one run by itself, whatever the rates are."""
    comparison = found(*VEPC)
    pairs = {(entry.baseline_cell, entry.cell) for entry in comparison.differences}
    assert pairs == {
        (f"linux-bridge/vepc+process-{name}-vepc/64", f"ovs-dpdk/vepc+process-{name}-vepc/64")
        for name in ("nextepc", "xdp-gateway", "dpdk-gateway")
    }
    for one, other in itertools.permutations(comparison.rows, 2):
        if one.vnf != other.vnf:
            assert find_scope(one, other, {}).scope is Scope.NOT_COMPARABLE


@pytest.mark.parametrize(("one", "other"), [*itertools.permutations(GATEWAYS, 2), ("xdp", None)])
def test_a_gateway_that_no_label_tells_is_told_by_the_rig(one: str, other: str | None):
    """A variant's own VNF is `native` on both sides; of one scope they are with the same gateway alone."""
    native = [with_vnf(system, "native", "native", (4e6, 4e6), "vepc") for system in (BRIDGE, OVS)]
    first, second = found(*native).rows
    gateways = {first.rig_hash: {"gateway": one}, second.rig_hash: {"gateway": other}}
    rigs = {digest: {"vnf": vnf} for digest, vnf in gateways.items()}
    assert first.rig_hash != second.rig_hash
    finding = find_scope(first, second, rigs)
    assert (finding.scope, finding.reason) == (
        Scope.NOT_COMPARABLE,
        f"through different gateways: {one} and {other or 'none'}",
    )
    same = {digest: {"vnf": {"gateway": one}} for digest in rigs}
    assert find_scope(first, second, same).scope is Scope.SYSTEM


@pytest.mark.parametrize(
    ("of_rig", "reason"), [("stand-in", "through different PCRFs: stand-in and nextepc"), (None, "")]
)
def test_another_pcrf_is_told_by_the_rig_and_nextepcs_by_its_absence(of_rig: str | None, reason: str):
    native = [with_vnf(system, "native", "native", (4e6, 4e6), "vepc") for system in (BRIDGE, OVS)]
    first, second = found(*native).rows
    vnfs = ({"gateway": "nextepc", "pcrf": of_rig}, {"gateway": "nextepc"})
    rigs = {row.rig_hash: {"vnf": vnf} for row, vnf in zip((first, second), vnfs, strict=True)}
    finding = find_scope(first, second, rigs)
    assert (finding.scope is Scope.NOT_COMPARABLE) is bool(reason)
    assert not reason or finding.reason == reason
