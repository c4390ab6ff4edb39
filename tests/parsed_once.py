"""The same text of YAML is parsed once in a process: variants and ETSI's types are read by hundreds of tests."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from nfvbed.spec.document import Document

MOST = 1000
"""Texts that are kept; what tests make up is parsed seldom twice."""


def parsed_once(parse: Callable[[Path, str], Document]) -> Callable[[Path, str], Document]:
    """Return what does the same as `parse`: each caller has data of its own."""
    known: dict[str, tuple[Document, bytes]] = {}

    def parsed(path: Path, text: str) -> Document:
        if text not in known:
            document = parse(path, text)
            if len(known) == MOST:
                del known[next(iter(known))]
            known[text] = document, pickle.dumps(document.data)
        document, data = known[text]
        places, written = dict(document.places), dict(document.written)
        return replace(document, path=path, data=pickle.loads(data), places=places, written=written)

    return parsed
