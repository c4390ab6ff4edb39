"""The logical topology of a path, as commands of ovn-nbctl(8): pure.

A cable is a logical switch whose two ports take frames to every address (`unknown`), as those of VNFs do that forward
what is not addressed to them. A logical router has a port in each of two such switches, and a route to the generator's
networks (RFC 2544's ranges) by the generator's ports, whose addresses it knows.
"""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Address

from nfvbed.dataplanes.ovs.ovn.logicaloptions import LogicalPathOptions
from nfvbed.spec.layout import Layout

ROUTER = "lr0"
ROUTER_MACS = ("02:4e:46:56:40:00", "02:4e:46:56:40:01")
"""Of its ports towards p0 and p1: frames from the generator are sent to them."""
NETWORKS = ("198.18.0.0/16", "198.19.0.0/16")
"""Of the generator's port 0 and port 1."""
_LINKS = (("10.255.0.1", "10.255.0.2"), ("10.255.1.1", "10.255.1.2"))
"""Addresses of the router's port and of the generator's, in the network between them."""
_HIGHEST = 30_000
"""Priority of the first ACL; OVN takes up to 32,767."""
_DROP = 1
_ELSEWHERE = int(IPv4Address("203.0.0.0"))
"""First source of ACLs that match none of the traffic."""

Command = tuple[str, ...]


def commands(plan: Layout, options: LogicalPathOptions, macs: Sequence[str]) -> Iterator[Command]:
    """Yield the commands that make the logical topology.

    Args:
        macs: addresses of the generator's ports.
    """
    switches: list[tuple[str, tuple[str, ...]]] = [
        (f"ls{number}", (cable.first.name, cable.second.name)) for number, cable in enumerate(plan.cables)
    ]
    if options.path == "router":
        switches = [("ls0", ("p0",)), ("ls1", ("p1",))]
        yield ("lr-add", ROUTER)
    for switch, ports in switches:
        yield ("ls-add", switch)
        for port in ports:
            yield ("lsp-add", switch, port)
            yield ("lsp-set-addresses", port, _address(port, options, macs))
    if options.path == "router":
        yield from _routes()
    if options.acl != "none":
        for switch, ports in switches:
            yield from _acls(switch, ports, options)


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


def _acls(switch: str, ports: Sequence[str], options: LogicalPathOptions) -> Iterator[Command]:
    """Yield a switch's ACLs, on what comes from its ports."""
    allow = "allow-stateless" if options.acl == "stateless" else "allow-related"
    for port in ports:
        for number in range(options.acl_rules):
            last = number == options.acl_rules - 1
            match = "udp" if last else f"udp && ip4.src == {IPv4Address(_ELSEWHERE + number)}"
            yield ("acl-add", switch, "from-lport", str(_HIGHEST - number), f'inport == "{port}" && {match}', allow)
        yield ("acl-add", switch, "from-lport", str(_DROP), f'inport == "{port}" && ip4', "drop")
