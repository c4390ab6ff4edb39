"""Descriptions of hosts, rigs and configurations, key by key."""

from collections.abc import Mapping
from typing import Any


def flat(value: Any, prefix: str = "") -> dict[str, str]:
    """Flatten nested dictionaries to dotted keys; lists count as one value."""
    if isinstance(value, dict):
        found: dict[str, str] = {}
        for key, inner in value.items():
            found |= flat(inner, f"{prefix}.{key}" if prefix else str(key))
        return found
    return {prefix: str(value)} if prefix else {}


def differing(left: Mapping[str, str], right: Mapping[str, str]) -> list[str]:
    """Return the keys of which two flat descriptions differ; none where one of them is not known."""
    if not left or not right:
        return []
    return [key for key in sorted(left.keys() | right.keys()) if left.get(key) != right.get(key)]


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what differs between two descriptions, `key: before -> after`; nothing where one is not known."""
    left, right = flat(before), flat(after)
    return tuple(f"{key}: {left.get(key, 'absent')} -> {right.get(key, 'absent')}" for key in differing(left, right))
