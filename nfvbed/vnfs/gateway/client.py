"""The client of a gateway: one line over its Unix socket, one JSON document back."""

from ipaddress import IPv4Address
from pathlib import Path
from typing import Literal

from nfvbed.errors import OnboardError
from nfvbed.host import linesocket
from nfvbed.patience import patient
from nfvbed.records import Record
from nfvbed.spec.bearers import Bearer
from nfvbed.vnfs.gateway.table import line_of

_PATIENCE_S = patient(5.0)


class PortCounts(Record):
    """A gateway's counts at one of its ports since its start: a frame is received, and has one other count."""

    name: Literal["s1u", "sgi"]
    neighbour: str | None
    """MAC address of the eNB or of the next hop; None: it is not known yet."""
    received: int
    forwarded: int
    """Handed to the other port."""
    arp: int
    """Questions answered, and what the neighbour said of itself."""
    echo: int
    """GTP-U echo requests; answered."""
    foreign: int
    """To another station, or ARP that does not concern this one."""
    not_ipv4: int
    """Neither IPv4 nor ARP, or a tunnelled packet of another version."""
    not_gtpu: int
    """At S1-U: other than GTP-U's user packets and echo requests to the gateway's address."""
    extension: int
    """GTP-U with extension headers, which the gateway does not read."""
    unknown_teid: int
    unknown_ue: int
    """At SGi: no bearer has the destination."""
    wrong_source: int
    """At S1-U: the packet's source is not the bearer's UE."""
    ttl_expired: int
    malformed: int
    """Lengths that cannot be, or a wrong header checksum."""
    fragments: int
    """At S1-U: fragments of tunnel packets, which are not put together."""
    too_big: int
    """Longer than the other port's MTU, with the tunnel's headers where they are added."""
    no_neighbour: int
    """The next hop's MAC address was not known yet."""
    not_sent: int
    """The port, or the kernel, did not take it."""

    @property
    def dropped(self) -> int:
        """Frames that were neither forwarded nor answered."""
        return self.received - self.forwarded - self.arp - self.echo


class GatewayCounts(Record):
    """A gateway's answer."""

    gateway: Literal["xdp", "dpdk"]
    bearers: int
    """In its table."""
    busy_cycles: int | None = None
    """TSC cycles of the DPDK gateway's rounds in which frames had come; None: XDP programs have no loop."""
    ports: tuple[PortCounts, PortCounts]
    """S1-U and SGi."""

    @property
    def s1u(self) -> PortCounts:
        """The eNB's side: what came uplink."""
        return self.ports[0]

    @property
    def sgi(self) -> PortCounts:
        """The server's side: what came downlink."""
        return self.ports[1]


class GatewayClient:
    """A client of one gateway."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def listens(self) -> bool:
        """Return whether it answers."""
        return linesocket.listens(self._path)

    def counters(self) -> GatewayCounts:
        """Read its counters.

        Raises:
            OnboardError: it does not answer.
        """
        return self._ask("counters")

    def add(self, bearer: Bearer) -> GatewayCounts:
        """Add a bearer, which is carried from now on.

        Raises:
            OnboardError: its UE or one of its TEIDs is in the table, the table is full, or there is no answer.
        """
        return self._ask(f"add {line_of(bearer)}")

    def remove(self, ue: IPv4Address) -> GatewayCounts:
        """Remove a UE's bearer.

        Raises:
            OnboardError: there is none, or no answer.
        """
        return self._ask(f"remove {ue}")

    def _ask(self, line: str) -> GatewayCounts:
        try:
            answer = linesocket.ask(self._path, line, _PATIENCE_S)
        except (OSError, ValueError) as failure:
            raise OnboardError(
                "the gateway does not answer",
                where=str(self._path),
                observed=f"{line}: {failure!r}",
                fix="see its log beside the socket",
            ) from failure
        if "error" in answer:
            raise OnboardError(
                "the gateway refuses",
                where=line,
                observed=str(answer["error"]),
                fix="a UE and TEIDs that no other bearer has; at most 4,096 bearers",
            )
        return GatewayCounts.model_validate(answer)
