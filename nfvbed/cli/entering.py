"""Sites as commands open them: what asks a box runs in the network namespace of its machines.

Its addresses exist in the box alone: Ansible, SSH, OpenStack's clients and what they start reach them from in there. A
thread is in one network namespace, and those that it starts later are in the same; so a command enters before it opens
a site, and stays. Results in a PostgreSQL are opened before, or reached by a Unix socket.
"""

from pathlib import Path

from nfvbed.errors import PrerequisiteError
from nfvbed.sites import catalogue
from nfvbed.sites.site import Site
from nfvbed.spec.rules import Study
from nfvbed.spec.site import SiteSpec


def find_site(spec: SiteSpec, root: Path) -> Site:
    """Return a site, as `catalogue.find_site`; a box is entered before."""
    enter_box(spec, root)
    return catalogue.find_site(spec, root)


def open_site(spec: SiteSpec, root: Path) -> Site:
    """Open a site, as `catalogue.open_site`; a box is entered before."""
    enter_box(spec, root)
    return catalogue.open_site(spec, root)


def site_of(study: Study, root: Path, done: int) -> Site:
    """Open the site of a study, as `catalogue.site_of`; a box is entered before."""
    if not study.simulated:
        enter_box(study.site, root)
    return catalogue.site_of(study, root, done)


def enter_box(spec: SiteSpec, root: Path, *, needed: bool = False) -> None:
    """Enter the network namespace of a site's box with this thread; nothing to do for other sites.

    Args:
        needed: whether machines are asked even where no cloud is on them.

    Raises:
        PrerequisiteError: the machines are not up: the addresses of the file would be another machine's.
    """
    if not spec.in_stages:
        return
    # What starts machines is not imported for sites that have none.
    from nfvbed.cloud.box.box import find_box
    from nfvbed.cloud.box.layout import SWITCH
    from nfvbed.host.network.namespaces import enter
    from nfvbed.sites.kolla.executor import journal
    from nfvbed.sites.kolla.executor.places import RackPlaces

    box = find_box(spec, root)
    if box is None:
        return
    found = box.find(SWITCH)
    if found is not None:
        enter(found.space)
        return
    if needed or journal.read(RackPlaces.of(root, spec.name)) is not None:
        raise PrerequisiteError(
            f"the machines of site {spec.name} are not up",
            where=str(box.places.directory),
            observed="they are namespaces on this machine, and none of them runs",
            fix=f"nfvbed rack start --site {spec.name}; a cloud that was on them is gone",
        )
