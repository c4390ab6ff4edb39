"""A descriptor's demands on the machine (EPA): size, hugepages, NUMA, pinning, queues, vNICs; with their places."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from nfvbed.errors import ConfigurationError
from nfvbed.spec import boundedyaml
from nfvbed.spec.document import Document, KeyPath
from nfvbed.vnfs.descriptors import shape
from nfvbed.vnfs.descriptors.model import Machine

MACHINES = ("tosca.nodes.nfv.VDU.Tacker", "tosca.nodes.nfv.Vdu.Compute")
"""Types of virtual machines, of both forms."""
POINTS = ("tosca.nodes.nfv.CP.Tacker", "tosca.nodes.nfv.VduCp")
"""Types of their connection points."""
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
_VNICS = {"sriov": "direct", "vnic": "normal"}


@dataclass(frozen=True)
class RequestedResources:
    """The demands of one VDU; what is not demanded is None, or missing."""

    vcpus: int | None = None
    memory_mib: int | None = None
    specs: Mapping[str, str] = field(default_factory=dict)
    """Nova's extra specs."""
    vnics: Mapping[str, str] = field(default_factory=dict)
    """`normal` or `direct`, by connection point of the path."""
    places: Mapping[str, str] = field(default_factory=dict)
    """File and line, by `vcpus`, `memory_mib`, extra spec, connection point; those that are not there are made here."""


@dataclass
class _Collected:
    """Demands as they are read, by their names."""

    size: dict[str, int] = field(default_factory=dict)
    specs: dict[str, str] = field(default_factory=dict)
    vnics: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


class _Demand(NamedTuple):
    name: str
    value: Any
    path: KeyPath
    """Below the properties of its machine."""


_Reader = Callable[[Document, KeyPath, Mapping[str, Any]], Iterator[_Demand]]


def of_machine(machine: Machine) -> RequestedResources:
    """Return the demands of a descriptor's machine."""
    return RequestedResources(
        vcpus=machine.size.vcpus,
        memory_mib=machine.size.memory_mib,
        specs=dict(machine.extra_specs),
        vnics={port.name: port.vnic for port in machine.ports if not port.management},
        places=machine.places,
    )


def of_document(document: Document, machine: str | None = None) -> RequestedResources:
    """Return the demands of a descriptor: a legacy one, or the definitions of a package's flavour.

    Args:
        machine: the VDU that counts, with its connection points; None: the only one.

    Raises:
        ConfigurationError: a size or a text of extra specs cannot be read; with the line.
    """
    found = _Collected()
    for name, node in shape.nodes(document):
        if machine is not None and machine not in (name, _machine_of(node)):
            continue
        kind, properties = node["type"], node.get("properties") or {}
        if kind in _READERS:
            below, reader = _READERS[kind]
            _read(document, (*shape.NODES, name, *below), reader, found)
        elif kind in POINTS and not properties.get("management"):
            found.vnics[name] = vnic_of(properties)
            found.places[name] = document.where((*shape.NODES, name, "properties"))
    return RequestedResources(
        found.size.get("vcpus"), found.size.get("memory_mib"), found.specs, found.vnics, found.places
    )


def _machine_of(node: Mapping[str, Any]) -> str:
    """Return the VDU of a connection point; empty for other nodes."""
    return shape.bound(node, "virtualBinding", "virtual_binding")


def vnic_of(properties: Mapping[str, Any]) -> str:
    """Return Neutron's `binding:vnic_type` that a connection point asks for."""
    wanted = [one.get("network_interface_requirements") for one in _interfaces(properties)]
    if any("sr-iov" in map(str, one.values()) for one in wanted if isinstance(one, dict)):
        return "direct"
    return _VNICS.get(str(properties.get("type", ""))) or str(properties.get("vnic_type", "normal"))


