"""Hosts in virtual machines: two guests that are joined, whose agents give addresses and run the tools.

The guests' kernels drive the ports while their forwarding is paused. Tools, their versions and congestion controls are
those of the image; what a guest writes is read through its agent, so nothing of it is on this machine.
"""

import contextlib
import zlib
from binascii import a2b_base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nfvbed.errors import GeneratorError, OnboardError, PrerequisiteError
from nfvbed.host.generator import GENERATOR_ADDRESSES
from nfvbed.host.network import links
from nfvbed.host.network.links import LinkTraffic
from nfvbed.records import Deployment
from nfvbed.traffic.sockets.hosts import Listener, SocketHost, SocketPair
from nfvbed.traffic.sockets.sockettools import Tools
from nfvbed.vnfs.guest.machines import GuestPort, PathGuest, PathGuests
from nfvbed.vnfs.sockets.devices import GSO, SCATTER, TSO, EndDevice
from nfvbed.vnfs.sockets.hosts import MTU, SocketEnds
from nfvbed.vnfs.vm.agent import ANSWER_S, AgentRefused

KIND = "guests"
_PART_BYTES = 1024 * 1024
"""The most that a part of a file unfolds to; the agent sends half of it."""
_MOST_BYTES = 256 * 1024 * 1024
"""A log of five million messages of sockperf's."""
_SHORT = {links.CHECKSUM: "tx", SCATTER: "sg", TSO: "tso", GSO: "gso", links.GRO: "gro"}
"""Features as the agent names them."""


@dataclass(frozen=True)
class GuestTools(Tools):
    """Those of the guests' image."""

    name: str
    """The guest that was asked; all have one image."""
    info: Mapping[str, Any]

    @classmethod
    def of(cls, guests: Sequence[PathGuest]) -> "GuestTools":
        """Ask the first guest.

        Raises:
            PrerequisiteError: its image is of an nfvbed that started no tools in guests.
        """
        info = guests[0].agent.ask("info")
        if "tools" not in info:
            raise PrerequisiteError(
                "the guests' image starts no tools of socket traffic",
                where=guests[0].name,
                observed=f"image {info.get('version', 'unknown')}",
                fix="make images",
            )
        return cls(guests[0].name, info)

    def command(self, name: str) -> tuple[str, ...]:
        """Return its name, which is all that the agent takes."""
        if name not in self.info["tools"]:
            raise PrerequisiteError(
                f"{name} is not there",
                where=f"the guest {self.name}",
                observed=f"its agent starts {', '.join(self.info['tools'])}",
                fix="make images",
            )
        return (name,)

    def version(self, name: str) -> str:
        """Return its package's version."""
        return str(self.info["versions"].get(name, "unknown"))

    def congestion_controls(self) -> tuple[str, ...]:
        """Return those of the guest's kernel."""
        return tuple(self.info["congestion_controls"])


def _ask(guest: PathGuest, do: str, keys: Mapping[str, Any], timeout_s: float = ANSWER_S) -> dict[str, Any]:
    """Ask a guest's agent in the course of traffic: what it cannot do is the traffic's failure.

    Raises:
        GeneratorError: it refuses, or does not answer.
    """
    try:
        return guest.agent.ask(do, keys, timeout_s=timeout_s)
    except OnboardError as failure:
        raise GeneratorError(
            f"a host of socket traffic failed: {failure.what}",
            where=failure.where or guest.name,
            observed=failure.observed,
            fix=failure.fix,
        ) from failure


@dataclass(frozen=True)
class GuestDevice(EndDevice):
    """A guest's port, driven by its kernel."""

    name: str
    at: GuestPort

    def traffic(self) -> LinkTraffic:
        """Ask the guest."""
        counted = self._described()["counters"]
        return LinkTraffic(**{key: counted[key] for key in LinkTraffic.model_fields})

    def wrong_checksums(self) -> int | None:
        """Return nothing: the agent does not tell."""
        return None

    def features(self) -> dict[str, bool]:
        """Ask the guest."""
        found = self._described()["offloads"]
        return {feature: bool(found[short]) for feature, short in _SHORT.items()}

    def set_features(self, wanted: Mapping[str, bool]) -> None:
        """Ask the guest: what virtio did not negotiate is refused when the others are set, and read back as it is."""
        keys = {_SHORT[feature]: on for feature, on in wanted.items()}
        with contextlib.suppress(AgentRefused):
            self.at.guest.agent.ask("offloads", {**keys, "ports": [self.at.mac]})

    def _described(self) -> dict[str, Any]:
        (found,) = [port for port in _ask(self.at.guest, "links", {})["ports"] if port["mac"] == self.at.mac]
        return dict(found)


