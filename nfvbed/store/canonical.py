"""One text and one hash for a value, however it was built: blobs are named by it."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel


def plain(value: Any) -> Any:
    """Turn models, tuples and mappings into what JSON has."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [plain(item) for item in items]
    return value


def canonical_json(value: Any) -> str:
    """Return a value as JSON with sorted keys and no spaces.

    Raises:
        ValueError, TypeError: it holds NaN, an infinity or something that JSON does not have.
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
