"""From a site's file to the site."""

from pathlib import Path

from nfvbed.deploy.lab.site import LabSite
from nfvbed.spec.site import SiteSpec


def open_site(site_spec: SiteSpec, root: Path) -> LabSite:
    """Open a site; nothing is changed on any host yet.

    Args:
        site_spec: what the site's file says; `lab` is the one kind there is.
        root: of the project.
    """
    return LabSite(site_spec, root)
