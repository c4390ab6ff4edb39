"""What was found when a site was examined: as it is stored with a run, or as a job printed it."""

import json
from collections import Counter
from typing import Final

from nfvbed.compare.agreement import supports_of
from nfvbed.dashboard.results.source import Source
from nfvbed.records import Readiness, Record, RunRecord, Support
from nfvbed.records.findings import Finding, State, stored_findings

NAMED: Final = 5
"""Absent topics that the headline names."""


class DoctorReport(Record):
    """The doctor's findings about a host, and its answers on variants."""

    findings: tuple[Finding, ...] = ()
    variants: tuple[Support, ...] = ()

    @property
    def headline(self) -> str:
        """How many variants are in each state, and which topics are absent."""
        states = Counter(entry.readiness.value for entry in self.variants)
        counted = ", ".join(f"{states[state.value]} {state.value}" for state in Readiness if states[state.value])
        lacking = [entry.topic for entry in self.findings if entry.state is State.ABSENT]
        more = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
        absent = f"absent: {', '.join(lacking[:NAMED])}{more}" if lacking else ""
        return "; ".join(part for part in (f"Variants: {counted}" if counted else "", absent) if part)


class Doctor(DoctorReport):
    """The doctor's report that was stored with a run."""

    run: str
    site: str
    stored: bool
    """Whether there is one: runs of VSPERF and of older formats have none."""


def printed(output: bytes) -> DoctorReport | None:
    """Return what `nfvbed doctor --json` printed; None where it is no such document."""
    try:
        report = json.loads(output)
        if not isinstance(report, dict):
            return None
        return DoctorReport(findings=stored_findings(report), variants=supports_of(report))
    except ValueError:  # pydantic's is one too
        return None


def doctor_of(source: Source, run: RunRecord) -> Doctor:
    """Return the doctor's report of a run."""
    report = source.described(run.doctor_hash)
    return Doctor(
        run=run.id,
        site=run.site,
        stored=bool(report),
        findings=stored_findings(report),
        variants=supports_of(report),
    )
