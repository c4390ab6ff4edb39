"""Cells with VNFs: their names, their ceilings, what a variant lacks, and what a path of one direction is asked for."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.plan.cells import DeploymentKey
from nfvbed.plan.estimate import Overheads, length_s
from nfvbed.plan.plan import Plan, expand
from nfvbed.records import CellRole, Preset

PROJECT = open_project(Path(__file__).parents[3])


def plan_of(tmp_path: Path, text: str) -> Plan:
    path = tmp_path / "trial.yml"
    path.write_text(f"name: trial\ntitle: A trial\nvariants: [linux-bridge, ovs-dpdk]\nframe_sizes: [64]\n{text}\n")
    study = PROJECT.load_study(path)
    return expand(study.experiment, study.variants, study.choices)


BOTH = "topologies: [p2p, pvp]\nvnfs: [{forwarding: native}, {kind: process, forwarding: io}]"


def test_a_cell_is_named_by_its_vnf_and_cells_without_keep_their_names(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, BOTH)
    assert [cell.id for cell in plan.cells if cell.role is CellRole.SUBJECT] == [
        "linux-bridge/p2p/64",
        "linux-bridge/pvp+native/64",
        "linux-bridge/pvp+process-io/64",
        "ovs-dpdk/p2p/64",
        "ovs-dpdk/pvp+native/64",
        "ovs-dpdk/pvp+process-io/64",
    ]
    resolved = {cell.id: cell.vnf_resolved for cell in plan.cells}
    assert resolved["linux-bridge/pvp+native/64"] == "process-bridge"
    assert resolved["ovs-dpdk/pvp+native/64"] == "process-io"


def test_the_ports_have_one_ceiling_each_and_every_vnf_one_on_each_port_kind(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, BOTH)
    ceilings = [cell.id for cell in plan.cells if cell.role is not CellRole.SUBJECT]
    assert ceilings == [
        "loopback:veth/p2p/64",
        "loopback:vhost-user/p2p/64",
        "vnf:veth/pvp+process-io/64",
        "vnf:vhost-user/pvp+process-io/64",
    ], "kinds of ports that differ, and a variant's own VNF, belong to what is compared"
    shown = plan_of(tmp_path, f"{BOTH}\npurpose: survey")
    assert [cell.id for cell in shown.cells if cell.role is CellRole.REFERENCE] == [
        "reference:veth/p2p/64",
        "reference:vhost-user/p2p/64",
    ]


def test_each_deployment_gets_its_vnf(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, BOTH)
    groups = dict(plan.by_deployment(plan.round(1)))
    assert len(groups) == 2 + 2 + 6
    native = plan.choice(DeploymentKey("linux-bridge", CellRole.SUBJECT, "pvp", "native"))
    alone = plan.choice(DeploymentKey("linux-bridge", CellRole.VNF, "pvp", "process-io"))
    assert native is not None and native.native and native.forwarding == "bridge"
    assert alone is not None and not alone.native and alone.label == "process-io"
    assert plan.choice(DeploymentKey("linux-bridge", CellRole.SUBJECT, "p2p")) is None
    for key in groups:
        assert (plan.choice(key) is None) == (key.topology == "p2p")


def test_a_guest_has_no_ceiling_of_its_own(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "topologies: [pvp]\nvnfs: [{kind: vm, forwarding: io}]")
    assert {cell.role for cell in plan.cells} == {CellRole.SUBJECT, CellRole.LOOPBACK}


def test_chains_share_the_ceiling_of_their_vnf(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "topologies: [pv1p, pv2p, pv3p]\nvnfs: [{forwarding: io}]")
    assert [cell.id for cell in plan.cells if cell.role is CellRole.VNF] == [
        "vnf:veth/pvp+process-io/64",
        "vnf:vhost-user/pvp+process-io/64",
    ]


@pytest.mark.parametrize(("topology", "paced"), [("v2v", False), ("v2p", False), ("p2v", True), ("pvp", True)])
def test_a_vnf_as_source_cannot_be_paced(tmp_path: Path, topology: str, paced: bool) -> None:
    plan = plan_of(tmp_path, f"topologies: [{topology}]\nvnfs: [{{forwarding: io}}]\nceilings: false")
    assert {cell.presets for cell in plan.cells} == {(Preset.MRR, Preset.PACED) if paced else (Preset.MRR,)}
    assert {cell.bidirectional for cell in plan.cells} == {topology == "pvp"}


def test_paths_without_two_ports_of_the_generator_have_no_ceilings(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "topologies: [v2v, p2v, v2p]")
    assert {cell.role for cell in plan.cells} == {CellRole.SUBJECT}


def test_vnfs_as_endpoints_are_planned_as_v2v(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "topologies: [p2p]\nendpoints: vm")
    assert [cell.id for cell in plan.cells] == ["linux-bridge/v2v+vm-io/64", "ovs-dpdk/v2v+vm-io/64"]


def test_what_a_variant_lacks_is_not_applicable(tmp_path: Path) -> None:
    study = PROJECT.load_study("demo", {"topologies": ["pvp"], "frame_sizes": [64, "imix"], "ceilings": False})
    without = {key: choice for key, choice in study.choices.items() if key != ("linux-bridge", "native")}
    plan = expand(study.experiment, study.variants, without)
    assert {reason for _, reason in plan.absent} == {"variant linux-bridge has no VNF of its own (native_vnf)"}
    one_size = plan_of(tmp_path, "topologies: [v2p]\nvnfs: [{forwarding: io}]")
    mixed = one_size.experiment.model_copy(update={"frame_sizes": ("imix",)})
    plan = expand(mixed, study.variants, one_size.choices)
    assert {reason for _, reason in plan.absent} == {"a VNF that is the source sends frames of one size"}


def test_guests_take_time_to_boot(tmp_path: Path) -> None:
    rest = "topologies: [pvp]\nceilings: false\nvnfs: [{kind: %s, forwarding: io}]"
    vm, process = (plan_of(tmp_path, rest % kind) for kind in ("vm", "process"))
    overheads = Overheads(boot_s=100)
    assert length_s(vm, vm.round(1), overheads) == length_s(process, process.round(1), overheads) + 2 * 100


def test_at_each_path_all_variants_are_next_to_each_other(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, BOTH)
    paths = [("p2p", ""), ("pvp", "native"), ("pvp", "process-io")]
    firsts = []
    for number in range(1, 13):
        keys = [key for key, _ in plan.by_deployment(plan.round(number))]
        subjects = [key for key in keys if key.role is CellRole.SUBJECT]
        expected = ["linux-bridge", "ovs-dpdk"] if number % 2 else ["ovs-dpdk", "linux-bridge"]
        pairs = list(zip(subjects[::2], subjects[1::2], strict=True))
        assert all([first.variant, second.variant] == expected for first, second in pairs)
        assert all((first.topology, first.vnf) == (second.topology, second.vnf) for first, second in pairs)
        order = [(first.topology, first.vnf) for first, _ in pairs]
        assert sorted(order) == sorted(paths)
        firsts.append(order[0])
        for place, key in enumerate(keys):
            if key.role is not CellRole.SUBJECT:
                own = next(later for later in keys[place:] if later.role is CellRole.SUBJECT)
                assert (own.topology, own.vnf) == (key.topology, key.vnf), "a ceiling is next to what it bounds"
    assert firsts[:3] == paths


def test_a_gateway_is_missing_where_no_ports_are_for_it_and_the_reason_is_given(tmp_path: Path) -> None:
    names = ("nextepc", "xdp-gateway", "dpdk-gateway")
    vnfs = ", ".join(f"{{vnf: vepc, forwarding: {name}}}" for name in names)
    plan = plan_of(tmp_path, f"topologies: [vepc]\nceilings: false\nvnfs: [{vnfs}]")
    assert [cell.id for cell in plan.cells] == [
        "linux-bridge/vepc+process-nextepc-vepc/64",
        "linux-bridge/vepc+process-xdp-gateway-vepc/64",
        "ovs-dpdk/vepc+process-dpdk-gateway-vepc/64",
    ]
    absent = {cell.id: reason for cell, reason in plan.absent}
    assert list(absent) == [
        "linux-bridge/vepc+process-dpdk-gateway-vepc/64",
        "ovs-dpdk/vepc+process-nextepc-vepc/64",
        "ovs-dpdk/vepc+process-xdp-gateway-vepc/64",
    ]
    assert "vhost-user and memif ports" in absent["linux-bridge/vepc+process-dpdk-gateway-vepc/64"]
    assert all("kernel ports" in absent[f"ovs-dpdk/vepc+process-{name}-vepc/64"] for name in names[:2])