@dataclass(frozen=True)
class GuestProcess:
    """A tool that a guest's agent has started, by its number there."""

    guest: PathGuest
    number: int
    log: str

    @property
    def where(self) -> str:
        """Its log, in the guest."""
        return f"{self.log} of process {self.number} in the guest {self.guest.name}"

    def alive(self) -> bool:
        """Return whether it still runs."""
        return self.wait(0) is None

    def wait(self, timeout_s: float) -> int | None:
        """Let the agent wait, so that nothing disturbs the guest meanwhile."""
        keys = {"process": self.number, "timeout_ms": round(timeout_s * 1000)}
        status = _ask(self.guest, "wait", keys, timeout_s + ANSWER_S)["status"]
        return None if status is None else int(status)

    def output(self) -> str:
        """Read its log."""
        return _read(self.guest, self.log)

    def listens(self, address: str, listener: Listener) -> bool:
        """Ask for a socket of that port; the guest has one address in the path."""
        return bool(_ask(self.guest, "listens", {"port": listener.port})["listens"])

    def stop(self) -> None:
        """End it."""
        _ask(self.guest, "end", {"process": self.number})


@dataclass(frozen=True)
class GuestHost(SocketHost):
    """A guest whose agent runs the tools."""

    address: str
    guest: PathGuest
    folder: str
    """Where they may write, there."""

    def start(self, name: str, argv: Sequence[str]) -> GuestProcess:
        """Let the agent start it, on what CPU the guest's kernel likes."""
        started = _ask(self.guest, "start", {"program": argv[0], "arguments": list(argv[1:])})
        return GuestProcess(self.guest, int(started["process"]), str(started["log"]))

    def path(self, name: str) -> str:
        """Return the path in the guest."""
        return f"{self.folder}/{name}"

    def take(self, name: str) -> str | None:
        """Read it through the agent, in parts."""
        try:
            text = _read(self.guest, name)
        except GeneratorError as failure:
            if isinstance(failure.__cause__, AgentRefused):
                return None
            raise
        _ask(self.guest, "remove", {"name": name})
        return text


@dataclass(frozen=True)
class GuestCores:
    """Cores of the guests' virtual CPUs: the VNFs', which the arrangement has given them."""

    client: tuple[int, ...]
    server: tuple[int, ...]
    all: tuple[int, ...] = ()
    """None is taken from others: the threads on them are the VNFs' own."""

    @property
    def shared(self) -> bool:
        """Whether both guests are on one core."""
        return bool({*self.client} & {*self.server})

    @property
    def described(self) -> str:
        """In words."""
        if not self.client or not self.server:
            return "both guests on whatever cores their hosts give them"
        client, server = (" or ".join(map(str, cores)) for cores in (self.client, self.server))
        return f"end 0 in a guest on core {client}, end 1 in one on core {server}"


@contextlib.contextmanager
def guest_hosts(deployment: Deployment, guests: PathGuests) -> Iterator[SocketEnds]:
    """Make the first two guests that are joined, whose forwarding is paused, the hosts.

    Resumed, they lose their addresses and what runs there.

    Raises:
        GeneratorError: a guest's port does not come up.
    """
    first, second = guests.joined[0]
    addressed = tuple(zip((first, second), GENERATOR_ADDRESSES, strict=True))
    for (end, address), (other, peer) in zip(addressed, reversed(addressed), strict=True):
        keys = {"address": address, "peer": peer, "peer_mac": other.mac, "mtu": MTU, "ports": [end.mac]}
        _ask(end.guest, "lead", keys)
    client, server = (
        GuestHost(address, end.guest, str(end.guest.agent.ask("info")["tools_folder"])) for end, address in addressed
    )
    devices = (GuestDevice(f"{first.guest.name}'s port", first), GuestDevice(f"{second.guest.name}'s port", second))
    yield SocketEnds(
        devices=devices,
        pair=SocketPair(client, server),
        cores=GuestCores(first.guest.cores, second.guest.cores),
        what="; ".join(filter(None, (f"virtual machines on {_joined(deployment)} ports", guests.network))),
        carriers=devices,
        kind=KIND,
    )


def _joined(deployment: Deployment) -> str:
    return " and ".join(sorted({port.kind.value for handle in deployment.vnfs for port in handle.ports}))


def _read(guest: PathGuest, name: str) -> str:
    """Read a file of a guest's; no part, and not the whole, may be longer than a tool's own can be.

    Raises:
        GeneratorError: it is, or the guest's answer is no part of a file.
    """
    whole = bytearray()
    while len(whole) < _MOST_BYTES:
        answer = _ask(guest, "read", {"name": name, "offset": len(whole)})
        try:
            unfolding = zlib.decompressobj()
            part = unfolding.decompress(a2b_base64(answer["part"]), _PART_BYTES)
            if not unfolding.eof and len(part) < _PART_BYTES:
                raise ValueError("it ends too soon")
        except (KeyError, TypeError, ValueError, zlib.error) as failure:
            raise GeneratorError(
                "a guest's answer is no part of a file", where=f"{name} in {guest.name}", observed=str(failure)
            ) from failure
        whole += part
        if not part or len(whole) >= answer["bytes"]:
            return whole.decode(errors="replace")
    raise GeneratorError(
        "a file of a guest's tool is too long", where=f"{name} in {guest.name}", observed=f"above {_MOST_BYTES} B"
    )
