"""The project's flavors as Nova's: one file for lab and cloud."""

from nfvbed.cloud.novaflavor import PREFIX
from nfvbed.spec.flavor import Flavor


def body(flavor: Flavor) -> dict[str, object]:
    """Return the request that makes a flavor; its extra specs are set after it."""
    return {
        "name": PREFIX + flavor.name,
        "vcpus": flavor.vcpus,
        "ram": flavor.memory_mib,
        "disk": flavor.disk_gib,
    }
