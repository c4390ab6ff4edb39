"""OVS-DPDK in a cloud that kolla-ansible deploys: Kolla's role starts it, nfvbed's role sets its threads and ports."""

import ipaddress
from collections.abc import Collection
from typing import Any

from nfvbed.cloud.kolla import nicnames
from nfvbed.cloud.kolla.machine import KollaCompute
from nfvbed.cloud.kolla.placement import Polling
from nfvbed.cloud.kolla.plane import KollaPlane, NeutronParts, NicUse, SwitchParts, Variables
from nfvbed.cloud.kolla.release import ReleaseSupport, unsupported
from nfvbed.cloud.kolla.uplinks import bridge_mappings
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.dataplanes.ovs.instance import core_mask
from nfvbed.dataplanes.ovs.kolla import FIREWALL, OPTIONS, affinity_of, check_affinity, settings_of, sleep_of
from nfvbed.spec.rack import RackHostSpec, RackNicSpec
from nfvbed.spec.variant import Variant, options_of

VHOST_USER_DIRECTORY = "/run/openvswitch"
"""Directory of the vhost-user sockets, where Kolla's containers of Open vSwitch and libvirt both have it."""

USUAL_MTU = 1500
"""MTU of guests' ports, whatever their network's is: Neutron asks the switch for none."""
_BUFFERS = 4096 * 64
"""Packets of a memory pool; Open vSwitch makes one for each size of a packet's buffer on a NUMA node."""
_OF_A_BUFFER = 800
_ROUNDED_TO = 1024
_REST_MIB = 512


def held_mib(mtus: Collection[int]) -> int:
    """Return the hugepages, MiB, that Open vSwitch holds on a NUMA node, estimated by the MTUs of its ports.

    What it is asked to take first (`dpdk-socket-mem`) is no bound: DPDK takes more when pools are made. The estimate is
    Red Hat's for its own OVS-DPDK ("Memory parameters": (rounded MTU + 800) x 4096 x 64 bytes for each MTU, and 512 MiB
    beside, which are the margin). 1,224 MiB for MTU 1500; about 1,200 were held with 256 asked.
    """
    sizes = {-(-mtu // _ROUNDED_TO) * _ROUNDED_TO for mtu in {*mtus, USUAL_MTU}}
    return -(-sum((size + _OF_A_BUFFER) * _BUFFERS for size in sizes) // 2**20) + _REST_MIB


def _polling(variant: Variant) -> Polling:
    options = options_of(variant, OvsDpdkOptions)
    return Polling(options.pmd_cores, options.socket_memory_mib, held_mib)


def _of_kolla(compute: KollaCompute) -> dict[str, Any]:
    host, links = compute.host, compute.links
    asked = options_of(compute.variant, OvsDpdkOptions).socket_memory_mib
    # In whole pages; the rest of those that are reserved it takes by itself.
    by_node = {pages.node: -(-asked // pages.page_mib) * pages.page_mib for pages in compute.placement.pages}
    ports = ",".join(f"{nicnames.device(link.nic)}:{link.bridge}" for link in links)
    return {
        "dpdk_tunnel_interface_address": str(ipaddress.IPv4Interface(host.overlay_address or "").ip),
        "ovs_bridge_mappings": bridge_mappings(links),
        "ovs_port_mappings": ports,
        # Kolla's own ends in `/False`: its expression for the network has a quotation mark too many.
        "ovs_cidr_mappings": f"{links[0].bridge}:{host.overlay_address}",
        "ovs_socket_mem": ",".join(str(by_node.get(node, 0)) for node in range(len(host.numa))),
    }


def _device(place: int, nic: RackNicSpec, host: RackHostSpec) -> dict[str, str]:
    """Return what DPDK knows a NIC by, and its driver; a packet socket's device is made when DPDK starts."""
    if nic.is_packet_socket:
        name = f"net_af_packet{place}"
        device = nicnames.look_up(nic, host)
        return {"pci": "", "devargs": name, "driver": nic.driver, "kernel_device": device}
    # Two ports of a ConnectX-3 have one PCI address.
    devargs = nic.pci or f"class=eth,mac={nic.mac}"
    return {"pci": nic.pci or nicnames.look_up(nic, host, "pciid"), "devargs": devargs, "driver": nic.driver}


def _of_role(compute: KollaCompute) -> dict[str, Any]:
    host, cores = compute.host, compute.placement
    options = options_of(compute.variant, OvsDpdkOptions)
    ports = [
        {
            "name": nicnames.given_name(link.nic),
            "bridge": link.bridge,
            **_device(place, link.nic, host),
            "n_rxq": options.n_rxq,
            "n_rxq_desc": options.rx_queue_size,
            "mtu_request": compute.networks[link.network].mtu,
            "affinity": affinity_of(compute, link, options),
        }
        for place, link in enumerate(compute.links)
    ]
    masks = {"pmd-cpu-mask": core_mask(cores.polling), "dpdk-lcore-mask": core_mask(cores.main)}
    return {
        "nfvbed_ovs_dpdk_other_config": masks | settings_of(compute, options),
        "nfvbed_ovs_dpdk_polling_cores": list(cores.polling),
        "nfvbed_ovs_dpdk_ports": ports,
        "nfvbed_ovs_dpdk_address": host.overlay_address,
        **({"nfvbed_ovs_dpdk_first": sleep_of(compute, options)} if sleep_of(compute, options) else {}),
    }


KOLLA = KollaPlane(
    name="ovs-dpdk",
    releases={
        "2026.1": ReleaseSupport("kolla", ("nfvbed_nics", "nfvbed_ovs_dpdk")),
        "ocata": unsupported(
            "kolla-ansible has its role ovs-dpdk since 5.0 (Pike), and nfvbed has none in its place yet",
            possible_on="2026.1",
        ),
    },
    options=OPTIONS | {"rx_queue_size", "socket_memory_mib"},
    nics=NicUse(
        role="dpdk",
        uplinks=("dpdk",),
        no_external="Kolla has one Open vSwitch on a machine, and with DPDK it takes all of its NICs from the kernel",
        ports_are_named=True,
    ),
    neutron=NeutronParts(
        settings={"ovs": {"vhostuser_socket_dir": VHOST_USER_DIRECTORY}, **FIREWALL}, overlay_address="of-bridge"
    ),
    switch=SwitchParts(
        datapath="netdev", container="ovsdpdk_vswitchd", is_on_dpdk=True, polling=_polling, check=check_affinity
    ),
    variables=Variables(enabled_by="enable_ovs_dpdk", of_compute=_of_kolla, of_roles=_of_role),
)
