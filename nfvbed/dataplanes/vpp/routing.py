"""A VPP that routes IPv4 between two ports in place of joining them at layer 2, and back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from nfvbed.dataplanes.vpp.api import VppApi
from nfvbed.dataplanes.vpp.interfaces import FIRST_DOMAIN, Forwarding
from nfvbed.errors import DeployError
from nfvbed.host.generator import GENERATOR_ADDRESSES

_OWN = ("198.18.0.2", "198.19.0.2")
_NETWORK_BITS = 16
_STATIC = 1
"""vl_api_ip_neighbor_flags_t."""
_FILE = "routes.cli"


@dataclass(frozen=True)
class RouterPort:
    """A port of VPP that routes."""

    number: int
    """VPP's (`sw_if_index`)."""
    name: str
    """VPP's (`VirtualEthernet0/0/0`)."""
    mac: str


class Router:
    """Two ports of a running VPP, which `begin` takes out of layer 2 and `end` puts back.

    Args:
        numbers: numbers of the two ports (`sw_if_index`).
        forwarding: how the ports were joined.
        directory: folder of the file of commands that VPP reads.
    """

    def __init__(self, api: VppApi, numbers: Sequence[int], forwarding: Forwarding, directory: Path) -> None:
        self._api = api
        self._numbers = tuple(numbers)
        self._forwarding = forwarding
        self._file = directory / _FILE
        self.ports = tuple(self._port(number) for number in numbers)

    @property
    def macs(self) -> tuple[str, str]:
        """MAC addresses of the generator's ports: a frame that is sent to one of them enters VPP's port before it."""
        first, second = self.ports
        return second.mac, first.mac

    def begin(self) -> None:
        """Give the ports addresses, and the generator's ports as their neighbours.

        Raises:
            DeployError: VPP refuses.
        """
        self._layer2(False)
        for place, port in enumerate(self.ports):
            self._address(place, port, True)
            self._neighbour(place, port, True)

    def end(self) -> None:
        """Join the ports at layer 2 again, as they were."""
        for place, port in enumerate(self.ports):
            self._neighbour(place, port, False)
            self._address(place, port, False)
        self._layer2(True)

    def change(self, action: str, way: int, networks: Iterable[tuple[int, int]], prefix: int) -> None:
        """Add or remove routes to the neighbour at the other port.

        Args:
            action: `add` or `del`.
            way: 0 for frames that enter the first port, 1 for the other direction.
            networks: runs of adjacent networks: the first one's number, and how many.
            prefix: length of all prefixes.

        Raises:
            DeployError: VPP refuses a route.
        """
        to = f"via {GENERATOR_ADDRESSES[1 - way]} {self.ports[1 - way].name}"
        lines = (f"ip route {action} {IPv4Address(first)}/{prefix} count {count} {to}" for first, count in networks)
        self._file.write_text("\n".join(lines) + "\n")
        try:
            answer = self._api.command(f"exec {self._file}")
        finally:
            self._file.unlink()
        if answer.strip():
            raise DeployError("VPP refuses a route", observed=answer.strip()[:200], fix="see VPP's log")

    def routes(self, prefix: int) -> int:
        """Return how many routes have this prefix length."""
        for line in self._api.command("show ip fib summary").splitlines():
            columns = line.split()
            if len(columns) == 2 and columns[0] == str(prefix):
                return int(columns[1])
        return 0

    def _port(self, number: int) -> RouterPort:
        (found,) = self._api.call("sw_interface_dump", sw_if_index=number)
        return RouterPort(number, str(found.interface_name), str(found.l2_address))

    def _layer2(self, joined: bool) -> None:
        first, second = self._numbers
        for receives, sends in ((first, second), (second, first)):
            if self._forwarding == "l2-cross-connect":
                self._api.call(
                    "sw_interface_set_l2_xconnect", rx_sw_if_index=receives, tx_sw_if_index=sends, enable=joined
                )
            else:
                self._api.call(
                    "sw_interface_set_l2_bridge",
                    rx_sw_if_index=receives,
                    bd_id=FIRST_DOMAIN,
                    port_type=0,
                    shg=0,
                    enable=joined,
                )

    def _address(self, place: int, port: RouterPort, there: bool) -> None:
        self._api.call(
            "sw_interface_add_del_address",
            sw_if_index=port.number,
            is_add=there,
            del_all=False,
            prefix=f"{_OWN[place]}/{_NETWORK_BITS}",
        )

    def _neighbour(self, place: int, port: RouterPort, there: bool) -> None:
        neighbour = {
            "sw_if_index": port.number,
            "flags": _STATIC,
            "mac_address": self.macs[place],
            "ip_address": GENERATOR_ADDRESSES[place],
        }
        self._api.call("ip_neighbor_add_del", is_add=there, neighbor=neighbour)
