"""Rows of evidence on real NICs, out of a bundle's run."""

from nfvbed.bundle.hardware import HEAD, rows_of
from nfvbed.bundle.recomputing import compared
from nfvbed.records import FactRecord, PortKind
from nfvbed.records.trial import PORTS
from nfvbed.store import content_hash
from nfvbed.store.transfer import StoredBlob
from tests.bundle_runs import named_document

CABLES = [{"switch": "0000:3b:00.0 8086:1572", "generator": "0000:5e:00.0 15b3:1017"}]


def test_a_run_on_virtual_ports_has_no_row():
    document = named_document()
    assert rows_of(document, compared(document)[1], b"x") == []


def test_a_cell_on_nics_has_a_row_with_models_speed_and_digest():
    document = named_document()
    rig = {"cables": CABLES}
    cells = tuple(
        cell.model_copy(update={"port_kind": PortKind.PCI, "rig_hash": content_hash(rig)})
        if cell.variant == "ovs-dpdk"
        else cell
        for cell in document.cells
    )
    told = {"variant": "ovs-dpdk", "speeds_mbps": [25_000, 25_000]}
    fact = FactRecord(run=document.run.id, cell=None, round=1, step=PORTS, duration_ns=0, detail=told)
    blobs = {**document.blobs, content_hash(rig): StoredBlob(kind="rig", value=rig)}
    measured = document.model_copy(update={"cells": cells, "facts": (fact,), "blobs": blobs})
    [row] = rows_of(measured, compared(measured)[1], b"x")
    columns = [column.strip() for column in row.strip("|").split("|")]
    assert len(columns) == HEAD.count("|") - 1
    assert columns[:2] == ["8086:1572, 15b3:1017", "25,000 Mbit/s"]
    assert columns[3:6] == ["ovs-dpdk", "p2p", "64 B"]
    assert columns[8:] == ["2026-01-02", "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"]
    assert "0000:" not in row
