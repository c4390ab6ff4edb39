"""Variables of the roles that prepare a machine (deploy/playbooks/prepare.yml): what the site's file says of it.

They do not go by the variant, but for what its data plane adds: a machine that is prepared once serves variants in
turn, and is restarted for none.
"""

from collections.abc import Iterator
from typing import Any

from nfvbed.cloud.kolla import nicnames
from nfvbed.sites.kolla.model import Order
from nfvbed.spec.cpulist import format_cpu_list
from nfvbed.spec.rack import RackHostSpec

GIB_KIB, MIB_KIB = 1024 * 1024, 1024
_BOUND = "vfio-pci"


def of_preparation(order: Order, name: str) -> dict[str, Any]:
    """Return the variables of one machine."""
    host = order.site.hosts[name]
    found: dict[str, Any] = {}
    if order.release.facts == "none":
        found["nfvbed_nics_links_folder"] = f"{{{{ inventory_dir }}}}/../{nicnames.LINK_FOLDER}/{name}"
        found["nfvbed_nics_names"] = [nicnames.given_name(nic) for nic in host.nics]
    found["nfvbed_nics_management"] = [nicnames.device(nic) for nic in host.nics_of("management")]
    if not host.is_compute:
        return found
    isolated = sorted(core for node in host.numa for core in node.isolated_cores)
    found |= {
        "nfvbed_host_isolated_cores": format_cpu_list(tuple(isolated)),
        "nfvbed_host_hugepages": [*_pages(host)],
        "nfvbed_host_iommu": any(nic.functions or nic.driver == _BOUND for nic in host.plane_nics),
        "nfvbed_host_governor": "performance",
    }
    return found | order.plane_on(name).variables.of_preparation(order.compute(name))


def _pages(host: RackHostSpec) -> Iterator[dict[str, int]]:
    for number, node in enumerate(host.numa):
        for size_kib, count in ((GIB_KIB, node.hugepages_1g), (2 * MIB_KIB, node.hugepages_2m)):
            if count:
                yield {"node": number, "size_kib": size_kib, "count": count}
