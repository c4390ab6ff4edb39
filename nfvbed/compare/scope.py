"""What a comparison of two cells may claim: only the variant differs, whole systems differ, or nothing.

Scopes are defined by the hashes of host, rig and configuration (docs: "Three hashes").
"""

from typing import Any

from nfvbed.compare.summary import CellSummary
from nfvbed.records import QualityWarning, Record, Scope, Status


class ScopeFinding(Record):
    """The scope of one difference, with its ground."""

    scope: Scope
    reason: str
    differences: tuple[str, ...] = ()
    """What differs between the rigs, `key: baseline -> candidate`; empty when controlled."""
    trend: bool = False
    """One variant, and only its configuration or versions differ."""


def find_scope(
    candidate: CellSummary, baseline: CellSummary, rigs: dict[str, dict[str, Any]] | None = None
) -> ScopeFinding:
    """Say what a difference between two cells means.

    Args:
        candidate: the cell that is judged.
        baseline: the cell it is judged against.
        rigs: rig descriptions by hash, to list what differs.
    """
    obstacle = _obstacle(candidate, baseline)
    if obstacle:
        return ScopeFinding(scope=Scope.NOT_COMPARABLE, reason=obstacle)
    if candidate.rig_hash == baseline.rig_hash and candidate.port_kind == baseline.port_kind:
        return _controlled(candidate, baseline)
    return ScopeFinding(
        scope=Scope.SYSTEM,
        reason="whole native stacks: the rigs differ",
        differences=_rig_differences(candidate, baseline, rigs or {}),
    )


def _obstacle(candidate: CellSummary, baseline: CellSummary) -> str:
    """Give the first reason why two cells cannot be compared, or nothing."""
    if candidate.host_hash != baseline.host_hash:
        return "measured on different hosts (or the host was changed in between)"
    if candidate.simulated != baseline.simulated:
        return "one is simulated, the other measured"
    for name, side in ((candidate.cell, candidate), (baseline.cell, baseline)):
        if side.status is not Status.OK or side.mrr is None:
            return f"{name} is {side.status.value}: {side.reason}" if side.reason else f"{name} is {side.status.value}"
        if any(limit.kind is QualityWarning.EMULATED_ACCELERATOR for limit in side.limits):
            return f"{name} ran in an emulated guest: its rates mean nothing"
    if candidate.placement_class != baseline.placement_class:
        return f"placement classes differ: {candidate.placement_class} and {baseline.placement_class}"
    return ""


def _controlled(candidate: CellSummary, baseline: CellSummary) -> ScopeFinding:
    if candidate.variant != baseline.variant:
        return ScopeFinding(scope=Scope.CONTROLLED, reason="only the variant differs")
    if candidate.config_hash != baseline.config_hash:
        reason = "trend: same variant, host and rig; its configuration or versions differ"
        return ScopeFinding(scope=Scope.CONTROLLED, reason=reason, trend=True)
    return ScopeFinding(scope=Scope.CONTROLLED, reason="A/A: nothing differs")


def _rig_differences(candidate: CellSummary, baseline: CellSummary, rigs: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    found = []
    if candidate.port_kind != baseline.port_kind:
        found.append(f"port_kind: {baseline.port_kind.value} -> {candidate.port_kind.value}")
    left, right = (_flat(rigs.get(side.rig_hash, {})) for side in (baseline, candidate))
    if not left or not right:
        found.append("rig descriptions are not stored; only their hashes differ")
    else:
        for key in sorted(left.keys() | right.keys()):
            if key != "port_kind" and left.get(key) != right.get(key):
                found.append(f"{key}: {left.get(key, 'absent')} -> {right.get(key, 'absent')}")
    return tuple(found)


def _flat(value: Any, prefix: str = "") -> dict[str, str]:
    """Flatten nested dictionaries to dotted keys; lists count as one value."""
    if isinstance(value, dict):
        flat: dict[str, str] = {}
        for key, inner in value.items():
            flat |= _flat(inner, f"{prefix}.{key}" if prefix else str(key))
        return flat
    return {prefix: str(value)} if prefix else {}
