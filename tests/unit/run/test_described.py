"""What a configuration's hash stands for names the I/O path where the kind of port leaves it open."""

import pytest

from nfvbed.compare.rows.rundata import RunData
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.plan.cells import CellPlan
from nfvbed.records import CellRecord, CellRole, PortKind, RunRecord
from nfvbed.run.visits import described
from tests.sample_records import RUN

NEW = "a" * 64


def reported(options: dict[str, str], kind: str, role: CellRole) -> dict[str, object]:
    values = {"name": "v", "title": "v", "topologies": ("p2p",), "options": options, "port_kind": kind}
    variant = VariantModel.model_validate(values)
    cell = CellPlan(
        id="v/p2p/64",
        variant="v",
        role=role,
        topology="p2p",
        frame_size=64,
        flows=1,
        bidirectional=True,
        port_kind=PortKind(kind),
        ports=variant.ports,
    )
    return described(variant, cell, {})


@pytest.mark.parametrize(
    ("options", "kind", "role", "path"),
    [
        ({"dataplane": "linux-bridge"}, "veth", CellRole.SUBJECT, "netdev"),
        ({"dataplane": "linux-bridge"}, "veth", CellRole.REFERENCE, "af_xdp"),
        ({"dataplane": "ovs-afxdp"}, "veth", CellRole.SUBJECT, "af_xdp"),
        ({"dataplane": "ovs-dpdk"}, "vhost-user", CellRole.SUBJECT, None),
        ({"dataplane": "ovs-dpdk"}, "vhost-user", CellRole.REFERENCE, None),
    ],
)
def test_the_path_is_stored_where_the_ports_do_not_tell_it(
    options: dict[str, str], kind: str, role: CellRole, path: str | None
) -> None:
    assert reported(options, kind, role).get("io_path") == path


def test_a_run_gives_the_path_that_was_stored_or_that_the_ports_tell() -> None:
    run = RunRecord(id=RUN, experiment="e", site="lab", host_hash="", plan_hash="", started_at="")
    values = {"run": RUN, "variant": "v", "topology": "p2p", "frame_size": 64, "flows": 1, "rig_hash": ""}
    cells = [
        CellRecord(id=name, config_hash=digest, port_kind=kind, **values)
        for name, digest, kind in (
            ("new", NEW, PortKind.VETH),
            ("old", "b" * 64, PortKind.VETH),
            ("dpdk", "c" * 64, PortKind.VHOST_USER),
        )
    ]
    data = RunData(run, tuple(cells), (), io_paths={NEW: "netdev"})
    assert [data.io_path_of(cell) for cell in cells] == ["netdev", "", "vhost"]
