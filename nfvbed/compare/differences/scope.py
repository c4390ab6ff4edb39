"""What a comparison of two cells may claim: only the variant differs, whole systems differ, or nothing.

Scopes are defined by the hashes of host, rig and configuration (docs: "Three hashes"). A path through the same VNF on
both sides is `controlled` also where the ports differ in kind: a switch brings its own kind of ports, so the port (and
the generator's engine that fits it) is part of what is compared, and is listed. Without a VNF there is nothing but
ports and engine on both sides of the switch, so `p2p` over ports of different kinds compares systems (ADR 0008).
"""

from enum import StrEnum
from typing import Any, Final

from nfvbed.compare.differences.descriptions import differing, flat
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.records import Record, Status
from nfvbed.spec.pcrf import NEXTEPC
from nfvbed.spec.vnf import NATIVE

OF_THE_PORTS: Final = ("port_kind", "generator", "engine", "vnf.port_kind", "vnf.ports", "vif_types")
"""Keys of a rig's description that follow from the kind of ports that a switch has."""


class Scope(StrEnum):
    """What a comparison may claim."""

    CONTROLLED = "controlled"
    SYSTEM = "system"
    NOT_COMPARABLE = "not-comparable"


class ScopeFinding(Record):
    """The scope of one difference, with its ground."""

    scope: Scope
    reason: str
    differences: tuple[str, ...] = ()
    """What differs between the rigs, `key: baseline -> candidate`; empty when nothing but the variant does."""
    trend: bool = False
    """One variant, and only its configuration or versions differ."""
    vnf_differs: bool = False
    """The two went through different VNFs, each the variant's own."""


def find_scope(
    candidate: CellSummary, baseline: CellSummary, rigs: dict[str, dict[str, Any]] | None = None
) -> ScopeFinding:
    """Return what a difference between two cells means.

    Args:
        rigs: rig descriptions by hash, to list what differs.
    """
    obstacle = _obstacle(candidate, baseline) or _other_gateway(candidate, baseline, rigs or {})
    obstacle = obstacle or _other_sessions(candidate, baseline) or _other_neighbour(candidate, baseline)
    if obstacle:
        return ScopeFinding(scope=Scope.NOT_COMPARABLE, reason=obstacle)
    if candidate.vnf == NATIVE and candidate.variant != baseline.variant:
        return _system(candidate, baseline, rigs or {}, "whole native stacks: each variant with its own VNF")
    if candidate.rig_hash == baseline.rig_hash and candidate.port_kind == baseline.port_kind:
        return _controlled(candidate, baseline)
    if not candidate.vnf or candidate.vnf == NATIVE:
        return _system(candidate, baseline, rigs or {}, "whole native stacks: the rigs differ")
    if _beyond_the_ports(candidate, baseline, rigs or {}):
        return _system(candidate, baseline, rigs or {}, "the rigs differ in more than the switch's ports")
    reason = "the same VNF; the variant differs, and with it the kind of ports"
    differences = _rig_differences(candidate, baseline, rigs or {})
    return ScopeFinding(scope=Scope.CONTROLLED, reason=reason, differences=differences)


def _system(
    candidate: CellSummary, baseline: CellSummary, rigs: dict[str, dict[str, Any]], reason: str
) -> ScopeFinding:
    differences = list(_rig_differences(candidate, baseline, rigs))
    other = candidate.vnf_resolved != baseline.vnf_resolved
    if other:
        differences.insert(0, f"VNF: {baseline.vnf_resolved} -> {candidate.vnf_resolved}")
    return ScopeFinding(scope=Scope.SYSTEM, reason=reason, differences=tuple(differences), vnf_differs=other)


def _obstacle(candidate: CellSummary, baseline: CellSummary) -> str:
    """Return the first reason why two cells cannot be compared, or nothing."""
    if candidate.host_hash != baseline.host_hash:
        return "measured on different hosts (or the host was changed in between)"
    if candidate.simulated != baseline.simulated:
        return "one is simulated, the other measured"
    if candidate.vnf != baseline.vnf:
        return f"through different VNFs: {candidate.vnf or 'none'} and {baseline.vnf or 'none'}"
    for name, side in ((candidate.cell, candidate), (baseline.cell, baseline)):
        if side.status is not Status.OK or side.mrr is None:
            return f"{name} is {side.status.value}: {side.reason}" if side.reason else f"{name} is {side.status.value}"
        if side.unranked:
            return f"{name} {side.unranked}"
    return ""


def _other_gateway(candidate: CellSummary, baseline: CellSummary, rigs: dict[str, dict[str, Any]]) -> str:
    """Return why two cells are not of one scope where different gateways of a mobile core carry them, or nothing.

    So it is where their UEs attached through different PCRFs. A label says it already; a variant's own VNF has none
    that does.
    """
    of_rigs = [rigs.get(side.rig_hash, {}).get("vnf") for side in (candidate, baseline)]
    for key, words, usual in (("gateway", "gateways", "none"), ("pcrf", "PCRFs", NEXTEPC)):
        found = [(vnf.get(key) if isinstance(vnf, dict) else None) or usual for vnf in of_rigs]
        if found[0] != found[1]:
            return f"through different {words}: {found[0]} and {found[1]}"
    return ""


def _other_sessions(candidate: CellSummary, baseline: CellSummary) -> str:
    """Return that one had connections that were answered and the other such that were not, or nothing."""
    if candidate.sessions is baseline.sessions:
        return ""
    return f"their traffic had different sessions: {candidate.sessions.value} and {baseline.sessions.value}"


def _other_neighbour(candidate: CellSummary, baseline: CellSummary) -> str:
    """Return that one was disturbed on purpose otherwise than the other, or nothing."""
    if candidate.neighbour == baseline.neighbour:
        return ""
    beside = [side.neighbour or "none" for side in (candidate, baseline)]
    return f"beside different noisy neighbours: {beside[0]} and {beside[1]}"


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
    left, right = (flat(rigs.get(side.rig_hash, {})) for side in (baseline, candidate))
    if not left or not right:
        found.append("rig descriptions are not stored; only their hashes differ")
    found += [
        f"{key}: {left.get(key, 'absent')} -> {right.get(key, 'absent')}"
        for key in differing(left, right)
        if key != "port_kind"
    ]
    return tuple(found)


def _beyond_the_ports(candidate: CellSummary, baseline: CellSummary, rigs: dict[str, dict[str, Any]]) -> bool:
    """Return whether the rigs differ in more than what follows from the ports; a rig that is not known may."""
    left, right = (flat(rigs.get(side.rig_hash, {})) for side in (baseline, candidate))
    if not left or not right:
        return True
    return any(
        not any(key == allowed or key.startswith(f"{allowed}.") for allowed in OF_THE_PORTS)
        for key in differing(left, right)
    )
