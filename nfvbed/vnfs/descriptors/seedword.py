"""The placeholder in user data for a deployment's secret."""

from typing import Any

PREFIX = "vnf."
"""Begins all words; what else is in user data is for others."""
NO_SEED = "seed=none"
"""In descriptors: the secret is made for each deployment, when it is onboarded, and is in no file."""


def with_seed(value: Any, seed: str) -> Any:
    """Return user data, or a template or its part, with a secret in place of the word."""
    if isinstance(value, dict):
        return {key: with_seed(one, seed) for key, one in value.items()}
    if isinstance(value, list):
        return [with_seed(one, seed) for one in value]
    if isinstance(value, str) and value.startswith(PREFIX):
        return value.replace(f" {PREFIX}{NO_SEED}", f" {PREFIX}seed={seed}")
    return value
