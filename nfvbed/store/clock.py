"""The time that is written into rows."""

from datetime import UTC, datetime


def utc_now() -> str:
    """Return the time now in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
