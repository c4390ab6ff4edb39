"""Whether computes are twins: the description of each whose hash is its host hash, over SSH.

What a variant changes on a machine (drivers of NICs, their MTU, free hugepages) is left out: twins with different
variants have one hash as long as the machines are alike, and were prepared alike.
"""

import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from nfvbed.errors import ConfigurationError
from nfvbed.host.facts import lasting
from nfvbed.sites.kolla.preflight.facts import MachineFacts, NicFacts, facts_of
from nfvbed.sites.kolla.preflight.gather import recorded
from nfvbed.spec.below import below
from nfvbed.spec.rack import RackHostSpec, RackNicSpec
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.store.canonical import content_hash

_OF_DEVICES = ("vendor", "device")
_MIB_PER_GIB = 1024


def describe(site: KollaSiteSpec, computes: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Ask computes, at the same time, and return the description of each.

    Raises:
        ConfigurationError: the site's file does not say how one is reached.
        ConnectionLost, HostRefused, PrerequisiteError, DeployError: one cannot be asked.
    """
    names = tuple(computes)
    with tempfile.TemporaryDirectory(prefix="nfvbed-") as folder, ThreadPoolExecutor(len(names)) as pool:
        asked = {name: pool.submit(_describe, site, name, Path(folder)) for name in names}
        return {name: answer.result() for name, answer in asked.items()}


def _describe(site: KollaSiteSpec, name: str, folder: Path) -> dict[str, Any]:
    way = site.reached(name)
    if way is None:
        raise ConfigurationError(
            f"it is not known how {name} is reached, and so not whether it is like the other computes",
            where=f"deploy/sites/{site.name}.yml ssh",
            observed="the file has no ssh",
            fix="ssh: {user: root, key: ..., known_hosts: ...}",
        )
    return description(site.hosts[name], recorded(way, folder))


def description(host: RackHostSpec, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a compute, from the site's file and what `record.py` printed on the compute."""
    facts = facts_of(document, host.named_macs)
    nodes = [
        {"cores": list(node.cores), "memory_gib": round(node.memory_mib / _MIB_PER_GIB), "pages": node.pages}
        for node in facts.nodes
    ]
    return {
        **_lasting(document["files"]),
        "system": facts.system,
        "kernel": facts.kernel,
        "isolated": list(facts.isolated),
        "siblings": [list(group) for group in facts.siblings],
        "nodes": nodes,
        "nics": [_nic(nic, facts, document["files"]) for nic in host.plane_nics],
    }


def hash_of(described: Mapping[str, Any]) -> str:
    """Return a compute's host hash."""
    return content_hash(described)


def _lasting(files: Mapping[str, str | Mapping[str, str]]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="nfvbed-") as folder:
        root = Path(folder)
        for name, text in files.items():
            if isinstance(text, str) and name.startswith(("proc/", "sys/devices/system/")):
                path = below(root, name, nested=True)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + "\n")
        return lasting(root)


def _nic(nic: RackNicSpec, facts: MachineFacts, files: Mapping[str, str | Mapping[str, str]]) -> dict[str, Any]:
    found = next((one for one in facts.nics if _is(nic, one)), None)
    if found is None:
        return {"role": nic.role, "found": False}
    ids = {key: files.get(f"sys/bus/pci/devices/{found.pci}/{key}", "") for key in _OF_DEVICES}
    return {"role": nic.role, **ids, "numa_node": found.numa_node, "total_functions": found.total_functions}


def _is(nic: RackNicSpec, found: NicFacts) -> bool:
    if nic.pci is not None:
        return found.pci == nic.pci
    return found.mac == nic.mac and not found.is_function
