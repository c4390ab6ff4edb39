"""The base HOT of a deployment flavour of several machines: servers, ports, networks and server groups in one stack."""

from typing import Any

from nfvbed.vnfs.descriptors.basehot import VERSION
from nfvbed.vnfs.descriptors.machines.legacy import group_name, link_name
from nfvbed.vnfs.descriptors.machines.model import Flavour, Group, Link, Machine, MachinePort, MachinesRequest


def stack(request: MachinesRequest, flavour: Flavour) -> dict[str, Any]:
    """Return the template of the stack; the package's script fills in flavors, images and networks of the cloud."""
    resources: dict[str, Any] = {one.name: _server(one, flavour) for one in flavour.machines}
    made = {link.spec.name for link in flavour.links if link.made}
    for one in flavour.machines:
        resources |= {port.name: _port(port, made, request.inherits_port_security) for port in one.ports}
    for link in flavour.links:
        resources |= _network(link)
    resources |= {group_name(group.spec.name): _group(group) for group in flavour.groups}
    return {
        "heat_template_version": VERSION,
        "description": f"{request.vnf.title}, flavour {flavour.name}",
        "parameters": {"nfv": {"type": "json"}},
        "resources": resources,
        "outputs": {},
    }


def _server(one: Machine, flavour: Flavour) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "name": one.name,
        **{key: {"get_param": ["nfv", "VDU", one.name, key]} for key in ("flavor", "image")},
        "networks": [{"port": {"get_resource": port.name}} for port in one.ports],
        "config_drive": True,
        "user_data_format": "RAW",
        "user_data": one.user_data,
    }
    if one.zone:
        properties["availability_zone"] = one.zone
    group = flavour.group_of(one.name)
    if group is not None:
        properties["scheduler_hints"] = {"group": {"get_resource": group_name(group.spec.name)}}
    return {"type": "OS::Nova::Server", "properties": properties}


def _port(port: MachinePort, made: set[str], inherits: bool) -> dict[str, Any]:
    inner = {"get_resource": link_name(port.link)}
    network = inner if port.link in made else {"get_param": ["nfv", "CP", port.name, "network"]}
    properties: dict[str, Any] = {"network": network, "binding:vnic_type": port.vnic}
    if port.address:
        properties["fixed_ips"] = [{"ip_address": port.address}]
    if port.data and not inherits:
        # Else Neutron drops every frame that the VNF forwards: they have foreign addresses.
        properties["port_security_enabled"] = False
    found: dict[str, Any] = {"type": "OS::Neutron::Port", "properties": properties}
    if port.link in made:
        # Made before the subnet, a port has no address.
        found["depends_on"] = [_subnet(port.link)]
    return found


def _network(link: Link) -> dict[str, Any]:
    if not link.made or link.spec.pool is None:
        return {}
    name = link_name(link.spec.name)
    first, last = link.spec.pool
    subnet = {
        "network": {"get_resource": name},
        "ip_version": 4,
        "cidr": str(link.spec.cidr),
        "allocation_pools": [{"start": str(first), "end": str(last)}],
    }
    return {
        name: {"type": "OS::Neutron::Net", "properties": {"name": link.network}},
        _subnet(link.spec.name): {"type": "OS::Neutron::Subnet", "properties": subnet},
    }


def _subnet(link: str) -> str:
    return f"{link_name(link)}_subnet"


def _group(group: Group) -> dict[str, Any]:
    name = group_name(group.spec.name)
    return {"type": "OS::Nova::ServerGroup", "properties": {"name": name, "policies": [group.policy]}}
