"""The TOSCA definitions of a SOL001 v2.6.1 descriptor: a type of the VNF, its flavours, and what selects one."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from nfvbed.cloud.novaflavor import PREFIX
from nfvbed.errors import ConfigurationError
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.machines import DEFAULT_FLAVOUR
from nfvbed.spec.vnf import VnfSpec
from nfvbed.vnfs.descriptors.model import SCALING, VDU, VENDOR, CloudImage, DescriptorPort, DescriptorRequest
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


class Described(Protocol):
    """A VNF of which entry definitions and type are made."""

    @property
    def vnf(self) -> VnfSpec:
        """The VNF."""

    @property
    def descriptor_id(self) -> str:
        """Id of the descriptor."""

    @property
    def version(self) -> str:
        """Version of its software."""

    @property
    def flavour_ids(self) -> tuple[str, ...]:
        """Ids of its deployment flavours; the first is the default."""

    @property
    def flavour_title(self) -> str:
        """Description of the default flavour."""

    @property
    def outer_points(self) -> tuple[str, ...]:
        """Connection points of all flavours on networks of the cloud."""


def type_name(request: Described) -> str:
    """Return the name of the VNF's own type."""
    return "nfvbed." + "".join(part.capitalize() for part in request.vnf.name.split("-"))


def identity(request: Described) -> dict[str, Any]:
    """Return what identifies the VNF, alike in type and template."""
    values = (request.descriptor_id, DESCRIPTOR_VERSION, VENDOR, request.vnf.name, request.version, ["Tacker"])
    return dict(zip(_IDENTITY, values, strict=True))


def flavour_member(request: Described, flavour_id: str) -> str:
    """Return the name of the definitions of a flavour."""
    several = len(request.flavour_ids) > 1
    return f"{request.vnf.name}_flavour_{flavour_id}.yaml" if several else f"{request.vnf.name}_flavour.yaml"


def entry(request: Described) -> dict[str, Any]:
    """Return the entry definitions: the VNF, with a flavour that the request selects."""
    members = [flavour_member(request, flavour_id) for flavour_id in request.flavour_ids]
    selected: dict[str, Any] = {"flavour_id": {"get_input": "selected_flavour"}}
    node = {"type": type_name(request), "properties": selected | identity(request)}
    return {
        "tosca_definitions_version": VERSION,
        "description": request.vnf.summary or request.vnf.title,
        "imports": [*ETSI_TYPES, f"{request.vnf.name}_types.yaml", *members],
        "topology_template": {
            "inputs": {
                "selected_flavour": {"type": "string", "description": "deployment flavour, given with the request"}
            },
            "node_templates": {"VNF": node},
        },
    }


def types(request: Described) -> dict[str, Any]:
    """Return the VNF's own type."""
    properties: dict[str, Any] = {}
    for name, value in identity(request).items():
        if isinstance(value, list):
            allowed = {"type": "string", "constraints": [{"valid_values": value}]}
            properties[name] = {"type": "list", "entry_schema": allowed, "default": value}
        else:
            properties[name] = {"type": "string", "constraints": [{"valid_values": [value]}], "default": value}
    allowed_ids = [{"valid_values": list(request.flavour_ids)}]
    properties["flavour_id"] = {"type": "string", "constraints": allowed_ids, "default": request.flavour_ids[0]}
    properties["flavour_description"] = {"type": "string", "default": request.flavour_title}
    linkable = {"capability": "tosca.capabilities.nfv.VirtualLinkable"}
    return {
        "tosca_definitions_version": VERSION,
        "description": f"Type of {request.vnf.name}",
        "imports": list(ETSI_TYPES),
        "node_types": {
            type_name(request): {
                "derived_from": "tosca.nodes.nfv.VNF",
                "properties": properties,
                "requirements": [{_link(name): linkable} for name in request.outer_points],
                "interfaces": {"Vnflcm": {"type": "tosca.interfaces.nfv.Vnflcm"}},
            }
        },
    }


def flavour(request: DescriptorRequest) -> dict[str, Any]:
    """Return the deployment flavour: the virtual machine, its connection points, and how it is scaled."""
    nodes = {VDU: _machine(request)} | {port.name: point(port, VDU) for port in request.ports}
    topology = topology_of(request, (FLAVOUR, request.flavor.title), nodes, [port.name for port in request.ports])
    return flavour_of(
        request,
        request.flavor.summary or request.flavor.title,
        topology | {"policies": _policies(request.most_instances)},
    )


def flavour_of(request: Described, description: str, topology: dict[str, Any]) -> dict[str, Any]:
    """Return the definitions of a deployment flavour."""
    return {
        "tosca_definitions_version": VERSION,
        "description": description,
        "imports": [*ETSI_TYPES, f"{request.vnf.name}_types.yaml"],
        "topology_template": topology,
    }


