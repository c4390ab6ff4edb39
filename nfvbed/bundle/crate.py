"""The metadata file that makes a bundle an RO-Crate 1.1: what each file is, when and with what it was made.

Source: RO-Crate Metadata Specification 1.1 (w3id.org/ro/crate/1.1), root data entity and data entities.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from nfvbed.bundle.archive import (
    COMPARISON,
    CRATE,
    DISCLOSED,
    ENVELOPE,
    PICTURE,
    RUN,
    SPECIFICATION,
    STATEMENT,
    TABLE,
)
from nfvbed.bundle.statement import Predicate

CONTEXT: Final = "https://w3id.org/ro/crate/1.1/context"
CONFORMS: Final = "https://w3id.org/ro/crate/1.1"
_ROOT: Final = "./"
_NFVBED: Final = "#nfvbed"
_MEASURING: Final = "#measuring"

_ABOUT: Final = {
    RUN: ("The run: resolved files, versions, host, every trial with its histograms", "application/json"),
    COMPARISON: (
        "What came of it: rates, intervals and verdicts, with the rules they were made by",
        "application/json",
    ),
    TABLE: ("The same as a table", "text/csv"),
    DISCLOSED: ("What the files say of whose machines these are, and what was replaced", "text/markdown"),
    STATEMENT: ("in-toto statement: SHA-256 of all other files", "application/json"),
    ENVELOPE: ("The in-toto statement in a signed DSSE envelope: SHA-256 of all other files", "application/json"),
}
_KINDS: Final = {
    SPECIFICATION: ("A figure as a Vega-Lite specification, with its data", "application/json"),
    PICTURE: ("The same figure as a picture", "image/svg+xml"),
}


def describe(
    files: Mapping[str, bytes], statement: str, predicate: Predicate, title: str, times: tuple[str, str]
) -> bytes:
    """Return the metadata of the files and of the statement on them.

    Args:
        statement: name of its file.
        times: start and end of the run; UTC, ISO 8601.
    """
    names = [*files, statement]
    sizes = {name: len(content) for name, content in files.items()}
    graph: list[dict[str, Any]] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": CONFORMS},
            "about": {"@id": _ROOT},
        },
        {
            "@id": _ROOT,
            "@type": "Dataset",
            "name": f"{title or predicate.experiment}: run {predicate.run}",
            "description": "Measurements of data planes of an NFV infrastructure by nfvbed, with all that their "
            "verdicts are recomputed from: nfvbed verify-bundle FILE.",
            "datePublished": predicate.made_at,
            "license": "None was stated: ask the sender.",
            "identifier": predicate.run,
            "hasPart": [{"@id": name} for name in names],
            "mentions": {"@id": _MEASURING},
        },
        *(_file(name, sizes.get(name)) for name in names),
        {"@id": _NFVBED, "@type": "SoftwareApplication", "name": "nfvbed", "version": predicate.nfvbed},
        {
            "@id": _MEASURING,
            "@type": "CreateAction",
            "name": f"Experiment {predicate.experiment}",
            "startTime": times[0],
            **({"endTime": times[1]} if times[1] else {}),
            "instrument": {"@id": _NFVBED},
            "result": {"@id": RUN},
        },
    ]
    return json.dumps({"@context": CONTEXT, "@graph": graph}, indent=1).encode()


def parts_of(content: bytes) -> list[str]:
    """Return the files that a metadata file says there are.

    Raises:
        ValueError: it is no metadata file of an RO-Crate 1.1.
    """
    try:
        document = json.loads(content)
        if document["@context"] != CONTEXT:
            raise ValueError(f"@context is {document['@context']!r}"[:200])
        entities = {entity["@id"]: entity for entity in document["@graph"]}
        descriptor, root = entities[CRATE], entities[_ROOT]
        if descriptor["conformsTo"] != {"@id": CONFORMS} or descriptor["about"] != {"@id": _ROOT}:
            raise ValueError("its descriptor is of another version, or of another crate")
        if root["@type"] != "Dataset" or not all(
            root[key] for key in ("name", "description", "datePublished", "license")
        ):
            raise ValueError("its root lacks what RO-Crate asks for")
        parts = [str(part["@id"]) for part in root["hasPart"]]
        lacking = [name for name in parts if entities.get(name, {}).get("@type") != "File"]
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no RO-Crate: {type(error).__name__} {error}"[:200]) from error
    if lacking:
        raise ValueError(f"{lacking[0]!r} is a part and not described"[:200])
    return parts


def _file(name: str, size: int | None) -> dict[str, Any]:
    about, form = _ABOUT.get(name) or next(kind for end, kind in _KINDS.items() if name.endswith(end))
    sized = {} if size is None else {"contentSize": str(size)}
    return {"@id": name, "@type": "File", "name": about, "encodingFormat": form, **sized}
