"""Heat templates (HOT): of a stack by itself, and the base HOT of a package.

A package needs a base HOT for what heat-translator cannot say of a SOL001 descriptor: heat-translator 2.6.0 drops
`boot_data`, knows no port security, and makes a flavor of its own. With a base HOT and a script of parameters in the
package (`tosca/UserData`) Tacker 8.0.0 makes the Heat stack of these instead.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nfvbed.vnfs.descriptors import legacy
from nfvbed.vnfs.descriptors.model import (
    SCALING,
    ConnectionPoint,
    Flavour,
    Group,
    Link,
    Machine,
    VnfDescriptor,
    group_name,
    link_name,
)

VERSION = "2018-08-31"
"""Version of HOT: Queens, older than all that has Tacker's SOL API."""
_OF_MACHINE = ("flavor", "image")
_OF_VDU = {"flavor": "computeFlavourId", "image": "vcImageId"}
"""Names by which Tacker's version 2 gives them."""


@dataclass(frozen=True)
class Hot:
    """The template of a stack."""

    template: dict[str, Any]
    nested: Mapping[str, dict[str, Any]]
    """Templates nested in it, by the names by which it has them."""


class _Cloud(ABC):
    """The way in which a template refers to what the cloud has."""

    @abstractmethod
    def parameters(self, flavour: Flavour) -> dict[str, Any]:
        """Return the template's parameters."""

    @abstractmethod
    def of_machine(self, one: Machine, key: str) -> Any:
        """Return a machine's flavor or image."""

    @abstractmethod
    def network(self, port: ConnectionPoint) -> Any:
        """Return a connection point's network, one of the cloud's."""

    def zone(self, one: Machine) -> Any:
        """Return a machine's availability zone; empty: any."""
        return one.zone

    def capacity(self, one: Machine) -> Any:
        """Return the number of a scaled machine's instances."""
        return 1


class _NamedReferences(_Cloud):
    """References by name; flavors and images are parameters with defaults, as the inputs of the legacy form."""

    def parameters(self, flavour: Flavour) -> dict[str, Any]:
        return legacy.inputs(flavour)

    def of_machine(self, one: Machine, key: str) -> Any:
        return {"get_param": legacy.input_name(key, one)}

    def network(self, port: ConnectionPoint) -> Any:
        return port.network

    def zone(self, one: Machine) -> Any:
        return self.of_machine(one, "zone") if one.zone else ""


class _RequestReferences(_Cloud):
    """References by which the package's script takes values from the request to instantiate."""

    def parameters(self, flavour: Flavour) -> dict[str, Any]:
        return {"nfv": {"type": "json"}}

    def of_machine(self, one: Machine, key: str) -> Any:
        return {"get_param": ["nfv", "VDU", one.name, _OF_VDU[key]]}

    def capacity(self, one: Machine) -> Any:
        return {"get_param": ["nfv", "VDU", one.name, "desired_capacity"]}

    def network(self, port: ConnectionPoint) -> Any:
        return {"get_param": ["nfv", "CP", port.name, "network"]}


class _GroupReferences(_Cloud):
    """References to parameters that the surrounding template sets."""

    def parameters(self, flavour: Flavour) -> dict[str, Any]:
        return {name: {"type": "string"} for name in (*_OF_MACHINE, *map(_network_parameter, flavour.ports))}

    def of_machine(self, one: Machine, key: str) -> Any:
        return {"get_param": key}

    def network(self, port: ConnectionPoint) -> Any:
        return {"get_param": _network_parameter(port)}


def stack(descriptor: VnfDescriptor, flavour: Flavour) -> Hot:
    """Return the template of a deployment flavour that Heat takes without Tacker."""
    if (flavour.most_instances or 1) > 1:
        return _scaled(descriptor, flavour, _NamedReferences())
    return Hot(_plain(descriptor, flavour, _NamedReferences(), f"{descriptor.vnf.title}, flavour {flavour.name}"), {})


def base(descriptor: VnfDescriptor, flavour: Flavour) -> Hot:
    """Return the base HOT of a deployment flavour; the package's script fills in what the cloud has."""
    if flavour.most_instances is not None:
        # Tacker scales, and heals, what is in a group; also where there can be one instance alone.
        return _scaled(descriptor, flavour, _RequestReferences())
    return Hot(_plain(descriptor, flavour, _RequestReferences(), f"{descriptor.vnf.title}, flavour {flavour.name}"), {})


