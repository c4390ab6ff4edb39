"""Files that are no TOSCA descriptors: recognised by their first bytes or keys, before they are parsed."""

import re
from collections.abc import Iterable
from pathlib import Path

from nfvbed.errors import ConfigurationError
from nfvbed.spec import textfile
from nfvbed.spec.document import Document, parse_document
from nfvbed.spec.validate import require_plain
from nfvbed.vnfs.descriptors import networkservice

VERSION = "tosca_definitions_version"
"""The key that every TOSCA file begins with."""
MOST_BYTES = 512 * 2**10
"""The largest descriptor that is one file: a template with its user data has a hundredth of it."""
TAKEN = (
    "nfvbed takes templates of Tacker's (tosca_simple_profile_for_nfv_1_0_0), SOL001 descriptors, packages of them"
    " (CSAR) and its own vnf.yml"
)
_MAGIC = {
    b"\x1f\x8b": "a gzip archive, as packages of OSM are",
    b"QFI\xfb": "a disk image (qcow2)",
    b"\x7fELF": "a program",
    b"%PDF": "a PDF",
    b"<?xml": "XML",
}
"""First bytes of files that are no text of YAML."""
_TAR = (257, b"ustar")
"""Place and word of a tar archive."""
_KEYS: dict[str, str] = {
    # OSM up to release EIGHT: osm_im's vnfd.yang and nsd.yang, with their prefixes or without.
    "vnfd-catalog": "a VNF descriptor of OSM",
    "vnfd:vnfd-catalog": "a VNF descriptor of OSM",
    "nsd-catalog": "a network service descriptor of OSM",
    "nsd:nsd-catalog": "a network service descriptor of OSM",
    "nst": "a network slice template of OSM",
    # ETSI GS NFV-SOL 006, also OSM from release NINE on: etsi-nfv-vnfd.yang and etsi-nfv-nsd.yang.
    "vnfd": "a VNF descriptor of SOL006 (YANG)",
    "etsi-nfv-vnfd:vnfd": "a VNF descriptor of SOL006 (YANG)",
    "etsi-nfv-descriptors:nfv": "descriptors of SOL006 (YANG)",
    "nsd": "a network service descriptor of SOL006 (YANG)",
    "etsi-nfv-nsd:nsd": "a network service descriptor of SOL006 (YANG)",
    "heat_template_version": "a template of Heat's (HOT)",
    "HeatTemplateFormatVersion": "a template of Heat's (CFN)",
    "AWSTemplateFormatVersion": "a template of CloudFormation",
    "apiVersion": "a manifest of Kubernetes",
}
"""First keys of other kinds of descriptors, and what these are."""
_OWN = ("kinds", "forwarding", "ports")
"""Keys that no `vnf.yml` is without."""
_KEY = re.compile(r"^[\"']?([A-Za-z][\w.:-]*)[\"']?\s*:(?:\s|$)", re.MULTILINE)
_SHOWN = 5


def read_text(path: Path) -> str:
    """Return the text of a descriptor in one file.

    Raises:
        ConfigurationError: it cannot be read, is no text, or too large; with what it is, where that is known.
    """
    content = textfile.read_beginning(path, MOST_BYTES + 1)
    known = _known_bytes(content)
    if known:
        raise _foreign(path, f"{path}:1", known, f"it begins with {content[:4]!r}")
    try:
        text = content[:MOST_BYTES].decode("utf-8", errors="strict" if len(content) <= MOST_BYTES else "ignore")
    except UnicodeDecodeError as failure:
        line = content[: failure.start].count(b"\n") + 1
        raise ConfigurationError(
            f"{path.name} is no text, and so no descriptor",
            where=f"{path}:{line}",
            observed=f"it is not UTF-8 from byte {failure.start} on",
            fix=f"{TAKEN}; a text is written in UTF-8",
        ) from failure
    if len(content) > MOST_BYTES:
        require_kind(path, {key: _line(text, key) for key in _KEY.findall(text)})
        raise ConfigurationError(
            f"{path.name} is too large for a descriptor",
            where=f"{path}:1",
            observed=f"more than {MOST_BYTES} bytes",
            fix=TAKEN,
        )
    return text


def read(path: Path) -> Document:
    """Read a TOSCA descriptor in one file.

    Raises:
        ConfigurationError: it cannot be read, or is something else; with what that is, and the line.
    """
    document = parse_document(path, read_text(path))
    require_tosca(document)
    return document


def is_own(document: Document) -> bool:
    """Return whether a file is a `vnf.yml` of nfvbed's, valid or not."""
    return VERSION not in document.data and all(key in document.data for key in _OWN)


def require_tosca(document: Document) -> None:
    """Refuse a file that is not TOSCA, or has a character that no name may have.

    Raises:
        ConfigurationError: with what it is, and its line.
        UnsupportedError: it is of a network service or a forwarding graph.
    """
    lines = {key: document.places[(key,)][0] for key in document.data}
    require_kind(document.path, lines)
    require_plain(document)
    networkservice.require_none(document)


def require_kind(path: Path, lines: dict[str, int]) -> None:
    """Refuse a file whose first keys are not those of TOSCA.

    Args:
        lines: lines of its outermost keys.

    Raises:
        ConfigurationError: they are not those of TOSCA.
    """
    if VERSION in lines:
        return
    known = next((key for key in lines if key in _KEYS), "")
    kind = _KEYS[known] if known else "nfvbed's own vnf.yml" if all(key in lines for key in _OWN) else ""
    shown = known or next(iter(lines), "")
    where = f"{path}:{lines.get(shown, 1)}" + (f" {shown}" if shown else "")
    raise _foreign(path, where, kind, _keys(lines))


def _known_bytes(content: bytes) -> str:
    at, word = _TAR
    if content[at : at + len(word)] == word:
        return "a tar archive"
    return next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), "")


def _keys(lines: Iterable[str]) -> str:
    names = list(lines)
    return f"its keys are {', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}" if names else "no keys"


def _line(text: str, key: str) -> int:
    found = re.search(rf"^[\"']?{re.escape(key)}[\"']?\s*:", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _foreign(path: Path, where: str, kind: str, observed: str) -> ConfigurationError:
    said = f": it is {kind}" if kind else f": it has no {VERSION}"
    return ConfigurationError(f"{path.name} is no TOSCA descriptor{said}", where=where, observed=observed, fix=TAKEN)
