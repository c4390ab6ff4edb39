"""The logical topology of a path, as commands of ovn-nbctl(8), and its ACLs, as rows of the database: pure.

A cable is a logical switch whose two ports take frames to every address (`unknown`), as those of VNFs do that forward
what is not addressed to them. A logical router has a port in each of two such switches, and a route to the generator's
networks (RFC 2544's ranges) by the generator's ports, whose addresses it knows.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from nfvbed.dataplanes.ovs.ovn.logicaloptions import LogicalPathOptions
from nfvbed.spec.layout import Layout

ROUTER = "lr0"
ROUTER_MACS = ("02:4e:46:56:40:00", "02:4e:46:56:40:01")
"""MAC addresses of the router's ports towards p0 and p1: frames from the generator are sent to them."""
NETWORKS = ("198.18.0.0/16", "198.19.0.0/16")
"""Networks of the generator's port 0 and port 1."""
_LINKS = (("10.255.0.1", "10.255.0.2"), ("10.255.1.1", "10.255.1.2"))
"""Addresses of the router's port and of the generator's, in the network between them."""
_HIGHEST = 30_000
"""Priority of the first ACL; OVN takes up to 32,767."""
_DROP = 1
_ELSEWHERE = int(IPv4Address("203.0.0.0"))
"""First source of ACLs that match none of the traffic."""

Command = tuple[str, ...]


@dataclass(frozen=True)
class Acl:
    """An ACL of a logical switch, on what comes from its ports (ovn-nb(5))."""

    switch: str
    priority: int
    match: str
    action: str


def commands(plan: Layout, options: LogicalPathOptions, macs: Sequence[str]) -> Iterator[Command]:
    """Yield the commands that make the logical topology.

    Args:
        macs: addresses of the generator's ports.
    """
    if options.path == "router":
        yield ("lr-add", ROUTER)
    for switch, ports in _switches(plan, options):
        yield ("ls-add", switch)
        for port in ports:
            yield ("lsp-add", switch, port)
            yield ("lsp-set-addresses", port, _address(port, options, macs))
    if options.path == "router":
        yield from _routes()


def acls(plan: Layout, options: LogicalPathOptions) -> Iterator[Acl]:
    """Yield the ACLs of all logical switches."""
    if options.acl == "none":
        return
    allow = "allow-stateless" if options.acl == "stateless" else "allow-related"
    for switch, ports in _switches(plan, options):
        for port in ports:
            here = f'inport == "{port}"'
            for number in range(options.acl_rules):
                last = number == options.acl_rules - 1
                match = "udp" if last else f"udp && ip4.src == {IPv4Address(_ELSEWHERE + number)}"
                yield Acl(switch, _priority(number, options.acl_rules), f"{here} && {match}", allow)
            yield Acl(switch, _DROP, f"{here} && ip4", "drop")


def insertions(rows: Sequence[Acl]) -> list[dict[str, Any]]:
    """Return the operations (RFC 7047, 5.2) that add ACLs to their logical switches."""
    made: dict[str, list[list[str]]] = {}
    operations: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        name = f"acl{number}"
        values = {"priority": row.priority, "match": row.match, "action": row.action, "direction": "from-lport"}
        operations.append({"op": "insert", "table": "ACL", "row": values, "uuid-name": name})
        made.setdefault(row.switch, []).append(["named-uuid", name])
    for switch, references in made.items():
        where, more = [["name", "==", switch]], [["acls", "insert", ["set", references]]]
        operations.append({"op": "mutate", "table": "Logical_Switch", "where": where, "mutations": more})
    return operations


def _switches(plan: Layout, options: LogicalPathOptions) -> list[tuple[str, tuple[str, ...]]]:
    """Return the logical switches with the ports of the path that each has."""
    if options.path == "router":
        return [("ls0", ("p0",)), ("ls1", ("p1",))]
    return [(f"ls{number}", (cable.first.name, cable.second.name)) for number, cable in enumerate(plan.cables)]


def _priority(number: int, rules: int) -> int:
    """Return an ACL's priority: falling with its number, by one where there are enough for that."""
    most = _HIGHEST - _DROP - 1
    return _HIGHEST - (number if rules <= most else number * most // (rules - 1))


def nbctl_arguments(found: Iterable[Sequence[str]]) -> list[str]:
    """Return several commands as the arguments of one call, which is one transaction."""
    words: list[str] = []
    for command in found:
        words += ["--", *command]
    return words[1:]


def _address(port: str, options: LogicalPathOptions, macs: Sequence[str]) -> str:
    if options.path == "switch":
        return "unknown"
    number = int(port[1])
    return f"{macs[number]} {_LINKS[number][1]}"


def _routes() -> Iterator[Command]:
    for number, (own, next_hop) in enumerate(_LINKS):
        inner, outer = f"lrp{number}", f"ls{number}-{ROUTER}"
        yield ("lrp-add", ROUTER, inner, ROUTER_MACS[number], f"{own}/30")
        yield ("lsp-add", f"ls{number}", outer)
        yield ("lsp-set-type", outer, "router")
        yield ("lsp-set-addresses", outer, "router")
        yield ("lsp-set-options", outer, f"router-port={inner}")
        yield ("lr-route-add", ROUTER, NETWORKS[number], next_hop)
