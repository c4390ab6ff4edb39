"""Checks of physical networks, and of what instances need: they concern the whole site."""

from collections.abc import Iterator, Mapping

from nfvbed.cloud.kolla.placement import Placement
from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.sites.kolla.pinning import Pinning, plane_of
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.rack import MIB_PER_GIB, RackHostSpec, RackNicSpec
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant


def check_networks(site: KollaSiteSpec, pinning: Pinning) -> Iterator[Finding]:
    """Find networks for which Neutron's maps would name no NIC, or none for addresses and routes."""
    file = f"deploy/sites/{site.name}.yml"
    cloud = {name: host for name, host in site.hosts.items() if "generator" not in host.roles}
    roles = {name: plane_of(one).nics.instances for name, one in pinning.variants.items()}
    for network in site.networks:
        reached = [name for name, host in cloud.items() if any(nic.network == network for nic in host.nics)]
        if not reached:
            yield Finding(
                machine="",
                what=f"no NIC reaches physical network {network}",
                key=f"{file} networks.{network}",
                observed=f"no NIC of {', '.join(cloud)} has network: {network}",
                fix=f"give a NIC network: {network}, or remove the network",
            )
        computes = [name for name, has in roles.items() if _reaches(site.hosts[name].nics_of(*has), network)]
        # Neutron gives a network's DHCP and routers to the agents of any controller.
        for name, host in site.hosts_with("controller").items():
            if computes and not _reaches(host.network_nics, network):
                yield Finding(
                    machine=name,
                    what=f"controller {name} has no NIC on physical network {network}, and instances would be",
                    key=f"{file} hosts.{name}.nics",
                    observed=f"instances reach it on {', '.join(computes)}; DHCP and routers are on controllers",
                    fix=f"give {name} a NIC with network: {network}",
                )
    yield from _check_generator(site)


def _reaches(nics: tuple[RackNicSpec, ...], network: str) -> bool:
    return any(nic.network == network for nic in nics)


def _check_generator(site: KollaSiteSpec) -> Iterator[Finding]:
    if site.generator is None:
        return
    nics = site.hosts[site.generator.host].nics_of("dpdk")
    for nic, vlan in zip(nics, site.generator.vlans, strict=True):
        first, last = site.networks[str(nic.network)].vlans
        if not first <= vlan <= last:
            yield Finding(
                machine=site.generator.host,
                what=f"the generator's VLAN {vlan} is none of physical network {nic.network}",
                key=f"deploy/sites/{site.name}.yml generator.vlans",
                observed=f"networks.{nic.network}.vlans: {first} to {last}",
                fix=f"a VLAN of {first} to {last}, or other vlans of the network",
            )
    if site.generator.engine == "trex" and site.generator.program is None:
        yield Finding(
            machine=site.generator.host,
            what="variants are deployed, and not measured: the file does not say where TRex is",
            key=f"deploy/sites/{site.name}.yml generator.trex",
            observed="engine: trex, and no trex",
            fix="trex: {folder: TRex's folder on that machine}",
            stops=False,
        )


def check_flavors(
    site: KollaSiteSpec, variant: Variant, placements: Mapping[str, Placement], flavors: tuple[Flavor, ...]
) -> Iterator[Finding]:
    """Find flavors whose memory no compute's hugepages hold beside the switch's share, and whose vCPUs no compute has.

    They stop a deployment only where none of the flavors fits.
    """
    yield from _check_cores(site, placements, flavors)
    shared = plane_of(variant).switch.is_on_dpdk
    wanting = [flavor for flavor in flavors if "hw:mem_page_size" in extra_specs(flavor, shared_pages=shared)]
    rooms = {name: _rooms(site.hosts[name], placement) for name, placement in placements.items()}
    lacking = [flavor for flavor in wanting if not any(_fits(flavor, room) for room in rooms.values())]
    if rooms and lacking:
        names = ", ".join(flavor.name for flavor in lacking)
        seen = "; ".join(f"{name}: {_shown(room)}" for name, room in rooms.items())
        yield Finding(
            machine="",
            what=f"no compute has the hugepages of an instance of flavor {names}",
            key=f"deploy/sites/{site.name}.yml hosts.*.numa; flavors/{lacking[0].name}.yml memory_mib",
            observed=f"beside the switch's share there are {seen}; wanted are"
            f" {'; '.join(sorted({_wanted(flavor) for flavor in lacking}))}",
            fix="reserve hugepages of a size that divides that memory (2 MiB: hugepages_2m), or use other flavors",
            stops=shared and lacking == wanting,
        )


