"""Neutron's agents of switches: kolla-ansible deploys the same kind on all machines of a cloud."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from nfvbed.cloud.kolla.uplinks import Uplink, bridge_mappings
from nfvbed.spec.kollarelease import KollaReleaseSpec

ServiceOptions = Mapping[str, Mapping[str, str | tuple[str, ...]]]
"""Options of an INI file: section -> option -> value; a tuple for an option that may be given several times."""


@dataclass(frozen=True)
class SwitchAgent:
    """A kind of agent; a cloud has one, also for its controllers with their DHCP and routers."""

    plugin: str
    """Value of Kolla's `neutron_plugin_agent`."""
    name: str
    """Its name in Neutron's API."""
    mappings: Callable[[KollaReleaseSpec, tuple[Uplink, ...]], ServiceOptions]
    """Settings of a machine's agent that Kolla has otherwise: which physical network each of its NICs is on."""
    of_controller: tuple[str, ...] = ("neutron-dhcp-agent", "neutron-l3-agent", "neutron-metadata-agent")
    """Names of the agents beside it on a controller, for DHCP, routers and metadata."""
    tunnels: Literal["vxlan", "geneve"] = "vxlan"
    """Type of networks that are tunnels."""
    is_open_vswitch: bool = False
    """Whether its switch is Open vSwitch."""


def _bridges(release: KollaReleaseSpec, links: tuple[Uplink, ...]) -> ServiceOptions:
    """Return the mapping of physnet1, physnet2, ... to bridges, where the agent reads the server's file."""
    if release.ovs_agent_file == "ml2_conf.ini":
        return {"ovs": {"bridge_mappings": bridge_mappings(links)}}
    return {}


OPEN_VSWITCH = SwitchAgent("openvswitch", "neutron-openvswitch-agent", _bridges, is_open_vswitch=True)
"""What a cloud has whose data planes bring no other."""
