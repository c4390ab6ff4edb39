"""The append-only store of results: SQLite by default, PostgreSQL by URL."""

from nfvbed.store.canonical import canonical_json, content_hash
from nfvbed.store.store import Store

__all__ = ["Store", "canonical_json", "content_hash"]
