"""Whether a site can run what a command is about to set up."""

from nfvbed.sites.site import Site
from nfvbed.spec.variant import Variant


def require_site(site: Site, variant: Variant) -> None:
    """Probe a variant before it is set up: what a site lacks is reported as such, not as a deployment that failed.

    What is deployed shows that the site can, and is not disturbed by a probe; whether it is the right one, `deploy`
    says.

    Raises:
        UnsupportedError, PrerequisiteError: this site cannot run it; with the probe's reason and fix.
        BusyError: another nfvbed is at work.
    """
    site.begin()
    if site.find_deployed() is None:
        site.require(variant)
