"""The project's flavors as Nova's: one file for lab and cloud."""

from nfvbed.spec.flavor import Flavor

PREFIX = "nfvbed."
_PAGE = "2048"


def extra_specs(flavor: Flavor) -> dict[str, str]:
    """Return Nova's extra specs of a flavor (Nova 26, `nova.api.validation.extra_specs.hw`)."""
    specs: dict[str, str] = {"hw:cpu_policy": flavor.cpu_policy}
    # The ports are vhost-user sockets: a guest whose memory is not shared hugepages has no working port.
    specs["hw:mem_page_size"] = _PAGE
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


def body(flavor: Flavor) -> dict[str, object]:
    """Return the request that makes a flavor; its extra specs are set after it."""
    return {
        "name": PREFIX + flavor.name,
        "vcpus": flavor.vcpus,
        "ram": flavor.memory_mib,
        "disk": flavor.disk_gib,
    }
