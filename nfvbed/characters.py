"""Characters that control a terminal, turn text around or cannot be in a picture: what others wrote may hold them.

Names are refused with one, at every door by which they come in. What is stored already, and what other programs
print, is shown with an escape in its place, and drawn with U+FFFD.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

Place = tuple[str | int, ...]
"""Keys and indexes that lead to a value."""

REPLACEMENT: Final = "\ufffd"
_SPACES: Final = "\t\n"
_OVERRIDES: Final = r"\u2028\u2029\u202a-\u202e\u2066-\u2069"
"""Separators of lines and paragraphs, and what turns the text after it around."""
_CONTROLS: Final = rf"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_OVERRIDES}\ud800-\udfff"
"""Control characters but for the ends of lines and tabs, and halves of characters, which no encoding writes."""
_UNSHOWN: Final = re.compile(rf"[{_CONTROLS}]|\r(?!\n)")
"""Those, and what leads back to the beginning of a line without ending it."""
_UNDRAWN: Final = re.compile(rf"[{_CONTROLS}\r\ufffe\uffff]")
"""Those, and what XML 1.0 has not."""
_OF_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of fields that a spreadsheet takes for formulas."""


def shown(text: str) -> str:
    """Return a text with escapes, as JSON writes them, for what would control the terminal that it is shown on."""
    return _UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def guarded(value: Any) -> Any:
    """Return a field of a CSV file: control characters as escapes, and no text that is taken for a formula."""
    if not isinstance(value, str):
        return value
    text = shown(value)
    return f"'{text}" if text[:1] in _OF_FORMULAS else text


def drawable(value: Any) -> Any:
    """Return a figure's specification with U+FFFD for each character that a picture cannot have; keys too."""
    if isinstance(value, str):
        return _UNDRAWN.sub(REPLACEMENT, value)
    if isinstance(value, dict):
        return {drawable(key): drawable(item) for key, item in value.items()}
    return [drawable(item) for item in value] if isinstance(value, list | tuple) else value


def unfit(text: str, *, spaces: bool = True) -> str:
    """Return the first character of a text that no name may have, as an escape; empty where there is none.

    Args:
        text: a name, or a text of several words.
        spaces: whether tabs and line feeds are allowed.
    """
    found = _UNDRAWN.search(text)
    first = found[0] if found else next((one for one in text if one in _SPACES), "") if not spaces else ""
    return f"\\u{ord(first):04x}" if first else ""


def unfit_in(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield each place in a document where a text or key has a character that no name may have, and that character.

    Args:
        place: the keys above the value; they begin each place that is yielded.
    """
    if isinstance(value, str):
        if found := unfit(value):
            yield place, found
    elif isinstance(value, dict):
        for key, item in value.items():
            if found := unfit(str(key), spaces=False):
                yield (*place, shown(str(key))), found
            yield from unfit_in(item, (*place, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from unfit_in(item, (*place, index))
