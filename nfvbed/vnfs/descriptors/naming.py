"""The names in a descriptor that the cloud must have: networks, flavors, images, keys, zones, addresses of networks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network

from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import Document, KeyPath
from nfvbed.spec.validate import suggestion
from nfvbed.vnfs.descriptors import shape
from nfvbed.vnfs.descriptors.epa import Mismatch

_CAPABILITY = ("capabilities", "virtual_compute", "properties", "requested_additional_capabilities", "properties")
_NAMES: dict[str, tuple[tuple[str, KeyPath], ...]] = {
    "tosca.nodes.nfv.VL": (("network", ("properties", "network_name")),),
    "tosca.nodes.nfv.VDU.Tacker": (
        ("image", ("properties", "image")),
        ("flavor", ("properties", "flavor")),
        ("key", ("properties", "key_name")),
        ("zone", ("properties", "availability_zone")),
    ),
    "tosca.nodes.nfv.Vdu.Compute": (
        ("image", ("properties", "sw_image_data", "name")),
        ("flavor", (*_CAPABILITY, "requested_additional_capability_name")),
    ),
    "tosca.nodes.network.FloatingIP": (("floating network", ("properties", "floating_network")),),
}
"""By type of node: what is named, and where."""
_TITLES = {"key": "key pair", "zone": "availability zone"}
ADDRESS = "address"
"""Kind of a fixed address of a connection point, on a network of the cloud."""
_POINT, _ADDRESS = "tosca.nodes.nfv.CP.Tacker", ("properties", "ip_address")


@dataclass(frozen=True)
class CloudNames:
    """The things of a cloud by name; an id counts as a name."""

    networks: Sequence[str]
    flavors: Sequence[str]
    images: Sequence[str]
    keys: Sequence[str] | None = None
    """Key pairs of the user who asks; None: they were not asked for."""
    zones: Sequence[str] | None = None
    """Availability zones for instances; None: they were not asked for."""
    floating: Sequence[str] | None = None
    """Networks that floating addresses are of; None: they were not asked for."""
    subnets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Subnets (CIDR) by network; those of a network that is not in it are not known."""

    def of(self, kind: str) -> Sequence[str] | None:
        """Return the names of one kind of thing; None: they are not known."""
        found: dict[str, Sequence[str] | None] = {
            "network": self.networks,
            "flavor": self.flavors,
            "image": self.images,
            "key": self.keys,
            "zone": self.zones,
            "floating network": self.floating,
        }
        return found.get(kind)


@dataclass(frozen=True)
class NamedResource:
    """A thing of the cloud that a descriptor names."""

    kind: str
    """`network`, `flavor`, `image`, `key`, `zone`, `floating network`, or `address`."""
    name: str
    where: str
    """Place in the file."""


def names_of(document: Document, machine: str | None = None) -> list[NamedResource]:
    """Return the names in a descriptor; machine: the only node that is examined."""
    found = [NamedResource(kind, name, document.where(key)) for kind, key, name in named(document, machine)]
    if machine:
        return found
    return found + [NamedResource(ADDRESS, one, document.where(key)) for key, one in _fixed(document)]


def _fixed(document: Document) -> Iterator[tuple[KeyPath, str]]:
    """Yield place and text of fixed addresses on networks of the cloud."""
    links = {key[2] for kind, key, _ in named(document) if kind == "network"}
    for name, node in shape.nodes(document):
        key = (*shape.NODES, name, *_ADDRESS)
        found = shape.reached(document.data, key)
        if shape.bound(node, "virtualLink") in links and found:
            yield key, str(found)


def lacking(names: Iterable[NamedResource], known: CloudNames, fix: str = "") -> list[Mismatch]:
    """Return the names that the cloud does not have, each with its place.

    Args:
        known: names in the cloud. An image in the package itself is not looked for.
        fix: other advice than the nearest name.
    """
    found = []
    for one in names:
        has = known.of(one.kind)
        # An administrator's zone may name the compute too.
        wanted = one.name.partition(":")[0] if one.kind == "zone" else one.name
        if has is not None and wanted not in has:
            title = _TITLES.get(one.kind, one.kind)
            said = f"unknown {title}: {one.name!r}; the cloud has no {title} of this name"
            advice = "; ".join(filter(None, (suggestion(wanted, list(has)), fix)))
            found.append(Mismatch(one.kind, said, advice, one.where))
    return found


def lacking_of(document: Document, known: CloudNames, fix: str = "") -> list[Mismatch]:
    """Return the names in a descriptor that the cloud does not have, with fixed addresses, each with its line.

    Args:
        document: a legacy descriptor, or the definitions of a package's flavour.
        fix: as for `lacking`.
    """
    return lacking(names_of(document), known, fix) + list(_addresses(document, known))


def require_names(document: Document, known: CloudNames) -> None:
    """Refuse a descriptor with names that the cloud does not have.

    Raises:
        ConfigurationError: with file, line, and the nearest name.
    """
    for one in lacking_of(document, known):
        what, _, observed = one.found.partition("; ")
        raise ConfigurationError(f"{what} in {document.path.name}", where=one.where, observed=observed, fix=one.fix)


def named(document: Document, machine: str | None = None) -> Iterator[tuple[str, KeyPath, str]]:
    """Yield kind, place and name of all that a descriptor names; an input counts as its default.

    Args:
        machine: the only node that is examined; None: all are.
    """
    for node_name, node in shape.nodes(document):
        if machine not in (None, node_name):
            continue
        for kind, path in _NAMES.get(node["type"], ()):
            key = (*shape.NODES, node_name, *path)
            value = shape.reached(document.data, key)
            if shape.is_function(value) and isinstance(value, dict) and isinstance(value.get("get_input"), str):
                key = ("topology_template", "inputs", value["get_input"], "default")
                value = shape.reached(document.data, key)
            if kind == "image" and node.get("artifacts"):
                continue
            if kind == "network" and "cidr" in (node.get("properties") or {}):
                continue  # made with the VNF, under this name
            if isinstance(value, str) and value:
                yield kind, key, value


def _addresses(document: Document, known: CloudNames) -> Iterator[Mismatch]:
    """Yield fixed addresses that the networks of their connection points do not have."""
    networks = {key[2]: name for kind, key, name in named(document) if kind == "network"}
    for name, node in shape.nodes(document):
        key = (*shape.NODES, name, *_ADDRESS)
        wanted, network = shape.reached(document.data, key), networks.get(shape.bound(node, "virtualLink"), "")
        subnets = known.subnets.get(network, ())
        if node["type"] != _POINT or not subnets or not isinstance(wanted, str):
            continue
        try:
            inside = any(ip_address(wanted) in ip_network(one, strict=False) for one in subnets)
        except ValueError:
            yield Mismatch(
                "address", f"{wanted!r} is no IP address", f"one of {', '.join(subnets)}", document.where(key)
            )
            continue
        if not inside:
            said = f"{wanted} of {name} is in no subnet of network {network}, which has {', '.join(subnets)}"
            yield Mismatch("address", said, "an address of these, or none", document.where(key))
