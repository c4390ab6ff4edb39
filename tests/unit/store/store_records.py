"""Small valid records for tests of the store."""

from typing import Any

from nfvbed.records import (
    CellRecord,
    CoreDistance,
    DirectionCounts,
    Engine,
    FactRecord,
    PortKind,
    Preset,
    QualityWarning,
    RunRecord,
    TrialRecord,
)
from nfvbed.records.acknowledgements import Acknowledgement
from nfvbed.records.results import ResultKind, ResultRecord

RUN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


def run_record(**changes: Any) -> RunRecord:
    values = {"id": RUN_ID, "experiment": "demo", "site": "lab", "host_hash": "a" * 64, "plan_hash": "b" * 64}
    return RunRecord.model_validate({**values, "started_at": "2024-01-01T00:00:00.000+00:00", **changes})


def cell_record(**changes: Any) -> CellRecord:
    values = {"id": "ovs-dpdk/p2p/64", "run": RUN_ID, "variant": "ovs-dpdk", "topology": "p2p", "frame_size": 64}
    values |= {"flows": 1, "port_kind": PortKind.VHOST_USER, "config_hash": "c" * 64, "rig_hash": "d" * 64}
    return CellRecord.model_validate({**values, **changes})


def trial_record(**changes: Any) -> TrialRecord:
    values: dict[str, Any] = {
        "run": RUN_ID,
        "cell": "ovs-dpdk/p2p/64",
        "sequence": 1,
        "round": 1,
        "preset": Preset.MRR,
        "started_at": "2024-01-01T00:00:01.000+00:00",
        "intended_load_pps": None,
        "offered_load_pps": 10_000_000_000,
        "forwarded_rate_pps": 9_999_999_999,
        "directions": (DirectionCounts(intended=10, sent=10, received=9, lost=1),),
        "duration_ns": 500_000_000,
        "latency_hdr": ("HISTFAAAA", None),
        "switch_counters": {"raw": {"a": [1, 2.5, None]}},
        "core_distance_ns": CoreDistance(before=31.5, after=150.25),
        "engine": Engine(name="nfvgen", version="1"),
        "warnings": (QualityWarning.CPU_STOLEN,),
    }
    return TrialRecord.model_validate({**values, **changes})


def fact_record(**changes: Any) -> FactRecord:
    values = {"run": RUN_ID, "cell": None, "round": 1, "step": "deploy", "duration_ns": 3, "detail": {"variant": "v"}}
    return FactRecord.model_validate({**values, **changes})


def result_record(**changes: Any) -> ResultRecord:
    values: dict[str, Any] = {"run": RUN_ID, "cell": "ovs-dpdk/p2p/64", "round": 1, "test": "search"}
    values |= {"kind": ResultKind.SEARCH, "placement_class": "near", "first_sequence": 2, "last_sequence": 9}
    values |= {"started_at": "2024-01-01T00:00:02.000+00:00", "ended_at": "2024-01-01T00:01:00.000+00:00"}
    values |= {"warnings": (QualityWarning.UNSENT,), "payload": {"goals": [{"name": "NDR", "pps": None}]}}
    return ResultRecord.model_validate({**values, **changes})


def acknowledgement(**changes: Any) -> Acknowledgement:
    values = {"setting": "a setting", "run": RUN_ID, "reason": "known", "by": "ann"}
    values |= {"at": "2024-01-02T00:00:00.000+00:00", "expires_at": "2024-03-01T00:00:00.000+00:00"}
    return Acknowledgement.model_validate({**values, **changes})
