"""The TOSCA definitions of a SOL001 v2.6.1 descriptor: a type of the VNF, its one flavour, and what selects that."""

import json
from typing import Any

from nfvbed.errors import ConfigurationError
from nfvbed.vnfs.descriptors.model import SCALING, VDU, VENDOR, DescriptorPort, DescriptorRequest
from nfvbed.vnfs.descriptors.typefiles import ETSI_TYPES

VERSION = "tosca_simple_yaml_1_2"
FLAVOUR = "default"
LEVEL = "one"
"""Instantiation level: one instance."""
DESCRIPTOR_VERSION = "1.0"
_OPERATIONS = ("instantiate", "terminate", "modify_information")
_IDENTITY = ("descriptor_id", "descriptor_version", "provider", "product_name", "software_version", "vnfm_info")
_IMAGE_GIB = 1
"""Upper bound of what the image takes on a disk."""


def type_name(request: DescriptorRequest) -> str:
    """Return the name of the VNF's own type."""
    return "nfvbed." + "".join(part.capitalize() for part in request.vnf.name.split("-"))


def identity(request: DescriptorRequest) -> dict[str, Any]:
    """Return what identifies the VNF, alike in type and template."""
    values = (request.descriptor_id, DESCRIPTOR_VERSION, VENDOR, request.vnf.name, request.version, ["Tacker"])
    return dict(zip(_IDENTITY, values, strict=True))


def entry(request: DescriptorRequest) -> dict[str, Any]:
    """Return the entry definitions: the VNF, with a flavour that the request selects."""
    stem = request.vnf.name
    selected: dict[str, Any] = {"flavour_id": {"get_input": "selected_flavour"}}
    node = {"type": type_name(request), "properties": selected | identity(request)}
    return {
        "tosca_definitions_version": VERSION,
        "description": request.vnf.summary or request.vnf.title,
        "imports": [*ETSI_TYPES, f"{stem}_types.yaml", f"{stem}_flavour.yaml"],
        "topology_template": {
            "inputs": {
                "selected_flavour": {"type": "string", "description": "deployment flavour, given with the request"}
            },
            "node_templates": {"VNF": node},
        },
    }


def types(request: DescriptorRequest) -> dict[str, Any]:
    """Return the VNF's own type."""
    properties: dict[str, Any] = {}
    for name, value in (identity(request) | {"flavour_id": FLAVOUR}).items():
        if isinstance(value, list):
            allowed = {"type": "string", "constraints": [{"valid_values": value}]}
            properties[name] = {"type": "list", "entry_schema": allowed, "default": value}
        else:
            properties[name] = {"type": "string", "constraints": [{"valid_values": [value]}], "default": value}
    properties["flavour_description"] = {"type": "string", "default": request.flavor.title}
    linkable = {"capability": "tosca.capabilities.nfv.VirtualLinkable"}
    return {
        "tosca_definitions_version": VERSION,
        "description": f"Type of {request.vnf.name}",
        "imports": list(ETSI_TYPES),
        "node_types": {
            type_name(request): {
                "derived_from": "tosca.nodes.nfv.VNF",
                "properties": properties,
                "requirements": [{_link(port): linkable} for port in request.ports],
                "interfaces": {"Vnflcm": {"type": "tosca.interfaces.nfv.Vnflcm"}},
            }
        },
    }


def flavour(request: DescriptorRequest) -> dict[str, Any]:
    """Return the deployment flavour: the virtual machine, its connection points, and how it is scaled."""
    operations: dict[str, list[str]] = {f"{name}{when}": [] for name in _OPERATIONS for when in ("", "_start", "_end")}
    inputs: dict[str, Any] = {name: {"type": "string"} for name in (*_IDENTITY, "flavour_id", "flavour_description")}
    inputs["vnfm_info"] = {"type": "list", "entry_schema": {"type": "string"}}
    nodes: dict[str, Any] = {
        "VNF": {
            "type": type_name(request),
            "properties": {"flavour_description": request.flavor.title},
            "interfaces": {"Vnflcm": operations},
        },
        VDU: _machine(request),
    }
    nodes |= {port.name: _point(port) for port in request.ports}
    return {
        "tosca_definitions_version": VERSION,
        "description": request.flavor.summary or request.flavor.title,
        "imports": [*ETSI_TYPES, f"{request.vnf.name}_types.yaml"],
        "topology_template": {
            "inputs": inputs,
            "substitution_mappings": {
                "node_type": type_name(request),
                "properties": {"flavour_id": FLAVOUR},
                "requirements": {_link(port): [port.name, "virtual_link"] for port in request.ports},
            },
            "node_templates": nodes,
            "policies": _policies(request.most_instances),
        },
    }


