"""Flavors and properties of images, in the words of a release."""

from typing import Any

from nfvbed.cloud.novaflavor import PREFIX, extra_specs
from nfvbed.errors import UnsupportedError
from nfvbed.sites.kolla.model import Order
from nfvbed.spec.flavor import Flavor

_MULTIQUEUE = "hw:vif_multiqueue_enabled"
_MULTIQUEUE_IMAGE = "hw_vif_multiqueue_enabled"


def flavor_of(order: Order, flavor: Flavor) -> dict[str, Any]:
    """Return the definition of a flavor in Nova, and the properties that its image needs.

    Raises:
        UnsupportedError: the release has not what it asks for.
    """
    shared = any(plane.switch.is_on_dpdk for plane in order.planes)
    can, specs = order.release.guests, extra_specs(flavor, shared_pages=shared)
    if flavor.emulator_threads is not None and not can.emulator_threads:
        raise UnsupportedError(
            f"flavor {flavor.name} asks for emulator_threads, which {order.release.title} does not have",
            where=f"flavors/{flavor.name}.yml emulator_threads",
            observed=flavor.emulator_threads,
            fix="a release from Pike on (--release 2026.1), or a flavor without",
        )
    image: dict[str, str] = {}
    if _MULTIQUEUE in specs and can.multiqueue == "image":
        image[_MULTIQUEUE_IMAGE] = specs.pop(_MULTIQUEUE)
    if "hw:mem_page_size" in specs:
        # Pages of 1 GiB on one site, of 2 MiB on another.
        specs["hw:mem_page_size"] = "large"
    found: dict[str, Any] = {"name": PREFIX + flavor.name, "vcpus": flavor.vcpus, "ram_mib": flavor.memory_mib}
    found |= {"disk_gib": flavor.disk_gib, "extra_specs": specs}
    return found | ({"image_properties": image} if image else {})


def guests_file(order: Order, flavors: tuple[Flavor, ...]) -> dict[str, Any]:
    """Return all flavors that the release can have, and the reasons of those that it cannot."""
    made, lacking = [], dict[str, str]()
    for flavor in flavors:
        try:
            made.append(flavor_of(order, flavor))
        except UnsupportedError as failure:
            lacking[flavor.name] = failure.what
    return {"flavors": made, "unsupported": lacking}
