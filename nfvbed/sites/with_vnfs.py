"""From a site's file to the site, with VNFs."""

from pathlib import Path

from nfvbed.sites.catalogue import open_site as open_bare_site
from nfvbed.sites.lab.onboarding import OnboardingSite
from nfvbed.spec.site import SiteSpec


def open_site(site_spec: SiteSpec, root: Path) -> OnboardingSite:
    """Open a site; nothing is changed on any host yet.

    Args:
        site_spec: what the site's file says.
        root: of the project.
    """
    return OnboardingSite(open_bare_site(site_spec, root), root)
