"""VSPERF's `--test-params`: settings for a test in one text, `NAME=value; NAME=value`."""

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from nfvbed.vsperf.conf.old import renamed
from nfvbed.vsperf.conf.placed import Place, PlacedDict, refused, shown
from nfvbed.vsperf.conf.reader import NAMES_ARE_IN
from nfvbed.vsperf.conf.settings import VsperfSettings, merged
from nfvbed.vsperf.conf.testcase import check_parameters
from nfvbed.vsperf.conf.unknown import UnknownNames

OPTION: Final = "--test-params"
_PLACE: Final = Place(Path(OPTION), 1)
_NAME: Final = re.compile(r"[A-Za-z_][\w\-]*")
_BARE: Final = re.compile(r"[A-Za-z_][\w.\-]*")
MAX_TEXT: Final = 100_000
"""Characters of the whole text; a literal that is longer could exhaust Python's parser."""


def with_parameters(settings: VsperfSettings, text: str) -> VsperfSettings:
    """Return settings with those of a `--test-params` text over those of `TEST_PARAMS`.

    As in VSPERF they override the files, and a test's own `Parameters` and keywords override them.

    Args:
        text: `TRAFFICGEN_PKT_SIZES=(64,128); TRAFFICGEN_DURATION=10`, or a list of such texts, of which the first
            is that of the first test.

    Raises:
        ConfigurationError: no such form, unknown names, or a value that is no literal.
    """
    given = parse_parameters(text)
    unknown = UnknownNames()
    check_parameters(given, settings.values, OPTION, _PLACE, unknown)
    unknown.refuse(NAMES_ARE_IN)
    base = settings.values.get("TEST_PARAMS", {})
    # `merged` puts in place: what was read stays as it is.
    together = merged(PlacedDict(base), renamed(given))
    places = {**settings.places, "TEST_PARAMS": settings.places.get("TEST_PARAMS", _PLACE)}
    return replace(settings, values={**settings.values, "TEST_PARAMS": together}, places=places)


def parse_parameters(text: str) -> PlacedDict:
    """Return the settings in a `--test-params` text; nothing in it is executed.

    A name alone is True; a single word needs no quotes, as in VSPERF.

    Raises:
        ConfigurationError: with the part that is wrong.
    """
    if len(text) > MAX_TEXT:
        raise refused(f"{OPTION} is too long", _PLACE, f"{len(text)} characters", "write the settings into a file")
    if text.lstrip().startswith("["):
        text = _first(text)
    found = PlacedDict()
    for part in text.split(";"):
        name, separator, value = part.partition("=")
        if not part.strip():
            continue
        if not _NAME.fullmatch(name.strip()):
            raise refused(f"{OPTION} has a part without a name", _PLACE, shown(part), "write NAME=value; NAME=value")
        found.put(name.strip(), _literal(name.strip(), value.strip()) if separator else True, _PLACE)
    return found


def _first(text: str) -> str:
    """Return the text of the first test from a list with one for each test."""
    texts = _literal(OPTION, text)
    if not isinstance(texts, list) or not texts or not all(isinstance(item, str) for item in texts):
        raise refused(f"{OPTION} is no list of texts", _PLACE, shown(text), "write ['NAME=value; NAME=value']")
    if len(texts) > 1:
        fix = "run the tests one after the other, each with its own"
        raise refused(f"{OPTION} is for several tests, and one is run", _PLACE, f"{len(texts)} texts", fix)
    return str(texts[0])


def _literal(name: str, text: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        if _BARE.fullmatch(text):
            return text
        fix = "write it as in a file: 10, 'text', (64, 128), {'frame_rate': 100}"
        raise refused(f"the value of {name} is no literal", _PLACE, shown(text), fix) from None
    return _placed(value)


def _placed(value: Any) -> Any:
    """Return dictionaries with places, so that an error in one of their keys names its line."""
    if not isinstance(value, Mapping):
        return value
    found = PlacedDict()
    for key, item in value.items():
        found.put(key, _placed(item), _PLACE)
    return found
