"""The subscribers' collection: what HSS and PCRF ask a MongoDB for, and nothing more."""

from collections.abc import Mapping, Sequence
from typing import Any

from bson import Int64

Document = dict[str, Any]
_OPERATORS = ("$set", "$inc", "$bit")
_MASK = (1 << 63) - 1
LONGEST_VALUE = 128
"""Characters of a value that is set: the HSS writes a RAND of 16 bytes in hex, with blanks."""
_SHOWN = 80
"""Characters of a client's own words in what it is answered."""


class QueryRefused(Exception):
    """A question that this store has no answer to; the answer says so, in MongoDB's form."""


class Collection:
    """Documents in memory; changes end with the process."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = list(documents)

    def find(self, wanted: Mapping[str, Any], fields: Mapping[str, Any]) -> list[Document]:
        """Return the documents in which all these fields have the wanted values.

        Args:
            wanted: values by path; of a list, one element must have it.
            fields: those to return; `list.$` is the element that matched. Empty: all.

        Raises:
            Refused: it asks for more than equality.
        """
        return [_projected(document, wanted, fields) for document in self._documents if _matches(document, wanted)]

    def update(self, wanted: Mapping[str, Any], changes: Mapping[str, Any]) -> int:
        """Change the first document that matches; return how many did: 0 or 1.

        Raises:
            Refused: with another operator than these, or of a field that is no number.
        """
        unknown = sorted(set(changes) - set(_OPERATORS))
        if unknown:
            raise QueryRefused(f"the operators {', '.join(unknown)[:_SHOWN]}; there are {', '.join(_OPERATORS)}")
        found = next((document for document in self._documents if _matches(document, wanted)), None)
        if found is None:
            return 0
        for operator, values in changes.items():
            for path, value in _mapping(values).items():
                _change(found, operator, path, value)
        return 1


def _matches(document: Document, wanted: Mapping[str, Any]) -> bool:
    for path, value in wanted.items():
        if path.startswith("$") or isinstance(value, dict | list):
            raise QueryRefused(f"a query with {path[:_SHOWN]}: only equality is there")
    return all(value in _values(document, path.split(".")) for path, value in wanted.items())


def _values(inside: Any, path: Sequence[str]) -> list[Any]:
    if not path:
        return [inside]
    if isinstance(inside, list):
        return [value for element in inside for value in _values(element, path)]
    return _values(inside[path[0]], path[1:]) if isinstance(inside, dict) and path[0] in inside else []


def _projected(document: Document, wanted: Mapping[str, Any], fields: Mapping[str, Any]) -> Document:
    if not fields:
        return document
    shown: Document = {}
    for path in fields:
        name, positional = path.removesuffix(".$"), path.endswith(".$")
        if name in document and "." not in name:
            shown[name] = _first_match(document[name], name, wanted) if positional else document[name]
    return shown


def _first_match(elements: Any, name: str, wanted: Mapping[str, Any]) -> list[Any]:
    inner = {path.removeprefix(f"{name}."): value for path, value in wanted.items() if path.startswith(f"{name}.")}
    listed = elements if isinstance(elements, list) else []
    return [element for element in listed if isinstance(element, dict) and _matches(element, inner)][:1]


def _change(document: Document, operator: str, path: str, value: Any) -> None:
    *parents, name = path.split(".")
    inside: Any = document
    for parent in parents:
        inside = inside.get(parent) if isinstance(inside, dict) else None
    if not isinstance(inside, dict):
        raise QueryRefused(f"{operator} of {path[:_SHOWN]}: there is no such document in it")
    if operator == "$set":
        if name not in inside:
            raise QueryRefused(f"$set of {path[:_SHOWN]}: there is no such value in it")
        _require_like(inside[name], value, path)
        inside[name] = value
        return
    old, new = inside.get(name), value if operator == "$inc" else _mapping(value).get("and")
    if not isinstance(old, int) or not isinstance(new, int):
        raise QueryRefused(f"{operator} of {path[:_SHOWN]}: there is no number")
    inside[name] = Int64((old + new if operator == "$inc" else old & new) & _MASK)


def _require_like(old: Any, value: Any, path: str) -> None:
    """Refuse a value of another type than the old one, and a long one: documents stay small."""
    if type(old) is not type(value) or isinstance(value, dict | list):
        raise QueryRefused(f"$set of {path[:_SHOWN]}: there is no such value in it")
    if isinstance(value, str | bytes) and len(value) > LONGEST_VALUE:
        raise QueryRefused(f"$set of {path[:_SHOWN]}: {len(value)} characters, more than {LONGEST_VALUE}")


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise QueryRefused("a change that is no document")
    return value
