"""The NICs of a machine's switch, each on a bridge of its physical network."""

from dataclasses import dataclass

from nfvbed.spec.rack import RackNicSpec


def bridge_name(network: str) -> str:
    """Return the name of a physical network's bridge."""
    return f"br-{network}"


@dataclass(frozen=True)
class Uplink:
    """A NIC of a switch, and the NIC's bridge."""

    nic: RackNicSpec
    network: str

    @property
    def bridge(self) -> str:
        """The bridge's name."""
        return bridge_name(self.network)


def bridge_mappings(links: tuple[Uplink, ...]) -> str:
    """Return Neutron's list of pairs of physical network and bridge."""
    return ",".join(f"{link.network}:{link.bridge}" for link in links)
