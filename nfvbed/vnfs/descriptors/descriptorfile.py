"""Foreign descriptors: checked, and completed with inputs, names and networks from the command."""

import uuid
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nfvbed.cloud.tacker.api import OnboardRequest
from nfvbed.errors import ConfigurationError, UsageError
from nfvbed.spec.document import Document, KeyPath, parse_document
from nfvbed.spec.textfile import require_file
from nfvbed.spec.validate import suggestion
from nfvbed.vnfs.descriptors import csar, foreign, imports, legacy, naming, parsing, reading, shape
from nfvbed.vnfs.descriptors.archive import MOST_BYTES
from nfvbed.vnfs.descriptors.csar import Package
from nfvbed.vnfs.descriptors.epa import Mismatch
from nfvbed.vnfs.descriptors.imports import Definitions, Folder
from nfvbed.vnfs.descriptors.manifest import BASE_HOT
from nfvbed.vnfs.descriptors.model import Flavour
from nfvbed.vnfs.descriptors.naming import CloudNames, NamedResource
from nfvbed.vnfs.descriptors.onboardable import Form, OnboardableVnf
from nfvbed.vnfs.descriptors.seedword import with_seed
from nfvbed.vnfs.descriptors.signature import TrustedCertificates

_INPUTS = ("topology_template", "inputs")
_BY_SCRIPT = "lcm-operation-user-data"
"""Parameter of a request by which Tacker reads a package's own HOT."""
_RENAMED = "--name OLD=NEW says what this cloud calls it"
_MACHINE = ("VDU", "Vdu.")
"""What names of the types of virtual machines have in them."""


def form_of(path: Path) -> Form:
    """Return the form of a file; only as much as that takes is read.

    Raises:
        ConfigurationError: it cannot be read, or is none of these; with what it is, and the line.
    """
    require_file(path)
    if zipfile.is_zipfile(path):
        return Form.PACKAGE
    document = parse_document(path, foreign.read_text(path))
    if foreign.is_own(document):
        return Form.OWN
    foreign.require_tosca(document)
    of_a_package = document.data[foreign.VERSION] != legacy.VERSION and document.data.get("imports")
    return Form.DEFINITIONS if of_a_package else Form.TEMPLATE


@dataclass(frozen=True)
class DescriptorFile:
    """A file with a descriptor, and the values to be filled in."""

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
    trust: TrustedCertificates = field(default_factory=TrustedCertificates)
    """Package: the certificates of whom its signer may be."""

    @property
    def form(self) -> Form:
        """What it is written in."""
        return form_of(self.path)


@dataclass(frozen=True, kw_only=True)
class ParsedDescriptor(OnboardableVnf):
    """A valid descriptor, with the values that were given for it."""

    given: DescriptorFile
    document: Document
    """What has its virtual machines: the template, or the definitions of the flavour."""
    flavour: str = ""
    """Deployment flavour that is meant; empty: it has none."""
    package: Package | None = None

    @property
    def own_hot(self) -> bool:
        """Whether it is a package with a HOT, and the request is one by which Tacker reads that."""
        members = self.package.archive.sizes if self.package else ()
        return _BY_SCRIPT in self.given.parameters and any(name.startswith(BASE_HOT) for name in members)

    def deployed(self) -> Flavour:
        """Return its deployment flavour, with the lines of its machines' demands."""
        return reading.flavour_of(self.document, self.flavour)

    def names(self) -> Sequence[NamedResource]:
        """Return the names in it, with their lines."""
        return naming.names_of(self.document)

    def lacking(self, known: CloudNames) -> list[Mismatch]:
        """Return the names that the cloud does not have; those of a template can be replaced by the cloud's."""
        return naming.lacking_of(self.document, known, _RENAMED if self.form is Form.TEMPLATE else "")

    def request(self, owner: str, seed: str) -> OnboardRequest:
        """Return the request with the file's own content, completed by what was given for it."""
        given = self.given
        if self.package is None:
            return OnboardRequest(self.name, owner, with_seed(self.document.data, seed))
        content, networks = package(self.package, owner), tuple(given.networks.items())
        return OnboardRequest(self.name, owner, content, networks, self.flavour, given.level, given.parameters)


