"""The project's flavors in Nova's terms: one file for lab, cloud and descriptors."""

from nfvbed.spec.flavor import Flavor

PREFIX = "nfvbed."
"""Begins the names of Nova's flavors that are made from `flavors/`."""
PAGE_KIB = "2048"


def nova_name(flavor: Flavor) -> str:
    """Return Nova's name of a flavor."""
    return PREFIX + flavor.name


def extra_specs(flavor: Flavor, *, shared_pages: bool = True) -> dict[str, str]:
    """Return Nova's extra specs of a flavor (Nova 26, `nova.api.validation.extra_specs.hw`).

    Args:
        shared_pages: whether memory is hugepages whatever the flavor says: a vhost-user port works only in memory that
            the switch shares.
    """
    specs: dict[str, str] = {"hw:cpu_policy": flavor.cpu_policy}
    if flavor.hugepages or shared_pages:
        specs["hw:mem_page_size"] = PAGE_KIB
    if flavor.thread_policy is not None:
        specs["hw:cpu_thread_policy"] = flavor.thread_policy
    if flavor.emulator_threads is not None:
        specs["hw:emulator_threads_policy"] = flavor.emulator_threads
    if flavor.realtime:
        specs["hw:cpu_realtime"] = "yes"
        specs["hw:cpu_realtime_mask"] = "^0"
    if flavor.queues > 1:
        specs["hw:vif_multiqueue_enabled"] = "true"
    if flavor.numa:
        specs["hw:numa_nodes"] = str(len(flavor.numa))
        for number, node in enumerate(flavor.numa):
            specs[f"hw:numa_cpus.{number}"] = ",".join(map(str, node.cpus))
            specs[f"hw:numa_mem.{number}"] = str(node.memory_mib)
    return specs
