"""From a site's file to the site.

Sites are imported when they are asked for: what runs on one needs nothing of another.
"""

from importlib import import_module
from pathlib import Path

from nfvbed.errors import UnsupportedError
from nfvbed.sites.ownmachine import Boot
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.sites.site import Site
from nfvbed.spec.rules import Study
from nfvbed.spec.site import SiteSpec

SITES = {
    "cloud": "nfvbed.sites.openstack.site:open_existing",
    "devcloud": "nfvbed.sites.openstack.site:open_site",
    "guest": "nfvbed.sites.guest_node.site:find_node",
    "kolla": "nfvbed.sites.kolla.rack:find_rack",
    "lab": "nfvbed.sites.lab.site:open_site",
}
"""What opens a site, with its file and the project's root, by the kind in the file."""


def open_site(spec: SiteSpec, root: Path) -> Site:
    """Open a site on which something can run; nothing is changed on it yet.

    Raises:
        UnsupportedError: there is no such kind of site; or nothing runs there: it is a guest node, and this machine is
            not that, or machines that no cloud is deployed on.
        ConfigurationError: its file does not say what running something takes.
    """
    site = find_site(spec, root)
    site.require_open()
    return site


def find_site(spec: SiteSpec, root: Path) -> Site:
    """Return a site, whether anything can run on it or not; it is asked for its optional parts.

    Raises:
        UnsupportedError: there is no such kind of site.
    """
    if spec.kind not in SITES:
        raise UnsupportedError(
            f"there is no site of kind {spec.kind}",
            where=f"deploy/sites/{spec.name}.yml",
            observed=f"there are {', '.join(SITES)}",
            fix="choose one of these",
        )
    module, _, name = SITES[spec.kind].partition(":")
    site: Site = getattr(import_module(module), name)(spec, root)
    return site


def machine_of(spec: SiteSpec, root: Path) -> Boot | None:
    """Return what boots the machine that commands about a site have to run in; None: they run here."""
    return None if spec.keeps_deployments else find_site(spec, root).own_machine()


def site_of(study: Study, root: Path, done: int) -> Site:
    """Open the site that a study is measured on; simulated variants have a site of their own, whatever the file says.

    Args:
        done: trials that the run has already.

    Raises:
        UnsupportedError: as `open_site`.
    """
    if study.simulated:
        return SimulatedSite(study.site.name, offset=done)
    return open_site(study.site, root)
