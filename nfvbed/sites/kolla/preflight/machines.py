"""Checks of whole machines: each is the one that is meant, is named once, and may be administered."""

from collections.abc import Iterator, Mapping

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.sites.kolla.preflight.facts import MachineFacts
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.sites.kolla.preflight.subject import Subject
from nfvbed.spec.site import KollaSiteSpec


def check_twice(site: KollaSiteSpec, facts: Mapping[str, MachineFacts]) -> Iterator[Finding]:
    """Find machines that the file names twice: two addresses with one booted kernel."""
    first: dict[str, str] = {}
    for name, found in facts.items():
        other = first.setdefault(found.boot_id, name)
        if other != name and found.boot_id:
            yield Finding(
                machine=name,
                what=f"{name} is the same machine as {other}",
                key=f"deploy/sites/{site.name}.yml hosts.{name}.address",
                observed=f"both call themselves {found.hostname}, and have booted once (boot_id {found.boot_id})",
                fix="give the address of another machine, or give one machine both roles",
            )


def check_machine(subject: Subject) -> Iterator[Finding]:
    """Compare a machine's name, rights and addresses with the file."""
    facts = subject.facts
    if facts.hostname != subject.name:
        yield subject.finding(
            f"{subject.name} has another name",
            "",
            f"hostname -s: {facts.hostname}",
            f"name it {facts.hostname} in the file, or rename the machine: agents and computes call themselves so",
        )
    if not facts.may_administer:
        way = subject.site.reached(subject.name)
        user = way.user if way else "the account"
        yield subject.finding(
            f"{user} may not administer {subject.name}",
            "ssh.user",
            f"sudo -n true: {facts.refused or 'refused'}",
            f"let {user} use sudo without a password there ({user} ALL=(ALL) NOPASSWD: ALL), or name an account that"
            " may",
        )
    overlay = (subject.spec.overlay_address or "").partition("/")[0]
    owner = subject.plane.neutron.overlay_address
    of_machine = owner == "of-machine" or (owner == "of-bridge" and not subject.spec.is_compute)
    if subject.site.is_box and subject.spec.is_compute:
        of_machine = False  # deploying gives it to the machine
    if overlay and of_machine and overlay not in facts.addresses:
        yield subject.finding(
            f"{subject.name} has not its address in the network of tunnels",
            "overlay_address",
            f"it has {', '.join(facts.addresses) or 'none'}",
            f"configure the address there: Kolla does so on machines with {' or '.join(_on_bridges())} alone",
        )


def _on_bridges() -> list[str]:
    return [name for name, plane in CATALOGUE.kolla.items() if plane.neutron.overlay_address == "of-bridge"]
