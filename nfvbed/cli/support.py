"""What a command is about to set up: the data plane that is meant, and whether a site can run it."""

from nfvbed.errors import UsageError
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.openstack.paths import BARE
from nfvbed.sites.site import Site
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant


def require_site(site: Site, variant: Variant) -> None:
    """Probe a variant before it is set up: a site that lacks something is no failed deployment.

    A deployment shows that the site can run it, and is not disturbed by a probe; whether it is the right one, `deploy`
    checks.

    Raises:
        UnsupportedError, PrerequisiteError: this site cannot run it; with the probe's reason and fix.
        BusyError: another nfvbed is at work.
    """
    site.begin()
    if site.find_deployed() is None:
        site.require(variant)


def require_deployable(site: Site, variant: Variant, existing: DeploymentRecord | None) -> str:
    """Refuse a variant that a descriptor's VNF could not have; return what would make room for it (empty: nothing).

    Where something is deployed nothing is probed: it must not be disturbed.

    Raises:
        UnsupportedError, PrerequisiteError: this site cannot run it; with the probe's reason and fix.
        BusyError: another data plane has VNFs.
    """
    if existing is None:
        site.require(variant)
    elif existing.variant != variant:
        return site.foresee_onboard(existing, variant, BARE, None)
    return ""


def variant_name(given: str | None, existing: DeploymentRecord | None, site: SiteSpec, place: Site) -> str:
    """Return the data plane that is meant: the named one, else the deployed one.

    Args:
        place: the site; a rack has data planes without a deployment of its own.

    Raises:
        UsageError: none is named, and none is deployed, or several are.
    """
    if given is not None:
        return given
    standing = place.standing_variants()
    if existing is None and len(standing) == 1:
        return standing[0]
    if existing is None and standing:
        raise UsageError(
            f"several data planes are deployed on site {site.name}",
            observed=", ".join(standing),
            fix=f"--variant {standing[0]}, or another of them",
        )
    if existing is None:
        raise UsageError(
            "no data plane is deployed to onboard on",
            where=f"site {site.name}",
            fix="nfvbed deploy VARIANT first, or give --variant VARIANT",
        )
    return existing.variant.name
