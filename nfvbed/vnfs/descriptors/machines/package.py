"""VNF packages of several machines (SOL001 v2.6.1, SOL004): a deployment flavour for each form of the VNF."""

from typing import Any

from nfvbed.vnfs.descriptors import sol, solvnfd
from nfvbed.vnfs.descriptors.machines import basehot
from nfvbed.vnfs.descriptors.machines.legacy import group_name, link_name
from nfvbed.vnfs.descriptors.machines.model import Flavour, Link, Machine, MachinePort, MachinesRequest

_UNLIMITED_BPS = 10**12
"""Bit rate that SOL001 asks for of each link; nothing enforces it."""
_SCOPE = "nfvi_node"


def files(request: MachinesRequest) -> dict[str, bytes]:
    """Return the members of the package, by path; with the images whose files are given.

    Raises:
        ConfigurationError: an image cannot be read, or its SHA-512 is not known.
        PrerequisiteError: ETSI's type files are missing.
    """
    own = {}
    for flavour in request.flavours:
        own[f"Definitions/{solvnfd.flavour_member(request, flavour.name)}"] = definitions(request, flavour)
        own[f"BaseHOT/{flavour.name}/{request.vnf.name}.yaml"] = basehot.stack(request, flavour)
    packed = [machine.image.file for flavour in request.flavours for machine in flavour.machines]
    return sol.package(request, own, dict.fromkeys(file for file in packed if file is not None))


def definitions(request: MachinesRequest, flavour: Flavour) -> dict[str, Any]:
    """Return the definitions of a deployment flavour.

    Raises:
        ConfigurationError: the SHA-512 of an image is not known.
    """
    made = {link.spec.name for link in flavour.links if link.made}
    nodes: dict[str, Any] = {one.name: _machine(one) for one in flavour.machines}
    for one in flavour.machines:
        nodes |= {port.name: _point(port, one, made) for port in one.ports}
    nodes |= {link_name(link.spec.name): _link(link) for link in flavour.links if link.made}
    outer = [port.name for port in flavour.outer]
    topology = solvnfd.topology_of(request, (flavour.name, flavour.title), nodes, outer)
    groups = {group_name(one.spec.name): _members(one.spec.name, one.machines) for one in flavour.groups}
    if groups:
        topology["groups"] = groups
    topology["policies"] = [
        *solvnfd.policies_of_one([one.name for one in flavour.machines], {}),
        *_rules(flavour),
    ]
    return solvnfd.flavour_of(request, flavour.title, topology)


def _machine(one: Machine) -> dict[str, Any]:
    profile = {"min_number_of_instances": 1, "max_number_of_instances": 1}
    said = {"name": one.name, "description": one.title, "vdu_profile": profile}
    return solvnfd.machine(said, one.image, solvnfd.compute(one.flavor, one.extra_specs), one.user_data)


def _point(port: MachinePort, one: Machine, made: set[str]) -> dict[str, Any]:
    point = solvnfd.point(port, one.name)
    if port.link in made:
        point["requirements"].append({"virtual_link": link_name(port.link)})
    if not port.data:
        point["properties"]["layer_protocols"] = ["ipv4"]
    return point


def _link(link: Link) -> dict[str, Any]:
    rate = {"root": _UNLIMITED_BPS}
    profile: dict[str, Any] = {"max_bitrate_requirements": rate, "min_bitrate_requirements": {"root": 0}}
    if link.spec.pool is not None:
        first, last = link.spec.pool
        subnet = {
            "name": link.network,
            "ip_version": "ipv4",
            "cidr": str(link.spec.cidr),
            "ip_allocation_pools": [{"start_ip_address": str(first), "end_ip_address": str(last)}],
        }
        profile["virtual_link_protocol_data"] = [{"associated_layer_protocol": "ipv4", "l3_protocol_data": subnet}]
    return {
        "type": "tosca.nodes.nfv.VnfVirtualLink",
        "properties": {
            "connectivity_type": {"layer_protocols": ["ipv4"]},
            "description": link.spec.title or link.spec.name,
            "vl_profile": profile,
        },
    }


def _members(name: str, machines: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "tosca.groups.nfv.PlacementGroup",
        "properties": {"description": f"placement group {name}"},
        "members": list(machines),
    }


def _rules(flavour: Flavour) -> list[dict[str, Any]]:
    """Return the rules of placement; SOL001 v2.6.1 knows none that may be broken, so a soft one is in the base HOT."""
    kinds = {"affinity": "AffinityRule", "anti-affinity": "AntiAffinityRule"}
    found = []
    for group in flavour.groups:
        if group.strict:
            kind = kinds[group.spec.policy]
            found.append(solvnfd.policy(f"rule_{group.spec.name}", kind, {"scope": _SCOPE}, list(group.machines)))
    apart = [(one.spec, other) for one in flavour.groups if one.strict for other in one.spec.apart_from]
    known = {one.spec.name for one in flavour.groups}
    for spec, other in apart:
        if other in known:
            targets = [group_name(spec.name), group_name(other)]
            name = f"apart_{spec.name}_{other}"
            found.append(solvnfd.policy(name, kinds["anti-affinity"], {"scope": _SCOPE}, targets))
    return found