def topology_of(
    request: Described, named: tuple[str, str], nodes: Mapping[str, Any], points: Iterable[str]
) -> dict[str, Any]:
    """Return the topology of a deployment flavour, without policies.

    Args:
        request: what the descriptor is made from.
        named: the flavour's id and description.
        nodes: virtual machines, connection points, virtual links.
        points: connection points on networks of the cloud.
    """
    flavour_id, title = named
    operations: dict[str, list[str]] = {f"{name}{when}": [] for name in _OPERATIONS for when in ("", "_start", "_end")}
    inputs: dict[str, Any] = {name: {"type": "string"} for name in (*_IDENTITY, "flavour_id", "flavour_description")}
    inputs["vnfm_info"] = {"type": "list", "entry_schema": {"type": "string"}}
    vnf = {
        "type": type_name(request),
        "properties": {"flavour_description": title},
        "interfaces": {"Vnflcm": operations},
    }
    return {
        "inputs": inputs,
        "substitution_mappings": {
            "node_type": type_name(request),
            "properties": {"flavour_id": flavour_id},
            "requirements": {_link(name): [name, "virtual_link"] for name in points},
        },
        "node_templates": {"VNF": vnf, **nodes},
    }


def _link(point_name: str) -> str:
    return f"virtual_link_{point_name}"


def _machine(request: DescriptorRequest) -> dict[str, Any]:
    profile = {"min_number_of_instances": 1, "max_number_of_instances": request.most_instances}
    disk = CloudImage(request.image, request.image_file, request.checksums, request.version)
    said = {"name": VDU, "description": request.vnf.title, "vdu_profile": profile}
    return machine(said, disk, compute(request.flavor, request.extra_specs), request.user_data)


def machine(said: Mapping[str, Any], disk: CloudImage, sized: Mapping[str, Any], user_data: str) -> dict[str, Any]:
    """Return a virtual machine.

    Args:
        said: its properties `name`, `description`, `vdu_profile`.
        disk: its image.
        sized: see `compute`.
        user_data: empty: none.

    Raises:
        ConfigurationError: the image's SHA-512 is not known.
    """
    found: dict[str, Any] = {
        "type": "tosca.nodes.nfv.Vdu.Compute",
        "properties": {**said, "sw_image_data": _image(disk)},
        "capabilities": {"virtual_compute": {"properties": sized}},
    }
    if user_data:
        found["properties"]["boot_data"] = user_data
    if disk.file is not None:
        path = f"../Files/images/{disk.file.name}"
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


def compute(flavor: Flavor, extra_specs: Mapping[str, str]) -> dict[str, Any]:
    """Return what a virtual machine asks of its compute, with the name of its flavor."""
    name = PREFIX + flavor.name
    asked: dict[str, Any] = {
        # Tacker reads the flavor's name here, also when it heals; the key of the map is the one that it looks for.
        "requested_additional_capabilities": {
            "properties": {
                "requested_additional_capability_name": name,
                "support_mandatory": True,
                "target_performance_parameters": {"flavor": name},
            }
        },
        # MiB: Tacker makes 244 MiB of 256 MB.
        "virtual_memory": {"virtual_mem_size": f"{flavor.memory_mib} MiB"},
        "virtual_cpu": {"num_virtual_cpu": flavor.vcpus},
        "virtual_local_storage": [{"size_of_storage": f"{flavor.disk_gib} GiB"}],
    }
    if extra_specs:
        asked["compute_requirements"] = {"nova_extra_specs": json.dumps(dict(extra_specs))}
    return asked


def point(port: DescriptorPort, bound_to: str) -> dict[str, Any]:
    """Return a connection point, bound to a virtual machine."""
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
        "requirements": [{"virtual_binding": bound_to}],
    }


def _policies(most: int) -> list[dict[str, Any]]:
    aspect = {
        "name": SCALING,
        "description": "number of virtual machines",
        "max_scale_level": most - 1,
        "step_deltas": ["delta_1"],
    }
    one = {"number_of_instances": 1}
    initial, levels, vdu_levels = policies_of_one([VDU], {SCALING: {"scale_level": 0}})
    deltas = {"aspect": SCALING, "deltas": {"delta_1": dict(one)}}
    return [
        policy("scaling_aspects", "ScalingAspects", {"aspects": {SCALING: aspect}}),
        initial,
        policy("scaling_deltas", "VduScalingAspectDeltas", deltas, [VDU]),
        levels,
        vdu_levels,
    ]


def policies_of_one(machines: list[str], scale_info: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the policies by which there is one instance of each virtual machine: initial delta, and levels."""
    one = {"number_of_instances": 1}
    # Without scale_info in each level Tacker raises KeyError, and the instance stays INSTANTIATING for ever.
    level = {"description": "one virtual machine", "scale_info": scale_info}
    return [
        policy("initial_delta", "VduInitialDelta", {"initial_delta": one}, machines),
        policy("levels", "InstantiationLevels", {"levels": {LEVEL: level}, "default_level": LEVEL}),
        policy("vdu_levels", "VduInstantiationLevels", {"levels": {LEVEL: dict(one)}}, machines),
    ]


def policy(name: str, kind: str, properties: dict[str, Any], targets: list[str] | None = None) -> dict[str, Any]:
    """Return a policy of ETSI's."""
    said: dict[str, Any] = {"type": f"tosca.policies.nfv.{kind}", "properties": properties}
    return {name: said | ({"targets": list(targets)} if targets else {})}
