"""The facts of all machines of a rack, over SSH: at the same time, read only, one command a machine."""

import json
import tempfile
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nfvbed.errors import NfvbedError
from nfvbed.host.remote.connection import SshHost
from nfvbed.sites.kolla.preflight import functions
from nfvbed.sites.kolla.preflight.facts import MachineFacts, facts_of
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.spec.remote import RemoteHostSpec
from nfvbed.spec.site import KollaSiteSpec

TIME_LIMIT_S = 60
_AT_ONCE = 32
_RECORD = Path(__file__).with_name("record.py")


@dataclass(frozen=True)
class MachineAnswers:
    """The answers of the machines."""

    facts: Mapping[str, MachineFacts]
    """By the machine's name in the site's file; those that could not be asked are missing."""
    findings: tuple[Finding, ...]
    """Why they could not."""
    functions: tuple[Finding, ...] = ()
    """What trying virtual functions showed; of data planes whose instances get some."""


def gather(site: KollaSiteSpec, *, try_functions: bool = False) -> MachineAnswers:
    """Ask all machines; one that cannot be asked is a finding, and the others are asked all the same.

    Args:
        try_functions: make virtual functions for a moment; else nothing is changed.
    """
    ways = {name: site.reached(name) for name in site.hosts}
    lacking = [name for name, way in ways.items() if way is None]
    facts, findings = dict[str, MachineFacts](), [_without_ssh(site, lacking)] if lacking else []
    with tempfile.TemporaryDirectory(prefix="nfvbed-") as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = {
            name: pool.submit(
                ask,
                way,
                Path(folder),
                site.hosts[name].named_macs,
                site.virtual_address if site.hosts[name].is_controller else "",
            )
            for name, way in ways.items()
            if way is not None
        }
        for name, answer in asked.items():
            try:
                facts[name] = answer.result()
            except NfvbedError as failure:
                findings.append(_not_asked(site, name, failure))
        tried = tuple(functions.try_functions(site, facts, Path(folder))) if try_functions else ()
    return MachineAnswers(facts, tuple(findings), tried)


def ask(way: RemoteHostSpec, folder: Path, named: Collection[str] = (), virtual_address: str = "") -> MachineFacts:
    """Return the facts of one machine, which is asked over SSH.

    Args:
        folder: a folder of this machine that is closed to other users.
        named: MAC addresses of its NICs in the site's file.
        virtual_address: address of the rack, for which the machine asks its network; empty: it does not.

    Raises:
        ConnectionLost, HostRefused: it cannot be reached.
        PrerequisiteError: it has no Python.
        DeployError: what it answered cannot be read.
    """
    return facts_of(recorded(way, folder, virtual_address), named)


def recorded(way: RemoteHostSpec, folder: Path, virtual_address: str = "") -> dict[str, Any]:
    """Return what `record.py` prints on one machine; arguments and errors as of `ask`."""
    with SshHost(way, folder) as host:
        argv = ["python3", "-", *((virtual_address,) if virtual_address else ())]
        answer = host.run(argv, data=_RECORD.read_bytes(), timeout_s=TIME_LIMIT_S)
    document: dict[str, Any] = json.loads(answer.text)
    return document


def _not_asked(site: KollaSiteSpec, name: str, failure: NfvbedError) -> Finding:
    observed = "; ".join(part for part in (failure.observed, failure.where) if part)
    return Finding(
        machine=name,
        what=f"{name} cannot be examined: {failure.what}",
        key=f"deploy/sites/{site.name}.yml hosts.{name}.address, ssh",
        observed=observed or "no answer",
        fix=failure.fix or "see whether it is up, and whether the address is its own",
    )


def _without_ssh(site: KollaSiteSpec, names: list[str]) -> Finding:
    return Finding(
        machine="",
        what="the site's file does not say how its machines are reached",
        key=f"deploy/sites/{site.name}.yml ssh",
        observed=f"no key ssh, of the site or of {', '.join(names)}",
        fix="ssh: {user: root, key: FILE, known_hosts: FILE}, as in deploy/sites/rack.yml",
    )
