"""VSPERF's macros in settings: `#PARAM(NAME['key'])` in all, the others in those of guests (`GUEST_*`)."""

import ast
import ipaddress
import re
from collections.abc import Callable
from typing import Any, Final

from nfvbed.vsperf.conf.calls import OPERATORS, bounded
from nfvbed.vsperf.conf.placed import shown

_PARAM: Final = re.compile(r"#PARAM\(([\w\-]+)((?:\[[\w\[\]\-'\"]+\])*)\)")
_KEY: Final = re.compile(r"\[(-?\d+|'[^']*'|\"[^\"]*\")\]")
_MACRO: Final = re.compile(r"(#[A-Z]+)(\(([^(),]+)(?:,\s*([0-9]+))?\))?")
MAX_REFERENCES: Final = 20
"""How far references may lead on; more is a circle."""


class MacroError(ValueError):
    """An unknown macro, or one without a value."""


def expand_references(value: Any, look_up: Callable[[str], Any], depth: int = 0) -> Any:
    """Replace every `#PARAM(NAME)` and `#PARAM(NAME[0]['key'])` by the value of that setting.

    As in VSPERF, a reference to a missing setting or item stays as it is.

    Args:
        look_up: returns a setting's value; LookupError: there is none.
        depth: number of references that led here.

    Raises:
        MacroError: settings refer to each other in a circle.
    """
    if depth > MAX_REFERENCES:
        raise MacroError("settings refer to each other in a circle")
    if isinstance(value, str):
        return _PARAM.sub(lambda found: _referred(found, look_up, depth), value) if "#PARAM" in value else value
    if isinstance(value, list | tuple):
        return type(value)(expand_references(item, look_up, depth) for item in value)
    if isinstance(value, dict):
        copy = value.copy()
        for key, item in value.items():
            copy[key] = expand_references(item, look_up, depth)
        return copy
    return value


def _referred(found: re.Match[str], look_up: Callable[[str], Any], depth: int) -> str:
    try:
        value = look_up(found[1])
        for key in _KEY.findall(found[2]):
            value = value[int(key) if key[-1].isdigit() else key[1:-1]]
    except (LookupError, TypeError):
        return found[0]
    return str(bounded(expand_references(value, look_up, depth + 1)))


def has_macro(value: Any) -> bool:
    """Return whether a value holds a macro, as VSPERF decides it."""
    return "#" in str(value)


def expand_guest(value: Any, index: int) -> Any:
    """Expand `#VMINDEX`, `#MAC`, `#IP` and `#EVAL` in a value for one guest.

    Args:
        value: the setting for the first guest.
        index: the guest's number, from 0.

    Raises:
        MacroError: an unknown macro, or an argument that is none.
    """
    if isinstance(value, str):
        return _MACRO.sub(lambda found: _expanded(found, index), value.replace("#VMINDEX", str(index)))
    if isinstance(value, list | tuple):
        return type(value)(expand_guest(item, index) for item in value)
    if isinstance(value, dict):
        copy = value.copy()
        for key, item in value.items():
            copy[key] = expand_guest(item, index)
        return copy
    return value


def _expanded(found: re.Match[str], index: int) -> str:
    macro, argument = found[1], (found[3] or "").strip()
    offset = index * (int(found[4] or 1) or 1)
    expand = {"#MAC": _mac, "#IP": _address, "#EVAL": _arithmetic}.get(macro)
    if expand is None:
        raise MacroError(f"unknown macro {macro}: there are #VMINDEX, #MAC, #IP, #EVAL and #PARAM")
    try:
        return expand(argument, offset)
    except (ValueError, ArithmeticError, TypeError) as error:
        raise MacroError(f"{found[0]}: {error}") from error


def _mac(text: str, offset: int) -> str:
    digits = text.replace(":", "").replace("-", "")
    if not re.fullmatch(r"[0-9A-Fa-f]{12}", digits):
        raise ValueError(f"{text!r} is no MAC address")
    number = (int(digits, 16) + offset) % (1 << 48)
    return ":".join(f"{number:012x}"[place : place + 2] for place in range(0, 12, 2))


def _address(text: str, offset: int) -> str:
    return str(ipaddress.ip_address(text) + offset)


def _arithmetic(text: str, _: int) -> str:
    try:
        return str(_sum(ast.parse(text, mode="eval").body))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{shown(text)} is no sum") from error


def _sum(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_sum(node.left), _sum(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_sum(node.operand)
    raise ValueError("only numbers and + - * / // % << | are read")
