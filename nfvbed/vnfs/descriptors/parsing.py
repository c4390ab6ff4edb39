"""tosca-parser, asked so that its errors name file and line."""

import logging
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nfvbed.errors import ConfigurationError, PrerequisiteError
from nfvbed.spec.document import Document, KeyPath
from nfvbed.vnfs.descriptors.csar import Package
from nfvbed.vnfs.descriptors.typefiles import LEGACY_TYPES

_QUOTED = re.compile(r"\"([^\"]+)\"|'([^']+)'")
_NODES = ("topology_template", "node_templates")
_FINDING = re.compile(r"^\s*\w*(?:Error|Exception)\w*: (.+)$|^\s*(?!File )(\S.*\.)$", re.MULTILINE)
_MOST_FINDINGS = 3
_LOGGERS = ("tosca", "tosca.model", "heat-translator")


def parse_legacy(document: Document, parameters: Mapping[str, Any] | None = None) -> Any:
    """Return a legacy descriptor as tosca-parser understands it.

    Raises:
        ConfigurationError: it does not understand it; with the line.
        PrerequisiteError: tosca-parser is not installed.
    """
    if document.data.get("imports"):
        raise ConfigurationError(
            "a descriptor of the legacy form imports nothing",
            where=document.where(("imports",)),
            observed=str(document.data["imports"])[:120],
            fix="take imports out: Tacker adds its types itself, and nothing is fetched",
        )
    data = {**document.data, "imports": [str(LEGACY_TYPES)]}
    with explained({"": document}):
        return template_class()(parsed_params=dict(parameters or {}), a_file=False, yaml_dict_tpl=_copied(data))


def parse_package(package: Package) -> Any:
    """Return a package's descriptor as tosca-parser understands it: the flavour's, where there is one.

    Only the definitions are written out, below a folder of this call's own, which is gone after it.

    Raises:
        ConfigurationError: it does not understand it; with member and line.
        PrerequisiteError: tosca-parser is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="nfvbed-csar-") as folder, explained(package.definitions):
        for member in package.definitions:
            path = Path(folder, member)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(package.archive.text(member))
        return template_class()(str(Path(folder, package.entry)))


def place_of(message: str, documents: Mapping[str, Document]) -> str:
    """Return the file and line that a message is about: where most of the words meet that it quotes."""
    words = {first or second for first, second in _QUOTED.findall(message)}
    words |= {word for text in words for word in re.findall(r"[\w.:-]+", text)}
    found = [one for document in documents.values() for one in _places(document, words)]
    return max(found, key=lambda one: one[0])[1] if found else next(iter(documents.values())).where()


def _places(document: Document, words: set[str]) -> Iterator[tuple[tuple[int, bool, int], str]]:
    """Yield keys that are a word, or whose value is, with how well they fit."""
    nodes = words.intersection((document.data.get("topology_template") or {}).get("node_templates") or ())
    for key in document.places:
        value = _value(document.data, key)
        is_value = isinstance(value, str) and value in words
        if is_value or key[-1] in words:
            # A node that is named is the one that it is about, whatever others have of the same kind.
            met = len(words.intersection(map(str, key))) + is_value + 2 * len(nodes.intersection(map(str, key)))
            yield (met, key[:2] == _NODES, len(key)), document.where(key)


def _value(data: Any, key: KeyPath) -> Any:
    for part in key:
        data = data[part]
    return data


@contextmanager
def explained(documents: Mapping[str, Document]) -> Iterator[None]:
    """Turn what tosca-parser and heat-translator raise into an error that names file and line."""
    try:
        yield
    except (ConfigurationError, PrerequisiteError):
        raise
    except Exception as failure:
        # tosca-parser raises exceptions of its own, and AttributeError or KeyError for what it does not expect.
        findings = _findings(failure)
        raise ConfigurationError(
            "the descriptor is not valid TOSCA",
            where=place_of(findings[0], documents),
            observed="; ".join(findings[:_MOST_FINDINGS]),
            fix="see docs/howto/descriptors.md; names of types and properties are case-sensitive",
        ) from failure


def _findings(failure: Exception) -> list[str]:
    text = str(failure)
    found = [first or second for first, second in _FINDING.findall(text)]
    found = [one.strip().strip("'") for one in found if "failed validation with the following" not in one]
    return list(dict.fromkeys(found)) or [f"{type(failure).__name__}: {text}".strip()]


def template_class() -> Any:
    """Return tosca-parser's class of templates; it is imported when it is asked for.

    Raises:
        PrerequisiteError: it is not installed.
    """
    try:
        from toscaparser.tosca_template import ToscaTemplate
    except ImportError as failure:
        raise PrerequisiteError(
            "tosca-parser is not installed", where="toscaparser", observed=str(failure), fix="make setup"
        ) from failure
    for name in _LOGGERS:
        # What they warn of on standard error is in the errors that they raise, or of no use: inputs without values.
        logging.getLogger(name).addHandler(logging.NullHandler())
    return ToscaTemplate


def _copied(data: Any) -> Any:
    """Return a copy of plain data: tosca-parser writes into what it is given."""
    if isinstance(data, dict):
        return {key: _copied(value) for key, value in data.items()}
    return [_copied(value) for value in data] if isinstance(data, list) else data
