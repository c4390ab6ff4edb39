"""What a deployed rack's cloud needs before a VNF is onboarded: networks that the generator reaches, and flavors."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from openstack.connection import Connection

from nfvbed.sites.kolla.measured.described import LINKS, OUTSIDE
from nfvbed.sites.openstack.tacker.connection import asking
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.vnfs.descriptors.novaflavor import PREFIX, extra_specs

_MARK = "made by nfvbed"
_log = logging.getLogger(__name__)


def provide(
    connection: Connection, site: KollaSiteSpec, flavors: Sequence[Flavor], placing: Mapping[str, str] | None = None
) -> None:
    """Make what is not there yet; idempotent.

    Args:
        connection: the administrator's.
        site: the rack, whose file has the VLANs of the generator's ports.
        flavors: that VNFs are made of.
        placing: extra specs of all flavors, which say on which computes their instances are; None: on any.

    Raises:
        OnboardError, UnsupportedError: the cloud refuses it.
    """
    for number, (name, keys) in enumerate(_networks(site).items()):
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


def _networks(site: KollaSiteSpec) -> dict[str, dict[str, Any]]:
    generator = site.generator
    if generator is None:
        return {}
    physnet = site.hosts[generator.host].nics_of("dpdk")[0].network
    outside = {
        name: {
            "provider_network_type": "vlan",
            "provider_physical_network": physnet,
            "provider_segmentation_id": vlan,
        }
        for name, vlan in zip(OUTSIDE, generator.vlans, strict=True)
    }
    return outside | {name: {} for name in LINKS}


def _make_network(connection: Connection, name: str, keys: dict[str, Any], number: int) -> None:
    _log.info("making network %s", name)
    # With port security Neutron drops every frame that a VNF forwards.
    made = connection.network.create_network(name=name, description=_MARK, is_port_security_enabled=False, **keys)
    # Nova wants a subnet on every network, and nobody there asks for an address.
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
