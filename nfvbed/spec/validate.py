"""Turns a document into a frozen model, or says which key is wrong, what was seen and what is allowed."""

import difflib
import json
import types
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from nfvbed.characters import unfit_in
from nfvbed.errors import ConfigurationError
from nfvbed.records.models import adapter_of
from nfvbed.spec.document import Document, KeyPath, dotted, is_misread
from nfvbed.spec.model import MisfitError, SpecModel

Spec = TypeVar("Spec", bound=SpecModel)
RENAMED = {"guest_card": "guest_nic"}
"""Keys that files had, and what they are called now."""
SHOWN = 60
"""Characters of a wrong value that a message repeats."""
MOST_NAME_CHARACTERS = 200
"""The longest name that is compared with others: the time that takes grows with the square of its length."""
_KEYS_AND_VALUES = ("dataclass_type", "model_type", "model_attributes_type", "dict_type", "mapping_type")
_PLAIN = dict.fromkeys(_KEYS_AND_VALUES, "keys and values") | {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a number that is finite",
    "string_type": "a text",
    "tuple_type": "a list",
    "bool_type": "true or false",
}
"""What a value has to be, by the type of pydantic's error."""


def build(document: Document, model: type[Spec]) -> Spec:
    """Validate a document strictly: no text is taken for a number, no number for a truth value.

    Raises:
        ConfigurationError: file, line, key, what was seen, what is allowed; the nearest name for an unknown key.
    """
    built: Spec = build_one_of(document, model)
    return built


def build_one_of(document: Document, models: Any) -> Any:
    """Validate a document as `build` does, as one of several models, which a key selects.

    Args:
        models: an annotated union with its discriminator, or one model.

    Raises:
        ConfigurationError: as `build`.
    """
    for key, written in document.written.items():
        if is_misread(written):
            raise _misread(document, key)
    require_plain(document)
    try:
        return adapter_of(models).validate_json(json.dumps(document.data), strict=True)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    raise _first(document, models, errors)


