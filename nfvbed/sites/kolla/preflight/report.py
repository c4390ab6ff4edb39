"""The doctor's report of a rack: its machines, all faults, and which variants could be deployed."""

from collections.abc import Iterable

from nfvbed.records import Readiness, Support
from nfvbed.records.findings import Finding as Topic
from nfvbed.records.findings import SiteReport, State
from nfvbed.sites.kolla.pinning import Pinning, pinned_by, plane_of
from nfvbed.sites.kolla.preflight.checks import examine_gathered
from nfvbed.sites.kolla.preflight.facts import MachineFacts
from nfvbed.sites.kolla.preflight.finding import Finding, blocking
from nfvbed.sites.kolla.preflight.gather import gather
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant

OF_THE_SITE = "site"
"""What is no machine's."""


class RackReport(SiteReport):
    """The report on a rack."""

    site: str
    release: str
    machines: dict[str, MachineFacts]
    """Those that could be asked."""
    faults: tuple[Finding, ...]
    """Faults of all variants that the release can have, each once."""

    @property
    def title(self) -> str:
        """Its name."""
        return f"site {self.site}, OpenStack {self.release}: {len(self.machines)} machines answered"

    @property
    def findings(self) -> tuple[Topic, ...]:
        """Machines, then faults."""
        machines = [
            Topic(topic=name, state=State.PRESENT, summary=facts.summary, probed="read over SSH")
            for name, facts in self.machines.items()
        ]
        return (*machines, *map(_topic, self.faults))


def examine_rack(
    project: Project,
    site: KollaSiteSpec,
    release: KollaReleaseSpec,
    variants: Iterable[Variant],
    *,
    try_functions: bool = False,
) -> RackReport:
    """Ask all machines once, and check each variant against the answers; pinned ones are checked together.

    Args:
        project: its flavors are checked too, as they are made in the cloud.
        release: release that is to be deployed.
        try_functions: make virtual functions for a moment.
    """
    gathered = gather(site, try_functions=try_functions)
    faults, supports = dict[Finding, None](), []
    for variant in variants:
        if site.pinned and variant.name not in site.pinned.values():
            continue
        pinning = pinned_by(project, site) if site.pinned else Pinning.everywhere(variant, site)
        found = examine_gathered(project, site, pinning, release, gathered)
        supports.append(support_of(variant, release, found))
        support = plane_of(variant).on(release)
        if support is not None and support.is_deployed:
            faults |= dict.fromkeys(found)
    return RackReport(
        site=site.name,
        release=release.name,
        machines=dict(gathered.facts),
        faults=tuple(faults),
        variants=tuple(supports),
    )


def support_of(variant: Variant, release: KollaReleaseSpec, findings: list[Finding]) -> Support:
    """Return whether a variant could be deployed, and how many faults prevent it."""
    known = plane_of(variant).on(release)
    roles = known.roles if known else ()
    keeping = blocking(findings, roles)
    if keeping:
        more = f" (and {len(keeping) - 1} more, above)" if len(keeping) > 1 else ""
        first = keeping[0]
        return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=first.what + more, fix=first.fix)
    if findings:
        named = "; ".join(dict.fromkeys(finding.what for finding in findings))
        return Support(variant=variant.name, readiness=Readiness.DEGRADED, reason=named, fix=_prepared(findings))
    return Support(variant=variant.name, readiness=Readiness.READY, reason="nothing keeps it from being deployed")


def _prepared(findings: list[Finding]) -> str:
    roles = sorted({finding.prepared_by for finding in findings} - {""})
    return f"nfvbed's roles make it so before Kolla's: {', '.join(roles)}" if roles else findings[0].fix


def _topic(fault: Finding) -> Topic:
    fix = f"role {fault.prepared_by} does it before Kolla's; by hand: {fault.fix}" if fault.prepared_by else fault.fix
    return Topic(
        topic=fault.machine or OF_THE_SITE,
        state=State.ABSENT if fault.stops and not fault.prepared_by else State.LIMITED,
        summary=f"{fault.what}: {fault.observed}",
        probed=fault.key,
        fix=fix,
    )
