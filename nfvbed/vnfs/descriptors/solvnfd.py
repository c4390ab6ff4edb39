"""The TOSCA definitions of a SOL001 v2.6.1 descriptor: a type of the VNF, its flavours, and what selects one."""

import json
from collections.abc import Mapping, Set
from typing import Any

from nfvbed.errors import ConfigurationError
from nfvbed.spec.machines import DEFAULT_FLAVOUR
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.model import (
    SCALING,
    VENDOR,
    ConnectionPoint,
    Flavour,
    Group,
    Link,
    Machine,
    VnfDescriptor,
    group_name,
    link_name,
)
from nfvbed.vnfs.descriptors.typefiles import ETSI_TYPES

VERSION = "tosca_simple_yaml_1_2"
FLAVOUR = DEFAULT_FLAVOUR
LEVEL = "one"
"""Instantiation level: one instance."""
DESCRIPTOR_VERSION = "1.0"
_OPERATIONS = ("instantiate", "terminate", "modify_information")
_IDENTITY = ("descriptor_id", "descriptor_version", "provider", "product_name", "software_version", "vnfm_info")
_IMAGE_GIB = 1
"""Upper bound of what the image takes on a disk."""
_UNLIMITED_BPS = 10**12
"""Bit rate that SOL001 asks for of each link; nothing enforces it."""
_SCOPE = "nfvi_node"


def type_name(descriptor: VnfDescriptor) -> str:
    """Return the name of the VNF's own type."""
    return "nfvbed." + "".join(part.capitalize() for part in descriptor.vnf.name.split("-"))


def identity(descriptor: VnfDescriptor) -> dict[str, Any]:
    """Return the VNF's identity, equal in type and template."""
    values = (descriptor.descriptor_id, DESCRIPTOR_VERSION, VENDOR, descriptor.vnf.name, descriptor.version, ["Tacker"])
    return dict(zip(_IDENTITY, values, strict=True))


def flavour_member(descriptor: VnfDescriptor, flavour: Flavour) -> str:
    """Return the path of a flavour's definitions."""
    several = len(descriptor.flavours) > 1
    return f"{descriptor.vnf.name}_flavour_{flavour.name}.yaml" if several else f"{descriptor.vnf.name}_flavour.yaml"


def entry(descriptor: VnfDescriptor) -> dict[str, Any]:
    """Return the entry definitions: the VNF, whose flavour the request selects."""
    members = [flavour_member(descriptor, one) for one in descriptor.flavours]
    selected: dict[str, Any] = {"flavour_id": {"get_input": "selected_flavour"}}
    node = {"type": type_name(descriptor), "properties": selected | identity(descriptor)}
    return {
        "tosca_definitions_version": VERSION,
        "description": descriptor.vnf.summary or descriptor.vnf.title,
        "imports": [*ETSI_TYPES, f"{descriptor.vnf.name}_types.yaml", *members],
        "topology_template": {
            "inputs": {
                "selected_flavour": {"type": "string", "description": "deployment flavour, given with the request"}
            },
            "node_templates": {"VNF": node},
        },
    }


def types(descriptor: VnfDescriptor) -> dict[str, Any]:
    """Return the VNF's own type."""
    properties: dict[str, Any] = {}
    for name, value in identity(descriptor).items():
        if isinstance(value, list):
            allowed = {"type": "string", "constraints": [{"valid_values": value}]}
            properties[name] = {"type": "list", "entry_schema": allowed, "default": value}
        else:
            properties[name] = {"type": "string", "constraints": [{"valid_values": [value]}], "default": value}
    ids = [one.name for one in descriptor.flavours]
    allowed_ids = [{"valid_values": ids}]
    properties["flavour_id"] = {"type": "string", "constraints": allowed_ids, "default": ids[0]}
    properties["flavour_description"] = {"type": "string", "default": descriptor.flavours[0].title}
    # A network of the request's, not one of the descriptor's.
    linkable = {"capability": "tosca.capabilities.nfv.VirtualLinkable", "occurrences": [0, 1]}
    return {
        "tosca_definitions_version": VERSION,
        "description": f"Type of {descriptor.vnf.name}",
        "imports": list(ETSI_TYPES),
        "node_types": {
            type_name(descriptor): {
                "derived_from": "tosca.nodes.nfv.VNF",
                "properties": properties,
                "requirements": [{_requirement(name): linkable} for name in descriptor.outer_points],
                "interfaces": {"Vnflcm": {"type": "tosca.interfaces.nfv.Vnflcm"}},
            }
        },
    }


