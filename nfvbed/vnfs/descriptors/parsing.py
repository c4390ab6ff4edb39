"""tosca-parser, wrapped so that its errors name file and line."""

import logging
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nfvbed.errors import ConfigurationError, PrerequisiteError
from nfvbed.spec.below import below
from nfvbed.spec.document import Document
from nfvbed.vnfs.descriptors import shape
from nfvbed.vnfs.descriptors.imports import Definitions
from nfvbed.vnfs.descriptors.typefiles import LEGACY_TYPES
from nfvbed.vnfs.descriptors.yamltext import copied

_QUOTED = re.compile(r"\"([^\"]+)\"|'([^']+)'")
_NODES = ("topology_template", "node_templates")
_FINDING = re.compile(r"^\s*\w*(?:Error|Exception)\w*: (.+)$|^\s*(?!File )(\S.*\.)$", re.MULTILINE)
_MOST_FINDINGS = 3
_LOGGERS = ("tosca", "tosca.model", "heat-translator")


def parse_legacy(document: Document, parameters: Mapping[str, Any] | None = None) -> Any:
    """Return a legacy descriptor, parsed by tosca-parser.

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
    template = template_class()
    with explained({"": document}, parser_errors()):
        return template(
            parsed_params=dict(parameters or {}),
            a_file=False,
            yaml_dict_tpl=copied(data),  # it writes into what it is given
        )


def parse_package(package: Definitions) -> Any:
    """Return the descriptor in definitions, parsed by tosca-parser: the flavour's, where there is one.

    Only the definitions are written to files.

    Raises:
        ConfigurationError: it does not understand it; with member and line.
        PrerequisiteError: tosca-parser is not installed.
    """
    template, raised = template_class(), parser_errors()
    with written(package) as folder, explained(package.definitions, raised):
        return template(str(folder / package.entry))


@contextmanager
def written(package: Definitions) -> Iterator[Path]:
    """Write definitions as files below a folder of this call, which is removed after it."""
    with tempfile.TemporaryDirectory(prefix="nfvbed-csar-") as name:
        folder = Path(name)
        for member, text in package.texts.items():
            path = below(folder, member, nested=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        yield folder


def place_of(message: str, documents: Mapping[str, Document]) -> str:
    """Return the file and line of a message: where most of the words meet that it quotes."""
    words = {first or second for first, second in _QUOTED.findall(message)}
    words |= {word for text in words for word in re.findall(r"[\w.:-]+", text)}
    found = [one for document in documents.values() for one in _places(document, words)]
    return max(found, key=lambda one: one[0])[1] if found else next(iter(documents.values())).where()


def _places(document: Document, words: set[str]) -> Iterator[tuple[tuple[int, bool, int], str]]:
    """Yield keys that equal a word, or whose value does, with the quality of the match."""
    nodes = words.intersection((document.data.get("topology_template") or {}).get("node_templates") or ())
    for key in document.places:
        value = shape.reached(document.data, key)
        is_value = isinstance(value, str) and value in words
        if is_value or key[-1] in words:
            # A node that is named is the one that it is about, whatever others have of the same kind.
            met = len(words.intersection(map(str, key))) + is_value + 2 * len(nodes.intersection(map(str, key)))
            yield (met, key[:2] == _NODES, len(key)), document.where(key)


@contextmanager
def explained(documents: Mapping[str, Document], raised: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn errors of tosca-parser or heat-translator into one that names file and line.

    Args:
        raised: classes of their errors.
    """
    try:
        yield
    except (ConfigurationError, PrerequisiteError):
        raise
    except raised as failure:
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


def parser_errors() -> tuple[type[Exception], ...]:
    """Return the errors that tosca-parser raises for an invalid descriptor.

    These are its own, Python's for missing parts or wrong types, and that for types that derive from themselves.

    Raises:
        PrerequisiteError: it is not installed.
    """
    template_class()
    from toscaparser.common.exception import TOSCAException

    return (TOSCAException, AttributeError, LookupError, TypeError, ValueError, RecursionError)


def template_class() -> Any:
    """Return tosca-parser's class of templates, which is imported only here.

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
