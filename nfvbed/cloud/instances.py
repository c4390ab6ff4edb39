"""Instances as Nova and Neutron know them: where they are, and which networks their ports are on."""

from dataclasses import dataclass

DATA_NETWORKS = ("data0", "data1")
"""Networks at the outside ends of a path, in its order; the generator's port of the same number is on each."""
LINK_NETWORK = "link{}"
"""Network between VNF n and VNF n + 1 of a chain, from 1."""
VLAN_NETWORK = "vlan{}"
"""The same in a devcloud with two computes of a data plane."""
TUNNEL_NETWORK = "tunnel{}"
"""Network that is a tunnel between computes, from 1."""
MANAGEMENT_NETWORK = "mgmt"
"""Network on which a devcloud's controller reaches instances."""


@dataclass(frozen=True)
class InstancePort:
    """A port of an instance, as Neutron knows it."""

    id: str
    network: str
    mac: str


@dataclass(frozen=True)
class PlacedInstance:
    """An instance on a compute."""

    id: str
    """Nova's."""
    name: str
    host: str
    """Nova's name of its compute."""
    ports: tuple[InstancePort, ...]
    """In the order of the path."""
