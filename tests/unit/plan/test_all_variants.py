"""A plan of all variants: their names, longer chains, cells with virtual machines, and the ceilings of their ports."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.plan.plan import Plan, expand
from nfvbed.records import CellRole
from nfvbed.spec.rules import Study

PROJECT = open_project(Path(__file__).parents[3])
MATRIX = "topologies: [p2p, pvp, pvvp]\nframe_sizes: [64, 1518]\nchains: {longest: 4, frame_sizes: [64]}"


def study_of(tmp_path: Path, text: str) -> Study:
    path = tmp_path / "trial.yml"
    path.write_text(f"name: trial\ntitle: A trial\n{text}\n")
    return PROJECT.load_study(path)


def plan_of(tmp_path: Path, text: str) -> Plan:
    study = study_of(tmp_path, text)
    return expand(study.experiment, study.variants, study.choices)


def test_all_is_every_variant_that_is_no_simulation(tmp_path: Path) -> None:
    study = study_of(tmp_path, "variants: all\nbaseline: best")
    assert [variant.name for variant in study.variants] == [n for n in PROJECT.variant_names if n != "simulated"]
    assert study.experiment.variants == tuple(variant.name for variant in study.variants)
    assert study.experiment.baseline == "best"


def test_some_of_all_can_be_chosen_and_best_stays(tmp_path: Path) -> None:
    path = tmp_path / "trial.yml"
    path.write_text("name: trial\ntitle: A trial\nvariants: all\nbaseline: best\n")
    study = PROJECT.load_study(path, {"variants": ("ovs-dpdk",)})
    assert (study.experiment.variants, study.experiment.baseline) == (("ovs-dpdk",), "best")


def test_another_word_than_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="variants is not valid"):
        study_of(tmp_path, "variants: every")


def test_chains_add_the_lengths_that_the_topologies_lack(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"variants: [ovs-dpdk]\nceilings: false\n{MATRIX}")
    found = [(cell.topology, cell.frame_size) for cell in plan.cells]
    assert found == [(path, size) for path in ("p2p", "pvp", "pvvp") for size in (64, 1518)] + [
        ("pv3p", 64),
        ("pv4p", 64),
    ]


def test_longer_chains_of_guests_are_skipped_and_shorter_ones_repeated_less(tmp_path: Path) -> None:
    text = f"variants: [ovs-dpdk]\nceilings: false\nvnfs: [{{kind: vm, forwarding: io}}]\n{MATRIX}"
    plan = plan_of(tmp_path, f"{text}\nrepetitions: {{needed: 4, needed_slow: 1}}")
    assert [cell.topology for cell, _ in plan.skipped] == ["pv3p", "pv4p"]
    assert "chains.slow" in plan.skipped[0][1]
    needed = {cell.topology: plan.needed(cell.id) for cell in plan.cells}
    assert needed == {"p2p": 4, "pvp": 1, "pvvp": 1}
    assert not plan_of(tmp_path, text.replace("frame_sizes: [64]}", "frame_sizes: [64], slow: true}")).skipped


def test_a_data_plane_that_takes_long_is_repeated_less(tmp_path: Path) -> None:
    text = f"purpose: survey\nvariants: [ovs-overlay-vxlan, ovs-dpdk]\nceilings: false\n{MATRIX}"
    plan = plan_of(tmp_path, f"{text}\nrepetitions: {{needed: 4, needed_slow: 1}}")
    assert {(cell.variant, plan.needed(cell.id)) for cell in plan.cells} == {("ovs-overlay-vxlan", 1), ("ovs-dpdk", 4)}


def test_with_a_budget_what_takes_long_comes_last(tmp_path: Path) -> None:
    text = "purpose: survey\nvariants: [ovs-overlay-vxlan, ovs-dpdk]\nceilings: false\nframe_sizes: [64]"
    for budget, first in (("", "ovs-overlay-vxlan/p2p/64"), (", budget_s: 60", "ovs-dpdk/p2p/64")):
        plan = plan_of(tmp_path, f"{text}\nrepetitions: {{needed: 2{budget}}}")
        assert plan.round(1)[0].cell == first


def test_with_a_budget_partners_stay_next_to_each_other_and_their_path_comes_last(tmp_path: Path) -> None:
    text = "variants: [ovs-overlay-vxlan, ovs-dpdk]\nceilings: false\nframe_sizes: [64]\ntopologies: [p2p, pvp]"
    plan = plan_of(tmp_path, f"{text}\nvnfs: [{{forwarding: io}}]\nrepetitions: {{budget_s: 60}}")
    order = [key for key, _ in plan.by_deployment(plan.round(1))]
    assert [(key.variant, key.topology) for key in order] == [
        ("ovs-overlay-vxlan", "p2p"),
        ("ovs-dpdk", "p2p"),
        ("ovs-overlay-vxlan", "pvp"),
        ("ovs-dpdk", "pvp"),
    ]


def test_ports_have_ceilings_also_where_no_variant_joins_port_to_port(tmp_path: Path) -> None:
    study = study_of(tmp_path, "variants: [ovs-dpdk]\ntopologies: [pvp]")
    without = study.variants[0].model_copy(update={"topologies": ("pvp",)})
    plan = expand(study.experiment, [without], study.choices)
    assert [c.id for c in plan.cells if c.role is CellRole.LOOPBACK] == [
        "loopback:vhost-user/p2p/64",
        "loopback:vhost-user/p2p/1518",
    ]
