"""A foreign descriptor in the form of the model: machines, connection points, links, groups and scaling, with lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import Any

from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import Document, KeyPath
from nfvbed.vnfs.descriptors import naming, shape
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.model import ConnectionPoint, Flavour, Group, Link, Machine, Size, Subnet
from nfvbed.vnfs.descriptors.requestedresources import MACHINES, POINTS, of_document, vnic_of

_LINK, _MADE_LINK = "tosca.nodes.nfv.VL", "tosca.nodes.nfv.VnfVirtualLink"
_L3: KeyPath = ("vl_profile", "virtual_link_protocol_data", 0, "l3_protocol_data")
_PLACEMENT = "tosca.policies.tacker.Placement"
_RULES = ("tosca.policies.nfv.AffinityRule", "tosca.policies.nfv.AntiAffinityRule")
_COMPUTE = "nfvi_node"
"""Scope of those rules that a server group of Nova's can follow: a compute."""
_SCALING, _DELTAS = "tosca.policies.tacker.Scaling", "tosca.policies.nfv.VduScalingAspectDeltas"
_POLICIES: KeyPath = ("topology_template", "policies")
_MOST: KeyPath = ("properties", "vdu_profile", "max_number_of_instances")


def flavour_of(document: Document, name: str = "") -> Flavour:
    """Return what a template, or a flavour's definitions, describe; omitted parts are left empty.

    Links of a package are those that are made with the VNF: the networks of the cloud are in the request. A function
    (`get_input`) whose value the file does not have counts as omitted, as do rules that bind links, or a place other
    than a compute.

    Raises:
        ConfigurationError: a size, a text of extra specs, a subnet or a number of instances cannot be read; with the
            line.
    """
    title, most = str(document.data.get("description") or ""), _most_instances(document)
    machines = tuple(replace(one, most_instances=most.get(one.name)) for one in _machines(document))
    groups = tuple(_groups(document, [one.name for one in machines]))
    return Flavour(name, title, title, machines, tuple(_links(document)), groups)


def _machines(document: Document) -> Iterator[Machine]:
    networks = {str(key[2]): name for kind, key, name in naming.named(document) if kind == "network"}
    for name, node in shape.nodes(document):
        if node["type"] in MACHINES:
            asked, named = of_document(document, name), {one.kind: one for one in naming.names_of(document, name)}
            names = {kind: one.name for kind, one in named.items()}
            ports = _points(document, name, networks)
            lines = {port.name: document.where((*shape.NODES, port.name, "properties")) for port in ports}
            yield Machine(
                name=name,
                title=str((node.get("properties") or {}).get("description", "")),
                flavor=names.get("flavor", ""),
                size=Size(asked.vcpus, asked.memory_mib),
                extra_specs=asked.specs,
                image=CloudImage(names.get("image", "")),
                ports=ports,
                zone=names.get("zone", ""),
                places={**lines, **asked.places, **{kind: one.where for kind, one in named.items()}},
            )


def _points(document: Document, machine: str, networks: Mapping[str, str]) -> tuple[ConnectionPoint, ...]:
    nodes = {
        name: node
        for name, node in shape.nodes(document)
        if node["type"] in POINTS and shape.bound(node, "virtualBinding", "virtual_binding") == machine
    }
    return tuple(_point(name, node, number, networks) for number, (name, node) in enumerate(nodes.items()))


def _point(name: str, node: Mapping[str, Any], number: int, networks: Mapping[str, str]) -> ConnectionPoint:
    properties = node.get("properties") or {}
    link, order = shape.bound(node, "virtualLink", "virtual_link"), properties.get("order")
    address = properties.get("ip_address")
    return ConnectionPoint(
        name=name,
        link=link,
        network=networks.get(link, ""),
        order=order if isinstance(order, int) else number,
        management=bool(properties.get("management")),
        data=properties.get("anti_spoofing_protection") is False,
        vnic=vnic_of(properties),
        address=address if isinstance(address, str) else "",
    )


def _links(document: Document) -> Iterator[Link]:
    for name, node in shape.nodes(document):
        key: KeyPath = (*shape.NODES, name, "properties")
        properties = node.get("properties") or {}
        network, title = (_text(properties.get(one)) for one in ("network_name", "description"))
        if node["type"] == _LINK:
            pool = [properties.get(one) for one in ("start_ip", "end_ip")]
            yield Link(name, network, title, "cidr" in properties, _subnet(document, key, (properties, pool)))
        elif node["type"] == _MADE_LINK:
            said = shape.reached(properties, _L3) or {}
            # The model has one pool: of several, nothing is said.
            pools = shape.reached(said, ("ip_allocation_pools",))
            only = pools[0] if isinstance(pools, list) and len(pools) == 1 else {}
            ends = [shape.reached(only, (f"{end}_ip_address",)) for end in ("start", "end")]
            yield Link(name, network, title, True, _subnet(document, (*key, *_L3), (said, ends)))


