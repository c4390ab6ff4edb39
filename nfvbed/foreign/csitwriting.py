"""A run in CSIT's form: one document for each cell's maximum receive rate, and one for each search of NDR and PDR.

Only what CSIT's words mean is written so: an MRR as the receive rates of its trials, and a regular result of a search
with CSIT's own loss and exceed ratios as NDR and PDR. What was not measured, or is irregular, is a failed test case
with the reason. Intervals and verdicts have no place in the form; limits are among the tags.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import fmean, pstdev
from typing import Any, Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.errors import InternalError
from nfvbed.foreign.csit import MODEL, fault_of
from nfvbed.records import Preset, Status, TrialRecord
from nfvbed.records.results import ResultKind
from nfvbed.search.result import GoalResult, SearchResult
from nfvbed.units import NS_PER_S

NDR_LOSS: Final = 0.0
PDR_LOSS: Final = 0.005
EXCEED: Final = 0.5
"""CSIT's exceed ratio of both."""
_UNFIT: Final = re.compile(r"[^a-z0-9_+.-]+")


def to_uti(comparison: Comparison, data: RunData, versions: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Return the documents of a run by the names of their files, each checked against CSIT's schema.

    Args:
        versions: what was measured, by the hash of a cell's configuration.
    """
    made = {}
    for row in comparison.rows:
        trials = [trial for trial in data.trials if trial.cell == row.cell]
        version = versions.get(row.config_hash) or "not recorded"
        made[f"{_part(row.cell)}-mrr.info.json"] = _mrr(row, data, trials, version)
        searches = [
            test for test in comparison.tests if test.cell == row.cell and test.result.kind is ResultKind.SEARCH
        ]
        for number, test in enumerate(searches, 1):
            made[f"{_part(row.cell)}-{number}-ndrpdr.info.json"] = _ndrpdr(row, data, trials, test, version)
    for name, document in made.items():
        if fault := fault_of(document):
            raise InternalError("a document does not fit CSIT's schema", where=name, observed=fault)
    return made


def _mrr(row: CellSummary, data: RunData, trials: Sequence[TrialRecord], version: str) -> dict[str, Any]:
    used = [trial for trial in trials if trial.preset is Preset.MRR and trial.status is Status.OK]
    shared = _shared(row, data, used, version, "mrr")
    if row.status is not Status.OK or not used:
        return shared | _failed(row.reason or f"no trial at maximum load: {row.status.value}")
    values = [float(trial.forwarded_rate_pps) for trial in used]
    rate = {"values": values, "avg": fmean(values), "stdev": pstdev(values), "unit": "pps"}
    return shared | _passed({"type": "mrr", "receive_rate": {"rate": rate}})


def _ndrpdr(
    row: CellSummary, data: RunData, trials: Sequence[TrialRecord], test: MeasuredTest, version: str
) -> dict[str, Any]:
    used = [trial for trial in trials if test.result.holds(trial.sequence)]
    shared = _shared(row, data, used, version, "ndrpdr")
    if not test.result.payload:
        return shared | _failed(test.result.reason or "the search has no result")
    goals = SearchResult.model_validate(test.result.payload).goals
    found = {name: _goal(goals, loss) for name, loss in (("ndr", NDR_LOSS), ("pdr", PDR_LOSS))}
    rates, lacking = {}, []
    for name, goal in found.items():
        if goal is None:
            lacking.append(f"{name}: no goal with CSIT's loss and exceed ratios")
        elif not goal.regular or goal.conditional_throughput_pps is None:
            lacking.append(f"{name}: {goal.irregularity or 'no throughput'} {goal.explanation}".rstrip())
        else:
            rate = {"value": float(goal.conditional_throughput_pps), "unit": "pps"}
            rates[name] = {"lower": {"rate": rate}}
    return shared | (_failed("; ".join(lacking)) if lacking else _passed({"type": "ndrpdr", **rates}))


def _goal(goals: Sequence[GoalResult], loss_ratio: float) -> GoalResult | None:
    fitting = (one for one in goals if (one.goal.loss_ratio, one.goal.exceed_ratio) == (loss_ratio, EXCEED))
    return next(fitting, None)


def _passed(result: dict[str, Any]) -> dict[str, Any]:
    return {"passed": True, "message": "", "result": result}


def _failed(message: str) -> dict[str, Any]:
    return {"passed": False, "message": message, "result": {"type": "unknown"}}


def _shared(
    row: CellSummary, data: RunData, trials: Sequence[TrialRecord], version: str, test_type: str
) -> dict[str, Any]:
    began, ended = _span(trials, data)
    size = f"{row.frame_size}b"
    short = _part(f"{row.variant}-{row.topology}{f'-{row.vnf}' if row.vnf else ''}")
    engine = trials[0].engine if trials else None
    return {
        "version": MODEL,
        "test_id": f"nfvbed.{_part(data.run.experiment)}.{_part(data.run.id)}.{_part(row.cell)}-{test_type}",
        "test_name_long": f"{_part(row.port_kind.value).replace('-', '')}-{size}-{short}",
        "test_name_short": short,
        "test_type": test_type,
        "test_documentation": f"Measured by nfvbed, run {data.run.id}, cell {row.cell}"
        + ("; simulated, not measured" if row.simulated else ""),
        "tags": _tags(row, test_type),
        "start_time": _written(began),
        "end_time": _written(ended),
        "duration": (ended - began).total_seconds(),
        "hosts": [f"host-{data.run.host_hash[:12]}"],
        "telemetry": [],
        "dut_type": row.variant,
        "dut_version": version,
        "tg_type": engine.name if engine else "none",
        "tg_version": engine.version if engine else "none",
    }


def _tags(row: CellSummary, test_type: str) -> list[str]:
    tags = ["NFVBED", test_type.upper(), f"{row.frame_size}B", row.topology.upper(), f"{row.flows}_FLOWS"]
    tags += ["SIMULATED"] if row.simulated else []
    return tags + [limit.kind.value.upper().replace("-", "_") for limit in row.limits]


def _span(trials: Sequence[TrialRecord], data: RunData) -> tuple[datetime, datetime]:
    if not trials:
        began = _read(data.run.started_at)
        return began, began
    times = [_read(trial.started_at) for trial in trials]
    ends = [time + timedelta(seconds=trial.duration_ns / NS_PER_S) for time, trial in zip(times, trials, strict=True)]
    return min(times), max(ends)


def _read(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _written(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _part(text: str) -> str:
    """Return a text as a part of CSIT's names: lower letters, and no space or slash."""
    return _UNFIT.sub("_", text.lower())
