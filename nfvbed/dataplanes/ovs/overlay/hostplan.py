"""Which end of a path is on which host, and which cables go through the tunnel. Pure."""

from dataclasses import dataclass

from nfvbed.dataplanes.wiring import port_numbers
from nfvbed.errors import UnsupportedError
from nfvbed.spec.layout import Cable, End, EndKind, Layout

TUNNEL_PORT = 1000
"""OpenFlow number of the tunnel's port on br-int; the numbers of the path's ports are far below."""
FIRST_NETWORK = 5001
"""Identifier (VNI) of the first cable's network in the tunnel."""


@dataclass(frozen=True)
class ForwardingRule:
    """What a host does with the frames that come from one of its ports."""

    source: int
    """OpenFlow number of the port that they come from."""
    target: int | None
    """OpenFlow number of the port of this host that they go to; None: they go into the tunnel."""
    network: int
    """Identifier (VNI) of the cable's network in the tunnel."""


@dataclass(frozen=True)
class HostPlan:
    """One host's part of a path."""

    index: int
    """0 or 1."""
    ports: dict[str, int]
    """OpenFlow numbers by name, in the order of the path."""
    legs: tuple[ForwardingRule, ...]
    arrivals: dict[int, int]
    """Network identifier -> the port that frames from the tunnel go to."""

    @property
    def name(self) -> str:
        """`h1`, `h2`."""
        return f"h{self.index + 1}"


def host_plans(plan: Layout, hosts: int) -> tuple[HostPlan, ...]:
    """Split a path: its first half goes to the first host, the rest to the second.

    Raises:
        UnsupportedError: the layout cannot be cut so.
    """
    if plan.ways > 1:
        raise UnsupportedError(
            f"topology {plan.name} shares flows out among VNFs, which the overlay's rules do not",
            observed=f"{plan.ways} ways",
            fix="topology pvp, pvvp or a chain; or variant ovs-dpdk",
        )
    numbers = port_numbers(plan)
    return tuple(_host(index, plan, hosts, numbers) for index in range(hosts))


def host_of(end: End, plan: Layout, hosts: int) -> int:
    """Return the host of a cable's end."""
    if hosts == 1:
        return 0
    if end.vnf is None:
        return end.port
    # A single VNF at an end of the path is on that end's host; else the first half (rounded up) is on the first.
    if plan.vnfs == 1 and plan.ends[1] is EndKind.SINK:
        return 1
    return 0 if end.vnf < (plan.vnfs + 1) // 2 else 1


def _host(index: int, plan: Layout, hosts: int, numbers: dict[str, int]) -> HostPlan:
    mine: set[str] = set()
    legs: list[ForwardingRule] = []
    arrivals: dict[int, int] = {}
    for network, cable in enumerate(plan.cables, FIRST_NETWORK):
        for own, other in _ways(cable):
            if host_of(own, plan, hosts) != index:
                continue
            mine.add(own.name)
            source, crosses = numbers[own.name], host_of(other, plan, hosts) != index
            legs.append(ForwardingRule(source, None if crosses else numbers[other.name], network))
            if crosses:
                arrivals[network] = source
    return HostPlan(index, {name: n for name, n in numbers.items() if name in mine}, tuple(legs), arrivals)


def _ways(cable: Cable) -> tuple[tuple[End, End], tuple[End, End]]:
    return (cable.first, cable.second), (cable.second, cable.first)
