"""Finds the host of a deployment, for what cannot do without one."""

from nfvbed.errors import UnsupportedError
from nfvbed.records import Deployment
from nfvbed.sites.hostview import HostView
from nfvbed.sites.site import Site


def require_host(site: Site, deployment: Deployment, what: str) -> HostView:
    """Return the host of a deployment.

    Args:
        what: what needs the host, singular or plural: the beginning of the message.

    Raises:
        UnsupportedError: the site is no host.
    """
    view = site.host_view(deployment)
    if view is None:
        raise UnsupportedError(
            f"{what} cannot be measured on site {site.name}",
            where=deployment.variant,
            observed="the site is no host: it has no cores, and no processes are started beside a deployment",
            fix="leave it out, or choose a site that is a host",
        )
    return view
