"""Rows that are not as nfvbed writes them: of a damaged store, or of one that another program made."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

Row = TypeVar("Row")
Model = TypeVar("Model", bound=BaseModel)

FIX: Final = (
    "this store is damaged, or nfvbed did not make it: import the run again where it was exported, or leave it out; "
    "the other runs can be read"
)
LARGEST: Final = 2**63 - 1
"""Neither a count nor a time is larger: both databases keep integers of 64 bits."""
_TIMES: Final = ("started_at", "ended_at", "at", "expires_at")
"""Columns that hold a time: UTC, ISO 8601."""
_KINDS: Final = bytes(ord("0" if chr(c) in "0123456789" else "e" if chr(c) in "eE" else chr(c)) for c in range(256))
"""Digits as `0`, and both letters of exponents as one: what `_LARGE` is looked for in."""
_LARGE: Final = (b"0" * 19, b"e00", b"e+00")
"""A number that is larger than `LARGEST` has one of these. A pattern would take four times as long for each text."""
_NO_NUMBERS: Final = ("NaN", "Infinity")
"""What pydantic reads as numbers, and JSON has not."""
_SHOWN: Final = 80
"""Characters of a value that a message shows."""


class RowError(Exception):
    """A row cannot be read.

    Args:
        key: what identifies the row there.
        observed: what is wrong with it.
    """

    def __init__(self, table: str, key: Mapping[str, Any], observed: str) -> None:
        super().__init__(observed)
        self.table = table
        self.run = _shown(key.get("run", key.get("id"))) if "run" in key or table == "run" else ""
        self.place = f"table {table}, {', '.join(f'{name} {_shown(value)}' for name, value in key.items())}"
        self.observed = observed


Tell = Callable[[RowError], None]
"""Is told of a row that is left out as it cannot be read."""


class UnparsedValue:
    """A value that should be JSON and is not; no field takes it."""

    def __init__(self, why: str) -> None:
        self.why = why


def parsed(text: Any) -> Any:
    """Parse what a column of JSON holds; what is none becomes `UnparsedValue`, so that its row can be named."""
    try:
        value = from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as error:
        return UnparsedValue(f"no JSON: {error}")
    if isinstance(text, str) and _may_be_large(text) and not _is_bounded(value):
        return UnparsedValue("a number that no count or time can be")
    return value


def read_together(texts: Sequence[Any], adapter: TypeAdapter[Any]) -> list[Any]:
    """Return the values of many texts of JSON, read as one array: to begin anew for each takes longer than to read it.

    Args:
        texts: None stands for a value that is absent.
        adapter: of a list of what each should be.

    Raises:
        ValueError, TypeError: one of them is not as it should be.
    """
    joined = f"[{','.join(['null' if text is None else text for text in texts])}]"
    is_suspect = _may_be_large(joined) or any(word in joined for word in _NO_NUMBERS)
    if is_suspect and not _is_bounded(from_json(joined, allow_inf_nan=False)):
        raise ValueError("a number that no count or time can be")
    values: list[Any] = adapter.validate_json(joined)
    if len(values) != len(texts):
        raise ValueError(f"{len(texts)} texts of {len(values)} values")
    return values


def rebuilt(model: type[Model], values: Mapping[Any, Any], table: str, key: Iterable[str]) -> Model:
    """Return a record made of a row's values.

    Args:
        values: those of the record's fields, by name.
        key: names of the values that identify it.

    Raises:
        RowError: the values are not those of such a record.
    """
    try:
        for name in _TIMES:
            if values.get(name) is not None and datetime.fromisoformat(values[name]).tzinfo is None:
                raise ValueError(f"{name} has no zone: {values[name]}")
        return model.model_validate(values)
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        # Beside pydantic's own: a validator that looks at the values before they are checked.
        raise RowError(table, {name: values.get(name) for name in key}, _why(values, error)) from error


def readable(rows: Iterable[Row], make: Callable[[Row], Model], tell: Tell) -> list[Model]:
    """Make records of rows; what cannot be read is told, and left out."""
    found = []
    for row in rows:
        try:
            found.append(make(row))
        except RowError as error:
            tell(error)
    return found


def refuse(error: RowError) -> None:
    """Stop at a row that cannot be read: for `tell`, where none may be left out."""
    raise error


def _why(values: Mapping[str, Any], error: Exception) -> str:
    for name, value in values.items():
        if isinstance(value, UnparsedValue):
            return f"{name}: {value.why}"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        return f"{'.'.join(map(_shown, first['loc']))}: {first['msg']}"
    return f"{type(error).__name__}: {_shown(str(error))}"


def _shown(value: Any) -> str:
    """Return a value in one short line without what a terminal would obey."""
    text = value if isinstance(value, str) else ascii(value)
    kept = text if text.isprintable() else ascii(text)
    return kept if len(kept) <= _SHOWN else f"{kept[:_SHOWN]}..."


def _may_be_large(text: str) -> bool:
    kinds = text.encode("utf-8", "surrogatepass").translate(_KINDS)
    many, exponent, signed = _LARGE
    return many in kinds or exponent in kinds or signed in kinds


def _is_bounded(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_bounded, value.values()))
    if isinstance(value, list):
        return all(map(_is_bounded, value))
    return not isinstance(value, int | float) or abs(value) <= LARGEST
