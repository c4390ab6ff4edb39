"""What a page shows beside the comparison: when, where and with what it was measured."""

from dataclasses import dataclass, field
from typing import Any

from nfvbed.compare.comparison import Comparison
from nfvbed.records import FactRecord, RunRecord


@dataclass(frozen=True)
class ReportContext:
    """The input of the page. Texts in it came from outside and are escaped where they are shown."""

    comparison: Comparison
    runs: tuple[RunRecord, ...]
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Host descriptions by hash."""
    rigs: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Rig descriptions by hash."""
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Resolved configurations by hash."""
    facts: tuple[FactRecord, ...] = ()
    """Timed steps of deployments."""
    title: str = ""
    """The experiment's; the page falls back to its name."""


def flat(value: Any, prefix: str = "") -> dict[str, str]:
    """Flatten nested descriptions to dotted keys and readable values, for a table of facts."""
    if isinstance(value, dict):
        found: dict[str, str] = {}
        for key, inner in value.items():
            found |= flat(inner, f"{prefix}.{key}" if prefix else str(key))
        return found
    if isinstance(value, list | tuple):
        if all(not isinstance(item, dict | list | tuple) for item in value):
            return {prefix: ", ".join(str(item) for item in value) or "none"}
        found = {}
        for index, inner in enumerate(value):
            found |= flat(inner, f"{prefix}[{index}]")
        return found
    if value is None:
        return {prefix: "not known"}
    return {prefix: ("yes" if value else "no") if isinstance(value, bool) else str(value)}
