"""The two hosts of socket traffic, and those that are network namespaces, with a device into the path and an address.

Both have one address. The other one's is reached over the device, and its neighbour entry is permanent: no ARP is among
the traffic, and the path may lead through a router, whose own address frames then have. Around a mobile core they are
the eNB, which sends to the serving gateway, and the server, which sends to a UE (`ue.py`).
"""

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from pyroute2 import IPRoute
from pyroute2.netlink.rtnl import ndmsg

from nfvbed.dataplanes.dataplane import OwnEndsMaker
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.generator import destination_macs
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.network import links, namespaces
from nfvbed.host.network.links import LinkTraffic
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, WorkThread
from nfvbed.spec.layout import VEPC
from nfvbed.traffic.sockets.hosts import Listener, SocketHost, SocketPair, listens
from nfvbed.traffic.sockets.sockettools import PROJECT_ROOT
from nfvbed.units import GTPU_BYTES
from nfvbed.vnfs.epc.driver import bearers_of
from nfvbed.vnfs.process import sharing
from nfvbed.vnfs.sockets.devices import EndDevice, LinkDevice

MTU = 1500
"""MTU of both hosts, whatever the ports take: variants differ in that, and TCP cuts its segments by it."""
UE_MTU = MTU - GTPU_BYTES
"""MTU of a UE, and of packets to it: with its tunnel's headers they are no longer than S1-U takes."""
DEVICES = ("end0", "end1")
PRECEDENCE = ("nice", "-n", str(sharing.NICE))
"""The generator's, whose place the tools take: whatever else the machine does comes after them."""
numbers = itertools.count(1)
"""A namespace's name is used once in a workspace."""


@dataclass(frozen=True)
class HostResources:
    """The workspace and cores of the hosts."""

    workspace: Workspace
    arrangement: Arrangement
    root: Path = PROJECT_ROOT
    """Folder of the project, where `native/build` is."""
    own_taps: OwnEndsMaker | None = None
    """Puts tap ports of the switch's own in the place of the generator's."""
    own_veths: OwnEndsMaker | None = None
    """Puts veth ports there. Without either, sockets are on the generator's ports."""


class EndCores(Protocol):
    """The cores on which both hosts' programs run."""

    @property
    def shared(self) -> bool:
        """Whether one core has to do for what could use two."""

    @property
    def all(self) -> tuple[int, ...]:
        """The cores that are used by nothing else, each once."""

    @property
    def described(self) -> str:
        """In words."""


@dataclass(frozen=True)
class Cores:
    """The cores of hosts on this machine: the generator's, and others that are free."""

    poller: int | None
    """Core of the process that polls for both hosts' ports; None: the kernel receives by itself."""
    client: int
    server: int

    @property
    def shared(self) -> bool:
        """Whether two of them are on one core."""
        used = [core for core in (self.poller, self.client, self.server) if core is not None]
        return len(set(used)) < len(used)

    @property
    def all(self) -> tuple[int, ...]:
        """Each core once."""
        return tuple(sorted({core for core in (self.poller, self.client, self.server) if core is not None}))

    @property
    def described(self) -> str:
        """In words."""
        polls = "" if self.poller is None else f", their polling process on core {self.poller}"
        return f"end 0 on core {self.client}, end 1 on core {self.server}{polls}"


@dataclass(frozen=True)
class Host:
    """One of two namespaces, as it is made."""

    netns: str
    device: str
    mac: str
    """Empty where the device has none."""
    address: str


@dataclass(frozen=True, kw_only=True)
class SocketEnds:
    """Both hosts, ready for a tool: its client at outside end 0, its server at outside end 1."""

    devices: tuple[EndDevice, EndDevice]
    pair: SocketPair
    cores: EndCores
    threads: tuple[WorkThread, ...] = ()
    """Threads that move frames between the hosts and the path's ports."""
    what: str
    """How the hosts are joined to the path, in words."""
    mtu: int = MTU
    """The smaller one of both."""
    carriers: tuple[EndDevice, ...] = ()
    """The devices that do each host's offloads; none: nothing can be said of them."""
    kind: str = ""
    """Word for rows that are of other ends than the generator's ports."""
    told: Callable[[], tuple[str, ...]] = tuple
    """Gives what is known of the traffic after the last of it, while the hosts are there. It may end their carrier."""

    def traffic(self) -> tuple[LinkTraffic, LinkTraffic]:
        """Return what both devices' kernels have counted.

        Raises:
            GeneratorError: a device is gone.
        """
        client, server = (device.traffic() for device in self.devices)
        return client, server


@dataclass(frozen=True, kw_only=True)
class NamespaceEnds(SocketEnds):
    """Hosts that are network namespaces of this machine."""

    hosts: tuple[Host, Host]
    cores: Cores


