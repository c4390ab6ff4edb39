"""A path through a bridge as cables between its ports, and the rules for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from nfvbed.dataplanes.ovs.openflow import DEFAULT_PRIORITY, Rule, UdpSource
from nfvbed.dataplanes.wiring import port_numbers
from nfvbed.errors import ConfigurationError
from nfvbed.spec.layout import Layout

SHARE_PRIORITY = DEFAULT_PRIORITY + 1
"""Rules for a share of the flows come before the one for all that is no flow."""


@dataclass(frozen=True)
class SwitchCable:
    """Two ports of the bridge, by name, that are joined in both directions.

    At a port with several cables, a share (i, n) says which flows take this one: every n-th, those whose number leaves
    the remainder i.
    """

    port_a: str
    port_b: str
    share: tuple[int, int] | None = None


@dataclass(frozen=True)
class SteeringPath:
    """The cables in the order of the path from outside end 0 to outside end 1."""

    ports: Mapping[str, int]
    """OpenFlow port numbers by name."""
    cables: tuple[SwitchCable, ...]


def steering_path(plan: Layout) -> SteeringPath:
    """Return a layout as the path that a steering writes into a bridge."""
    cables = tuple(SwitchCable(c.first.name, c.second.name, c.share) for c in plan.cables)
    return SteeringPath(port_numbers(plan), cables)


@dataclass(frozen=True)
class CableRules:
    """The rules of one cable: from `port_a` to `port_b` (forward), and back."""

    cable: SwitchCable
    forward: tuple[Rule, ...]
    backward: tuple[Rule, ...]


def cable_rules(path: SteeringPath) -> tuple[CableRules, ...]:
    """Return the rules of every cable; their cookies count from 1 in the order of the path.

    nfvgen numbers its flows in the UDP source port (`native/nfvgen/frame.h`), with IPv4, IPv6 and VXLAN alike and in
    both directions, so its low bits choose the share. What is no UDP over IP (ARP, neighbour discovery) takes share 0.

    Raises:
        ConfigurationError: a cable names a port that is not there, or the cables of a port do not share its flows out.
    """
    _check(path)
    rules: list[CableRules] = []
    cookie = 1
    for cable in path.cables:
        forward = _direction(path, cable, cable.port_a, cookie)
        backward = _direction(path, cable, cable.port_b, cookie + len(forward))
        cookie += len(forward) + len(backward)
        rules.append(CableRules(cable, forward, backward))
    return tuple(rules)


def path_rules(path: SteeringPath) -> tuple[Rule, ...]:
    """Return all rules of a path, in its order."""
    return tuple(rule for cable in cable_rules(path) for rule in (*cable.forward, *cable.backward))


def _direction(path: SteeringPath, cable: SwitchCable, source: str, cookie: int) -> tuple[Rule, ...]:
    """Return the rules for frames that come in at one end of a cable."""
    in_port = path.ports[source]
    output = path.ports[cable.port_b if source == cable.port_a else cable.port_a]
    if cable.share is None or len(_cables_of(path, source)) == 1:
        return (Rule(output, in_port, cookie),)
    rest, count = cable.share
    flows = [
        Rule(output, in_port, cookie + place, SHARE_PRIORITY, UdpSource(version, rest, count - 1))
        for place, version in enumerate((4, 6))
    ]
    others = [Rule(output, in_port, cookie + len(flows))] if rest == 0 else []
    return (*flows, *others)


def _cables_of(path: SteeringPath, port: str) -> list[SwitchCable]:
    return [cable for cable in path.cables if port in (cable.port_a, cable.port_b)]


def _check(path: SteeringPath) -> None:
    for cable in path.cables:
        unknown = [port for port in (cable.port_a, cable.port_b) if port not in path.ports]
        if unknown or cable.port_a == cable.port_b:
            raise ConfigurationError(
                "a cable does not join two ports of the bridge",
                where=f"{cable.port_a} - {cable.port_b}",
                observed=f"the bridge has {', '.join(path.ports) or 'none'}",
            )
    for port in path.ports:
        _check_shares(port, [cable.share for cable in _cables_of(path, port)])


def _check_shares(port: str, shares: list[tuple[int, int] | None]) -> None:
    """Check that every flow that comes in at a port has exactly one cable to take."""
    count = len(shares)
    if count <= 1:
        return
    if count & (count - 1) or sorted(share or (-1, 0) for share in shares) != [(rest, count) for rest in range(count)]:
        raise ConfigurationError(
            f"the {count} cables of port {port} do not share its flows out",
            where=port,
            observed=", ".join("all flows" if share is None else f"{share[0]} of {share[1]}" for share in shares),
            fix="a port has one cable, or 2, 4, 8 ... of them with the shares 0 to n-1 of n",
        )
