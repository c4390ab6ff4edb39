"""What every variant can do on this host: the adapters answer, by trying."""

from pathlib import Path

from nfvbed.errors import NfvbedError
from nfvbed.host.probes.findings import degraded
from nfvbed.records import Readiness, Support
from nfvbed.sites.catalogue import open_site
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant


def examine_variants(variants: tuple[Variant, ...], site_spec: SiteSpec, root: Path) -> tuple[Support, ...]:
    """Ask the site for each variant; a probe that fails makes its variant unsupported with the failure as reason."""
    return tuple(_examine_variant(variant, site_spec, root) for variant in variants)


def _examine_variant(variant: Variant, site_spec: SiteSpec, root: Path) -> Support:
    if variant.options.is_simulated:
        return Support(variant=variant.name, readiness=Readiness.READY, reason="simulated: never a measurement")
    try:
        return with_misfits(open_site(site_spec, root).probe(variant), variant)
    except NfvbedError as error:
        reason = f"{error.what}: {error.observed}" if error.observed else error.what
        return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=reason, fix=error.fix)


def with_misfits(support: Support, variant: Variant) -> Support:
    """Say of a variant that can be had which of its topologies its options do not fit; no host would change that."""
    misfits = variant.misfits
    if not misfits or support.readiness is Readiness.UNSUPPORTED:
        return support
    by_reason: dict[str, list[str]] = {}
    for topology, failure in misfits.items():
        by_reason.setdefault(failure.what, []).append(topology)
    reasons = [f"not in {', '.join(topologies)}: {what}" for what, topologies in by_reason.items()]
    return degraded(support, reasons, dict.fromkeys(failure.fix for failure in misfits.values()))
