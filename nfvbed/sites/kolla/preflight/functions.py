"""Virtual functions made for a moment: the kernel may refuse a number that the NIC claims to have."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from nfvbed.errors import NfvbedError
from nfvbed.host.remote.connection import SshHost
from nfvbed.records import Record
from nfvbed.sites.kolla.preflight.facts import MachineFacts
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.spec.rack import RackNicSpec
from nfvbed.spec.remote import RemoteHostSpec
from nfvbed.spec.site import KollaSiteSpec

TIME_LIMIT_S = 120
"""Some NICs take a second for each function."""
_TRIAL = Path(__file__).with_name("functions_trial.py")


class Trial(Record):
    """The result of a trial."""

    before: int
    """Functions that the NIC had."""
    made: int
    """Functions that it had meanwhile; those of before where nothing was tried."""
    after: int
    """Functions that it had when all was undone."""
    refused: str = ""
    """What the kernel said, or why nothing was tried."""


def try_functions(site: KollaSiteSpec, facts: Mapping[str, MachineFacts], folder: Path) -> Iterator[Finding]:
    """Make the virtual functions of all computes that can be asked, and remove them again.

    Args:
        facts: facts of the machines that could be asked.
        folder: a folder of this machine that is closed to other users.
    """
    for name, host in site.hosts_with("compute").items():
        there = facts[name].nics if name in facts else ()
        way = site.reached(name)
        for place, nic in enumerate(host.nics):
            ports = [port for port in there if nic.pci in (None, port.pci) and nic.mac in (None, port.mac)]
            if not nic.functions or way is None or len(ports) != 1 or nic.functions > ports[0].total_functions:
                continue  # said already, by the checks of facts
            key = f"deploy/sites/{site.name}.yml hosts.{name}.nics[{place}].functions"
            try:
                trial = tried(way, str(ports[0].pci), nic.functions, folder)
            except NfvbedError as failure:
                yield Finding(
                    machine=name,
                    what=f"{nic.functions} virtual functions of {nic.named} could not be tried: {failure.what}",
                    key=key,
                    observed=failure.observed or failure.where,
                    fix=failure.fix or "try by hand: sriov_numvfs of the device",
                )
            else:
                yield from judged(name, nic, key, trial)


def tried(way: RemoteHostSpec, pci: str, count: int, folder: Path) -> Trial:
    """Make virtual functions of a NIC on another host, and remove them again.

    Raises:
        ConnectionLost, HostRefused: the host cannot be reached.
        DeployError, PrerequisiteError: the trial could not be run there.
    """
    rights = [] if way.user == "root" else ["sudo", "-n"]
    with SshHost(way, folder) as host:
        command = [*rights, "python3", "-", pci, str(count)]
        done = host.run(command, data=_TRIAL.read_bytes(), timeout_s=TIME_LIMIT_S)
    return Trial.model_validate(json.loads(done.text))


def judged(machine: str, nic: RackNicSpec, key: str, trial: Trial) -> Iterator[Finding]:
    """Yield the faults that a trial shows."""
    if trial.made != nic.functions:
        yield Finding(
            machine=machine,
            what=f"{nic.named} of {machine} was asked for {nic.functions} virtual functions, and had {trial.made}",
            key=key,
            observed=trial.refused or "the kernel said nothing",
            fix="fewer functions; or what the kernel's log says: no bus numbers or memory (pci=assign-busses,realloc),"
            " functions of before in use",
        )
    if trial.after != trial.before:
        yield Finding(
            machine=machine,
            what=f"the virtual functions of {nic.named} of {machine} are not as before the trial",
            key=key,
            observed=f"{trial.before} before, {trial.after} after",
            fix="see dmesg; if nothing uses its functions: echo 0 >"
            f" /sys/bus/pci/devices/{nic.pci}/sriov_numvfs, then echo {trial.before} into it",
        )
