"""What VPP is started with on a machine, and what Neutron's agent makes of it."""

import dataclasses
from pathlib import Path
from typing import Any

from nfvbed.dataplanes.vpp.adapter import NICS_MIB, buffer_mib
from nfvbed.dataplanes.vpp.options import VppOptions
from nfvbed.dataplanes.vpp.startup import NicPort, StartupSettings, render
from nfvbed.sites.kolla.model import Order
from nfvbed.spec.variant import options_of

FOLDER = Path("/run/nfvbed")
"""Of sockets, where the agent and the guests' QEMU have it too; VPP's own are in `vpp` below it."""
_PREFIX = "nfvbed"


def memory_mib(options: VppOptions) -> int:
    """Return VPP's hugepages of a NUMA node, MiB."""
    return buffer_mib(options) + NICS_MIB


def of_machine(order: Order, name: str) -> dict[str, Any]:
    """Return the variables of the role `nfvbed_vpp` on a compute."""
    host, place = order.site.hosts[name], order.placements[name]
    options = options_of(order.variant_on(name), VppOptions)
    nics = tuple(
        NicPort(str(nic.network), str(nic.pci), options.rx_queues, options.rx_queue_size)
        for nic in host.nics_of("dpdk")
    )
    startup = StartupSettings(
        directory=FOLDER / "vpp",
        prefix=_PREFIX,
        main_core=place.main[0],
        worker_cores=place.polling,
        main_heap_mib=options.main_heap_mib,
        buffers=options.buffers,
        nics=nics,
        # As the placement has it: the larger ones where a node has both.
        buffer_pages="1G" if host.numa[host.nics_of("dpdk")[0].numa_node].hugepages_1g else "2M",
    )
    return {
        "nfvbed_vpp_startup": render(startup),
        "nfvbed_vpp_nics": [{**dataclasses.asdict(nic), "driver": "vfio-pci"} for nic in nics],
        "nfvbed_vpp_workers": list(place.polling),
        "nfvbed_vpp_agent": {
            "folder": str(FOLDER),
            "uplinks": {nic.name: {"kind": "interface", "address": nic.name} for nic in nics},
            "forwarding": options.forwarding,
            "mac_table_size": options.mac_table_size,
        },
    }
