"""Runs for recommendations: two data planes and more, with truths that the answers are held against. All made up."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from nfvbed.compare.comparison import ComparisonOptions
from nfvbed.compare.recommendation.candidates import ExaminedRun
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.verdict import Rules
from nfvbed.records import QualityWarning, Status
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, ResultRecord, TablePayload
from tests.sample_records import OVS, RUN, Scenario, System, build, with_vnf

SURVEY = Rules(purpose="survey", needed=3)


def plane(name: str, rate: float, size: int = 64, **changed: Any) -> System:
    """Return a data plane like Open vSwitch's that forwards so many frames/s, whatever state the host is in."""
    return dataclasses.replace(OVS, name=name, capacity={size: (rate, rate)}, **changed)


def through(system: System, label: str = "process-io", topology: str = "pvp") -> System:
    """Return it with VNFs on its path."""
    return with_vnf(system, label, label, system.capacity[64], topology)


def run_of(*systems: System, run: str = RUN, rounds: int = 12, **changed: Any) -> RunData:
    """Return a run of them on a quiet host, each visit with a trial at the common load; its VNFs say what they do."""
    data = build(
        Scenario(run=run, systems=systems, rounds=rounds, far_rounds=(), changing=(), common_load=True, **changed)
    )
    digests = {system.vnf_resolved for system in systems if system.vnf}
    rigs = dict(data.rigs)
    for digest, rig in data.rigs.items():
        resolved = rig.get("vnf", {}).get("digest")
        if resolved in digests:
            kind, _, forwarding = resolved.partition("-")
            named = {"name": "vloop", "kind": kind, "forwarding": forwarding.removesuffix("-no-offloads")}
            rigs[digest] = rig | {"vnf": rig["vnf"] | named}
    return dataclasses.replace(data, rigs=rigs)


def began(data: RunData, at: str) -> RunData:
    """Return a run that began at another time."""
    return dataclasses.replace(data, run=data.run.model_copy(update={"started_at": at}))


def examined(data: RunData, rules: Rules | None = None, **around: Mapping[str, Any]) -> ExaminedRun:
    """Return a run as it is looked at for a recommendation."""
    return ExaminedRun.of(data, ComparisonOptions(rules=rules or Rules()), **around)


def doctor(available: Sequence[str], unsupported: Sequence[str] = (), **topics: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stored of a doctor's report."""
    entries = [(name, "ready") for name in available] + [(name, "unsupported") for name in unsupported]
    supports = [{"variant": name, "readiness": readiness, "reason": "", "fix": ""} for name, readiness in entries]
    return {"variants": supports, **topics}


def result(data: RunData, cell: str, kind: ResultKind, status: Status = Status.OK, **changed: Any) -> RunData:
    """Return the run with the result of a test."""
    record = ResultRecord(
        run=data.run.id,
        cell=cell,
        round=0,
        test=kind.value,
        kind=kind,
        status=status,
        started_at="2026-01-02T03:10:00Z",
        ended_at="2026-01-02T03:10:09Z",
        **changed,
    )
    return dataclasses.replace(data, results=(*data.results, record))


def flow_scaling(data: RunData, cell: str, rates: Mapping[int, float]) -> RunData:
    """Return the run with a cell's rates by number of flows."""
    rows = tuple(
        MeasuredRow(
            label=f"{flows:,} flows",
            parameters={"flows": flows},
            quantities=(Quantity(name="rate", value=rate, unit="frames/s"),),
        )
        for flows, rate in rates.items()
    )
    return result(data, cell, ResultKind.FLOW_SCALING, payload=TablePayload(rows=rows).model_dump(mode="json"))


def trapped(data: RunData, cell: str) -> RunData:
    """Return the run with offloads on at the ports of a cell's VNF."""
    marked = tuple(
        trial.model_copy(update={"warnings": (*trial.warnings, QualityWarning.OFFLOADS_ON)})
        if trial.cell == cell
        else trial
        for trial in data.trials
    )
    return dataclasses.replace(data, trials=marked)
