"""What Tacker 8.0.0 makes of descriptors: HOT of heat-translator, and what Tacker changes after it.

nfvbed writes HOT itself; this is what its legacy form and its packages are held against.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nfvbed.errors import ConfigurationError, PrerequisiteError
from nfvbed.spec import boundedyaml
from nfvbed.spec.document import Document
from nfvbed.vnfs.descriptors import imports
from nfvbed.vnfs.descriptors.csar import Package
from nfvbed.vnfs.descriptors.imports import imported
from nfvbed.vnfs.descriptors.parsing import explained, parse_legacy, parser_errors, template_class, written
from nfvbed.vnfs.descriptors.yamltext import dump

_MAIN = "stack.yaml"
_PORT, _SERVER = "OS::Neutron::Port", "OS::Nova::Server"
_RENAMED = {"anti_spoofing_protection": "port_security_enabled", "type": "binding:vnic_type"}
_VNICS = {"sriov": "direct", "vnic": "normal"}
_UNKNOWN = "#ADD_YOUR_"
"""heat-translator's mark of what a SOL001 descriptor leaves to the request."""
_CAPACITY = "DESIRED_CAPACITY"
"""heat-translator's mark of what Tacker reckons from the instantiation level."""
_TRANSLATOR_ERRORS = (Exception,)
"""heat-translator raises `Exception` itself of a type or an attribute that it cannot translate."""
_INITIAL, _DELTAS = "tosca.policies.nfv.VduInitialDelta", "tosca.policies.nfv.VduScalingAspectDeltas"


@dataclass(frozen=True)
class Hot:
    """A stack's template."""

    template: str
    files: Mapping[str, str] = field(default_factory=dict)
    """Nested templates by the names by which the template has them."""


def legacy_hot(document: Document, parameters: Mapping[str, Any] | None = None) -> Hot:
    """Translate a legacy descriptor.

    Args:
        document: the descriptor.
        parameters: values of its inputs; None: their defaults.

    Raises:
        ConfigurationError: it is not valid; with the line.
        PrerequisiteError: heat-translator is not installed.
    """
    parsed = parse_legacy(document, parameters)
    return _translated(parsed, dict(parameters or {}), {"": document})


def package_hot(package: Package, flavour: str, given: Mapping[str, str]) -> Hot:
    """Translate the descriptor of a package as Tacker does that finds no base HOT in it.

    Args:
        package: read and checked.
        flavour: id of the deployment flavour.
        given: Neutron's network by connection point, Glance's image by VDU: what Tacker has of the request.

    Raises:
        ConfigurationError: it is not valid, or has no such flavour; with member and line.
        PrerequisiteError: heat-translator is not installed.
    """
    member, document = _flavour(package, flavour)
    topology = {key: value for key, value in document.data["topology_template"].items() if key != "inputs"}
    mapped = topology.pop("substitution_mappings")["node_type"]
    nodes = {name: node for name, node in topology["node_templates"].items() if node.get("type") != mapped}
    template, raised = template_class(), parser_errors()
    with written(package) as folder, explained(package.definitions, raised):
        here = (folder / member).parent
        data = {
            "tosca_definitions_version": document.data["tosca_definitions_version"],
            "description": document.data.get("description", ""),
            "imports": [str((here / _local(name)).resolve()) for _, name in imported(document)],
            "topology_template": topology | {"node_templates": nodes},
        }
        parsed = template(parsed_params={}, a_file=False, yaml_dict_tpl=data)
    return _translated(parsed, {}, package.definitions, _Given(given, capacities(topology.get("policies") or ())))


def _local(name: str) -> str:
    """Return an import's path: what is named by a URL lies beside the file that names it."""
    return posixpath.basename(name) if "://" in name else name


def capacities(policies: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many instances each scaling aspect has at the default instantiation level."""
    listed = [policy for entry in policies for policy in entry.values()]

    def of(kind: str) -> list[dict[str, Any]]:
        return [{**one["properties"], "targets": one.get("targets", [])} for one in listed if one["type"] == kind]

    found_levels = of("tosca.policies.nfv.InstantiationLevels")
    levels: dict[str, Any] = found_levels[0] if found_levels else {"levels": {}}
    default: dict[str, Any] = levels["levels"].get(levels.get("default_level", next(iter(levels["levels"]), "")), {})
    first = {vdu: one["initial_delta"]["number_of_instances"] for one in of(_INITIAL) for vdu in one["targets"]}
    found = {}
    for one in of(_DELTAS):
        step = next(iter(one["deltas"].values()))["number_of_instances"]
        level = default.get("scale_info", {}).get(one["aspect"], {}).get("scale_level", 0)
        found[one["aspect"]] = first.get(next(iter(one["targets"]), ""), 1) + step * level
    return found


@dataclass(frozen=True)
class _Given:
    """What the request to Tacker says, and the descriptor does not."""

    names: Mapping[str, str] = field(default_factory=dict)
    capacities: Mapping[str, int] = field(default_factory=dict)


def _flavour(package: Package, flavour: str) -> tuple[str, Document]:
    known = imports.flavours(package)
    if flavour not in known:
        raise ConfigurationError(
            f"{package.archive.path.name} has no flavour {flavour!r}",
            where=package.archive.where(package.entry),
            observed=f"it has {', '.join(known) or 'none'}",
            fix="choose one of these",
        )
    return known[flavour], package.definitions[known[flavour]]


def _translated(
    parsed: Any, parameters: dict[str, Any], documents: Mapping[str, Document], given: _Given | None = None
) -> Hot:
    try:
        from translator.hot.tosca_translator import TOSCATranslator
    except ImportError as failure:
        raise PrerequisiteError(
            "heat-translator is not installed", where="translator", observed=str(failure), fix="make setup"
        ) from failure
    with explained(documents, _TRANSLATOR_ERRORS):
        texts = TOSCATranslator(parsed, parameters).translate_to_yaml_files_dict(_MAIN)
    done = {name: _completed(text, given or _Given()) for name, text in texts.items()}
    return Hot(done.pop(_MAIN), done)


def _completed(text: str, given: _Given) -> str:
    """Change what Tacker changes: names of properties that Heat does not know, and what the request says."""
    # heat-translator writes what several resources share once, and aliases: their number is no sign of anything.
    document = boundedyaml.load(text, aliases=boundedyaml.MOST_NODES)
    for name, resource in (document.get("resources") or {}).items():
        properties = resource.get("properties") or {}
        if resource.get("type") == _PORT:
            resource["properties"] = properties = _port(properties)
        key = {_PORT: "network", _SERVER: "image"}.get(resource.get("type", ""), "")
        if key in properties and (properties[key] is None or str(properties[key]).startswith(_UNKNOWN)):
            # Read back, its mark is a comment: heat-translator writes no quotes.
            properties[key] = given.names.get(name)
        if properties.get("desired_capacity") == _CAPACITY:
            properties["desired_capacity"] = given.capacities.get(name, 1)
    document["heat_template_version"] = str(document["heat_template_version"])
    document["description"] = str(document.get("description", "")).strip()
    return dump(document)


def _port(properties: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in properties.items() if key != "management"}
    if kept.get("type") in _VNICS:
        kept["type"] = _VNICS[kept["type"]]
    return {_RENAMED.get(key, key): value for key, value in kept.items()}
