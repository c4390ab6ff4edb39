"""The devices of the hosts: what they have sent and received, and their offloads.

A device is the kernel's of this machine, in some network namespace, or a guest's (`guest_hosts.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from nfvbed.errors import GeneratorError
from nfvbed.host.network import links
from nfvbed.host.network.links import LinkTraffic
from nfvbed.host.network.namespaces import inside

SCATTER: Final = "tx-scatter-gather"
GSO: Final = "tx-generic-segmentation"
TSO: Final = "tx-tcp-segmentation"
_KINDS_OF_TSO: Final = ("tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation")
"""They go with the first kind, as with `ethtool -K DEVICE tso`: a veth that has any of them bypasses the receive thread
of its other end (`veth_skb_is_eligible_for_gro` in Linux)."""
FEATURES: Final = {links.CHECKSUM: "checksum", TSO: "tso", GSO: "gso", links.GRO: "gro", SCATTER: "sg"}
"""The offloads that are read, by the kernel's names, with the short ones."""


class EndDevice(ABC):
    """A device into the path, at one end."""

    name: str

    @abstractmethod
    def traffic(self) -> LinkTraffic:
        """Return what its kernel has counted; a frame that is cut later on is one.

        Raises:
            GeneratorError: it is gone.
        """

    @abstractmethod
    def wrong_checksums(self) -> int | None:
        """Return how many TCP segments the host behind it has dropped for their checksum; None: it does not tell."""

    @abstractmethod
    def features(self) -> dict[str, bool]:
        """Return which of the features are on; one that it does not have is off."""

    @abstractmethod
    def set_features(self, wanted: Mapping[str, bool]) -> None:
        """Turn features on or off; those that it cannot change stay as they are."""


@dataclass(frozen=True)
class LinkDevice(EndDevice):
    """A link of this machine, by its network namespace."""

    netns: str
    name: str

    def traffic(self) -> LinkTraffic:
        """Ask the kernel."""
        found = inside(self.netns, partial(links.traffic, self.name))
        if found is None:
            raise GeneratorError("a host of the socket traffic has lost its device", where=f"{self.name}, {self.netns}")
        return found

    def wrong_checksums(self) -> int | None:
        """Read the counters of its namespace."""
        return inside(self.netns, _wrong_checksums)

    def features(self) -> dict[str, bool]:
        """Ask the kernel, feature by feature."""
        return {feature: inside(self.netns, partial(links.has_feature, self.name, feature)) for feature in FEATURES}

    def set_features(self, wanted: Mapping[str, bool]) -> None:
        """Ask the kernel."""
        of_tso = dict.fromkeys(_KINDS_OF_TSO, wanted[TSO]) if TSO in wanted else {}
        inside(self.netns, partial(links.set_features, self.name, {**wanted, **of_tso}))


def _wrong_checksums(table: Path = Path("/proc/thread-self/net/snmp")) -> int:
    """Read `InCsumErrors` of TCP: two lines of a protocol, names and numbers (Linux, networking/snmp_counter)."""
    names, numbers = (line.split() for line in table.read_text().splitlines() if line.startswith("Tcp:"))
    return int(dict(zip(names, numbers, strict=True))["InCsumErrors"])
