"""A foreign descriptor in the form of the model: its machines with their connection points, and all lines."""

from collections.abc import Mapping
from typing import Any

from nfvbed.spec.document import Document
from nfvbed.vnfs.descriptors import naming, shape
from nfvbed.vnfs.descriptors.asked import MACHINES, POINTS, of_document, vnic_of
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.model import ConnectionPoint, Machine, Size


def machines_of(document: Document) -> tuple[Machine, ...]:
    """Return the virtual machines of a template, or of a flavour's definitions; omitted parts are left empty.

    Raises:
        ConfigurationError: a size, or a text of extra specs, cannot be read; with the line.
    """
    networks = {str(key[2]): name for kind, key, name in naming.named(document) if kind == "network"}
    found = []
    for name, node in shape.nodes(document):
        if node["type"] in MACHINES:
            asked, named = of_document(document, name), {one.kind: one for one in naming.names_of(document, name)}
            names = {kind: one.name for kind, one in named.items()}
            machine = Machine(
                name=name,
                title=str((node.get("properties") or {}).get("description", "")),
                flavor=names.get("flavor", ""),
                size=Size(asked.vcpus, asked.memory_mib),
                extra_specs=asked.specs,
                image=CloudImage(names.get("image", "")),
                ports=_points(document, name, networks),
                zone=names.get("zone", ""),
                places={**asked.places, **{kind: one.where for kind, one in named.items()}},
            )
            found.append(machine)
    return tuple(found)


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
