"""The functions, methods and operators that files of VSPERF's form may use; all others are refused.

All of them take and return plain values. Sizes are bounded, so that no small file unfolds into a large one.
"""

import ast
import copy
import posixpath
import string
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from nfvbed.vsperf.conf.placed import PlacedDict

MAX_LENGTH = 100_000
"""Characters of a text and items of a list."""
MAX_SHIFT = 1024
"""Bits; a CPU mask of so many cores."""
SCALARS = (str, int, float, bool, type(None))


class TooLargeError(ValueError):
    """An error: a value would be larger than any configuration."""


def bounded(value: Any) -> Any:
    """Return a value, unless it is too long.

    Raises:
        TooLargeError: it has more than `MAX_LENGTH` characters or items.
    """
    if isinstance(value, str | list | tuple | dict) and len(value) > MAX_LENGTH:
        raise TooLargeError(f"a value of {len(value)} characters or items (at most {MAX_LENGTH})")
    if isinstance(value, int) and value.bit_length() > MAX_LENGTH:
        raise TooLargeError("a number of too many digits")
    return value


def _scalar(value: Any) -> Any:
    if not isinstance(value, SCALARS):
        raise TypeError(f"a text, number or truth value is needed, not a {type(value).__name__}")
    return value


def _text(value: Any) -> str:
    return str(_scalar(value))


def _whole(value: Any, base: int = 10) -> int:
    return int(_scalar(value), base) if isinstance(value, str) else int(_scalar(value))


def _decimal(value: Any) -> float:
    return float(_scalar(value))


def _round(value: Any, digits: int | None = None) -> Any:
    return round(_scalar(value), digits)


def _absolute(path: str) -> str:
    """Return a path as absolute; links are not followed, as that would read the disk."""
    return posixpath.abspath(path)


FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "os.path.join": posixpath.join,
        "os.path.normpath": posixpath.normpath,
        "os.path.dirname": posixpath.dirname,
        "os.path.basename": posixpath.basename,
        "os.path.splitext": posixpath.splitext,
        "os.path.realpath": _absolute,
        "os.path.abspath": _absolute,
        "copy.deepcopy": copy.deepcopy,
        "copy.copy": copy.copy,
        "str": _text,
        "int": _whole,
        "float": _decimal,
        "hex": hex,
        "round": _round,
        "len": len,
        "list": list,
        "tuple": tuple,
        "dict": PlacedDict,
    }
)
RESERVED = frozenset({"os", "copy", "settings"} | {name for name in FUNCTIONS if "." not in name})
"""Names that a file cannot give another meaning."""


def format_text(text: str, *values: Any, **named: Any) -> str:
    """Return a text with `{}`, `{0}` and `{name}` filled in, without attributes, indices, widths and conversions.

    Raises:
        ValueError: a field asks for more.
    """
    for _, field, spec, conversion in string.Formatter().parse(text):
        if spec or conversion or (field and not field.replace("_", "a").isalnum()):
            raise ValueError(f"the field {field!r} of {text!r}: only {{}}, {{0}} and {{name}} are read")
    if sum(len(_text(value)) for value in (*values, *named.values())) * max(text.count("{"), 1) > MAX_LENGTH:
        raise TooLargeError("the formatted text would be too long")
    return text.format(*values, **named)


def _join(text: str, parts: list[str]) -> str:
    if len(text) * len(parts) > MAX_LENGTH:
        raise TooLargeError("the joined text would be too long")
    return text.join(parts)


METHODS: Mapping[type, Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        PlacedDict: {"update": PlacedDict.update, "copy": PlacedDict.copy, "get": PlacedDict.get},
        list: {"append": list.append, "extend": list.extend, "copy": list.copy},
        str: {
            "format": format_text,
            "join": _join,
            "lower": str.lower,
            "upper": str.upper,
            "strip": str.strip,
            "split": str.split,
        },
    }
)


def _number(value: Any) -> Any:
    if not isinstance(value, int | float):
        raise TypeError(f"a number is needed, not a {type(value).__name__}")
    return value


def _add(left: Any, right: Any) -> Any:
    if any(isinstance(left, kind) and isinstance(right, kind) for kind in (str, list, tuple)):
        if len(left) + len(right) > MAX_LENGTH:
            raise TooLargeError("the sum would be too long")
        return left + right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left + right
    raise TypeError(f"{type(left).__name__} + {type(right).__name__}")


def _shift(left: Any, right: Any) -> Any:
    if not isinstance(right, int) or not 0 <= right <= MAX_SHIFT:
        raise TooLargeError(f"a shift by {right!r} bits (0 to {MAX_SHIFT})")
    return left << right


OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: _add,
        ast.Sub: lambda left, right: _number(left) - _number(right),
        ast.Mult: lambda left, right: bounded(_number(left) * _number(right)),
        ast.Div: lambda left, right: _number(left) / _number(right),
        ast.FloorDiv: lambda left, right: _number(left) // _number(right),
        ast.Mod: lambda left, right: _number(left) % _number(right),
        ast.LShift: _shift,
        ast.BitOr: lambda left, right: _number(left) | _number(right),
    }
)
