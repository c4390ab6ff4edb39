"""The base HOT of a package: what heat-translator cannot say of a SOL001 descriptor.

heat-translator 2.6.0 drops `boot_data`, knows no port security, and makes a flavor of its own. With a base HOT and a
script of parameters in the package (`tosca/UserData`) Tacker 8.0.0 makes the Heat stack of these instead.
"""

from typing import Any

from nfvbed.vnfs.descriptors.model import SCALING, VDU, DescriptorPort, DescriptorRequest

VERSION = "2018-08-31"
"""Of HOT: Queens, older than all that has Tacker's SOL API."""
NESTED = f"{VDU}.yaml"
"""One instance with its ports; Tacker finds it by this name."""


def group(request: DescriptorRequest) -> dict[str, Any]:
    """Return the template of the stack: a group of instances, and what scales it."""
    given: dict[str, Any] = {key: {"get_param": ["nfv", "VDU", VDU, key]} for key in ("flavor", "image")}
    given |= {_network(port): {"get_param": ["nfv", "CP", port.name, "network"]} for port in request.ports}
    machines = {
        "min_size": 1,
        "max_size": request.most_instances,
        "desired_capacity": 1,
        "resource": {"type": NESTED, "properties": given},
    }
    return {
        "heat_template_version": VERSION,
        "description": f"{request.vnf.title}, as many instances as it is scaled to",
        "parameters": {"nfv": {"type": "json"}},
        "resources": {
            # Tacker looks for the group by the name of the scaling aspect, and for the policies by names made of it.
            SCALING: {"type": "OS::Heat::AutoScalingGroup", "properties": machines},
            f"{SCALING}_scale_out": _policy(1),
            f"{SCALING}_scale_in": _policy(-1),
        },
        "outputs": {},
    }


def instance(request: DescriptorRequest) -> dict[str, Any]:
    """Return the nested template: one instance with its ports."""
    names = ("flavor", "image", *(_network(port) for port in request.ports))
    server: dict[str, Any] = {
        "name": VDU,
        "flavor": {"get_param": "flavor"},
        "image": {"get_param": "image"},
        "networks": [{"port": {"get_resource": port.name}} for port in request.ports],
    }
    if request.availability_zone:
        server["availability_zone"] = request.availability_zone
    if request.user_data:
        server |= {"config_drive": True, "user_data_format": "RAW", "user_data": request.user_data}
    resources: dict[str, Any] = {VDU: {"type": "OS::Nova::Server", "properties": server}}
    resources |= {port.name: _port(port, request.inherits_port_security) for port in request.ports}
    return {
        "heat_template_version": VERSION,
        "description": f"One instance of {request.vnf.title}",
        "parameters": {name: {"type": "string"} for name in names},
        "resources": resources,
    }


def _network(port: DescriptorPort) -> str:
    return f"network_{port.name}"


def _port(port: DescriptorPort, inherits: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"network": {"get_param": _network(port)}, "binding:vnic_type": port.vnic}
    if not port.management and not inherits:
        # Else Neutron drops every frame that the VNF forwards: they have foreign addresses.
        properties["port_security_enabled"] = False
    return {"type": "OS::Neutron::Port", "properties": properties}


def _policy(step: int) -> dict[str, Any]:
    return {
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "scaling_adjustment": step,
            "adjustment_type": "change_in_capacity",
            "auto_scaling_group_id": {"get_resource": SCALING},
        },
    }
