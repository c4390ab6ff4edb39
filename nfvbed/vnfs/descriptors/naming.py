"""What a descriptor names and the cloud must have: networks, flavors, images."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import Document, KeyPath
from nfvbed.spec.validate import suggestion

_NODES = ("topology_template", "node_templates")
_CAPABILITY = ("capabilities", "virtual_compute", "properties", "requested_additional_capabilities", "properties")
_NAMES: dict[str, tuple[tuple[str, KeyPath], ...]] = {
    "tosca.nodes.nfv.VL": (("network", ("properties", "network_name")),),
    "tosca.nodes.nfv.VDU.Tacker": (("image", ("properties", "image")), ("flavor", ("properties", "flavor"))),
    "tosca.nodes.nfv.Vdu.Compute": (
        ("image", ("properties", "sw_image_data", "name")),
        ("flavor", (*_CAPABILITY, "requested_additional_capability_name")),
    ),
}
"""By type of node: what is named, and where."""


@dataclass(frozen=True)
class CloudNames:
    """What a cloud has, by name; an id is a name too."""

    networks: Sequence[str]
    flavors: Sequence[str]
    images: Sequence[str]

    def of(self, kind: str) -> Sequence[str]:
        """Return the names of `network`, `flavor` or `image`."""
        return {"network": self.networks, "flavor": self.flavors, "image": self.images}[kind]


def require_names(document: Document, known: CloudNames) -> None:
    """Refuse a descriptor that names what the cloud does not have.

    Args:
        document: a legacy descriptor, or the definitions of a package's flavour.
        known: of the cloud. An image that is in the package itself is not looked for.

    Raises:
        ConfigurationError: with file, line, and the nearest name.
    """
    for kind, key, name in named(document):
        if name not in known.of(kind):
            raise ConfigurationError(
                f"unknown {kind}: {name!r} in {document.path.name}",
                where=document.where(key),
                observed=f"the cloud has no {kind} of this name",
                fix=suggestion(name, list(known.of(kind))),
            )


def named(document: Document) -> Iterator[tuple[str, KeyPath, str]]:
    """Yield kind, place and name of all that a descriptor names; an input's default stands for it."""
    nodes = (document.data.get("topology_template") or {}).get("node_templates") or {}
    for node_name, node in nodes.items():
        for kind, path in _NAMES.get(node.get("type", ""), ()):
            key = (*_NODES, node_name, *path)
            value = _reached(document, key)
            if isinstance(value, dict) and "get_input" in value:
                key = ("topology_template", "inputs", value["get_input"], "default")
                value = _reached(document, key)
            if kind == "image" and node.get("artifacts"):
                continue
            if kind == "network" and "cidr" in node["properties"]:
                continue  # made with the VNF, under this name
            if isinstance(value, str):
                yield kind, key, value


def _reached(document: Document, key: KeyPath) -> object:
    found: object = document.data
    for part in key:
        if not isinstance(found, dict) or part not in found:
            return None
        found = found[part]
    return found
