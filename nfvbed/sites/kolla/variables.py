"""Variables of Kolla's: those of all machines, and those of each.

`globals.yml` is given to Ansible with the greatest precedence of all, so that whatever is otherwise on one machine
must not be in there.
"""

import ipaddress
from typing import Any

from nfvbed.cloud.kolla import nicnames
from nfvbed.cloud.kolla.nicnames import device
from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.errors import InternalError
from nfvbed.sites.kolla import rolevariables
from nfvbed.sites.kolla.model import Order
from nfvbed.sites.kolla.preparation import of_preparation


def global_variables(order: Order) -> dict[str, Any]:
    """Return the variables that are the same on all machines."""
    site = order.site
    found: dict[str, Any] = {
        "kolla_base_distro": site.base_distro,
        "kolla_internal_vip_address": site.virtual_address,
        "neutron_plugin_agent": order.agent.plugin,
        "enable_heat": True,
        "enable_tacker": True,
    }
    if site.virtual_router_id is not None:
        found["keepalived_virtual_router_id"] = str(site.virtual_router_id)
    if order.release.ovs_agent_file == "ml2_conf.ini":
        return found  # what follows came later
    found["neutron_tenant_network_types"] = order.network_types
    if len(order.planes) == 1:
        found |= order.planes[0].variables.everywhere
    absent = (plane for plane in CATALOGUE.kolla.values() if plane not in order.planes)
    found |= {plane.variables.enabled_by: False for plane in absent if plane.variables.enabled_by}
    return found | rolevariables.of_all(order)


def host_variables(order: Order, name: str) -> dict[str, Any]:
    """Return the variables of one machine.

    Raises:
        InternalError: the machine is a generator, which Kolla deploys nothing on.
    """
    host = order.site.hosts[name]
    if host.overlay_address is None:
        raise InternalError(f"{name} is none of Kolla's machines", where=f"deploy/sites/{order.site.name}.yml")
    links, plane = order.uplinks(name), order.plane_on(name)
    # Ansible 2.3 looks nothing up: there the NIC itself has the address.
    of_nic = order.release.facts == "none"
    found: dict[str, Any] = {
        "ansible_host": host.address,
        **nicnames.variables(host, order.release.facts, host.nics_of("dpdk") if plane.nics.ports_are_named else ()),
        "network_interface": device(host.nics_of("management")[0]) if of_nic else nicnames.with_address(host),
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
    found |= {one.variables.enabled_by: one is plane for one in order.planes if one.variables.enabled_by}
    found |= plane.variables.fixed
    for one in order.planes:
        found |= one.variables.of_rack(order.machine(name))
    if host.is_compute:
        found |= plane.variables.of_compute(order.compute(name))
    return found | of_preparation(order, name) | rolevariables.of_machine(order, name)
