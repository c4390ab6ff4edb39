"""Descriptors as Tacker's legacy API takes them: `tosca_simple_profile_for_nfv_1_0_0`, as from the Ocata release on.

Tacker 8.0.0 adds the types itself, translates with heat-translator, and makes a Heat stack of it.
"""

from collections.abc import Mapping
from typing import Any

from nfvbed.vnfs.descriptors.model import SCALING, VDU, VENDOR, DescriptorPort, DescriptorRequest

VERSION = "tosca_simple_profile_for_nfv_1_0_0"
_LINK = "VL_{}"


def template(request: DescriptorRequest) -> dict[str, Any]:
    """Return the descriptor; image and flavor are inputs with defaults."""
    nodes: dict[str, Any] = {VDU: _machine(request)}
    links = {network: _LINK.format(number) for number, network in enumerate(request.networks)}
    for port in request.ports:
        nodes[port.name] = connection_point(port, links[port.network], VDU)
    for network, name in links.items():
        nodes[name] = virtual_link({"network_name": network})
    topology: dict[str, Any] = {"inputs": _inputs(request), "node_templates": nodes}
    if request.most_instances > 1:
        topology["policies"] = [{SCALING: _scaling(request.most_instances)}]
    return {
        "tosca_definitions_version": VERSION,
        "description": request.vnf.summary or request.vnf.title,
        "metadata": {"template_name": request.vnf.name},
        "topology_template": topology,
    }


def parameters(descriptor: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of a descriptor's inputs: what `param_values` of a request to Tacker may replace."""
    inputs = descriptor.get("topology_template", {}).get("inputs", {})
    return {name: entry["default"] for name, entry in inputs.items() if "default" in entry}


def _inputs(request: DescriptorRequest) -> dict[str, Any]:
    return {
        "image": {"type": "string", "description": "name of the image in Glance", "default": request.image},
        "flavor": {"type": "string", "description": "name of the flavor in Nova", "default": request.flavor_name},
    }


def _machine(request: DescriptorRequest) -> dict[str, Any]:
    return machine("image", "flavor", request.user_data, request.availability_zone)


def machine(image: str, flavor: str, user_data: str, zone: Any) -> dict[str, Any]:
    """Return a virtual machine.

    Args:
        image: name of the input with its image.
        flavor: name of the input with its flavor.
        user_data: empty: none.
        zone: availability zone; empty: any.
    """
    properties: dict[str, Any] = {
        "image": {"get_input": image},
        "flavor": {"get_input": flavor},
        "mgmt_driver": "noop",
    }
    if zone:
        properties["availability_zone"] = zone
    if user_data:
        properties |= {"config_drive": True, "user_data_format": "RAW", "user_data": user_data}
    return {"type": "tosca.nodes.nfv.VDU.Tacker", "properties": properties}


def virtual_link(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return a virtual link: a network of the cloud by its name, or with a subnet one that is made with the VNF."""
    return {"type": "tosca.nodes.nfv.VL", "properties": {**properties, "vendor": VENDOR}}


def connection_point(port: DescriptorPort, link: str, bound_to: str) -> dict[str, Any]:
    """Return a port of the path, or one of management, on a virtual link and bound to a virtual machine."""
    properties: dict[str, Any] = {"order": port.order}
    if port.management:
        properties["management"] = True
    else:
        # Else Neutron drops every frame that the VNF forwards: they have foreign addresses.
        properties["anti_spoofing_protection"] = False
        properties["type"] = "sriov" if port.vnic == "direct" else "vnic"
    return {
        "type": "tosca.nodes.nfv.CP.Tacker",
        "properties": properties,
        "requirements": [{"virtualLink": {"node": link}}, {"virtualBinding": {"node": bound_to}}],
    }


def _scaling(most: int) -> dict[str, Any]:
    return {
        "type": "tosca.policies.tacker.Scaling",
        "properties": {
            "increment": 1,
            "cooldown": 1,
            "min_instances": 1,
            "max_instances": most,
            "default_instances": 1,
            # heat-translator 2.6.0 reads the targets here, and not beside the properties.
            "targets": [VDU],
        },
    }
