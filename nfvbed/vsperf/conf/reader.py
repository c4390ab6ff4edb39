"""Finds the files of VSPERF's form, reads them in VSPERF's order, and checks that every name in them is known."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from nfvbed.errors import ConfigurationError
from nfvbed.spec.validate import suggestion
from nfvbed.vsperf.conf.calls import SCALARS
from nfvbed.vsperf.conf.interpreter import Interpreter
from nfvbed.vsperf.conf.names import KNOWN, UNUSED, is_setting
from nfvbed.vsperf.conf.placed import Note, NoteKind, Place, refused
from nfvbed.vsperf.conf.settings import VsperfSettings
from nfvbed.vsperf.conf.testcase import check_parameters, check_traffic, read_test_cases

_FILE: Final = re.compile(r"([0-9]+)([a-z]?)_.*\.conf")
MAX_PARTS: Final = 1_000_000
"""Texts and numbers in all settings together; stock files have some 10,000."""
CHARACTERS: Final = 16
"""Of a text that count as one part."""
MAX_DEPTH: Final = 50


def read_settings(paths: Sequence[Path]) -> VsperfSettings:
    """Read files of VSPERF's form; a later value replaces an earlier one.

    Args:
        paths: files, and folders whose `NN_topic.conf` files are read in the order of NN.

    Raises:
        ConfigurationError: unreadable, a form that is not read, or an unknown name; with file and line.
    """
    reader = Interpreter()
    files: list[Path] = []
    for path in paths:
        for file in _files(path):
            reader.run(file, _text(file))
            files.append(file)
    _check_size(reader)
    for name, place in reader.places.items():
        if is_setting(name) and name not in KNOWN:
            raise refused(
                f"unknown setting {name!r} in {place.path.name}",
                place,
                f"name {name!r}",
                _meant(name) + "; begin the name of a helper of your own with _",
            )
    values = {name: value for name, value in reader.values.items() if name.isupper()}
    check_traffic(values.get("TRAFFIC", {}), reader.places.get("TRAFFIC"))
    check_parameters(values.get("TEST_PARAMS", {}), values, "TEST_PARAMS", reader.places.get("TEST_PARAMS"))
    return VsperfSettings(
        values=values,
        places=reader.places,
        files=tuple(files),
        tests=read_test_cases(values, reader.places),
        notes=tuple(_notes(reader.places)),
    )


def _meant(name: str) -> str:
    alike = [known for known in KNOWN if known[0] == name[0]]
    close = suggestion(name, alike)
    # The list of all names would hide the answer.
    return close.split("?")[0] + "?" if "?" in close else "see VSPERF's conf/*.conf for the names that there are"


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


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        observed = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigurationError(
            f"{path.name} cannot be read", where=str(path), observed=observed or str(error), fix="check name and rights"
        ) from error


def _check_size(reader: Interpreter) -> None:
    """Lists that hold each other many times over are small in memory, and endless to whoever walks through them."""
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


def _notes(places: dict[str, Place]) -> Iterable[Note]:
    for name, place in places.items():
        if name in UNUSED:
            yield Note(NoteKind.UNUSED, name, UNUSED[name], place)
