"""The findings of examining a site, topic by topic. Missing is a state with a reason, never an empty string."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from nfvbed.records.trial import Readiness, Record, Support

REPORT_FORMAT = 1


class State(StrEnum):
    """The result of a probe of its topic."""

    PRESENT = "present"
    LIMITED = "limited"
    """There, but less than it could be for measuring."""
    ABSENT = "absent"
    UNKNOWN = "unknown"
    """Could not be probed: no rights, or a recorded tree that cannot be tried."""


class Finding(Record):
    """The finding on one topic of a host.

    Args:
        topic: its name in the table.
        summary: what was observed, in one line.
        probed: how it was found out; "read" is weaker than "tried".
        fix: what the user can do, where there is something to do.
    """

    topic: str
    state: State
    summary: str
    probed: str
    fix: str = ""


class SiteReport(Record, ABC):
    """Everything that is known of a site; stored with every run."""

    format: int = REPORT_FORMAT
    variants: tuple[Support, ...] = ()

    @property
    @abstractmethod
    def title(self) -> str:
        """What was examined."""

    @property
    @abstractmethod
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order of the table."""

    @property
    def ready(self) -> tuple[str, ...]:
        """Variants that can be measured here."""
        return tuple(s.variant for s in self.variants if s.readiness is not Readiness.UNSUPPORTED)


class PlainReport(SiteReport):
    """The report of a site that is no host: what it says of itself."""

    site: str
    topics: tuple[Finding, ...]

    @property
    def title(self) -> str:
        """Its name."""
        return f"site {self.site}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that it named."""
        return self.topics


def stored_findings(report: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Return the findings of a stored report of any kind of site, in the order of its fields; none: nothing is stored.

    Raises:
        pydantic.ValidationError: a finding is none that this nfvbed knows.
    """
    return tuple(_findings_in(report.values()))


def _findings_in(values: Iterable[Any]) -> Iterable[Finding]:
    for value in values:
        if isinstance(value, list):
            yield from _findings_in(value)
        elif isinstance(value, Mapping) and {"topic", "state", "summary", "probed"} <= value.keys():
            yield Finding.model_validate({key: value[key] for key in Finding.model_fields if key in value})