def _plain(descriptor: VnfDescriptor, flavour: Flavour, cloud: _Cloud, description: str) -> dict[str, Any]:
    """Return a template with machines and ports, and the networks and server groups that are made with them."""
    resources: dict[str, Any] = {one.name: _server(one, flavour, cloud) for one in flavour.machines}
    made = {link.name for link in flavour.links if link.made}
    resources |= {port.name: _port(port, made, descriptor.inherits_port_security, cloud) for port in flavour.ports}
    for link in flavour.links:
        resources |= _network(link)
    resources |= {group_name(group.name): _group(group) for group in flavour.groups}
    return _template(description, cloud.parameters(flavour), resources)


def _scaled(descriptor: VnfDescriptor, flavour: Flavour, cloud: _Cloud) -> Hot:
    """Return a group of instances with its scaling; one instance with its ports is the nested template."""
    (machine,) = flavour.machines
    name = f"{machine.name}.yaml"  # Tacker finds it by this name
    given = {key: cloud.of_machine(machine, key) for key in _OF_MACHINE}
    given |= {_network_parameter(port): cloud.network(port) for port in machine.ports}
    group = {
        "min_size": 1,
        "max_size": flavour.most_instances,
        "desired_capacity": cloud.capacity(machine),
        "resource": {"type": name, "properties": given},
    }
    resources = {
        # Tacker looks for the group by the name of the scaling aspect, and for the policies by names made of it.
        SCALING: {"type": "OS::Heat::AutoScalingGroup", "properties": group},
        f"{SCALING}_scale_out": _policy(1),
        f"{SCALING}_scale_in": _policy(-1),
    }
    title = descriptor.vnf.title
    outer = _template(f"{title}, as many instances as it is scaled to", cloud.parameters(flavour), resources)
    inner = _plain(descriptor, flavour, _GroupReferences(), f"One instance of {title}")
    del inner["outputs"]
    return Hot(outer, {name: inner})


def _template(description: str, parameters: dict[str, Any], resources: dict[str, Any]) -> dict[str, Any]:
    return {
        "heat_template_version": VERSION,
        "description": description,
        "parameters": parameters,
        "resources": resources,
        "outputs": {},
    }


def _server(one: Machine, flavour: Flavour, cloud: _Cloud) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "name": one.name,
        **{key: cloud.of_machine(one, key) for key in _OF_MACHINE},
        "networks": [{"port": {"get_resource": port.name}} for port in one.ports],
    }
    if one.user_data:
        properties |= {"config_drive": True, "user_data_format": "RAW", "user_data": one.user_data}
    zone = cloud.zone(one)
    if zone:
        properties["availability_zone"] = zone
    group = flavour.group_of(one.name)
    if group is not None:
        properties["scheduler_hints"] = {"group": {"get_resource": group_name(group.name)}}
    return {"type": "OS::Nova::Server", "properties": properties}


def _port(port: ConnectionPoint, made: set[str], inherits: bool, cloud: _Cloud) -> dict[str, Any]:
    network = {"get_resource": link_name(port.link)} if port.link in made else cloud.network(port)
    properties: dict[str, Any] = {"network": network, "binding:vnic_type": port.vnic}
    if port.address:
        properties["fixed_ips"] = [{"ip_address": port.address}]
    if port.data and not (inherits and port.link not in made):
        # Else Neutron drops every frame that the VNF forwards: they have foreign addresses.
        properties["port_security_enabled"] = False
    found: dict[str, Any] = {"type": "OS::Neutron::Port", "properties": properties}
    if port.link in made:
        # Made before the subnet, a port has no address.
        found["depends_on"] = [_subnet_name(port.link)]
    return found


def _network(link: Link) -> dict[str, Any]:
    """Return the network, with subnet, of a link that is made with the VNF; nothing for another link."""
    if link.subnet is None:
        return {}
    name = link_name(link.name)
    subnet: dict[str, Any] = {
        "network": {"get_resource": name},
        "ip_version": link.subnet.cidr.version,
        "cidr": str(link.subnet.cidr),
    }
    if link.subnet.pool is not None:
        subnet["allocation_pools"] = [dict(zip(("start", "end"), map(str, link.subnet.pool), strict=True))]
    return {
        name: {"type": "OS::Neutron::Net", "properties": {"name": link.network}},
        _subnet_name(link.name): {"type": "OS::Neutron::Subnet", "properties": subnet},
    }


def _subnet_name(link: str) -> str:
    return f"{link_name(link)}_subnet"


def _network_parameter(port: ConnectionPoint) -> str:
    return f"network_{port.name}"


def _group(group: Group) -> dict[str, Any]:
    name = group_name(group.name)
    return {"type": "OS::Nova::ServerGroup", "properties": {"name": name, "policies": [group.nova_policy]}}


def _policy(step: int) -> dict[str, Any]:
    return {
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "scaling_adjustment": step,
            "adjustment_type": "change_in_capacity",
            "auto_scaling_group_id": {"get_resource": SCALING},
        },
    }