def _interfaces(properties: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = properties.get("virtual_network_interface_requirements")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _read(document: Document, key: KeyPath, reader: _Reader, into: _Collected) -> None:
    properties: Any = document.data
    for part in key:
        properties = properties.get(part) if isinstance(properties, dict) else None
    for name, value, path in reader(document, key, properties or {}):
        if shape.is_function(value):
            continue  # what it stands for is the request's to say
        if name in ("vcpus", "memory_mib"):
            read = _number if name == "vcpus" else _mib
            into.size[name] = read(document, (*key, *path), value)
        else:
            into.specs[name] = value
        into.places[name] = document.where((*key, *path))


def _legacy(document: Document, key: KeyPath, found: Mapping[str, Any]) -> Iterator[_Demand]:
    if "num_cpus" in found:
        yield _Demand("vcpus", found["num_cpus"], ("num_cpus",))
    if "mem_size" in found:
        yield _Demand("memory_mib", found["mem_size"], ("mem_size",))
    if "mem_page_size" in found:
        yield _Demand("hw:mem_page_size", _page(found["mem_page_size"]), ("mem_page_size",))
    if "numa_node_count" in found:
        yield _Demand("hw:numa_nodes", _text(found["numa_node_count"]), ("numa_node_count",))
    for node in (found.get("numa_nodes") or {}).values():
        if "id" not in node:
            continue
        if "vcpus" in node:
            yield _Demand(f"hw:numa_cpus.{node['id']}", ",".join(map(str, node["vcpus"])), ("numa_nodes",))
        if "mem_size" in node:
            yield _Demand(f"hw:numa_mem.{node['id']}", str(node["mem_size"]), ("numa_nodes",))
    for name, value in (found.get("cpu_allocation") or {}).items():
        yield _Demand(_PINNING.get(name, name), _text(value), ("cpu_allocation", name))


def _page(value: Any) -> Any:
    """Return a page size in KiB: Tacker's descriptors have MiB."""
    text = _text(value)
    return str(int(text) * 1024) if isinstance(text, str) and text.isdecimal() else text


def _text(value: Any) -> Any:
    """Return a value in the form of Nova's extra specs; a function stays one."""
    return value if shape.is_function(value) else str(value)


def _number(document: Document, key: KeyPath, value: object) -> int:
    text = str(value)
    if not text.isdecimal():
        raise ConfigurationError(
            "a number of vCPUs cannot be read", where=document.where(key), observed=repr(value), fix="write it so: 2"
        )
    return int(text)


def _sol(document: Document, key: KeyPath, found: Mapping[str, Any]) -> Iterator[_Demand]:
    cpu, memory = found.get("virtual_cpu") or {}, found.get("virtual_memory") or {}
    if "num_virtual_cpu" in cpu:
        yield _Demand("vcpus", cpu["num_virtual_cpu"], ("virtual_cpu", "num_virtual_cpu"))
    if "virtual_mem_size" in memory:
        yield _Demand("memory_mib", memory["virtual_mem_size"], ("virtual_memory", "virtual_mem_size"))
    path = ("compute_requirements", "nova_extra_specs")
    text = (found.get("compute_requirements") or {}).get("nova_extra_specs")
    if text is None or shape.is_function(text):
        return
    try:
        specs = boundedyaml.load(text) if isinstance(text, str) else text
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
        yield _Demand(str(name), str(value), path)


def _mib(document: Document, key: KeyPath, value: object) -> int:
    found = _SIZE.match(str(value))
    unit = found[2].upper() if found else ""
    if not found or unit not in _BYTES:
        raise ConfigurationError(
            "a size cannot be read", where=document.where(key), observed=repr(value), fix="write it so: 512 MiB"
        )
    return int(found[1]) * _BYTES[unit] // 2**20


_READERS: dict[str, tuple[KeyPath, _Reader]] = dict(zip(MACHINES, ((_LEGACY, _legacy), (_SOL, _sol)), strict=True))
"""By type of virtual machine: where its size is, and what reads that."""
