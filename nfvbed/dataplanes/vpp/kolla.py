"""VPP in a cloud that kolla-ansible deploys: nfvbed's role starts it, beside nfvbed's agent for Neutron."""

import dataclasses
from pathlib import Path
from typing import Any

from nfvbed.cloud.kolla.machine import KollaCompute
from nfvbed.cloud.kolla.placement import Polling
from nfvbed.cloud.kolla.plane import KollaPlane, NeutronParts, NicUse, SwitchParts, Variables
from nfvbed.cloud.kolla.release import ReleaseSupport, unsupported
from nfvbed.dataplanes.vpp.adapter import NICS_MIB, buffer_mib
from nfvbed.dataplanes.vpp.options import VppOptions
from nfvbed.dataplanes.vpp.startup import NicPort, StartupSettings, render
from nfvbed.spec.variant import Variant, options_of

FOLDER = Path("/run/nfvbed")
"""Folder of sockets, where the agent and the guests' QEMU have it too; VPP's own are in `vpp` below it."""
_PREFIX = "nfvbed"
_ROLE = "nfvbed_vpp"


def _polling(variant: Variant) -> Polling:
    options = options_of(variant, VppOptions)
    return Polling(options.workers, buffer_mib(options) + NICS_MIB)


def _of_role(compute: KollaCompute) -> dict[str, Any]:
    """Return the settings that VPP is started with, and those of its agent."""
    host, place = compute.host, compute.placement
    options = options_of(compute.variant, VppOptions)
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


KOLLA = KollaPlane(
    name="vpp",
    releases={
        "2026.1": ReleaseSupport("roles", ("nfvbed_nics", _ROLE)),
        "ocata": unsupported(
            "nfvbed's mechanism driver and agent for VPP are for Python 3, and Ocata's Neutron is on Python 2",
            possible_on="2026.1",
        ),
    },
    options=frozenset(
        {"workers", "forwarding", "mac_table_size", "main_heap_mib", "buffers", "rx_queue_size", "rx_queues"}
    ),
    # Its NICs are its own: no bridge of Neutron's has them.
    nics=NicUse(role="dpdk", by_address="VPP opens it so", uplinks=()),
    neutron=NeutronParts(
        # The first that has a living agent on a machine binds; on controllers that is Open vSwitch's.
        mechanisms=("vpp", "openvswitch", "l2population"),
        packages=("nfvbed", "nfvbed.dist-info"),
        # The server's part: its mechanism driver.
        roles=(_ROLE,),
        has_tunnels=False,
    ),
    switch=SwitchParts(is_on_dpdk=True, polling=_polling),
    variables=Variables(of_roles=_of_role),
)
