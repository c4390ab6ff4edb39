"""The versions of what instances run on, as the private root has them."""

import json
from collections.abc import Mapping

from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.errors import DeployError

_SHARED = {"nova": "nova-compute", "neutron": "neutron-common", "qemu": "qemu-system-x86", "libvirt": "libvirt-daemon"}


def versions(places: CloudPlaces, own: Mapping[str, str]) -> dict[str, str]:
    """Return the versions of Debian's packages.

    Args:
        own: the switch's packages, by the names under which they are reported.

    Raises:
        DeployError: the root has no list of them, or lacks one.
    """
    wanted = {**_SHARED, **own}
    try:
        built: dict[str, str] = json.loads(places.stamp.read_text())["versions"]
        return {name: built[package] for name, package in wanted.items()}
    except (OSError, ValueError, KeyError) as failure:
        raise DeployError(
            "the versions of the cloud's packages are not known",
            where=str(places.stamp),
            observed=f"{type(failure).__name__}: {failure}",
            fix="nfvbed devcloud stop, remove the file, nfvbed devcloud start",
        ) from failure
