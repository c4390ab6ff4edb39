"""Descriptors of someone else's: checked, and completed by what a command gives them: inputs, names, networks."""

import hashlib
import uuid
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nfvbed.errors import ConfigurationError, UsageError
from nfvbed.spec.document import Document, KeyPath, read_document
from nfvbed.spec.machines import ConsoleSpec
from nfvbed.spec.validate import suggestion
from nfvbed.vnfs.descriptors import csar, naming, parsing, translate
from nfvbed.vnfs.descriptors.archive import MOST_BYTES, Archive
from nfvbed.vnfs.descriptors.csar import Package
from nfvbed.vnfs.descriptors.manifest import BASE_HOT, MANIFEST

if TYPE_CHECKING:  # The sites' interface imports this, and needs nothing of a host.
    from nfvbed.host.qemu.images import Image

_INPUTS = ("topology_template", "inputs")


@dataclass(frozen=True)
class GivenImage:
    """An image that the cloud is to have for such a VNF."""

    vnf: str
    """Name of the VNF that it is of."""
    file: "Image"
    inputs: tuple[str, ...]
    """Inputs of the template that take its name."""


@dataclass(frozen=True)
class GivenDescriptor:
    """A file with a descriptor, and what is to be filled in."""

    path: Path
    name: str
    """What the VNF is called by nfvbed."""
    networks: Mapping[str, str] = field(default_factory=dict)
    """Package: the cloud's networks by connection point."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Legacy template: values of inputs. Package: additionalParams of the request."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Legacy template: what the cloud calls a network, flavor or image, by the template's name of it."""
    flavour: str = ""
    """Package: the deployment flavour; empty: its only one."""
    level: str = ""
    """Package: the instantiation level; empty: the descriptor's default."""
    image: GivenImage | None = None
    """What is put into Glance before; None: the cloud has what the descriptor names."""
    console: ConsoleSpec | None = None
    """What its consoles say when it is ready; None: it is when its instances are ACTIVE."""
    made: bool = False
    """Package: whether nfvbed has made it for this request; then its digests are no reason to leave it as it is."""

    @property
    def is_package(self) -> bool:
        """Whether it is a package (CSAR), and no template."""
        return zipfile.is_zipfile(self.path)


@dataclass(frozen=True)
class GivenInstance:
    """An instance of such a VNF."""

    id: str
    """Nova's."""
    name: str
    host: str
    """Nova's name of its compute."""
    ports: tuple[tuple[str, str], ...]
    """Networks and addresses."""
    printed: str
    """The last line that its console had; empty: none: whether it has booted is not known then."""


@dataclass(frozen=True)
class GivenVnf:
    """Such a VNF, onboarded."""

    name: str
    api: str
    """`legacy` or `sol`."""
    instances: tuple[GivenInstance, ...]
    steps: tuple[tuple[str, int], ...]
    """What was done for it, with nanoseconds, in order; the one step `found`: it was onboarded already."""
    said: tuple[str, ...] = ()
    """Lines of its consoles by which it is ready; empty: it is onboarded when its instances are ACTIVE."""


def template(given: GivenDescriptor) -> Document:
    """Return a legacy template that needs no more inputs, with the cloud's names in it; places are the file's.

    Raises:
        ConfigurationError: it is not valid, or an input has no value; with the line.
        UsageError: what was given is not asked for.
    """
    _refuse(
        given, "a template", networks="--name NETWORK=NAME says what the cloud calls a network", flavour="", level=""
    )
    document = read_document(given.path)
    topology = document.data.get("topology_template") or {}
    inputs = topology.get("inputs") or {}
    for name in given.parameters:
        if name not in inputs:
            raise UsageError(
                f"{given.path.name} has no input {name!r}",
                where=document.where(_INPUTS),
                observed=", ".join(inputs) or "it has none",
                fix=suggestion(name, list(inputs)),
            )
    values = {name: _value(document, name, schema or {}, given.parameters) for name, schema in inputs.items()}
    filled = _filled(document.data, values)
    filled["topology_template"].pop("inputs", None)
    completed = _renamed(replace(document, data=filled), given.names)
    parsing.parse_legacy(completed)
    return completed


