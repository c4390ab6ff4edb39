"""A run as bundles are made of it: two data planes, with names, addresses and serials in what is stored of it."""

import dataclasses

from nfvbed.records import FactRecord
from nfvbed.records.annotations import Annotation, Mark
from nfvbed.store import content_hash
from nfvbed.store.transfer import RunDocument, StoredBlob
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build

SERVER = "7f1c9d52-8a56-4c44-9a3f-0123456789ab"
NIC = {"address": "0000:3b:00.0", "vendor": "Intel", "device": "0x1572", "mac": "3c:fd:fe:9e:00:01", "serial": "J1K2L3"}


def named_document() -> RunDocument:
    """Return the export of a run on a host of another user."""
    systems = tuple(dataclasses.replace(system, capacity={64: system.capacity[64]}) for system in (BRIDGE, OVS))
    data = build(Scenario(systems=systems, rounds=8, far_rounds=(), changing=()))
    blobs = dict[str, StoredBlob]()

    def kept(kind: str, value: object) -> str:
        blobs[digest := content_hash(value)] = StoredBlob(kind=kind, value=value)
        return digest

    doctor = {
        "nics": {"nics": [NIC], "summary": "of rack7-node3.example.net (10.20.30.40, fe80::1, 2a00:1450::5)"},
        "kernel": "6.1.0.13",
        "host": "rack7-node3.example.net",
        "qemu": {"path": "/".join(("", "home", "alice", "qemu")), "versions": {"qemu": "10.0.2.1"}},
    }
    described = {
        "plan_hash": kept("plan", {}),
        "host_hash": kept("host", data.host),
        "doctor_hash": kept("doctor", doctor),
    }
    rigs = {digest: kept("rig", rig) for digest, rig in data.rigs.items()}
    cells = tuple(
        cell.model_copy(
            update={
                "rig_hash": rigs[cell.rig_hash],
                "config_hash": kept("variant", {"variant": {"name": cell.variant}}),
            }
        )
        for cell in data.cells
    )
    detail = {"project": "acme-5g", "server": SERVER, "url": "https://identity.acme.test:5000/v3", "user": "alice"}
    return RunDocument(
        run=data.run.model_copy(update=described),
        cells=cells,
        trials=data.trials,
        facts=(FactRecord(run=RUN, cell=None, round=None, step="onboard", duration_ns=5, detail=detail),),
        blobs=blobs,
        annotations=(Annotation(run=RUN, mark=Mark.NOTE, text="acme's rack", by="alice", at="2026-01-02T03:10:00Z"),),
    )