def read(given: DescriptorFile) -> ParsedDescriptor:
    """Read a descriptor with all checks that need no cloud.

    Raises:
        ConfigurationError: it is no descriptor, or not valid; with the line.
        UsageError: what was given is not asked for.
        PrerequisiteError: tosca-parser, or ETSI's type files, are missing.
    """
    form = given.form
    if form is Form.TEMPLATE:
        return ParsedDescriptor(
            name=given.name, form=form, source=str(given.path), given=given, document=template(given)
        )
    if form is Form.OWN:
        raise ConfigurationError(
            f"{given.path.name} is nfvbed's own file of a VNF",
            where=f"{given.path}:1",
            observed="Tacker takes what nfvbed makes of it",
            fix="put it into vnfd/NAME/vnf.yml, and name it: nfvbed onboard NAME",
        )
    found = (
        csar.read(given.path, given.trust)
        if form is Form.PACKAGE
        else imports.read(Folder(given.path), given.path.name)
    )
    flavour = _flavour(given, found)
    document = found.definitions[imports.flavours(found).get(flavour, found.entry)]
    require_machines(document, *found.definitions.values())
    return ParsedDescriptor(
        name=given.name,
        form=form,
        source=str(given.path),
        notes=(*found.notes, *_signed_notes(given, found)),
        given=given,
        document=document,
        flavour=flavour,
        package=found if isinstance(found, Package) else None,
    )


def signed_line(package_: Package) -> str:
    """Return a clause that says who signed a package, and whether that was asked."""
    signer = package_.signer
    if signer is None:
        return "not signed"
    known = "who is trusted" if signer.is_trusted else "not checked: --trusted FILE says who may sign"
    return f"signed by {signer.subject} (SHA-256 {signer.fingerprint[:16]}), {known}"


def _signed_notes(given: DescriptorFile, found: Definitions) -> tuple[str, ...]:
    if not isinstance(found, Package) or found.signer is None:
        return ()
    return (f"{given.path}: {signed_line(found)}",)


@dataclass(frozen=True)
class VnfcInstance:
    """An instance of a VNF from a descriptor."""

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
class DescriptorVnf:
    """An onboarded VNF from a descriptor."""

    name: str
    api: str
    """`legacy` or `sol`."""
    instances: tuple[VnfcInstance, ...]
    steps: tuple[tuple[str, int], ...]
    """What was done for it, with nanoseconds, in order; the one step `found`: it was onboarded already."""
    said: tuple[str, ...] = ()
    """Lines of its consoles by which it is ready; empty: it is onboarded when its instances are ACTIVE."""


def template(given: DescriptorFile) -> Document:
    """Return a legacy template without open inputs, with the cloud's names in it; places are the file's.

    Raises:
        ConfigurationError: it is not valid, or an input has no value; with the line.
        UsageError: what was given is not asked for.
    """
    _refuse(
        given, "a template", networks="--name NETWORK=NAME says what the cloud calls a network", flavour="", level=""
    )
    document = shape.template(foreign.read(given.path))
    inputs = document.data["topology_template"].get("inputs") or {}
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
    # What came in the place of an input may be something else than the part is: it is looked at as what is written is.
    completed = shape.template(replace(document, data=filled))
    parsing.parse_legacy(completed)
    require_machines(completed)
    return _renamed(completed, given.names)


def inputs_without_value(document: Document) -> tuple[str, ...]:
    """Return the inputs of a template without default, which all need a value at onboarding."""
    inputs = document.data["topology_template"].get("inputs") or {}
    return tuple(name for name, schema in inputs.items() if "default" not in (schema or {}))


def require_machines(document: Document, *types: Document) -> None:
    """Refuse a descriptor without a virtual machine.

    Args:
        types: other documents that may have types of nodes.

    Raises:
        ConfigurationError: it has none.
    """
    derived = {
        name: str(kind.get("derived_from", ""))
        for one in (document, *types)
        for name, kind in (one.data.get("node_types") or {}).items()
    }
    kinds = [node["type"] for _, node in shape.nodes(document)]
    if any(word in f"{kind} {derived.get(kind, '')}" for kind in kinds for word in _MACHINE):
        return
    raise ConfigurationError(
        f"{document.path.name} has no virtual machine (VDU)",
        where=document.where(shape.NODES),
        observed=", ".join(dict.fromkeys(kinds)) or "there are no node templates",
        fix="give the descriptor of a VNF: nfvbed onboards no network service (NSD)",
    )


