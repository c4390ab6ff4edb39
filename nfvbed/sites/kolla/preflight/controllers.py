"""Checks of controllers as a group: their number, and the virtual address that one of them has at a time."""

import ipaddress
from collections.abc import Iterator, Mapping

from nfvbed.sites.kolla.preflight.facts import MachineFacts
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.spec.site import KollaSiteSpec


def check_controllers(site: KollaSiteSpec, facts: Mapping[str, MachineFacts]) -> Iterator[Finding]:
    """Compare the controllers' number with what a majority needs, and their networks with the virtual address.

    Args:
        facts: facts of the machines that could be asked.
    """
    controllers = site.hosts_with("controller")
    if len(controllers) % 2 == 0:
        yield Finding(
            machine="",
            what=f"an even number of controllers, {len(controllers)}, survives no more failures than one less",
            key=f"deploy/sites/{site.name}.yml hosts",
            observed=f"role controller: {', '.join(controllers)}; MariaDB's cluster and RabbitMQ's go on with more than"
            " half of their members",
            fix="one, three or five machines with the role controller",
        )
    asked = {name: facts[name] for name in controllers if name in facts}
    for name, found in asked.items():
        yield from _check_network(site, name, found)
    yield from _check_free(site, facts, asked)


def _check_network(site: KollaSiteSpec, name: str, found: MachineFacts) -> Iterator[Finding]:
    """Report a virtual address outside the network of a controller's address; Kolla's prechecks would refuse it."""
    own = [network for network in found.networks if network.partition("/")[0] == found.address]
    inside = [one for one in own if ipaddress.IPv4Address(site.virtual_address) in _network(one)]
    if own and not inside:
        yield Finding(
            machine=name,
            what=f"the virtual address is not in the management network of controller {name}",
            key=f"deploy/sites/{site.name}.yml virtual_address",
            observed=f"virtual_address: {site.virtual_address}; {name} has {own[0]}",
            fix=f"a free address of {_network(own[0])}",
        )


def _network(address: str) -> ipaddress.IPv4Network:
    return ipaddress.IPv4Interface(address).network


def _check_free(
    site: KollaSiteSpec, facts: Mapping[str, MachineFacts], controllers: Mapping[str, MachineFacts]
) -> Iterator[Finding]:
    """Report another machine that has the virtual address; keepalived of a cloud that runs already may have it."""
    if any(found.runs_keepalived for found in controllers.values()):
        return
    seen = [
        (name, f"{name} has it, and no keepalived runs on {', '.join(controllers)}")
        for name, found in facts.items()
        if site.virtual_address in found.addresses
    ]
    seen += [
        ("", f"{found.virtual_at} answers {name} for it (ARP)")
        for name, found in controllers.items()
        if found.virtual_at
    ]
    for machine, observed in seen[:1]:
        yield Finding(
            machine=machine,
            what=f"the virtual address {site.virtual_address} is not free",
            key=f"deploy/sites/{site.name}.yml virtual_address",
            observed=observed,
            fix="an address of the management network that no machine has, and that no DHCP server gives away",
        )
