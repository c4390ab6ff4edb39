"""A YAML file as data with the place of every key, so that an error can say where it is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from nfvbed.errors import ConfigurationError
from nfvbed.spec.boundedyaml import BoundedLoader, BoundsExceeded, explained
from nfvbed.spec.textfile import read_text

KeyPath = tuple[str | int, ...]

PLAIN_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


_FORM = "fix that line; indentation is spaces, lists are `- item` or `[a, b]`"
_BOUNDS = "write it smaller and flatter, and in place of an alias what it stands for"
MOST_KEY_CHARACTERS = 1024
"""The longest key that YAML allows without `?`."""


@dataclass(frozen=True)
class Document:
    """The content of one file."""

    path: Path
    data: Any
    places: dict[KeyPath, tuple[int, int]]
    """(line, column), both from 1, of every key and list item."""
    overridden: frozenset[KeyPath] = frozenset()
    """Keys whose values are the command line's."""
    written: Mapping[KeyPath, str] = field(default_factory=dict)
    """What the file has where YAML 1.1 reads no text, as a number or a truth value, by key."""

    def where(self, key: Sequence[str | int] = ()) -> str:
        """Return the place of a key, or of the closest key above it: `file:line key.path`."""
        shown = dotted(key)
        path = tuple(key)
        if any(path[:length] in self.overridden for length in range(1, len(path) + 1)):
            return f"command line, {shown}"
        while path and path not in self.places:
            path = path[:-1]
        line, _ = self.places.get(path, (1, 1))
        return f"{self.path}:{line}" + (f" {shown}" if shown else "")


_MISREAD = re.compile(r"[-+]?(0[0-9_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")
"""Numbers that YAML 1.1 reads to base 8 or 60: 00101 is 65 there, and 52:54:00:12:34:56 is 41135085296."""


def is_misread(written: str) -> bool:
    """Return whether YAML 1.1 reads a number in another base than its writer meant."""
    return _MISREAD.fullmatch(written) is not None


def dotted(key: Sequence[str | int]) -> str:
    """Return a key path as people write it: `options.queues[0]`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def read_document(path: Path) -> Document:
    """Read one YAML file.

    Raises:
        ConfigurationError: unreadable, not UTF-8, malformed, a key given twice, an alias, or no mapping.
    """
    return parse_document(path, read_text(path))


def parse_document(path: Path, text: str) -> Document:
    """Parse the text of one YAML file.

    Raises:
        ConfigurationError: malformed, a key given twice, an alias, or no mapping; with line and column.
    """
    read = _KeyReadings({}, {})
    try:
        loader = _Loader(text, aliases=0)
        node = loader.get_single_node()
        data = _value(loader, node, (), read) if node is not None else None
    except yaml.YAMLError as error:
        raise _malformed(path, explained(text, error)) from error
    if not isinstance(data, dict):
        seen = "nothing" if data is None else f"a {_kind(data)}"
        raise ConfigurationError(
            f"{path.name} must hold keys and values", where=f"{path}:1", observed=seen, fix="write `key: value` lines"
        )
    return Document(path, data, read.places, written=read.written)


class _Loader(BoundedLoader):
    """Knows only what JSON has."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:timestamp",)]
    for first, resolvers in BoundedLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class _KeyReadings:
    """Notes on keys while their values are made."""

    places: dict[KeyPath, tuple[int, int]]
    written: dict[KeyPath, str]


def _value(loader: _Loader, node: yaml.Node, key: KeyPath, read: _KeyReadings) -> Any:
    if isinstance(node, yaml.CollectionNode) and node.tag not in PLAIN_COLLECTIONS:
        raise yaml.constructor.ConstructorError(None, None, f"{node.tag} is not allowed here", node.start_mark)
    if isinstance(node, yaml.MappingNode):
        return _mapping(loader, node, key, read)
    if isinstance(node, yaml.SequenceNode):
        items = []
        for index, item in enumerate(node.value):
            read.places[(*key, index)] = _place(item)
            items.append(_value(loader, item, (*key, index), read))
        return items
    value = loader.construct_object(node)
    if value is not None and not isinstance(value, str | int | float | bool):
        raise yaml.constructor.ConstructorError(None, None, f"{node.tag} is not allowed here", node.start_mark)
    if value is not None and not isinstance(value, str):
        read.written[key] = node.value
    return value


def _mapping(loader: _Loader, node: yaml.MappingNode, key: KeyPath, read: _KeyReadings) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key_node, value_node in node.value:
        name = loader.construct_object(key_node) if isinstance(key_node, yaml.ScalarNode) else None
        if not isinstance(name, str):
            # YAML 1.1 reads a bare `on` or `yes` as a truth value, also as a key.
            seen = key_node.value if isinstance(key_node, yaml.ScalarNode) else "a list or mapping"
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {seen!r} is not a text; put it in quotes", key_node.start_mark
            )
        if len(name) > MOST_KEY_CHARACTERS:
            raise yaml.constructor.ConstructorError(
                None, None, f"a key of {len(name)} characters; {MOST_KEY_CHARACTERS} are read", key_node.start_mark
            )
        if name in values:
            first = read.places[(*key, name)][0]
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {name!r} is given twice, first in line {first}", key_node.start_mark
            )
        read.places[(*key, name)] = _place(key_node)
        values[name] = _value(loader, value_node, (*key, name), read)
    return values


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _kind(value: Any) -> str:
    return "list" if isinstance(value, list) else "single value"


def _malformed(path: Path, error: yaml.YAMLError) -> ConfigurationError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    context = getattr(error, "context", None)
    return ConfigurationError(
        f"{path.name} is not valid YAML",
        where=place,
        observed=f"{problem} ({context})" if context else problem,
        fix=_BOUNDS if isinstance(error, BoundsExceeded) else _FORM,
    )
