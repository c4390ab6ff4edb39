"""Settings of services that Kolla's templates lack or have otherwise: its folder `config`.

Kolla merges its files over its own, option by option, and takes them for templates: two opening braces would begin an
expression.
"""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise

from nfvbed.cloud.kolla.agent import ServiceOptions
from nfvbed.sites.kolla.model import Order
from nfvbed.spec.cpulist import format_cpu_list

_PLACED = ("NUMATopologyFilter", "PciPassthroughFilter", "AggregateInstanceExtraSpecsFilter")
"""Filters without which pinned cores, hugepages, devices, and computes of one variant are not looked at."""


def override_files(order: Order) -> dict[str, ServiceOptions]:
    """Return the files with what is in them, by path below `config`."""
    found: dict[str, ServiceOptions] = {
        "nova/nova-scheduler.conf": {"filter_scheduler": {"enabled_filters": ",".join(_filters(order))}},
        "neutron/ml2_conf.ini": _ml2(order),
        "neutron.conf": {"DEFAULT": {"global_physnet_mtu": str(max(one.mtu for one in order.site.networks.values()))}},
    }
    if order.release.ovs_agent_file != "ml2_conf.ini":
        # Kolla gives ids of domains where their names are asked for.
        names = {f"{one}_domain_name": f"{{{{ default_{one}_domain_name }}}}" for one in ("project", "user")}
        found["tacker.conf"] = {"keystone_authtoken": names}
    if order.release.tacker_shared_folder:
        # The server writes the key of a VIM's password, the conductor reads it. Tacker's own place is in neither's
        # volumes, and not writable for its user. The server makes this folder (mode 0700).
        keys = {"openstack": f"{order.release.tacker_shared_folder}/vim_keys"}
        found["tacker.conf"] = {**found.get("tacker.conf", {}), "vim_keys": keys}
    for name, host in order.hosts.items():
        if host.is_compute:
            found[f"nova/{name}/nova.conf"] = _nova(order, name)
        agent = _agent(order, name)
        if agent:
            found[f"neutron/{name}/{order.release.ovs_agent_file}"] = agent
    return found


def _filters(order: Order) -> tuple[str, ...]:
    return (*order.release.nova.scheduler_filters, *_PLACED)


def merged(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the names of all lists, each once, in an order that fits every list."""
    before = TopologicalSorter[str]()
    for names in lists:
        before.add(names[0])
        for one, other in pairwise(names):
            before.add(other, one)
    return tuple(before.static_order())


def _ml2(order: Order) -> ServiceOptions:
    networks = order.site.networks
    found: dict[str, Mapping[str, str]] = {
        "ml2": {
            "mechanism_drivers": ",".join(merged(plane.neutron.mechanisms for plane in order.planes)),
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


def _nova(order: Order, name: str) -> ServiceOptions:
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
    devices = order.plane_on(name).nics.passed_through(host)
    if devices:
        put(keys.pci_devices, devices)
    return found


def _agent(order: Order, name: str) -> ServiceOptions:
    """Return the settings of a machine's agent of its switch."""
    mappings = order.agent.mappings(order.release, order.uplinks(name))
    return {**mappings, **order.plane_on(name).neutron.settings}
