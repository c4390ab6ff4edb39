"""The parts of TOSCA definitions that nfvbed reads, and their types: checked once, for all who read them.

What a part holds is tosca-parser's to check; here is only whether it is keys and values, a list or a text. A part that
is there with nothing in it counts as left out, where it may be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import Document, KeyPath

NODES: KeyPath = ("topology_template", "node_templates")


@dataclass(frozen=True)
class _Part:
    """The type of a part of a document."""

    needed: bool = False
    """Whether it may not be left out, nor have nothing in it."""


@dataclass(frozen=True)
class _Text(_Part):
    """Text."""


@dataclass(frozen=True)
class _Keys(_Part):
    """Keys and values."""

    keys: Mapping[str, _Part] = field(default_factory=dict)
    """Those that are read by their names."""
    each: _Part | None = None
    """All others; None: whatever they are."""
    or_text: bool = False
    """Whether a text may stand for it."""


@dataclass(frozen=True)
class _Items(_Part):
    """A list."""

    each: _Part | None = None


_PLAIN = _Keys()
_NAMED = _Keys(each=_Keys())
_COMPUTE = _Keys(
    keys={
        "properties": _Keys(
            keys={
                "virtual_cpu": _PLAIN,
                "virtual_memory": _PLAIN,
                "compute_requirements": _PLAIN,
                "requested_additional_capabilities": _NAMED,
                "numa_nodes": _Keys(each=_Keys(keys={"vcpus": _Items()})),
                "cpu_allocation": _PLAIN,
            }
        )
    }
)
_PROPERTIES = _Keys(
    keys={
        "sw_image_data": _PLAIN,
        "virtual_network_interface_requirements": _Items(
            each=_Keys(needed=True, keys={"network_interface_requirements": _PLAIN})
        ),
    }
)
_NODE = _Keys(
    needed=True,
    keys={
        "type": _Text(needed=True),
        "properties": _PROPERTIES,
        "capabilities": _Keys(each=_COMPUTE),
        "requirements": _Items(each=_Keys(needed=True)),
        "artifacts": _Keys(each=_Keys(needed=True, or_text=True)),
    },
)
_POLICY = _Keys(needed=True, each=_Keys(needed=True, keys={"type": _Text(needed=True), "properties": _PLAIN}))
_TOPOLOGY = _Keys(
    keys={
        "inputs": _NAMED,
        "node_templates": _Keys(each=_NODE),
        "substitution_mappings": _Keys(keys={"node_type": _Text(), "properties": _PLAIN}),
        "policies": _Items(each=_POLICY),
        "groups": _NAMED,
    }
)
_DEFINITIONS = _Keys(
    keys={
        "tosca_definitions_version": _Text(),
        "metadata": _PLAIN,
        "imports": _Items(each=_Keys(needed=True, or_text=True)),
        "node_types": _Keys(each=_PLAIN),
        "topology_template": _TOPOLOGY,
    }
)
_TEMPLATE = replace(
    _DEFINITIONS,
    keys={
        **_DEFINITIONS.keys,
        "tosca_definitions_version": _Text(needed=True),
        "topology_template": replace(
            _TOPOLOGY, needed=True, keys={**_TOPOLOGY.keys, "node_templates": _Keys(needed=True, each=_NODE)}
        ),
    },
)


def definitions(document: Document) -> Document:
    """Return a package's definitions without empty parts; types alone are definitions too.

    Raises:
        ConfigurationError: a part is something else than TOSCA has there; with its line.
    """
    return replace(document, data=_checked(document, (), _DEFINITIONS, document.data))


def template(document: Document) -> Document:
    """Return a descriptor of one file without empty parts; it has nodes.

    Raises:
        ConfigurationError: as `definitions`; or a part is missing that it needs.
    """
    return replace(document, data=_checked(document, (), _TEMPLATE, document.data))


def nodes(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the node templates of a checked document, by name; types alone have none."""
    yield from ((document.data.get("topology_template") or {}).get("node_templates") or {}).items()


def reached(data: Any, key: KeyPath) -> Any:
    """Return the value at a place of a part; None: there is nothing, or another kind of part on the way."""
    for part in key:
        known = range(len(data)) if isinstance(data, list) else data if isinstance(data, dict) else ()
        if part not in known:
            return None
        data = data[part]
    return data


def bound(node: Mapping[str, Any], *names: str) -> str:
    """Return the node of a requirement with one of these names; empty: there is none."""
    for requirement in node.get("requirements") or ():
        for name in names:
            if name in requirement:
                target = requirement[name]
                found = target.get("node") if isinstance(target, dict) else target
                return found if isinstance(found, str) else ""
    return ""


def _checked(document: Document, key: KeyPath, part: _Part, value: Any) -> Any:
    if is_function(value) and "properties" in key[:-1]:
        return value  # what it stands for is said elsewhere
    match part:
        case _Text():
            if not isinstance(value, str):
                raise _other(document, key, value, ("a text", part))
        case _Items():
            if not isinstance(value, list):
                raise _other(document, key, value, ("a list", part))
            each = part.each
            return value if each is None else [_checked(document, (*key, n), each, v) for n, v in enumerate(value)]
        case _Keys():
            if isinstance(value, str) and part.or_text:
                return value
            if not isinstance(value, dict):
                raise _other(document, key, value, ("keys and values", part))
            return _of_keys(document, key, part, value)
    return value


def _of_keys(document: Document, key: KeyPath, part: _Keys, value: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, inner in value.items():
        known = part.keys.get(name, part.each)
        if inner is None and known is not None and not known.needed:
            continue
        found[name] = inner if known is None else _checked(document, (*key, name), known, inner)
    for name, known in part.keys.items():
        if known.needed and name not in found:
            raise ConfigurationError(
                f"{_named(document, key)} has no {name}",
                where=document.where(key),
                observed=f"it has {', '.join(found)}" if found else "it is empty",
                fix=f"write {name}, with what belongs into it",
            )
    if part.needed and part.each is not None and not part.keys and not found:
        raise _other(document, key, value, ("keys and values", part))
    return found


def is_function(value: Any) -> bool:
    """Return whether a value is a TOSCA function, as `{get_input: NAME}`, and not the value that it stands for."""
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("get_")


def _other(document: Document, key: KeyPath, value: Any, of: tuple[str, _Part]) -> ConfigurationError:
    wanted, part = of
    optional = "" if part.needed else ", or take the key out"
    return ConfigurationError(
        f"{_named(document, key)} is not {wanted}",
        where=document.where(key),
        observed=_seen(value),
        fix=f"write {wanted} there{optional}; indentation decides what belongs to what",
    )


def _named(document: Document, key: KeyPath) -> str:
    """Return the last two keys of a part, as its name for a reader."""
    last = [str(one) if isinstance(one, str) else f"entry {one + 1}" for one in key[-2:]]
    if not last:
        return document.path.name
    return f"{last[-1]} of {last[0]}" if len(last) > 1 else f"{last[0]} of {document.path.name}"


def _seen(value: Any) -> str:
    if value is None or value in ({}, []):
        return "there is nothing in it"
    if isinstance(value, dict | list):
        return "keys and values" if isinstance(value, dict) else "a list"
    return repr(value)[:80]
