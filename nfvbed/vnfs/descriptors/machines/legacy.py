"""Descriptors of several machines as Tacker's legacy API takes them: one template for each deployment flavour."""

from typing import Any

from nfvbed.cloud.novaflavor import PREFIX
from nfvbed.vnfs.descriptors.legacy import VERSION, connection_point, machine, virtual_link
from nfvbed.vnfs.descriptors.machines.model import Flavour, Group, Link, Machine, MachinePort, MachinesRequest


def template(request: MachinesRequest, flavour: str) -> dict[str, Any]:
    """Return the descriptor; image and flavor of each machine are inputs with defaults, as are zones."""
    chosen = request.flavour(flavour)
    nodes: dict[str, Any] = {one.name: _machine(one) for one in chosen.machines}
    for one in chosen.machines:
        nodes |= {port.name: _port(port, one, request.inherits_port_security) for port in one.ports}
    nodes |= {link_name(link.spec.name): _link(link) for link in chosen.links}
    topology: dict[str, Any] = {"inputs": _inputs(chosen), "node_templates": nodes}
    if chosen.groups:
        topology["policies"] = [{group_name(one.spec.name): _group(one)} for one in chosen.groups]
    return {
        "tosca_definitions_version": VERSION,
        "description": request.vnf.summary or request.vnf.title,
        "metadata": {"template_name": request.vnf.name},
        "topology_template": topology,
    }


def link_name(link: str) -> str:
    """Return the name of a virtual link's node."""
    return f"VL_{link}"


def group_name(group: str) -> str:
    """Return the name of a placement group's policy, and of its server group."""
    return f"PG_{group}"


def image_input(one: Machine) -> str:
    """Return the input that names a machine's image."""
    return _input("image", one)


def _inputs(flavour: Flavour) -> dict[str, Any]:
    inputs: dict[str, Any] = {}
    for one in flavour.machines:
        said = {"image": (one.image.name, "image of"), "flavor": (PREFIX + one.flavor.name, "flavor of")}
        if one.zone:
            said["zone"] = (one.zone, "availability zone of")
        for key, (value, text) in said.items():
            inputs[_input(key, one)] = {"type": "string", "description": f"{text} {one.name}", "default": value}
    return inputs


def _input(key: str, one: Machine) -> str:
    return f"{key}_{one.name.replace('-', '_')}"


def _machine(one: Machine) -> dict[str, Any]:
    zone = {"get_input": _input("zone", one)} if one.zone else ""
    return machine(_input("image", one), _input("flavor", one), one.user_data, zone)


def _port(port: MachinePort, one: Machine, inherits: bool) -> dict[str, Any]:
    point = connection_point(port, link_name(port.link), one.name)
    if not port.data or inherits:
        # Ports of control keep their protection: what they send has their own addresses.
        point["properties"].pop("anti_spoofing_protection", None)
    if port.address:
        point["properties"]["ip_address"] = port.address
    return point


def _link(link: Link) -> dict[str, Any]:
    if not link.made or link.spec.pool is None:
        return virtual_link({"network_name": link.network})
    first, last = link.spec.pool
    subnet = {"ip_version": 4, "cidr": str(link.spec.cidr), "start_ip": str(first), "end_ip": str(last)}
    return virtual_link({"network_name": link.network} | subnet)


def _group(group: Group) -> dict[str, Any]:
    return {
        "type": "tosca.policies.tacker.Placement",
        "properties": {"policy": group.spec.policy, "strict": group.strict},
        "targets": list(group.machines),
    }
