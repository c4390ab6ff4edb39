"""The devcloud with the computes of all data planes that Neutron can run instances on: `compute.py` of their rooms."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.devcloud.cloud import HUGEPAGES_MIB, DevCloud
from nfvbed.cloud.devcloud.services.computes import ComputeKind
from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.errors import UnsupportedError
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.variant import Variant

_MODULE = "compute"


@cache
def computes() -> dict[str, Callable[[DevCloud], Compute]]:
    """Return the classes of computes, by the name that they have as their `dataplane`."""
    found: dict[str, Any] = {
        name: thing
        for name, module in CATALOGUE.modules(_MODULE).items()
        for thing in vars(module).values()
        if isinstance(thing, type) and getattr(thing, "dataplane", "") == name
    }
    return found


def kinds() -> tuple[ComputeKind, ...]:
    """Return the kinds of computes beside the controller: those of other data planes, and second ones."""
    own = [getattr(one, "kind", None) for one in computes().values()]
    second = [getattr(one, "second", None) for one in computes().values()]
    return tuple(dict.fromkeys(kind for kind in (*own, *second) if kind is not None))


def open_cloud(project_root: Path, flavors: Sequence[Flavor] = (), hugepages_mib: int = HUGEPAGES_MIB) -> DevCloud:
    """Return the cloud of a project, which can have a compute of each of these data planes."""
    return DevCloud(project_root, kinds(), flavors, hugepages_mib)


def compute_of(variant: Variant, cloud: DevCloud) -> Compute:
    """Return the compute of a variant.

    Raises:
        UnsupportedError: the devcloud has none for its data plane; with its own reason where it has one (`no_compute`).
    """
    name = variant.options.dataplane
    if name in computes():
        return computes()[name](cloud)
    why = getattr(CATALOGUE.modules(_MODULE).get(name), "no_compute", None)
    if why is not None:
        raise why(variant)
    raise UnsupportedError(
        f"{variant.name} is no data plane of a devcloud",
        where=f"dataplane: {name}",
        observed=f"computes there are for {', '.join(computes())}",
        fix="choose a variant of these, or site lab",
    )
