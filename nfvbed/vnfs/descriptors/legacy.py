"""Descriptors for Tacker's legacy API: `tosca_simple_profile_for_nfv_1_0_0`, as since the Ocata release.

Tacker 8.0.0 adds the types itself, translates with heat-translator, and makes a Heat stack of it. A deployment flavour
is a template of its own.
"""

from typing import Any

from nfvbed.spec.vnf import MonitoringSpec
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

VERSION = "tosca_simple_profile_for_nfv_1_0_0"
_INPUTS = {
    "image": "name of the image in Glance",
    "flavor": "name of the flavor in Nova",
    "zone": "availability zone of Nova",
}
_OF_SEVERAL = {"image": "image of", "flavor": "flavor of", "zone": "availability zone of"}
"""Descriptions of the inputs where each machine has its own."""


def template(descriptor: VnfDescriptor, flavour: Flavour | None = None, *, has_inputs: bool = True) -> dict[str, Any]:
    """Return the template of a deployment flavour.

    Args:
        flavour: None: the descriptor's only one.
        has_inputs: whether image, flavor and zone of each machine are inputs with defaults, or literal values.
    """
    chosen = flavour or descriptor.only
    nodes: dict[str, Any] = {one.name: _machine(one, has_inputs) for one in chosen.machines}
    made = {link.name for link in chosen.links if link.made}
    for one in chosen.machines:
        for port in one.ports:
            inherits = descriptor.inherits_port_security and port.link not in made
            nodes[port.name] = _point(port, one, inherits)
    nodes |= {link_name(link.name): _link(link) for link in chosen.links}
    topology: dict[str, Any] = {"inputs": inputs(chosen)} if has_inputs else {}
    topology["node_templates"] = nodes
    policies = [*_scaling(chosen), *({group_name(one.name): _group(one)} for one in chosen.groups)]
    if policies:
        topology["policies"] = policies
    return {
        "tosca_definitions_version": VERSION,
        "description": descriptor.vnf.summary or descriptor.vnf.title,
        "metadata": {"template_name": descriptor.vnf.name},
        "topology_template": topology,
    }


def inputs(flavour: Flavour) -> dict[str, Any]:
    """Return the inputs of a flavour's template with their defaults, which `param_values` of a request may replace."""
    found: dict[str, Any] = {}
    for one in flavour.machines:
        for key, value in named(one).items():
            text = _INPUTS[key] if one.is_only else f"{_OF_SEVERAL[key]} {one.name}"
            found[input_name(key, one)] = {"type": "string", "description": text, "default": value}
    return found


def named(one: Machine) -> dict[str, str]:
    """Return a machine's names from the cloud: image, flavor, and zone where it has one."""
    return {"image": one.image.name, "flavor": one.flavor} | ({"zone": one.zone} if one.zone else {})


def input_name(key: str, one: Machine) -> str:
    """Return the input for a machine's image, flavor or zone."""
    return key if one.is_only else f"{key}_{one.name.replace('-', '_')}"


def _machine(one: Machine, has_inputs: bool) -> dict[str, Any]:
    values = {key: {"get_input": input_name(key, one)} if has_inputs else value for key, value in named(one).items()}
    properties: dict[str, Any] = {"image": values["image"], "flavor": values["flavor"], "mgmt_driver": "noop"}
    if one.zone:
        properties["availability_zone"] = values["zone"]
    if one.user_data:
        properties |= {"config_drive": True, "user_data_format": "RAW", "user_data": one.user_data}
    if one.monitoring is not None:
        properties["monitoring_policy"] = _monitoring(one.monitoring)
    return {"type": "tosca.nodes.nfv.VDU.Tacker", "properties": properties}


def _monitoring(wanted: MonitoringSpec) -> dict[str, Any]:
    """Return a policy of Tacker's driver `ping`, which takes whole numbers alone."""
    return {
        "name": "ping",
        "parameters": {
            "monitoring_delay": wanted.delay_s,
            "count": wanted.count,
            "interval": wanted.interval_s,
            "timeout": wanted.timeout_s,
        },
        "actions": {"failure": "respawn"},
    }


def _point(port: ConnectionPoint, machine: Machine, inherits: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"order": port.order}
    if port.management:
        properties["management"] = True
    if port.data and not inherits:
        # Else Neutron drops every frame that the VNF forwards: they have foreign addresses.
        properties["anti_spoofing_protection"] = False
    if not port.management:
        properties["type"] = "sriov" if port.vnic == "direct" else "vnic"
    if port.address:
        properties["ip_address"] = port.address
    return {
        "type": "tosca.nodes.nfv.CP.Tacker",
        "properties": properties,
        "requirements": [
            {"virtualLink": {"node": link_name(port.link)}},
            {"virtualBinding": {"node": machine.name}},
        ],
    }


def _link(link: Link) -> dict[str, Any]:
    properties: dict[str, Any] = {"network_name": link.network}
    if link.subnet is not None:
        properties |= {"ip_version": link.subnet.cidr.version, "cidr": str(link.subnet.cidr)}
        if link.subnet.pool is not None:
            properties |= dict(zip(("start_ip", "end_ip"), map(str, link.subnet.pool), strict=True))
    return {"type": "tosca.nodes.nfv.VL", "properties": {**properties, "vendor": VENDOR}}


def _scaling(flavour: Flavour) -> list[dict[str, Any]]:
    most = flavour.most_instances or 1
    if most == 1:
        return []
    properties = {
        "increment": 1,
        "cooldown": 1,
        "min_instances": 1,
        "max_instances": most,
        "default_instances": 1,
        # heat-translator 2.6.0 reads the targets here, and not beside the properties.
        "targets": [one.name for one in flavour.machines if one.most_instances == most],
    }
    return [{SCALING: {"type": "tosca.policies.tacker.Scaling", "properties": properties}}]


def _group(group: Group) -> dict[str, Any]:
    return {
        "type": "tosca.policies.tacker.Placement",
        "properties": {"policy": group.policy, "strict": group.strict},
        "targets": list(group.machines),
    }
