"""The doctor: what a site says of itself, and of every variant."""

from nfvbed.errors import NfvbedError
from nfvbed.host.fitness import refused
from nfvbed.host.probes import images
from nfvbed.host.probes.findings import degraded
from nfvbed.records import Readiness, Support
from nfvbed.records.findings import SiteReport
from nfvbed.sites.site import Site
from nfvbed.spec.loader import Project
from nfvbed.spec.variant import Variant


def examine(site: Site, project: Project, *, read_only: bool = True) -> SiteReport:
    """Examine a site.

    Args:
        project: its variants, which the site is asked about, and its VNFs.
        read_only: reserve nothing; else the site may try, for a moment, what only a trial shows. What a data plane
            needs is tried either way, in namespaces of its own.

    Raises:
        ConfigurationError: the file of a variant or of a VNF is not valid.
    """
    report = site.examine(read_only=read_only)
    variants = tuple(project.list_variants(project.load_site(site.name)))
    supports = zip(examine_variants(variants, site), variants, strict=True)
    shown = tuple(images.with_own_image(support, variant, project) for support, variant in supports)
    return report.model_copy(update={"variants": shown})


def examine_variants(variants: tuple[Variant, ...], site: Site) -> tuple[Support, ...]:
    """Ask the site for each variant; a probe that fails makes its variant unsupported with the failure as reason."""
    return tuple(_examine_variant(variant, site) for variant in variants)


def _examine_variant(variant: Variant, site: Site) -> Support:
    if variant.options.is_simulated:
        return Support(variant=variant.name, readiness=Readiness.READY, reason="simulated: never a measurement")
    try:
        return with_misfits(site.probe(variant), variant)
    except NfvbedError as error:
        return refused(variant.name, error)


def with_misfits(support: Support, variant: Variant) -> Support:
    """Return the support of an available variant with the topologies that its options do not fit on any host."""
    misfits = variant.misfits
    if not misfits or support.readiness is Readiness.UNSUPPORTED:
        return support
    by_reason: dict[str, list[str]] = {}
    for topology, failure in misfits.items():
        by_reason.setdefault(failure.what, []).append(topology)
    reasons = [f"not in {', '.join(topologies)}: {what}" for what, topologies in by_reason.items()]
    return degraded(support, reasons, dict.fromkeys(failure.fix for failure in misfits.values()))