def package(found: Package, owner: str) -> bytes:
    """Return a package as it is uploaded.

    Tacker 8.0.0 takes a descriptor's id once, even if it was deleted, so each owner gets a new id. A package that has
    digests of its definitions is uploaded as it is.
    """
    ids = {old: str(uuid.uuid5(uuid.uuid5(uuid.NAMESPACE_OID, owner), old)) for old in _ids(found)}
    archive = found.archive
    touched = {}
    for member in found.definitions:
        text = before = archive.text(member)
        for old, new in ids.items():
            text = text.replace(old, new)
        if text != before:
            touched[member] = text.encode()
    if not touched or touched.keys() & set(found.hashed):
        return archive.path.read_bytes()
    return csar.write({member: touched.get(member) or archive.content(member, MOST_BYTES) for member in archive.sizes})


def _flavour(given: DescriptorFile, found: Definitions) -> str:
    """Check a package, or definitions, with the given values; return the deployment flavour that is meant.

    Raises:
        ConfigurationError: it is not valid; with member and line.
        UsageError: what was given is not asked for.
    """
    what = "a package" if isinstance(found, Package) else "a SOL001 descriptor"
    _refuse(given, what, names="--network CP=NAME says which network a connection point is on")
    parsing.parse_package(found)
    where = found.definitions[found.entry].where()
    points = list(_points(found))
    for name in given.networks:
        if name not in points:
            raise UsageError(
                f"{given.path.name} has no connection point {name!r}",
                where=where,
                observed=", ".join(points) or "it has none",
                fix=suggestion(name, points),
            )
    known = list(imports.flavours(found))
    if not known and not given.flavour and what != "a package":
        return ""  # the definitions of one flavour, to which a package gives an id
    flavour = given.flavour or (known[0] if len(known) == 1 else "")
    if flavour not in known:
        several = "several flavours" if known else "no deployment flavour (flavour_id)"
        raise UsageError(
            f"{given.path.name} has no flavour {flavour!r}" if flavour else f"{given.path.name} has {several}",
            where=where,
            observed=", ".join(known) or "it has none",
            fix="--deployment-flavour NAME" if known else "substitution_mappings with a flavour_id, in its definitions",
        )
    return flavour


def _refuse(given: DescriptorFile, what: str, **fixes: str) -> None:
    for option, fix in fixes.items():
        if getattr(given, option):
            left = "--deployment-flavour" if option == "flavour" else f"--{option}"
            raise UsageError(f"{given.path.name} is {what}, which has no {option}", fix=fix or f"leave {left} out")


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
    """Return a part of a template with values in place of `get_input`."""
    if isinstance(part, dict):
        wanted = part.get("get_input") if len(part) == 1 else None
        if isinstance(wanted, str) and wanted in values:
            return values[wanted]
        return {key: _filled(value, values) for key, value in part.items()}
    return [_filled(one, values) for one in part] if isinstance(part, list) else part


def _renamed(document: Document, names: Mapping[str, str]) -> Document:
    """Replace names by the cloud's; the document's data is a copy already."""
    named = list(naming.named(document))
    there = sorted({name for _, _, name in named})
    for name in names:
        if name not in there:
            raise UsageError(
                f"{document.path.name} names nothing of the cloud's {name!r}",
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


def _points(found: Definitions) -> Iterator[str]:
    for document in found.definitions.values():
        yield from (name for name, node in shape.nodes(document) if node["type"].endswith("VduCp"))


def _ids(package_: Package) -> set[str]:
    nodes = [node for document in package_.definitions.values() for _, node in shape.nodes(document)]
    found = ((node.get("properties") or {}).get("descriptor_id") for node in nodes)
    return {one for one in found if isinstance(one, str)}