def package(given: GivenDescriptor, owner: str, words: Mapping[str, str] | None = None) -> tuple[bytes, str]:
    """Return a package as it is uploaded, and the deployment flavour that is meant.

    Tacker 8.0.0 takes a descriptor's id once, also when it was deleted: the id is another one for each owner. A package
    of someone's that has digests of its definitions is uploaded as it is; one that nfvbed has made gets new ones.

    Args:
        given: the file, and what was given.
        owner: whose it will be.
        words: of a package that nfvbed has made: what comes in the place of which words, as the deployment's secret.

    Raises:
        ConfigurationError: it is not a package, or not valid; with member and line.
        UsageError: what was given is not asked for.
    """
    _refuse(given, "a package", names="--network CP=NAME says which network a connection point is on")
    found = csar.read(given.path)
    parsing.parse_package(found)
    points = list(_points(found))
    for name in given.networks:
        if name not in points:
            raise UsageError(
                f"{given.path.name} has no connection point {name!r}",
                where=found.archive.where(found.entry),
                observed=", ".join(points) or "it has none",
                fix=suggestion(name, points),
            )
    known = list(translate.flavours(found))
    flavour = given.flavour or (known[0] if len(known) == 1 else "")
    if flavour not in known:
        raise UsageError(
            f"{given.path.name} has no flavour {flavour!r}" if flavour else f"{given.path.name} has several flavours",
            where=found.archive.where(found.entry),
            observed=", ".join(known) or "it has none",
            fix="--flavour NAME",
        )
    return (_made_for(found, owner, words or {}) if given.made else _with_own_id(found, owner)), flavour


def _refuse(given: GivenDescriptor, what: str, **fixes: str) -> None:
    for option, fix in fixes.items():
        if getattr(given, option):
            raise UsageError(f"{given.path.name} is {what}, which has no {option}", fix=fix or f"leave --{option} out")


def _value(document: Document, name: str, schema: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    if name in given:
        return given[name]
    if "default" not in schema:
        raise ConfigurationError(
            f"input {name!r} of {document.path.name} has no value",
            where=document.where((*_INPUTS, name)),
            observed=f"it has no default: {schema.get('description', 'there is no description of it')}",
            fix=f"--param {name}=VALUE",
        )
    return schema["default"]


def _filled(part: Any, values: Mapping[str, Any]) -> Any:
    """Return a part of a template with values in the place of `get_input`."""
    if isinstance(part, dict):
        wanted = part.get("get_input") if len(part) == 1 else None
        if isinstance(wanted, str) and wanted in values:
            return values[wanted]
        return {key: _filled(value, values) for key, value in part.items()}
    return [_filled(one, values) for one in part] if isinstance(part, list) else part


def _renamed(document: Document, names: Mapping[str, str]) -> Document:
    """Put the cloud's names in; the document's data is a copy already."""
    named = list(naming.named(document))
    there = sorted({name for _, _, name in named})
    for name in names:
        if name not in there:
            raise UsageError(
                f"{document.path.name} names no network, flavor or image {name!r}",
                where=str(document.path),
                observed=", ".join(there) or "it names none",
                fix=suggestion(name, there),
            )
    for _, key, name in named:
        _set(document.data, key, names.get(name, name))
    return document


def _set(data: Any, key: KeyPath, value: str) -> None:
    *outer, last = key
    for part in outer:
        data = data[part]
    data[last] = value


def _points(package_: Package) -> Iterator[str]:
    for document in package_.definitions.values():
        nodes = (document.data.get("topology_template") or {}).get("node_templates") or {}
        yield from (name for name, node in nodes.items() if str(node.get("type", "")).endswith("VduCp"))


def _ids(package_: Package) -> set[str]:
    nodes = [
        node
        for document in package_.definitions.values()
        for node in ((document.data.get("topology_template") or {}).get("node_templates") or {}).values()
    ]
    found = ((node.get("properties") or {}).get("descriptor_id") for node in nodes)
    return {one for one in found if isinstance(one, str)}


def _own_ids(package_: Package, owner: str) -> dict[str, str]:
    """Return the ids that an owner's package has, by those that the package has."""
    return {old: str(uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_OID, owner), old)) for old in _ids(package_)}


def _with_own_id(package_: Package, owner: str) -> bytes:
    archive = package_.archive
    touched = _changed(archive, package_.definitions, _own_ids(package_, owner))
    if not touched or touched.keys() & set(package_.hashed):
        return archive.path.read_bytes()
    return _written(archive, touched)


def _made_for(package_: Package, owner: str, words: Mapping[str, str]) -> bytes:
    """Return a package of nfvbed's own with an owner's id and words, and with the digests of what is so changed."""
    archive = package_.archive
    stacks = [member for member in archive.sizes if member.startswith(BASE_HOT)]
    touched = _changed(archive, (*package_.definitions, *stacks), {**_own_ids(package_, owner), **words})
    digests = {archive.digest(member, "sha256"): hashlib.sha256(text).hexdigest() for member, text in touched.items()}
    manifests = [member for member in archive.sizes if member.endswith(MANIFEST)]
    return _written(archive, touched | _changed(archive, manifests, digests))


def _changed(archive: Archive, members: Iterable[str], words: Mapping[str, str]) -> dict[str, bytes]:
    """Return those members that have one of these words, with what comes in its place."""
    touched = {}
    for member in members:
        text = before = archive.text(member)
        for old, new in words.items():
            text = text.replace(old, new)
        if text != before:
            touched[member] = text.encode()
    return touched


def _written(archive: Archive, touched: Mapping[str, bytes]) -> bytes:
    return csar.write({member: touched.get(member) or archive.content(member, MOST_BYTES) for member in archive.sizes})
