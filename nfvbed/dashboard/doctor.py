"""What was found when a run's site was examined, as it is stored with the run."""

from nfvbed.compare.agreement import supports_of
from nfvbed.dashboard.source import Source
from nfvbed.findings import Finding, stored_findings
from nfvbed.records import Record, RunRecord, Support


class Doctor(Record):
    """A stored report."""

    run: str
    site: str
    stored: bool
    """Whether there is one: runs of VSPERF and of older formats have none."""
    findings: tuple[Finding, ...] = ()
    variants: tuple[Support, ...] = ()


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
