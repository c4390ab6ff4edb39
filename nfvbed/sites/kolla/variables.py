"""Variables of Kolla's: those of all machines, and those of each.

`globals.yml` is given to Ansible with the greatest precedence of all, so that whatever is otherwise on one machine
must not be in there.
"""

import ipaddress
from typing import Any

from nfvbed.dataplanes.ovs.instance import core_mask
from nfvbed.dataplanes.ovs.tuning import userspace_settings
from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions
from nfvbed.errors import InternalError
from nfvbed.sites.kolla import nicnames
from nfvbed.sites.kolla.model import Order
from nfvbed.sites.kolla.nicnames import device
from nfvbed.sites.kolla.preparation import of_preparation
from nfvbed.sites.kolla.switching import Uplink, bridge_mappings, uplinks
from nfvbed.spec.variant import options_of

_AGENTS = {"linux-bridge": "linuxbridge"}


def global_variables(order: Order) -> dict[str, Any]:
    """Return the variables that are the same on all machines."""
    site = order.site
    found: dict[str, Any] = {
        "kolla_base_distro": site.base_distro,
        "kolla_internal_vip_address": site.virtual_address,
        "neutron_plugin_agent": _AGENTS.get(order.plane, "openvswitch"),
        "enable_heat": True,
        "enable_tacker": True,
    }
    if order.release.ovs_agent_file == "ml2_conf.ini":
        return found  # what follows came later
    # VLANs that the switch between the machines carries; functions and macvtap devices know no tunnels.
    found["neutron_tenant_network_types"] = "vlan" if order.plane in ("sriov", "macvtap") else "vlan,vxlan"
    if order.plane == "sriov":
        found["enable_neutron_sriov"] = True
    if order.plane != "ovs-dpdk":
        found["enable_ovs_dpdk"] = False
    return found


def host_variables(order: Order, name: str) -> dict[str, Any]:
    """Return the variables of one machine.

    Raises:
        InternalError: the machine is a generator, which Kolla deploys nothing on.
    """
    host = order.site.hosts[name]
    if host.overlay_address is None:
        raise InternalError(f"{name} is none of Kolla's machines", where=f"deploy/sites/{order.site.name}.yml")
    links = uplinks(order, host)
    found: dict[str, Any] = {
        "ansible_host": host.address,
        **nicnames.variables(host, order.release.facts),
        "network_interface": device(host.nics_of("management")[0]),
        "tunnel_interface_address": str(ipaddress.IPv4Interface(host.overlay_address).ip),
    }
    if links:
        found["neutron_external_interface"] = ",".join(device(link.nic) for link in links)
        found["neutron_bridge_name"] = ",".join(link.bridge for link in links)
    if order.release.ovs_agent_file == "ml2_conf.ini":
        return found | of_preparation(order, name) | _of_roles(order, name)
    if links:
        found["neutron_physical_networks"] = ",".join(link.network for link in links)
    # Else Kolla tells the agents of computes nothing of bridges to physical networks, and leaves their NICs out.
    found["enable_neutron_provider_networks"] = bool(links)
    if order.plane == "ovs-dpdk":
        found["enable_ovs_dpdk"] = order.polls(host)
    if order.plane == "sriov":
        # Kolla's own is a network `sriovnet1` on the interface of tunnels, for whoever says nothing.
        nics = host.nics_of("sriov") if host.is_compute else ()
        found["neutron_sriov_physnet_mappings"] = {str(nic.network): device(nic) for nic in nics}
        # Kolla describes functions to Nova by their device's name; the override does so by PCI address.
        found["nova_pci_passthrough_whitelist"] = []
    return found | _of_dpdk(order, name, links) | of_preparation(order, name) | _of_roles(order, name)


def _of_dpdk(order: Order, name: str, links: tuple[Uplink, ...]) -> dict[str, Any]:
    host = order.site.hosts[name]
    if not order.polls(host):
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


def _of_roles(order: Order, name: str) -> dict[str, Any]:
    """Return what nfvbed's roles take; Kolla's take no notice."""
    host = order.site.hosts[name]
    if not host.is_compute:
        return {}
    if order.polls(host):
        options = options_of(order.variant, OvsUserspaceOptions)
        place = order.placements[name]
        ports = [
            {
                "pci": link.nic.pci,
                "bridge": link.bridge,
                "driver": link.nic.driver,
                "n_rxq": options.n_rxq,
                "n_rxq_desc": options.rx_queue_size,
                "mtu_request": order.site.networks[link.network].mtu,
            }
            for link in uplinks(order, host)
        ]
        masks = {"pmd-cpu-mask": core_mask(place.polling), "dpdk-lcore-mask": core_mask(place.main)}
        return {"nfvbed_ovs_other_config": masks | userspace_settings(options), "nfvbed_ovs_dpdk_ports": ports}
    if order.plane == "sriov":
        nics = host.nics_of("sriov")
        functions = [{"device": device(nic), "pci": nic.pci, "functions": nic.functions} for nic in nics]
        return {"nfvbed_sriov_functions": functions}
    if order.plane == "macvtap":
        pairs = ",".join(f"{nic.network}:{device(nic)}" for nic in host.nics_of("dpdk"))
        return {"nfvbed_macvtap_physical_interface_mappings": pairs}
    return {}
