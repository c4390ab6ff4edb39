"""Settings of services that Kolla's templates lack or have otherwise: its folder `config`.

Kolla merges its files over its own, option by option, and takes them for templates: two opening braces would begin an
expression.
"""

import json
from collections.abc import Mapping

from nfvbed.cloud.kolla.nicnames import device
from nfvbed.cloud.kolla.uplinks import bridge_mappings
from nfvbed.cpulist import format_cpu_list
from nfvbed.sites.kolla.model import Options, Order
from nfvbed.sites.kolla.switching import uplinks
from nfvbed.spec.rack import RackHostSpec

VHOST_USER_DIRECTORY = "/run/openvswitch"
"""Of the sockets, where Kolla's containers of Open vSwitch and libvirt both have it."""
_MECHANISMS = {
    "linux-bridge": ("linuxbridge", "l2population"),
    "macvtap": ("openvswitch", "macvtap", "l2population"),
    "sriov": ("openvswitch", "l2population", "sriovnicswitch"),
    # The first that has a living agent on a machine binds; on controllers that is Open vSwitch's.
    "vpp": ("vpp", "openvswitch", "l2population"),
}
_USUAL_MECHANISMS = ("openvswitch", "l2population")
_ALL_MECHANISMS = ("linuxbridge", "vpp", "openvswitch", "macvtap", "l2population", "sriovnicswitch")
_PLACED = ("NUMATopologyFilter", "PciPassthroughFilter", "AggregateInstanceExtraSpecsFilter")
"""Filters without which pinned cores, hugepages, devices, and computes of one variant are not looked at."""


def override_files(order: Order) -> dict[str, Options]:
    """Return the files with what is in them, by path below `config`."""
    found: dict[str, Options] = {
        "nova/nova-scheduler.conf": {"filter_scheduler": {"enabled_filters": ",".join(_filters(order))}},
        "neutron/ml2_conf.ini": _ml2(order),
        "neutron.conf": {"DEFAULT": {"global_physnet_mtu": str(max(one.mtu for one in order.site.networks.values()))}},
    }
    if order.release.ovs_agent_file != "ml2_conf.ini":
        # Kolla gives ids of domains where their names are asked for.
        names = {f"{one}_domain_name": f"{{{{ default_{one}_domain_name }}}}" for one in ("project", "user")}
        found["tacker.conf"] = {"keystone_authtoken": names}
    for name, host in order.hosts.items():
        if host.is_compute:
            found[f"nova/{name}/nova.conf"] = _nova(order, name)
        agent = _agent(order, name)
        if agent:
            found[f"neutron/{name}/{order.release.ovs_agent_file}"] = agent
    return found


def _filters(order: Order) -> tuple[str, ...]:
    return (*order.release.nova.scheduler_filters, *_PLACED)


def _mechanisms(order: Order) -> tuple[str, ...]:
    """Return those of all data planes, in the order of `_ALL_MECHANISMS`."""
    wanted = {name for plane in order.planes for name in _MECHANISMS.get(plane, _USUAL_MECHANISMS)}
    return tuple(name for name in _ALL_MECHANISMS if name in wanted)


def _ml2(order: Order) -> Options:
    networks = order.site.networks
    found: dict[str, Mapping[str, str]] = {
        "ml2": {
            "mechanism_drivers": ",".join(_mechanisms(order)),
            "physical_network_mtus": ",".join(f"{name}:{one.mtu}" for name, one in networks.items()),
        },
        # Kolla fills this in for Ironic alone: without it there are no networks with a VLAN.
        "ml2_type_vlan": {
            "network_vlan_ranges": ",".join(f"{name}:{one.vlans[0]}:{one.vlans[1]}" for name, one in networks.items())
        },
        "ml2_type_flat": {"flat_networks": ",".join(networks)},
    }
    if order.release.ovs_agent_file == "ml2_conf.ini":
        found["ml2"] = {**found["ml2"], "tenant_network_types": order.network_types}
    return found


def _nova(order: Order, name: str) -> Options:
    host, place, keys = order.site.hosts[name], order.placements[name], order.release.nova
    found: dict[str, dict[str, str | tuple[str, ...]]] = {}

    def put(option: str, value: str | tuple[str, ...]) -> None:
        section, _, key = option.partition("/")
        found.setdefault(section, {})[key] = value

    if place.dedicated:
        put(keys.dedicated_cores, format_cpu_list(place.dedicated))
    if keys.shared_cores and place.dedicated:
        put(keys.shared_cores, format_cpu_list(place.shared))
    reserved = tuple(f"node:{one.node},size:{one.page_kib},count:{one.count}" for one in place.pages)
    if reserved:
        put("DEFAULT/reserved_huge_pages", reserved)
    if order.plane_on(name) == "sriov":
        put(keys.pci_devices, tuple(_functions(host)))
    return found


def _functions(host: RackHostSpec) -> list[str]:
    """Return Nova's descriptions of the machine's functions: those of a physical function whose address it has."""
    return [json.dumps({"address": nic.pci, "physical_network": nic.network}) for nic in host.nics_of("sriov")]


def _agent(order: Order, name: str) -> Options:
    """Return the settings of a machine's agent of Open vSwitch, or Linux bridge."""
    links = uplinks(order, name)
    if order.is_everywhere("linux-bridge"):
        # Kolla gives one network, physnet1, all NICs.
        pairs = ",".join(f"{link.network}:{device(link.nic)}" for link in links)
        return {"linux_bridge": {"physical_interface_mappings": pairs}}
    if order.release.ovs_agent_file == "ml2_conf.ini":
        # There Kolla maps physnet1, physnet2, ... to the bridges.
        return {"ovs": {"bridge_mappings": bridge_mappings(links)}}
    if not order.is_netdev(name):
        return {}
    # Kolla's needs a Linux bridge between instance and switch, which the userspace datapath cannot have.
    firewall = {"securitygroup": {"firewall_driver": "openvswitch"}}
    return ({"ovs": {"vhostuser_socket_dir": VHOST_USER_DIRECTORY}} if order.polls(name) else {}) | firewall