def flavour_definitions(descriptor: VnfDescriptor, flavour: Flavour) -> dict[str, Any]:
    """Return the definitions of a deployment flavour: machines, connection points, links, and policies.

    Raises:
        ConfigurationError: the SHA-512 of an image is not known.
    """
    made = [link for link in flavour.links if link.made]
    nodes: dict[str, Any] = {one.name: _machine(one) for one in flavour.machines}
    for one in flavour.machines:
        nodes |= {port.name: _point(port, one.name, {link.name for link in made}) for port in one.ports}
    nodes |= {link_name(link.name): _link(link) for link in made}
    topology = _topology(descriptor, flavour, nodes)
    groups = {group_name(one.name): _members(one) for one in flavour.groups}
    if groups:
        topology["groups"] = groups
    topology["policies"] = [*_policies(flavour), *_rules(flavour)]
    return {
        "tosca_definitions_version": VERSION,
        "description": flavour.summary,
        "imports": [*ETSI_TYPES, f"{descriptor.vnf.name}_types.yaml"],
        "topology_template": topology,
    }


def _topology(descriptor: VnfDescriptor, flavour: Flavour, nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the topology of a deployment flavour, without groups and policies."""
    operations: dict[str, list[str]] = {f"{name}{when}": [] for name in _OPERATIONS for when in ("", "_start", "_end")}
    inputs: dict[str, Any] = {name: {"type": "string"} for name in (*_IDENTITY, "flavour_id", "flavour_description")}
    inputs["vnfm_info"] = {"type": "list", "entry_schema": {"type": "string"}}
    vnf = {
        "type": type_name(descriptor),
        "properties": {"flavour_description": flavour.title},
        "interfaces": {"Vnflcm": operations},
    }
    return {
        "inputs": inputs,
        "substitution_mappings": {
            "node_type": type_name(descriptor),
            "properties": {"flavour_id": flavour.name},
            "requirements": {_requirement(port.name): [port.name, "virtual_link"] for port in flavour.outer},
        },
        "node_templates": {"VNF": vnf, **nodes},
    }


def _requirement(point_name: str) -> str:
    return f"virtual_link_{point_name}"


def _machine(one: Machine) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "tosca.nodes.nfv.Vdu.Compute",
        "properties": {
            "name": one.name,
            "description": one.title,
            "vdu_profile": {"min_number_of_instances": 1, "max_number_of_instances": one.most_instances or 1},
            "sw_image_data": _image(one.image),
        },
        "capabilities": {"virtual_compute": {"properties": _compute(one)}},
    }
    if one.user_data:
        found["properties"]["boot_data"] = one.user_data
    if one.image.file is not None:
        path = f"../Files/images/{one.image.file.name}"
        found["artifacts"] = {"sw_image": {"type": "tosca.artifacts.nfv.SwImage", "file": path}}
    return found


def _image(disk: CloudImage) -> dict[str, Any]:
    digest = disk.checksums.get("sha512", "")
    if not digest:
        raise ConfigurationError(
            "a SOL001 descriptor needs the SHA-512 of its image",
            where=f"image {disk.name}",
            observed=f"digests that are known: {', '.join(disk.checksums) or 'none'}",
            fix="make images, or give the image's file (--image-file); the legacy form needs none",
        )
    return {
        "name": disk.name,
        "version": disk.version,
        # Tacker compares it with Glance's os_hash_value, which is SHA-512.
        "checksum": {"algorithm": "sha-512", "hash": digest},
        "container_format": "bare",
        "disk_format": "qcow2",
        "min_disk": f"{_IMAGE_GIB} GB",
        "size": f"{_IMAGE_GIB} GB",
    }


def _compute(one: Machine) -> dict[str, Any]:
    """Return a virtual machine's demands on its compute, with the name of its flavor."""
    asked: dict[str, Any] = {
        # Tacker reads the flavor's name here, also when it heals; the key of the map is the one that it looks for.
        "requested_additional_capabilities": {
            "properties": {
                "requested_additional_capability_name": one.flavor,
                "support_mandatory": True,
                "target_performance_parameters": {"flavor": one.flavor},
            }
        },
        # MiB: Tacker makes 244 MiB of 256 MB.
        "virtual_memory": {"virtual_mem_size": f"{one.size.memory_mib} MiB"},
        "virtual_cpu": {"num_virtual_cpu": one.size.vcpus},
        "virtual_local_storage": [{"size_of_storage": f"{one.size.disk_gib} GiB"}],
    }
    if one.extra_specs:
        asked["compute_requirements"] = {"nova_extra_specs": json.dumps(dict(one.extra_specs))}
    return asked


def _point(port: ConnectionPoint, bound_to: str, made: Set[str]) -> dict[str, Any]:
    """Return a connection point, bound to a virtual machine, and on a link where that is made with the VNF."""
    properties: dict[str, Any] = {"layer_protocols": ["ethernet" if port.data else "ipv4"], "order": port.order}
    if port.vnic == "normal":
        properties["vnic_type"] = "normal"
    else:
        # SOL001 v2.6.1 has no vnic_type for a virtual function; the base HOT has Neutron's.
        wanted = {"interface_type": "sr-iov"}
        properties["virtual_network_interface_requirements"] = [
            {"name": "sriov", "support_mandatory": True, "network_interface_requirements": wanted}
        ]
    requirements = [{"virtual_binding": bound_to}]
    if port.link in made:
        requirements.append({"virtual_link": link_name(port.link)})
    return {"type": "tosca.nodes.nfv.VduCp", "properties": properties, "requirements": requirements}


def _link(link: Link) -> dict[str, Any]:
    rate = {"root": _UNLIMITED_BPS}
    profile: dict[str, Any] = {"max_bitrate_requirements": rate, "min_bitrate_requirements": {"root": 0}}
    if link.subnet is not None:
        version = f"ipv{link.subnet.cidr.version}"
        subnet: dict[str, Any] = {"name": link.network, "ip_version": version, "cidr": str(link.subnet.cidr)}
        if link.subnet.pool is not None:
            ends = zip(("start_ip_address", "end_ip_address"), map(str, link.subnet.pool), strict=True)
            subnet["ip_allocation_pools"] = [dict(ends)]
        profile["virtual_link_protocol_data"] = [{"associated_layer_protocol": version, "l3_protocol_data": subnet}]
    return {
        "type": "tosca.nodes.nfv.VnfVirtualLink",
        "properties": {
            "connectivity_type": {"layer_protocols": ["ipv4"]},
            "description": link.title or link.name,
            "vl_profile": profile,
        },
    }


def _members(group: Group) -> dict[str, Any]:
    return {
        "type": "tosca.groups.nfv.PlacementGroup",
        "properties": {"description": f"placement group {group.name}"},
        "members": list(group.machines),
    }


def _policies(flavour: Flavour) -> list[dict[str, Any]]:
    """Return the policies for one instance of each machine at first, and for scaling."""
    machines = [one.name for one in flavour.machines]
    one = {"number_of_instances": 1}
    # Without scale_info in each level Tacker raises KeyError, and the instance stays INSTANTIATING for ever.
    level: dict[str, Any] = {"description": "one virtual machine", "scale_info": {}}
    found = [_policy("initial_delta", "VduInitialDelta", {"initial_delta": one}, machines)]
    if flavour.most_instances is not None:
        level["scale_info"] = {SCALING: {"scale_level": 0}}
        deltas = {"aspect": SCALING, "deltas": {"delta_1": dict(one)}}
        aspect = {
            "name": SCALING,
            "description": "number of virtual machines",
            "max_scale_level": flavour.most_instances - 1,
            "step_deltas": ["delta_1"],
        }
        found = [
            _policy("scaling_aspects", "ScalingAspects", {"aspects": {SCALING: aspect}}),
            *found,
            _policy("scaling_deltas", "VduScalingAspectDeltas", deltas, machines),
        ]
    return [
        *found,
        _policy("levels", "InstantiationLevels", {"levels": {LEVEL: level}, "default_level": LEVEL}),
        _policy("vdu_levels", "VduInstantiationLevels", {"levels": {LEVEL: dict(one)}}, machines),
    ]


def _rules(flavour: Flavour) -> list[dict[str, Any]]:
    """Return the placement rules; SOL001 v2.6.1 has no soft ones, which are in the base HOT."""
    kinds = {"affinity": "AffinityRule", "anti-affinity": "AntiAffinityRule"}
    strict = [one for one in flavour.groups if one.strict]
    known = {one.name for one in flavour.groups}
    found = [_policy(f"rule_{one.name}", kinds[one.policy], {"scope": _SCOPE}, list(one.machines)) for one in strict]
    for one in strict:
        for other in one.apart_from:
            if other in known:
                targets = [group_name(one.name), group_name(other)]
                name = f"apart_{one.name}_{other}"
                found.append(_policy(name, kinds["anti-affinity"], {"scope": _SCOPE}, targets))
    return found


def _policy(name: str, kind: str, properties: dict[str, Any], targets: list[str] | None = None) -> dict[str, Any]:
    """Return a policy of ETSI's."""
    said: dict[str, Any] = {"type": f"tosca.policies.nfv.{kind}", "properties": properties}
    return {name: said | ({"targets": list(targets)} if targets else {})}
