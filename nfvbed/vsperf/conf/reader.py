"""Finds the files of VSPERF's form, reads them in VSPERF's order, and checks that every name in them is known."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from nfvbed.errors import ConfigurationError
from nfvbed.spec.textfile import read_text
from nfvbed.vsperf.conf.calls import SCALARS
from nfvbed.vsperf.conf.interpreter import MAX_FILE_BYTES, Interpreter
from nfvbed.vsperf.conf.names import is_setting
from nfvbed.vsperf.conf.old import renamed
from nfvbed.vsperf.conf.placed import refused
from nfvbed.vsperf.conf.settings import VsperfSettings
from nfvbed.vsperf.conf.testcase import check_parameters, check_traffic, read_test_cases
from nfvbed.vsperf.conf.treatment import KNOWN
from nfvbed.vsperf.conf.unknown import UnknownNames

_FILE: Final = re.compile(r"([0-9]+)([a-z]?)_.*\.conf")
MAX_PARTS: Final = 1_000_000
"""Texts and numbers in all settings together; stock files have some 10,000."""
CHARACTERS: Final = 16
"""Characters of a text that count as one further part."""
NAMES_ARE_IN: Final = "the names that there are: VSPERF's conf/*.conf; begin the name of a helper of your own with _"
MAX_DEPTH: Final = 50


def read_settings(paths: Sequence[Path], installed: Path | None = None) -> VsperfSettings:
    """Read files of VSPERF's form; later values replace earlier ones.

    Args:
        paths: files, and folders whose `NN_topic.conf` files are read in the order of NN.
        installed: the settings folder of the VSPERF that will run: it defines the known settings.

    Raises:
        ConfigurationError: unreadable, a form that is not read, or unknown names; with file and line.
    """
    reader = Interpreter()
    files: list[Path] = []
    own: set[str] = set()
    for path in paths:
        for file in _files(path):
            reader.run(file, read_text(file, most=MAX_FILE_BYTES))
            files.append(file)
        if path == installed:
            own |= reader.names.keys()
    _check_size(reader)
    unknown = UnknownNames()
    for name, place in reader.given.items():
        if is_setting(name) and name not in KNOWN and name not in own:
            unknown.add("setting", name, f"in {place.path.name}", place, KNOWN)
    values = {name: value for name, value in reader.values.items() if name.isupper()}
    places = reader.places
    check_traffic(values.get("TRAFFIC", {}), places.get("TRAFFIC"), unknown)
    check_parameters(values.get("TEST_PARAMS", {}), values, "TEST_PARAMS", places.get("TEST_PARAMS"), unknown)
    tests = read_test_cases(values, places, unknown)
    unknown.refuse(NAMES_ARE_IN)
    if "TEST_PARAMS" in values:
        values["TEST_PARAMS"] = renamed(values["TEST_PARAMS"])
    return VsperfSettings(values=values, places=places, files=tuple(files), tests=tests)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [file for file in path.iterdir() if file.is_file() and _FILE.fullmatch(file.name)]
    if not found:
        raise ConfigurationError(
            "there are no files of VSPERF's form in this folder",
            where=str(path),
            observed="no file is named NN_topic.conf",
            fix="name the folder that holds VSPERF's conf files, or a single file",
        )
    return sorted(found, key=_order)


def _order(file: Path) -> tuple[int, str, str]:
    match = _FILE.fullmatch(file.name)
    return (int(match[1]), match[2], file.name) if match else (0, "", file.name)


def _check_size(reader: Interpreter) -> None:
    """Refuse lists that hold each other many times: small in memory, a walk through them never ends."""
    left = MAX_PARTS
    for name, value in reader.values.items():
        for depth, part in _parts(value, 0):
            left -= 1 + (len(part) // CHARACTERS if isinstance(part, str) else 0)
            if left < 0 or depth > MAX_DEPTH:
                raise refused(
                    f"{name} holds too much",
                    reader.places[name],
                    f"more than {MAX_PARTS} texts and numbers in all settings, or {MAX_DEPTH} levels",
                    "write it smaller",
                )


def _parts(value: Any, depth: int) -> Iterable[tuple[int, Any]]:
    yield depth, value
    if isinstance(value, SCALARS):
        return
    for item in value.items() if isinstance(value, dict) else value:
        yield from _parts(item, depth + 1)
