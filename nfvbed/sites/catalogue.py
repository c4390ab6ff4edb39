"""From a site's file to the site."""

from pathlib import Path

from nfvbed.errors import UnsupportedError
from nfvbed.host.identity import is_elsewhere, this_node
from nfvbed.sites.guest_node.site import GuestNodeSite
from nfvbed.sites.lab.onboarding import OnboardingSite
from nfvbed.sites.lab.site import LabSite
from nfvbed.spec.site import SiteSpec


def open_site(site_spec: SiteSpec, root: Path) -> OnboardingSite:
    """Open a site with VNFs on it; nothing is changed on any host yet.

    Args:
        site_spec: what the site's file says.
        root: of the project.

    Raises:
        UnsupportedError: it is a guest node, and this machine is not that.
    """
    return OnboardingSite(open_lab(site_spec, root), root)


def open_lab(site_spec: SiteSpec, root: Path) -> LabSite:
    """Open a site for data planes alone; nothing is changed on any host yet.

    Args:
        site_spec: what the site's file says.
        root: of the project.

    Raises:
        UnsupportedError: it is a guest node, and this machine is not that.
    """
    if site_spec.kind == "lab":
        return LabSite(site_spec, root)
    node = this_node()
    if node is None or is_elsewhere(site_spec):
        raise UnsupportedError(
            f"site {site_spec.name} is a virtual machine that lives as long as one command",
            where=f"deploy/sites/{site_spec.name}.yml",
            observed="a command that would leave something standing, or that does not work there",
            fix=f"nfvbed run EXPERIMENT --site {site_spec.name}, or nfvbed doctor --site {site_spec.name}",
        )
    return GuestNodeSite(site_spec, root, node)
