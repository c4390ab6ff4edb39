"""The networks and flavors that a deployed rack's cloud needs before a VNF is onboarded."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from openstack.connection import Connection

from nfvbed.cloud.novaflavor import PREFIX, extra_specs
from nfvbed.cloud.tacker.connection import asking
from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla.measured.described import OF_FUNCTIONS, OF_NICS
from nfvbed.sites.kolla.pinning import Pinning, plane_of
from nfvbed.sites.openstack.paths import PathNetworks
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.site import KollaSiteSpec

_MARK = "made by nfvbed"
_FIRST_OF_TUNNELS = 100
"""Number of a subnet that no other network has."""
_log = logging.getLogger(__name__)


def provide(
    connection: Connection,
    site: KollaSiteSpec,
    pinning: Pinning,
    flavors: Sequence[Flavor],
    placing: Mapping[str, str] | None = None,
) -> None:
    """Make the networks and flavors that are missing; idempotent.

    Args:
        site: the rack, whose file has the VLANs of the generator's ports.
        flavors: flavors that VNFs are made from.
        placing: extra specs of all flavors, which say on which computes their instances are; None: on any.

    Raises:
        OnboardError, UnsupportedError: the cloud refuses it.
        ConfigurationError: the site's file has several physical networks where there can be one.
    """
    for number, (name, keys) in enumerate(_networks(site, pinning).items()):
        with asking(f"network {name}"):
            if connection.network.find_network(name) is None:
                _make_network(connection, name, keys, number)
    with asking("flavors"):
        known = {one.name: one for one in connection.compute.flavors(is_public=None)}
        for flavor in flavors:
            made = known.get(PREFIX + flavor.name)
            specs = dict(placing or {}) if made else extra_specs(flavor) | dict(placing or {})
            made = made or _make_flavor(connection, flavor)
            if specs:
                connection.compute.create_flavor_extra_specs(made, specs)


def provide_tunnels(connection: Connection, names: Collection[str], kind: str) -> None:
    """Make networks that are tunnels between computes, where they are missing; idempotent.

    What a tenant makes is a VLAN first (`neutron_tenant_network_types`), so the type is asked for.

    Args:
        kind: type of the tunnels, in Neutron's words.

    Raises:
        OnboardError, UnsupportedError: the cloud refuses it.
    """
    for number, name in enumerate(names):
        with asking(f"network {name}"):
            if connection.network.find_network(name) is None:
                _make_network(connection, name, {"provider_network_type": kind}, _FIRST_OF_TUNNELS + number)


def _networks(site: KollaSiteSpec, pinning: Pinning) -> dict[str, dict[str, Any]]:
    """Return how networks are made, by their names; for virtual functions where a compute has any.

    All are VLANs of the physical network that the computes' ports are on. What a tenant makes could be a tunnel, or on
    a physical network that these computes do not have, and a port there is not bound.
    """
    generator = site.generator
    if generator is None:
        return {}
    found = _on(site.hosts[generator.host].nics_of("dpdk")[0].network, OF_NICS, generator.vlans)
    having = [name for name, variant in pinning.variants.items() if plane_of(variant).has_functions]
    if having:
        found |= _on(_network_of_functions(site, having), OF_FUNCTIONS, generator.vlans)
    return found


def _on(physical: str | None, names: PathNetworks, vlans: tuple[int, int]) -> dict[str, dict[str, Any]]:
    on = {"provider_network_type": "vlan", "provider_physical_network": physical}
    ends = {name: {**on, "provider_segmentation_id": vlan} for name, vlan in zip(names.outside, vlans, strict=True)}
    # Neutron takes a free VLAN of the site's for each of the others.
    return ends | dict.fromkeys(names.links, on)


def _network_of_functions(site: KollaSiteSpec, computes: Sequence[str]) -> str | None:
    """Return the physical network of the computes' functions; its switch carries the generator's VLANs too.

    Raises:
        ConfigurationError: there are several.
    """
    found = {name: site.hosts[name].function_nics[0].network for name in computes}
    if len(set(found.values())) > 1:
        raise ConfigurationError(
            "the computes' virtual functions are on different physical networks",
            where=f"deploy/sites/{site.name}.yml hosts.*.nics",
            observed=", ".join(f"{name}: {network}" for name, network in found.items()),
            fix="give the first NIC with functions of each the same network: a path has a network at each end",
        )
    return found[computes[0]]


def _make_network(connection: Connection, name: str, keys: dict[str, Any], number: int) -> None:
    _log.info("making network %s", name)
    # With port security Neutron drops every frame that a VNF forwards.
    made = connection.network.create_network(name=name, description=_MARK, is_port_security_enabled=False, **keys)
    # Nova wants a subnet on every network, and no guest there asks for an address.
    connection.network.create_subnet(
        network_id=made.id,
        name=name,
        ip_version=4,
        cidr=f"10.98.{number}.0/24",
        gateway_ip=None,
        is_dhcp_enabled=False,
    )


def _make_flavor(connection: Connection, flavor: Flavor) -> Any:
    _log.info("making flavor %s", PREFIX + flavor.name)
    return connection.compute.create_flavor(
        name=PREFIX + flavor.name, vcpus=flavor.vcpus, ram=flavor.memory_mib, disk=flavor.disk_gib
    )
