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
    yield from _check_address(subject)
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
            f"configure the address there, on a NIC that is not among nics or on a VLAN: Kolla does so on machines with"
            f" {' or '.join(_on_bridges())} alone",
        )
    elif overlay and of_machine:
        yield from _check_overlay(subject, overlay)


def _check_address(subject: Subject) -> Iterator[Finding]:
    """Find an address that Ansible's facts would not lead to the device of Kolla's APIs (`network_interface`)."""
    address = subject.spec.address
    if "generator" in subject.spec.roles or not subject.facts.devices:
        return
    if address not in subject.facts.devices:
        yield subject.finding(
            f"{subject.name} has not the address by which it is reached: Kolla's APIs would listen on no device",
            "address",
            f"it has {', '.join(subject.facts.addresses) or 'none'}",
            "an address that a device of the machine has; one that is translated on the way is none",
        )
    elif address in subject.facts.second_addresses:
        yield subject.finding(
            f"the address of {subject.name} is not the first one of its device, and Kolla takes the first",
            "address",
            f"{subject.facts.devices[address]}: ip address calls {address} secondary",
            "make it the first, or give it to a device of its own",
        )


def _check_overlay(subject: Subject, overlay: str) -> Iterator[Finding]:
    """Find a tunnel address on a NIC that Open vSwitch's bridge takes: nothing answers there any more."""
    bridged = subject.plane.nics.uplinks if subject.spec.is_compute and not subject.spec.is_controller else None
    device = subject.facts.devices.get(overlay)
    for place, nic, port in subject.ports():
        taken = nic.network is not None and (bridged is None or nic.role in bridged)
        if taken and port.interface is not None and port.interface == device:
            yield subject.finding(
                f"the address of {subject.name} in the network of tunnels is on a NIC that a bridge of Neutron's takes",
                "overlay_address",
                f"{overlay} on {device}, which is nics[{place}] (role {nic.role}, network {nic.network})",
                "give it to a NIC that is not among nics, or to a VLAN's device",
            )


def _on_bridges() -> list[str]:
    return [name for name, plane in CATALOGUE.kolla.items() if plane.neutron.overlay_address == "of-bridge"]
