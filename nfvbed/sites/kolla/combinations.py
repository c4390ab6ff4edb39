"""Every variant on every example site with every release: what can be rendered, and why others cannot."""

from dataclasses import dataclass

from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.sites.kolla.render import order_of
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant

EXAMPLES = ("rack", "rack-connectx", "rack-two-machines")
"""Sites of several machines that nfvbed comes with; a user's own are not among them."""


@dataclass(frozen=True)
class Combination:
    """A variant, a site and a release, by their files' names."""

    variant: str
    site: str
    release: str
    reason: str = ""
    """Reason why it is unsupported; empty: it is rendered."""

    @property
    def rendered(self) -> bool:
        """Whether Kolla gets files for it."""
        return not self.reason

    def of(self, variant: Variant, release: KollaReleaseSpec) -> bool:
        """Return whether this is a combination of a variant with a release."""
        return (self.variant, self.release) == (variant.name, release.name)


def combinations(project: Project) -> tuple[Combination, ...]:
    """Return all combinations, in the order of variants, releases and sites."""
    sites = [site for site in map(project.load_site, EXAMPLES) if isinstance(site, KollaSiteSpec)]
    releases = [project.load_kolla_release(name) for name in project.kolla_release_names]
    return tuple(
        Combination(variant.name, site.name, release.name, _reason(variant, site, release))
        for variant in project.list_variants()
        for release in releases
        for site in sites
    )


def _reason(variant: Variant, site: KollaSiteSpec, release: KollaReleaseSpec) -> str:
    try:
        order_of(variant, site, release)
    except (ConfigurationError, UnsupportedError) as failure:
        return f"{failure.what}: {failure.observed}"
    return ""
