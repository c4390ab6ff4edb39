"""The comparison as JSON and CSV, for other programs. Numbers are not rounded."""

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from nfvbed.characters import guarded, shown
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.paced import PacedSummary
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records.quality import QualityWarning

COLUMNS = (
    "run", "cell", "role", "variant", "topology", "vnf", "vnf_resolved", "frame_size_bytes", "flows",
    "bidirectional", "port_kind", "io_path", "simulated", "placement_class", "status", "reason", "rounds", "trials",
    "mrr_pps", "mrr_low_pps", "mrr_high_pps",
    "mrr_iqr_pps", "layer1_bits_per_s", "layer2_bits_per_s", "mrr_loss_ratio", "paced_trials", "paced_load_pps",
    "paced_missing_ratio", "latency_p50_ns", "latency_p99_ns", "common_trials", "common_load_pps",
    "common_missing_ratio", "common_latency_p50_ns", "common_latency_p99_ns", "cpu_switch", "cpu_vnf", "cpu_generator",
    "cycles_per_packet", "cycles_source", "loopback_pps", "vnf_alone_pps", "switching_overhead_ratio",
    "bare_ports_pps", "of_bare_ports", "of_bare_ports_low", "of_bare_ports_high", "limits", "possible_limits",
    "warnings",
    "baseline_cell", "baseline_run", "verdict", "bound", "ratio", "ratio_low", "ratio_high", "ratio_level", "p_value",
    "adjusted_p", "pairs", "look", "matched", "unpaired", "within_margin", "ratio_by_class",
    "scope", "scope_reason", "engine", "host_hash", "rig_hash", "config_hash",
)  # fmt: skip

Value = str | float | int | None


def to_document(comparison: Comparison) -> dict[str, Any]:
    """Return the whole comparison for JSON, raw samples included; `tests` only where there were others than the MRR."""
    return comparison.model_dump(mode="json", exclude=None if comparison.tests else {"tests"})


def to_json(comparison: Comparison) -> str:
    """Return the document of a comparison as JSON."""
    text = json.dumps(to_document(comparison), indent=2, ensure_ascii=False) + "\n"
    return shown(text)  # its escapes are JSON's


def to_csv(comparison: Comparison) -> str:
    """Return one line for each row and ceiling; a missing value is an empty field, never 0."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for fields in rows_of(comparison):
        writer.writerow({name: guarded(value) for name, value in fields.items()})
    return text.getvalue()


def rows_of(comparison: Comparison) -> Iterable[dict[str, Value]]:
    """Yield what `COLUMNS` have of each row and ceiling; a missing value is None, or has no key."""
    for row in (*comparison.rows, *comparison.ceilings):
        yield _row(row) | _rate(row) | _paced(row) | _difference(comparison, row)


def _row(row: CellSummary) -> dict[str, Value]:
    return {
        "run": row.run,
        "cell": row.cell,
        "role": row.role.value,
        "variant": row.variant,
        "topology": row.topology,
        "vnf": row.vnf,
        "vnf_resolved": row.vnf_resolved,
        "frame_size_bytes": row.frame_size,
        "flows": row.flows,
        "bidirectional": int(row.bidirectional),
        "port_kind": row.port_kind.value,
        "io_path": row.io_path,
        "simulated": int(row.simulated),
        "placement_class": row.placement_class,
        "status": row.status.value,
        "reason": row.reason,
        "cpu_switch": row.cpu.switch,
        "cpu_vnf": row.cpu.vnf,
        "cpu_generator": row.cpu.generator,
        "cycles_per_packet": row.cycles_per_packet,
        "cycles_source": row.cycles_source,
        "loopback_pps": row.loopback_pps,
        "vnf_alone_pps": row.vnf_pps,
        "switching_overhead_ratio": row.switching_overhead.ratio if row.switching_overhead else None,
        **_of_bare_ports(row),
        "limits": written_once(limit.kind for limit in row.limits),
        "possible_limits": written_once(limit.kind for limit in row.possible_limits),
        "warnings": written_once(warning.kind for warning in row.warnings),
        "engine": row.engine,
        "host_hash": row.host_hash,
        "rig_hash": row.rig_hash,
        "config_hash": row.config_hash,
    }


def _of_bare_ports(row: CellSummary) -> dict[str, Value]:
    found = row.of_bare_ports
    return {
        "bare_ports_pps": found.ceiling_pps if found else None,
        "of_bare_ports": found.ratio if found else None,
        "of_bare_ports_low": found.interval.low if found and found.interval else None,
        "of_bare_ports_high": found.interval.high if found and found.interval else None,
    }


def _rate(row: CellSummary) -> dict[str, Value]:
    if row.mrr is None:
        return {"rounds": 0, "trials": 0}
    rate = row.mrr
    return {
        "rounds": rate.rounds,
        "trials": rate.trials,
        "mrr_pps": rate.median_pps,
        "mrr_low_pps": rate.interval.low if rate.interval else None,
        "mrr_high_pps": rate.interval.high if rate.interval else None,
        "mrr_iqr_pps": rate.iqr_pps,
        "layer1_bits_per_s": rate.layer1_bits_per_s,
        "layer2_bits_per_s": rate.layer2_bits_per_s,
        "mrr_loss_ratio": rate.loss_ratio,
    }


def _paced(row: CellSummary) -> dict[str, Value]:
    """Return the columns of trials at the row's own half load, and of those at the load that all share."""
    own, shared = _at_load(row.paced, "paced_"), _at_load(row.common, "common_")
    renamed = {f"paced_latency_{name}": f"latency_{name}" for name in ("p50_ns", "p99_ns")}
    return {renamed.get(name, name): value for name, value in own.items()} | shared


def _at_load(found: PacedSummary | None, prefix: str) -> dict[str, Value]:
    if found is None:
        return {f"{prefix}trials": 0}
    latency = found.latency
    return {
        f"{prefix}trials": found.trials,
        f"{prefix}load_pps": found.load_pps,
        f"{prefix}missing_ratio": found.missing_ratio,
        f"{prefix}latency_p50_ns": latency.p50_ns if latency else None,
        f"{prefix}latency_p99_ns": latency.p99_ns if latency else None,
    }


def _difference(comparison: Comparison, row: CellSummary) -> dict[str, Value]:
    found = comparison.difference(row)
    if found is None:
        return {}
    judged = found.judgement
    return {
        "baseline_cell": found.baseline_cell,
        "baseline_run": found.baseline_run,
        "verdict": judged.verdict.value,
        "bound": judged.bound.value,
        "ratio": judged.ratio,
        "ratio_low": judged.interval.low if judged.interval else None,
        "ratio_high": judged.interval.high if judged.interval else None,
        "ratio_level": judged.interval.level if judged.interval else None,
        "p_value": judged.p_value,
        "adjusted_p": judged.adjusted_p,
        "pairs": judged.pairs,
        "look": judged.look,
        "matched": judged.matched,
        "unpaired": int(judged.unpaired),
        "within_margin": int(judged.within_margin),
        "ratio_by_class": " ".join(f"{entry.name}:{entry.ratio:.6g}:{entry.pairs}" for entry in judged.by_class),
        "scope": found.scope.scope.value,
        "scope_reason": found.scope.reason,
    }


def written_once(kinds: Iterable[QualityWarning]) -> str:
    """Return warnings or limits as one field, each once: trials of several kinds may carry the same one."""
    return " ".join(dict.fromkeys(kind.value for kind in kinds))