def require_plain(document: Document) -> None:
    """Refuse a document with a character that no name may have (`characters.py`); texts may have lines and tabs.

    Raises:
        ConfigurationError: with the place.
    """
    for place, character in unfit_in(document.data):
        raise ConfigurationError(
            f"{dotted(place)} has a character in {document.path.name} that no name may have",
            where=document.where(place),
            observed=character,
            fix="leave it out: it would control the terminal, or turn the text after it around",
        )


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that looks most like a name; None where none does, or it is too long for a name."""
    if len(name) > MOST_NAME_CHARACTERS:
        return None
    found = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.5)
    return found[0] if found else None


def suggestion(name: str, candidates: Iterable[str]) -> str:
    """Return which name was probably meant, and which exist."""
    names = sorted(candidates)
    close = nearest(name, names)
    known = f"one of: {', '.join(names)}" if names else "there are none"
    return f"did you mean {close!r}? ({known})" if close else known


def name_is_known(document: Document, key: KeyPath, named: tuple[str, str], known: Sequence[str]) -> None:
    """Refuse a name in a document that is not among the known ones.

    Args:
        key: its place there.
        named: what it is the name of, and the name.

    Raises:
        ConfigurationError: with the place, and what there is.
    """
    what, name = named
    if name not in known:
        raise ConfigurationError(
            f"unknown {what}: {name!r} in {document.path.name}",
            where=document.where(key),
            observed=repr(name),
            fix=suggestion(name, known),
        )


def _first(document: Document, model: Any, errors: list[ErrorDetails]) -> ConfigurationError:
    # An unknown key often explains a missing one (`frame_size:` for `frame_sizes:`), so it is reported first.
    error = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    key = _key_of(document.data, error)
    same = [e for e in errors if _key_of(document.data, e) == key]
    others = len({_key_of(document.data, e) for e in errors}) - 1
    file = document.path.name + (f" (and {others} more in this file)" if others else "")
    where = document.where(key)
    if error["type"] == "extra_forbidden":
        name, names = str(key[-1]), _names(_type_at(model, key[:-1], document.data))
        fix = f"it is called {RENAMED[name]!r} now" if RENAMED.get(name) in names else suggestion(name, names)
        what, observed = f"unknown key {dotted(key)!r} in {file}", f"key {str(key[-1])!r}"
    elif error["type"] in ("missing", "union_tag_not_found"):
        fix = f"add `{key[-1]}: ...`"
        what, observed = f"the key {dotted(key)!r} is missing in {file}", "no such key"
    elif error["type"] == "value_error" and isinstance(_value_at(document.data, key), str | int | float):
        what, observed = f"{dotted(key)} is not valid in {file}", _shown(_value_at(document.data, key))
        fix = f"give another one; {_cause(error)}"
    elif error["type"] == "value_error":
        fix = "change one of them"
        what, observed = f"values in {dotted(key) or document.path.name} do not fit together in {file}", _cause(error)
    elif error["type"] == "string_type" and key in document.written:
        return _misread(document, key, file)
    else:
        fix = _allowed(same, _field_at(model, key, document.data))
        seen = f"key {str(key[-1])!r}" if error["loc"][-1:] == ("[key]",) else _shown(_value_at(document.data, key))
        what, observed = f"{dotted(key)} is not valid in {file}", seen
    return ConfigurationError(what, where=where, observed=observed, fix=fix)


def _misread(document: Document, key: KeyPath, file: str = "") -> ConfigurationError:
    value = _value_at(document.data, key)
    read = "a truth value" if isinstance(value, bool) else f"the number {value}"
    return ConfigurationError(
        f"{dotted(key)} is not valid in {file or document.path.name}",
        where=document.where(key),
        observed=document.written[key],
        fix=f"write it in quotes: YAML reads it as {read}",
    )


def _cause(error: ErrorDetails) -> str:
    return str(error.get("ctx", {}).get("error", error["msg"]))


def _allowed(errors: Sequence[ErrorDetails], field: FieldInfo | None) -> str:
    rules = list(dict.fromkeys(_rule(error) for error in errors))
    bounds = _range(field)
    if bounds and any(error["type"].startswith(("greater", "less", "finite")) for error in errors):
        rules = [bounds] + [rule for rule in rules if not rule.startswith("a number ")]
    return "give " + ", or ".join(rules)


def _rule(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    kind = error["type"]
    bounds = {"greater_than_equal": "ge", "greater_than": "gt", "less_than_equal": "le", "less_than": "lt"}
    if kind in bounds:
        words = {"ge": "of at least", "gt": "above", "le": "of at most", "lt": "below"}
        return f"a number {words[bounds[kind]]} {context[bounds[kind]]}"
    if kind in ("literal_error", "enum", "union_tag_invalid"):
        return f"one of {context.get('expected') or context.get('expected_tags')}"
    if kind == "string_pattern_mismatch":
        return f"a text of the form {context['pattern']}"
    # pydantic's own words for the rest are sentences: `Input should be a valid date`, `Tuple should have at least ...`.
    said = error["msg"].removeprefix("Input should be ")
    return _PLAIN.get(kind, said if said != error["msg"] else f"another value ({said})")


def _range(field: FieldInfo | None) -> str | None:
    limits = {}
    for item in _metadata(field):
        for bound in ("ge", "gt", "le", "lt"):
            if getattr(item, bound, None) is not None:
                limits[bound] = getattr(item, bound)
    low = f"at least {limits['ge']}" if "ge" in limits else f"above {limits['gt']}" if "gt" in limits else ""
    high = f"at most {limits['le']}" if "le" in limits else f"below {limits['lt']}" if "lt" in limits else ""
    return "a number of " + " and ".join(part for part in (low, high) if part) if limits else None


def _metadata(field: FieldInfo | None) -> list[Any]:
    if field is None:
        return []
    found = list(field.metadata)
    stack = [field.annotation]
    while stack:
        current = stack.pop()
        if isinstance(current, FieldInfo):
            found += current.metadata
        elif get_origin(current) is not Literal:
            stack += get_args(current)
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _key_of(data: Any, error: ErrorDetails) -> KeyPath:
    """Return the part of pydantic's location that is in the file; it also names union members."""
    loc = error["loc"]
    key: list[str | int] = []
    current: Any = data
    for index, part in enumerate(loc):
        if _holds(current, part):
            current = current[part]
        elif error["type"] != "missing" or index < len(loc) - 1:
            continue
        key.append(part)
    misfit = error.get("ctx", {}).get("error")
    if isinstance(misfit, MisfitError):
        key.append(misfit.key)
    if error["type"].startswith("union_tag"):
        key.append(str(error.get("ctx", {}).get("discriminator", "")).strip("'"))
    return tuple(key)


def _holds(current: Any, part: str | int) -> bool:
    if isinstance(current, list):
        return isinstance(part, int) and part < len(current)
    return isinstance(current, dict) and part in current


def _value_at(data: Any, key: KeyPath) -> Any:
    for part in key:
        data = data.get(part) if isinstance(data, dict) else data[part]
    return data


def _field_at(model: Any, key: KeyPath, data: Any) -> FieldInfo | None:
    """Find the field that a key (or a list's item) belongs to."""
    while key and isinstance(key[-1], int):
        key = key[:-1]
    if not key:
        return None
    parent = _type_at(model, key[:-1], data)
    return parent.model_fields.get(str(key[-1])) if parent else None


def _names(model: type[BaseModel] | None) -> list[str]:
    return list(model.model_fields) if model else []


def _type_at(model: Any, key: KeyPath, data: Any) -> type[BaseModel] | None:
    """Find the model that the mapping at a key is read into."""
    annotation = model
    for part in key:
        if not isinstance(part, int):
            current = _model_in(annotation, data)
            field = current.model_fields.get(part) if current else None
            if field is None:
                return None
            annotation = field.annotation
        data = data[part]
    return _model_in(annotation, data)


def _model_in(annotation: Any, data: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    origin = get_origin(annotation)
    if origin in (Annotated, tuple, list, Union, types.UnionType):
        members = [_model_in(argument, data) for argument in get_args(annotation) if argument is not Ellipsis]
        models = [member for member in members if member is not None]
        return next((member for member in models if _tagged(member, data)), models[0] if models else None)
    return None


def _tagged(model: type[BaseModel], data: Any) -> bool:
    """Return whether a union's member is the one that the data's literal key chooses."""
    if not isinstance(data, dict):
        return False
    return any(
        get_origin(field.annotation) is Literal and data.get(name) in get_args(field.annotation)
        for name, field in model.model_fields.items()
        if field.is_required()
    )