def _check_cores(
    site: KollaSiteSpec, placements: Mapping[str, Placement], flavors: tuple[Flavor, ...]
) -> Iterator[Finding]:
    lacking = [
        flavor
        for flavor in flavors
        if not any(_has_cores(flavor, site.hosts[name], one) for name, one in placements.items())
    ]
    if placements and lacking:
        seen = "; ".join(f"{name}: {len(one.shared)} and {len(one.dedicated)}" for name, one in placements.items())
        yield Finding(
            machine="",
            what=f"no compute has the cores of an instance of flavor {', '.join(flavor.name for flavor in lacking)}",
            key=f"deploy/sites/{site.name}.yml hosts.*.numa; flavors/{lacking[0].name}.yml vcpus",
            observed=f"cores that guests share, and cores of their own: {seen}; Nova gives no instance more vCPUs than"
            " there are",
            fix="give computes more cores, or isolate other ones (numa.isolated); or use other flavors",
            stops=lacking == list(flavors),
        )


def _has_cores(flavor: Flavor, host: RackHostSpec, placement: Placement) -> bool:
    """Return whether Nova lets an instance be on a compute, by its cores; its total is the most that one can ask for.

    Where no core is a guest's own, nfvbed says nothing of cores, and Nova has all of them for guests.
    """
    if not placement.dedicated:
        return flavor.cpu_policy == "dedicated" or flavor.vcpus <= sum(len(node.all_cores) for node in host.numa)
    return flavor.vcpus <= len(placement.dedicated if flavor.cpu_policy == "dedicated" else placement.shared)


_Room = dict[int, dict[int, int]]
"""Memory in MiB that is left for instances, by node, by size of a page in MiB."""


def _rooms(host: RackHostSpec, placement: Placement) -> _Room:
    switch = {pages.node: pages.memory_mib for pages in placement.pages}
    room: _Room = {}
    for number, node in enumerate(host.numa):
        sizes = {MIB_PER_GIB: node.hugepages_1g * MIB_PER_GIB, 2: node.hugepages_2m * 2}
        if node.page_mib:
            sizes[node.page_mib] -= switch.get(number, 0)
        room[number] = {size: left for size, left in sizes.items() if left > 0}
    return room


def _fits(flavor: Flavor, room: _Room) -> bool:
    """Return whether memory fits whole pages of one size on one node; of a flavor with nodes, each node's memory."""
    parts = [(part.memory_mib, part.host_node) for part in flavor.numa] or [(flavor.memory_mib, None)]
    free = dict(room)
    for memory_mib, on in sorted(parts, key=lambda part: (part[1] is None, -part[0])):
        able = [number for number, sizes in free.items() if on in (None, number) and _holds(sizes, memory_mib)]
        if not able:
            return False
        free.pop(min(able, key=lambda number: max(free[number].values())))
    return True


def _holds(sizes: Mapping[int, int], memory_mib: int) -> bool:
    return any(left >= memory_mib and memory_mib % size == 0 for size, left in sizes.items())


def _wanted(flavor: Flavor) -> str:
    parts = [part.memory_mib for part in flavor.numa] or [flavor.memory_mib]
    return " and ".join(f"{part} MiB" for part in parts) + " on one node" + (" each" if len(parts) > 1 else "")


def _shown(room: _Room) -> str:
    nodes = [
        f"node {number} " + (", ".join(f"{left} MiB in pages of {size} MiB" for size, left in sizes.items()) or "none")
        for number, sizes in room.items()
    ]
    return ", ".join(nodes)
