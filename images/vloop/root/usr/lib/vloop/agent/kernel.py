"""Forwarding by the guest's kernel: a bridge or a router."""

from agent import ethtool
from agent.ports import COUNTERS, Port, wait_up
from agent.program import read, run, write
from agent.refusal import Refusal

ENGINE = "kernel"
BRIDGE = "br0"


class KernelForwarder:
    """A bridge or a router between the ports."""

    def __init__(self, ports: list[Port], request: dict) -> None:
        self.ports = ports
        self.request = request
        self._zero: list[dict] = []

    def start(self) -> dict:
        """Set it up and say what runs."""
        states = []
        for port in self.ports:
            port.to_kernel()
            ethtool.set_channels(port.name, self.request["queues"])
            states.append(ethtool.switch_all(port.name, self.request["offloads"]))
        if self.request["mode"] == "bridge":
            self._bridge()
        else:
            self._route()
        for port in self.ports:
            wait_up(port.name)
        self._zero = [port.counters() for port in self.ports]
        return {
            "engine": ENGINE,
            "mode": self.request["mode"],
            "driver": "kernel",
            "cpus": [],
            "queues": self.request["queues"],
            "ports": [{"mac": port.mac, "driver": port.driver} for port in self.ports],
            "offloads": states,
        }

    def stats(self) -> list[dict]:
        """Return the ports' counters since the start."""
        found = []
        for port, zero in zip(self.ports, self._zero, strict=True):
            now = port.counters()
            found.append({"mac": port.mac, **{key: now[key] - zero[key] for key in COUNTERS}})
        return found

    def check(self) -> None:
        """The kernel does not end."""

    def stop(self) -> None:
        """Take it down."""
        if self.request["mode"] == "bridge" and read(f"/sys/class/net/{BRIDGE}/ifindex"):
            run("ip", "link", "delete", BRIDGE)
        for port in self.ports:
            take_addresses(port)

    def _bridge(self) -> None:
        options = ["stp_state", "0", "forward_delay", "0", "mcast_snooping", "0"]
        run("ip", "link", "add", BRIDGE, "type", "bridge", *options)
        for port in self.ports:
            run("ip", "link", "set", port.name, "master", BRIDGE, "promisc", "on", "up")
        run("ip", "link", "set", BRIDGE, "up")

    def _route(self) -> None:
        if len(self.request["addresses"]) != len(self.ports):
            raise Refusal(
                "a router needs addresses for each port",
                observed=f"{len(self.request['addresses'])} lists for {len(self.ports)} ports",
                fix='"addresses": [["192.0.2.1/24"], ["198.51.100.1/24"]]',
            )
        give_addresses(self.ports, self.request["addresses"])
        write("/proc/sys/net/ipv4/ip_forward", "1")
        write("/proc/sys/net/ipv6/conf/all/forwarding", "1")
        for destination, hop in self.request["routes"]:
            run("ip", "route", "replace", str(destination), "via", str(hop))
        for place, address, mac in self.request["neighbours"]:
            if not 0 <= int(place) < len(self.ports):
                raise Refusal("there is no such port", where="neighbours", observed=str(place))
            device = self.ports[int(place)].name
            run("ip", "neighbour", "replace", str(address), "lladdr", str(mac), "dev", device, "nud", "permanent")


def give_addresses(ports: list[Port], addresses: list) -> None:
    """Give each port its addresses and set it up."""
    for port, listed in zip(ports, addresses, strict=False):
        name = port.name
        write(f"/proc/sys/net/ipv4/conf/{name}/rp_filter", "0")
        run("ip", "link", "set", name, "up")
        for address in listed:
            if ":" in address:
                write(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "0")
            words = ["nodad"] if ":" in address else []
            run("ip", "address", "replace", address, "dev", name, *words)


def lead(port: Port, found: dict) -> None:
    """Give a port an address and the way to one peer beyond it, whose neighbour entry is fixed: no ARP is sent."""
    give_addresses([port], [[f"{found['address']}/32"]])
    name = port.name
    run("ip", "link", "set", name, "mtu", str(found["mtu"]))
    run("ip", "route", "replace", f"{found['peer']}/32", "dev", name, "scope", "link")
    run("ip", "neighbour", "replace", found["peer"], "lladdr", found["peer_mac"], "dev", name, "nud", "permanent")
    wait_up(name)


def take_addresses(port: Port) -> None:
    """Take a port's addresses away and set it down; nothing where the kernel does not drive it."""
    if port.name:
        run("ip", "address", "flush", "dev", port.name)
        run("ip", "link", "set", port.name, "down")
