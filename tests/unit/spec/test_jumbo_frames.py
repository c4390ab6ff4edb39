"""Jumbo frames: which deployment they have, how long a frame a path takes, and what is said where it does not."""

import json
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs.database import asked_mtu
from nfvbed.errors import UnsupportedError
from nfvbed.plan.plan import Plan, expand
from nfvbed.records import CellRole
from nfvbed.run.visits import described
from nfvbed.spec.choices import resolve
from nfvbed.spec.vnf import VnfUse
from nfvbed.store.canonical import canonical_json

ROOT = Path(__file__).parents[3]
PROJECT = open_project(ROOT)
IO = VnfUse.model_validate({"kind": "process", "forwarding": "io"})
ROUTER = VnfUse.model_validate({"kind": "process", "forwarding": "router"})
GUEST_MAC = VnfUse.model_validate({"kind": "vm", "forwarding": "mac"})
GUEST = VnfUse.model_validate({"kind": "vm", "forwarding": "io"})


def experiment(folder: Path, sizes: str, variants: str = "[ovs-dpdk]") -> Path:
    path = folder / "jumbo.yml"
    path.write_text(f"name: jumbo\ntitle: Jumbo\nvariants: {variants}\nframe_sizes: {sizes}\n")
    return path


def plan_of(folder: Path, sizes: str) -> Plan:
    study = PROJECT.load_study(experiment(folder, sizes))
    return expand(study.experiment, study.variants, study.choices)


def test_jumbo_frames_share_a_deployment_and_leave_the_other_sizes_theirs(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "[64, 1518, 1519, 2000, 9018]")
    for role in (CellRole.SUBJECT, CellRole.LOOPBACK):
        cells = [cell for cell in plan.cells if cell.role is role]
        assert [(cell.frame_size, cell.mtu) for cell in cells] == [
            (64, 1500),
            (1518, 1500),
            (1519, 9000),
            (2000, 9000),
            (9018, 9000),
        ]
        assert len({cell.deployment for cell in cells}) == 2


def test_the_mtu_is_in_what_the_configuration_hash_stands_for(tmp_path: Path) -> None:
    variant = PROJECT.load_variant("ovs-dpdk")
    alone, among = plan_of(tmp_path, "[64, 2000]"), plan_of(tmp_path, "[64, 2000, 9018]")
    seen = []
    for cell_id in ("ovs-dpdk/p2p/64", "ovs-dpdk/p2p/2000"):
        cells = [plan.cell_by_id[cell_id] for plan in (alone, among)]
        reported = [json.loads(canonical_json(described(variant.carrying(cell.mtu), cell, {}))) for cell in cells]
        seen.append([entry["variant"].get("mtu") for entry in reported])
    assert seen == [[None, None], [1982, 9000]]
    assert asked_mtu(variant) is None
    assert asked_mtu(variant.carrying(9000)) == 9000


@pytest.mark.parametrize(
    ("name", "topology", "use", "largest"),
    [
        ("ovs-dpdk", "p2p", None, None),
        ("ovs-dpdk", "pvp", IO, None),
        ("ovs-dpdk", "pvp", GUEST, 1518),
        ("ovs-dpdk-memif", "p2p", None, 1518),
        ("vpp-memif", "p2p", None, 1518),
        ("vpp", "p2p", None, None),
        ("ovs-afxdp", "p2p", None, 3412),
        ("linux-bridge", "p2p", None, 3412),
        ("linux-bridge", "pvp", ROUTER, 3412),
        ("linux-bridge", "pvp", IO, 1518),
        ("linux-bridge", "pvp", GUEST, 1518),
        ("sriov", "pvp", GUEST_MAC, 1518),
        ("lagopus", "p2p", None, 1518),
        ("vale", "p2p", None, 1518),
        ("ovs-overlay-vxlan", "pvp", IO, 1518),
        ("ovs-overlay-local", "pvp", IO, 1518),
    ],
)
def test_a_path_takes_what_its_narrowest_part_takes(
    name: str, topology: str, use: VnfUse | None, largest: int | None
) -> None:
    variant = PROJECT.load_variant(name)
    choice = None if use is None else resolve(use, variant, PROJECT)
    limit = variant.frame_limit(topology, choice)
    assert (limit and limit.largest) == largest
    variant.require_frames(largest or 9018, topology, choice)
    variant.require_frames("imix", topology, choice)
    if limit is not None:
        with pytest.raises(UnsupportedError) as refused:
            variant.require_frames(limit.largest + 1, topology, choice)
        assert f"variant {name}" in (refused.value.where or "")
        assert f"{limit.largest}" in (refused.value.fix or "")


def test_what_no_path_takes_is_refused_before_anything_is_deployed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    monkeypatch.setenv("NFVBED_STORE", str(tmp_path / "results.sqlite"))
    path = str(experiment(tmp_path, "[64, 9018]", "[ovs-dpdk, linux-bridge]"))
    for command in (
        ["plan", path],
        ["run", path],
        ["trace", "linux-bridge", "--frame-size", "9018"],
        ["deploy", "linux-bridge", "--frame-size", "9018"],
    ):
        assert main(command) == 11
        said = " ".join(capsys.readouterr().err.split())
        assert "frames of 9018 bytes do not pass linux-bridge (p2p)" in said
        assert "variant linux-bridge, ports of kind veth" in said
        assert "3412 bytes" in said