def _link(port: DescriptorPort) -> str:
    return f"virtual_link_{port.name}"


def _machine(request: DescriptorRequest) -> dict[str, Any]:
    profile = {"min_number_of_instances": 1, "max_number_of_instances": request.most_instances}
    machine: dict[str, Any] = {
        "type": "tosca.nodes.nfv.Vdu.Compute",
        "properties": {
            "name": VDU,
            "description": request.vnf.title,
            "vdu_profile": profile,
            "sw_image_data": _image(request),
        },
        "capabilities": {"virtual_compute": {"properties": _compute(request)}},
    }
    if request.user_data:
        machine["properties"]["boot_data"] = request.user_data
    if request.image_file is not None:
        path = f"../Files/images/{request.image_file.name}"
        machine["artifacts"] = {"sw_image": {"type": "tosca.artifacts.nfv.SwImage", "file": path}}
    return machine


def _image(request: DescriptorRequest) -> dict[str, Any]:
    digest = request.checksums.get("sha512", "")
    if not digest:
        raise ConfigurationError(
            f"a SOL001 descriptor of {request.vnf.name} needs the SHA-512 of its image",
            where=f"image {request.image}",
            observed=f"digests that are known: {', '.join(request.checksums) or 'none'}",
            fix="make images, or name the image's file",
        )
    return {
        "name": request.image,
        "version": request.version,
        # Tacker compares it with Glance's os_hash_value, which is SHA-512.
        "checksum": {"algorithm": "sha-512", "hash": digest},
        "container_format": "bare",
        "disk_format": "qcow2",
        "min_disk": f"{_IMAGE_GIB} GB",
        "size": f"{_IMAGE_GIB} GB",
    }


def _compute(request: DescriptorRequest) -> dict[str, Any]:
    flavor = request.flavor
    compute: dict[str, Any] = {
        # Tacker reads the flavor's name here, also when it heals; the key of the map is the one that it looks for.
        "requested_additional_capabilities": {
            "properties": {
                "requested_additional_capability_name": request.flavor_name,
                "support_mandatory": True,
                "target_performance_parameters": {"flavor": request.flavor_name},
            }
        },
        # MiB: Tacker makes 244 MiB of 256 MB.
        "virtual_memory": {"virtual_mem_size": f"{flavor.memory_mib} MiB"},
        "virtual_cpu": {"num_virtual_cpu": flavor.vcpus},
        "virtual_local_storage": [{"size_of_storage": f"{flavor.disk_gib} GiB"}],
    }
    if request.extra_specs:
        compute["compute_requirements"] = {"nova_extra_specs": json.dumps(dict(request.extra_specs))}
    return compute


def _point(port: DescriptorPort) -> dict[str, Any]:
    properties: dict[str, Any] = {"layer_protocols": ["ipv4" if port.management else "ethernet"], "order": port.order}
    if port.vnic == "normal":
        properties["vnic_type"] = "normal"
    else:
        # SOL001 v2.6.1 has no vnic_type for a virtual function; the base HOT has Neutron's.
        wanted = {"interface_type": "sr-iov"}
        properties["virtual_network_interface_requirements"] = [
            {"name": "sriov", "support_mandatory": True, "network_interface_requirements": wanted}
        ]
    return {
        "type": "tosca.nodes.nfv.VduCp",
        "properties": properties,
        "requirements": [{"virtual_binding": VDU}],
    }


def _policies(most: int) -> list[dict[str, Any]]:
    aspect = {
        "name": SCALING,
        "description": "number of virtual machines",
        "max_scale_level": most - 1,
        "step_deltas": ["delta_1"],
    }
    # Without scale_info in each level Tacker raises KeyError, and the instance stays INSTANTIATING for ever.
    level = {"description": "one virtual machine", "scale_info": {SCALING: {"scale_level": 0}}}
    one = {"number_of_instances": 1}
    return [
        _policy("scaling_aspects", "ScalingAspects", {"aspects": {SCALING: aspect}}, targeted=False),
        _policy("initial_delta", "VduInitialDelta", {"initial_delta": one}),
        _policy("scaling_deltas", "VduScalingAspectDeltas", {"aspect": SCALING, "deltas": {"delta_1": dict(one)}}),
        _policy("levels", "InstantiationLevels", {"levels": {LEVEL: level}, "default_level": LEVEL}, targeted=False),
        _policy("vdu_levels", "VduInstantiationLevels", {"levels": {LEVEL: dict(one)}}),
    ]


def _policy(name: str, kind: str, properties: dict[str, Any], *, targeted: bool = True) -> dict[str, Any]:
    policy: dict[str, Any] = {"type": f"tosca.policies.nfv.{kind}", "properties": properties}
    return {name: policy | ({"targets": [VDU]} if targeted else {})}
