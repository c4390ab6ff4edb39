"""`python -m nfvbed.sites.kolla.boximages`: writes the list of images that kolla-ansible asks a box's registry for.

`setup/box-images pin` runs it. What is asked for follows from nfvbed's variables for each data plane of the newest
release, and from those of a box.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nfvbed.cloud.box.images.asked import ImageSet, asked
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import NfvbedError
from nfvbed.sites.kolla import boxglobals, variables
from nfvbed.sites.kolla.pinning import plane_of
from nfvbed.sites.kolla.render import order_of
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec

FOLDER = Path(variables.__file__).parents[2] / "cloud" / "box" / "images"
_HEAD = "# Written by `setup/box-images pin`: the images that kolla-ansible asks for with nfvbed's variables.\n"


def each(project: Project) -> Iterator[dict[str, Any]]:
    """Yield variables that decide what is deployed, once for each way in which some example rack has them."""
    release = project.load_kolla_release(NEWEST)
    known: list[dict[str, Any]] = []
    of_boxes: dict[str, Any] = {}
    sites = [site for site in map(project.load_site, project.site_names) if isinstance(site, KollaSiteSpec)]
    for site in sites:
        of_boxes |= boxglobals.rendered(site, boxglobals.BoxHost())
    for site in sites:
        for name in project.variant_names:
            variant = project.load_variant(name)
            try:
                order = order_of(variant, site, release)
            except NfvbedError:
                # What cannot be on such a rack asks for nothing.
                continue
            if plane_of(variant).not_built:
                continue
            found = variables.global_variables(order)
            for host in order.hosts:
                found |= {key: on for key, on in variables.host_variables(order, host).items() if on is True}
            wanted = {key: value for key, value in found.items() if key.startswith(("enable_", "neutron_plugin"))}
            wanted |= {"kolla_base_distro": "debian", **of_boxes}
            if wanted not in known:
                known.append(wanted)
                yield wanted


def find(project: Project) -> ImageSet:
    """Return the images that kolla-ansible asks for.

    Raises:
        PrerequisiteError: kolla-ansible is not there, or its files are of another form.
    """
    return asked(project.root / ".nfvbed" / "kolla", each(project))


def main() -> None:
    """Write the list and the tag."""
    found = find(open_project())
    (FOLDER / "images.txt").write_text(_HEAD + "".join(f"{name}\n" for name in found.names))
    (FOLDER / "tag.txt").write_text(f"{found.tag}\n")


if __name__ == "__main__":
    main()