def _subnet(document: Document, key: KeyPath, said: tuple[Any, Sequence[Any]]) -> Subnet | None:
    """Return the subnet that a link describes; None: it names none."""
    properties, ends = said
    cidr = shape.reached(properties, ("cidr",))
    if cidr is None or shape.is_function(cidr):
        return None
    network = _read(document, (*key, "cidr"), cidr, (lambda one: ip_network(str(one), strict=False), "192.0.2.0/24"))
    if not all(isinstance(end, str) for end in ends):
        return Subnet(network)
    first, last = (_read(document, key, end, (ip_address, "192.0.2.10")) for end in ends)
    return Subnet(network, (first, last))


def _groups(document: Document, machines: Sequence[str]) -> Iterator[Group]:
    """Yield the server groups; a group of SOL001's that no rule of the file binds is none."""
    members = _members(document, machines)
    named = {tuple(sorted(inside)): name for name, inside in members.items()}
    apart: dict[str, tuple[str, ...]] = {}
    found: list[Group] = []
    for _, name, policy in _policies(document):
        kind, properties, targets = policy["type"], policy.get("properties") or {}, _targets(policy)
        if kind == _PLACEMENT:
            bound = tuple(one for one in targets if one in machines)
            is_apart = properties.get("policy") == "anti-affinity"
            found.append(_group(name, bound, is_apart, strict=properties.get("strict") is not False))
        elif kind in _RULES and properties.get("scope") == _COMPUTE:
            is_apart = kind == _RULES[1]
            if is_apart and len(targets) > 1 and all(one in members for one in targets):
                apart[targets[0]] = (*apart.get(targets[0], ()), *targets[1:])
                continue
            bound = tuple(inside for one in targets for inside in members.get(one, (one,) if one in machines else ()))
            found.append(_group(named.get(tuple(sorted(bound)), name), bound, is_apart, strict=True))
    yield from (replace(one, apart_from=apart.get(one.name, ())) for one in found if one.machines)


def _group(name: str, machines: tuple[str, ...], is_apart: bool, *, strict: bool) -> Group:
    return Group(name, "anti-affinity" if is_apart else "affinity", machines, strict)


def _members(document: Document, machines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the machines in each placement group of SOL001's."""
    groups = (document.data.get("topology_template") or {}).get("groups") or {}
    return {
        name: tuple(one for one in _list(group.get("members")) if one in machines) for name, group in groups.items()
    }


def _most_instances(document: Document) -> dict[str, int]:
    """Return up to how many instances machines can be scaled, by name; those that cannot are not in it."""
    profiles = {name: shape.reached(node, _MOST) for name, node in shape.nodes(document)}
    found = {}
    for key, _, policy in _policies(document):
        properties = policy.get("properties") or {}
        if policy["type"] == _SCALING:
            # heat-translator reads the targets in the properties, TOSCA has them beside.
            targets = _list(properties.get("targets")) or _targets(policy)
            most = dict.fromkeys(targets, (properties.get("max_instances"), (*key, "properties", "max_instances")))
        elif policy["type"] == _DELTAS:
            most = {name: (profiles.get(name), (*shape.NODES, name, *_MOST)) for name in _targets(policy)}
        else:
            continue
        for name, (value, place) in most.items():
            if value is not None and not shape.is_function(value):
                found[name] = _read(document, place, value, (lambda one: int(str(one)), "3"))
    return found


def _policies(document: Document) -> Iterator[tuple[KeyPath, str, Mapping[str, Any]]]:
    """Yield place, name and content of policies."""
    for number, one in enumerate((document.data.get("topology_template") or {}).get("policies") or ()):
        for name, policy in one.items():
            yield (*_POLICIES, number, name), name, policy


def _targets(policy: Mapping[str, Any]) -> list[str]:
    return _list(policy.get("targets"))


def _list(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _read(document: Document, key: KeyPath, value: Any, reader: tuple[Callable[[Any], Any], str]) -> Any:
    read, example = reader
    try:
        return read(value)
    except (TypeError, ValueError) as failure:
        raise ConfigurationError(
            f"{key[-1]} cannot be read", where=document.where(key), observed=repr(value), fix=f"write it so: {example}"
        ) from failure
