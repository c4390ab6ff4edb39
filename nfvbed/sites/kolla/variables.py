"""Variables of Kolla's: those of all machines, and those of each.

`globals.yml` is given to Ansible with the greatest precedence of all, so that whatever is otherwise on one machine
must not be in there.
"""

import ipaddress
from typing import Any

from nfvbed.cloud.kolla import nicnames
from nfvbed.cloud.kolla.nicnames import device
from nfvbed.cloud.kolla.uplinks import Uplink, bridge_mappings
from nfvbed.errors import InternalError
from nfvbed.sites.kolla import rolevariables
from nfvbed.sites.kolla.model import Order
from nfvbed.sites.kolla.preparation import of_preparation
from nfvbed.sites.kolla.switching import uplinks

_AGENTS = {"linux-bridge": "linuxbridge"}


def global_variables(order: Order) -> dict[str, Any]:
    """Return the variables that are the same on all machines."""
    site = order.site
    found: dict[str, Any] = {
        "kolla_base_distro": site.base_distro,
        "kolla_internal_vip_address": site.virtual_address,
        "neutron_plugin_agent": _AGENTS["linux-bridge"] if order.is_everywhere("linux-bridge") else "openvswitch",
        "enable_heat": True,
        "enable_tacker": True,
    }
    if order.release.ovs_agent_file == "ml2_conf.ini":
        return found  # what follows came later
    found["neutron_tenant_network_types"] = order.network_types
    if order.is_everywhere("sriov"):
        found["enable_neutron_sriov"] = True
    if "ovs-dpdk" not in order.planes:
        found["enable_ovs_dpdk"] = False
    return found | rolevariables.of_all(order)


def host_variables(order: Order, name: str) -> dict[str, Any]:
    """Return the variables of one machine.

    Raises:
        InternalError: the machine is a generator, which Kolla deploys nothing on.
    """
    host = order.site.hosts[name]
    if host.overlay_address is None:
        raise InternalError(f"{name} is none of Kolla's machines", where=f"deploy/sites/{order.site.name}.yml")
    links = uplinks(order, name)
    found: dict[str, Any] = {
        "ansible_host": host.address,
        **nicnames.variables(host, order.release.facts, host.nics_of("dpdk") if order.polls(name) else ()),
        "network_interface": device(host.nics_of("management")[0]),
        "tunnel_interface_address": str(ipaddress.IPv4Interface(host.overlay_address).ip),
    }
    if links:
        found["neutron_external_interface"] = ",".join(device(link.nic) for link in links)
        found["neutron_bridge_name"] = ",".join(link.bridge for link in links)
    if order.release.ovs_agent_file == "ml2_conf.ini":
        return found | of_preparation(order, name) | rolevariables.of_machine(order, name)
    if links:
        found["neutron_physical_networks"] = ",".join(link.network for link in links)
    # Else Kolla tells the agents of computes nothing of bridges to physical networks, and leaves their NICs out.
    found["enable_neutron_provider_networks"] = bool(links)
    if "ovs-dpdk" in order.planes:
        found["enable_ovs_dpdk"] = order.polls(name)
    if order.plane_on(name) == "ovs-afxdp":
        found["ovs_datapath"] = "netdev"
        # Kolla's other image has an Open vSwitch without AF_XDP.
        found["openvswitch_vswitchd_image"] = "{{ docker_image_url }}ovsdpdk-vswitchd"
    if "sriov" in order.planes:
        has_functions = order.plane_on(name) == "sriov"
        if not order.is_everywhere("sriov"):
            # The controller's server and switch serve networks of functions; computes of other variants have no agent.
            found["enable_neutron_sriov"] = host.is_controller or has_functions
        # Kolla's own is a network `sriovnet1` on the interface of tunnels, for whoever says nothing.
        nics = host.nics_of("sriov") if has_functions else ()
        found["neutron_sriov_physnet_mappings"] = {str(nic.network): device(nic) for nic in nics}
        # Kolla describes functions to Nova by their device's name; the override does so by PCI address.
        found["nova_pci_passthrough_whitelist"] = []
    return found | _of_dpdk(order, name, links) | of_preparation(order, name) | rolevariables.of_machine(order, name)


def _of_dpdk(order: Order, name: str, links: tuple[Uplink, ...]) -> dict[str, Any]:
    host = order.site.hosts[name]
    if not order.polls(name):
        return {}
    place = order.placements[name]
    by_node = {pages.node: pages.memory_mib for pages in place.pages}
    ports = ",".join(f"{device(link.nic)}:{link.bridge}" for link in links)
    return {
        "dpdk_tunnel_interface_address": str(ipaddress.IPv4Interface(host.overlay_address or "").ip),
        "ovs_bridge_mappings": bridge_mappings(links),
        "ovs_port_mappings": ports,
        # Kolla's own ends in `/False`: its expression for the network has a quotation mark too many.
        "ovs_cidr_mappings": f"{links[0].bridge}:{host.overlay_address}",
        "ovs_socket_mem": ",".join(str(by_node.get(node, 0)) for node in range(len(host.numa))),
    }