def place(arrangement: Arrangement, polls: bool) -> Cores:
    """Return the cores of poller, client and server: the generator's first, then those without switch or VNF."""
    taken = {*arrangement.switch_cores, arrangement.generator_core, *arrangement.vnf_cores}
    cores = [arrangement.generator_core, *(core for core in arrangement.control_cores if core not in taken)]
    wanted = 3 if polls else 2
    chosen = [*cores, *[cores[-1] if len(cores) > 1 else cores[0]] * wanted][:wanted]
    return Cores(chosen[0] if polls else None, chosen[-2], chosen[-1])


def make_spaces(workspace: Workspace) -> tuple[str, str]:
    """Make the namespaces of both hosts, and return their paths."""
    number = next(numbers)
    return workspace.network_namespace(f"client{number}"), workspace.network_namespace(f"server{number}")


def remove_spaces(spaces: Sequence[str]) -> None:
    """Remove the namespaces, and what is in them."""
    for path in spaces:
        namespaces.remove(path)


def move(device: str, source: str, target: str) -> None:
    """Move a device into another namespace, where it is down."""

    def work() -> None:
        handle = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with IPRoute() as route:
                route.link("set", index=route.link_lookup(ifname=device)[0], net_ns_fd=handle)
        finally:
            os.close(handle)

    inside(source, work)


def set_up(deployment: Deployment, hosts: tuple[Host, Host]) -> None:
    """Give both hosts an address and a route to the other, and bring their devices up."""
    macs = destination_macs(deployment) or (hosts[1].mac, hosts[0].mac)
    for host, (address, mtu), mac in zip(hosts, _beyond(deployment, hosts), macs, strict=True):
        inside(host.netns, partial(_lead, host, address, mac, mtu))


def _beyond(deployment: Deployment, hosts: tuple[Host, Host]) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return each host's peer, and the longest packet on the way there."""
    if deployment.topology != VEPC:
        return (hosts[1].address, MTU), (hosts[0].address, MTU)
    table = bearers_of(deployment.vnfs[0])
    return (str(table.sgw), MTU), (str(table.bearers[0].ue), UE_MTU)


def _lead(host: Host, address: str, mac: str, mtu: int) -> None:
    links.silence_ipv6(("all", "default", host.device))
    with IPRoute() as route:
        index = route.link_lookup(ifname=host.device)[0]
        route.link("set", index=index, mtu=MTU)
        route.link("set", index=index, state="up")
        route.addr("add", index=index, address=host.address, prefixlen=32)
        metrics = {} if mtu == MTU else {"metrics": {"mtu": mtu}}
        route.route("add", dst=f"{address}/32", oif=index, scope="link", **metrics)
        route.neigh("add", dst=address, lladdr=mac, ifindex=index, state=ndmsg.NUD_PERMANENT)


def devices_of(hosts: tuple[Host, Host]) -> tuple[EndDevice, EndDevice]:
    """Return the hosts' devices."""
    first, second = (LinkDevice(host.netns, host.device) for host in hosts)
    return first, second


@dataclass(frozen=True)
class NamespaceProcess:
    """A program in a namespace."""

    process: ManagedProcess

    @property
    def where(self) -> str:
        """Its log."""
        return str(self.process.log)

    def alive(self) -> bool:
        """Return whether it still runs."""
        return self.process.alive()

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end."""
        return self.process.wait(timeout_s)

    def output(self) -> str:
        """Read its log."""
        return self.process.log.read_text(errors="replace")

    def listens(self, address: str, listener: Listener) -> bool:
        """Look into its namespace's table of sockets."""
        return listens(Path(f"/proc/{self.process.pid}/net/{listener.protocol}"), address, listener)

    def stop(self) -> None:
        """End it."""
        self.process.stop()


@dataclass(frozen=True)
class NamespaceHost(SocketHost):
    """A namespace whose programs run on one core."""

    address: str
    netns: str
    core: int
    workspace: Workspace
    _started: Iterator[int] = field(default_factory=partial(itertools.count, 1), compare=False)

    def start(self, name: str, argv: Sequence[str]) -> NamespaceProcess:
        """Start a program with the generator's precedence."""
        unique = f"{Path(self.netns).name.rpartition('-')[2]}-{name}-{next(self._started)}"
        return NamespaceProcess(self.workspace.spawn(unique, [*PRECEDENCE, *argv], cores=[self.core], netns=self.netns))

    def path(self, name: str) -> str:
        """Return a file of the workspace, which is removed with it."""
        return str(self.workspace.directory / name)

    def take(self, name: str) -> str | None:
        """Read it."""
        file = self.workspace.directory / name
        if not file.exists():
            return None
        text = file.read_text()
        file.unlink()
        return text


def pair_of(around: HostResources, hosts: tuple[Host, Host], cores: Cores) -> SocketPair:
    """Return the way to start tools on both hosts."""
    client, server = (
        NamespaceHost(host.address, host.netns, core, around.workspace)
        for host, core in zip(hosts, (cores.client, cores.server), strict=True)
    )
    return SocketPair(client, server)
