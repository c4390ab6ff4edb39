"""What a descriptor asks of the machine (EPA): size, hugepages, NUMA nodes, pinning, queues, vNICs; with its places."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import Document, KeyPath
from nfvbed.vnfs.descriptors.model import DescriptorRequest

_NODES = ("topology_template", "node_templates")
_LEGACY = ("capabilities", "nfv_compute", "properties")
_SOL = ("capabilities", "virtual_compute", "properties")
_SIZE = re.compile(r"^\s*(\d+)\s*([A-Za-z]*)\s*$")
_BYTES = {"": 2**20, "B": 1, "KB": 10**3, "KIB": 2**10, "MB": 10**6, "MIB": 2**20, "GB": 10**9, "GIB": 2**30}
_PINNING = {
    "cpu_affinity": "hw:cpu_policy",
    "thread_allocation": "hw:cpu_thread_policy",
    "socket_count": "hw:cpu_sockets",
    "core_count": "hw:cpu_cores",
    "thread_count": "hw:cpu_threads",
}
_Into = tuple[dict[str, int], dict[str, str], dict[str, str]]
"""Sizes, extra specs, places."""
_VNICS = {"sriov": "direct", "vnic": "normal"}


@dataclass(frozen=True)
class Asked:
    """What one VDU asks; what is not asked is None, or not there."""

    vcpus: int | None = None
    memory_mib: int | None = None
    specs: Mapping[str, str] = field(default_factory=dict)
    """Nova's extra specs."""
    vnics: Mapping[str, str] = field(default_factory=dict)
    """`normal` or `direct`, by connection point of the path."""
    places: Mapping[str, str] = field(default_factory=dict)
    """File and line, by `vcpus`, `memory_mib`, extra spec, connection point; those that are not there are made here."""


def of_request(request: DescriptorRequest) -> Asked:
    """Return what a descriptor asks that is made from this."""
    return Asked(
        vcpus=request.flavor.vcpus,
        memory_mib=request.flavor.memory_mib,
        specs=dict(request.extra_specs),
        vnics={port.name: port.vnic for port in request.ports if not port.management},
    )


def of_document(document: Document, machine: str | None = None) -> Asked:
    """Return what a descriptor asks: a legacy one, or the definitions of a package's flavour.

    Args:
        document: the descriptor.
        machine: VDU that is meant, with its connection points; None: the only one.

    Raises:
        ConfigurationError: a size or a text of extra specs cannot be read; with the line.
    """
    nodes = (document.data.get("topology_template") or {}).get("node_templates") or {}
    size: dict[str, int] = {}
    specs: dict[str, str] = {}
    vnics: dict[str, str] = {}
    places: dict[str, str] = {}
    for name, node in nodes.items():
        if machine is not None and machine not in (name, _bound_to(node)):
            continue
        kind, properties = node.get("type", ""), node.get("properties") or {}
        if kind == "tosca.nodes.nfv.VDU.Tacker":
            _read(document, (*_NODES, name, *_LEGACY), _legacy, (size, specs, places))
        elif kind == "tosca.nodes.nfv.Vdu.Compute":
            _read(document, (*_NODES, name, *_SOL), _sol, (size, specs, places))
        elif kind in ("tosca.nodes.nfv.CP.Tacker", "tosca.nodes.nfv.VduCp") and not properties.get("management"):
            vnics[name] = _vnic(properties)
            places[name] = document.where((*_NODES, name, "properties"))
    return Asked(size.get("vcpus"), size.get("memory_mib"), specs, vnics, places)


def _bound_to(node: Mapping[str, Any]) -> object:
    """Return the VDU of a connection point; None of other nodes."""
    for requirement in node.get("requirements") or ():
        for name in ("virtualBinding", "virtual_binding"):
            if name in requirement:
                bound = requirement[name]
                return bound.get("node") if isinstance(bound, dict) else bound
    return None


def _vnic(properties: Mapping[str, Any]) -> str:
    wanted = [one.get("network_interface_requirements", {}) for one in _interfaces(properties)]
    if any("sr-iov" in map(str, one.values()) for one in wanted):
        return "direct"
    return _VNICS.get(properties.get("type", "")) or str(properties.get("vnic_type", "normal"))


def _interfaces(properties: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(properties.get("virtual_network_interface_requirements") or [])


def _read(document: Document, key: KeyPath, reader: Any, into: _Into) -> None:
    found: Any = document.data
    for part in key:
        found = found.get(part) if isinstance(found, dict) else None
    for name, value, path in reader(document, key, found or {}):
        into[0 if name in ("vcpus", "memory_mib") else 1][name] = value
        into[2][name] = document.where((*key, *path))


def _legacy(document: Document, key: KeyPath, found: Mapping[str, Any]) -> Any:
    if "num_cpus" in found:
        yield "vcpus", int(found["num_cpus"]), ("num_cpus",)
    if "mem_size" in found:
        yield "memory_mib", _mib(document, (*key, "mem_size"), found["mem_size"]), ("mem_size",)
    if "mem_page_size" in found:
        yield "hw:mem_page_size", _page(found["mem_page_size"]), ("mem_page_size",)
    if "numa_node_count" in found:
        yield "hw:numa_nodes", str(found["numa_node_count"]), ("numa_node_count",)
    for node in (found.get("numa_nodes") or {}).values():
        if "vcpus" in node:
            yield f"hw:numa_cpus.{node['id']}", ",".join(map(str, node["vcpus"])), ("numa_nodes",)
        if "mem_size" in node:
            yield f"hw:numa_mem.{node['id']}", str(node["mem_size"]), ("numa_nodes",)
    for name, value in (found.get("cpu_allocation") or {}).items():
        yield _PINNING.get(name, name), str(value), ("cpu_allocation", name)


def _page(value: object) -> str:
    """Return a page size in KiB: Tacker's descriptors have MiB."""
    text = str(value)
    return str(int(text) * 1024) if text.isdigit() else text


def _sol(document: Document, key: KeyPath, found: Mapping[str, Any]) -> Any:
    cpu, memory = found.get("virtual_cpu") or {}, found.get("virtual_memory") or {}
    if "num_virtual_cpu" in cpu:
        yield "vcpus", int(cpu["num_virtual_cpu"]), ("virtual_cpu", "num_virtual_cpu")
    if "virtual_mem_size" in memory:
        path = ("virtual_memory", "virtual_mem_size")
        yield "memory_mib", _mib(document, (*key, *path), memory["virtual_mem_size"]), path
    path = ("compute_requirements", "nova_extra_specs")
    text = (found.get("compute_requirements") or {}).get("nova_extra_specs")
    if text is None:
        return
    try:
        specs = yaml.safe_load(text) if isinstance(text, str) else text
    except yaml.YAMLError:
        specs = None
    if not isinstance(specs, dict):
        raise ConfigurationError(
            "nova_extra_specs is not readable",
            where=document.where((*key, *path)),
            observed=str(text)[:120],
            fix='write a mapping as a text: "{hw:mem_page_size: 2048}"',
        )
    for name, value in specs.items():
        yield str(name), str(value), path


def _mib(document: Document, key: KeyPath, value: object) -> int:
    found = _SIZE.match(str(value))
    unit = found[2].upper() if found else ""
    if not found or unit not in _BYTES:
        raise ConfigurationError(
            "a size cannot be read", where=document.where(key), observed=repr(value), fix="write it so: 512 MiB"
        )
    return int(found[1]) * _BYTES[unit] // 2**20
