"""The verbs as a shell completes them: their parameters, written down, so that nothing of a verb is imported.

`make reference` writes `verbs.json` from the verbs themselves.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from nfvbed.cli.completion import FrameSizes, NameType

FILE: Final = Path(__file__).with_name("verbs.json")
_PATH: Final = re.compile(r"\b(FILE|DIR)\b")
"""In a metavar: the value is a path."""


def describe(command: click.Command) -> dict[str, Any]:
    """Return what a shell has to know of a verb, for JSON."""
    found: dict[str, Any] = {"help": command.get_short_help_str(100)}
    if isinstance(command, click.Group):
        found["verbs"] = {name: describe(below) for name, below in sorted(command.commands.items())}
    found["parameters"] = [_described(parameter) for parameter in command.params]
    return found


def outlined(verb: str, text: str) -> click.Command | None:
    """Return a verb that can be completed but not called; None: its outline is not written down.

    Args:
        text: one line of help.
    """
    try:
        verbs = json.loads(FILE.read_text())
    except (OSError, ValueError):
        return None
    return _command(verb, {**verbs[verb], "help": text}) if verb in verbs else None


def _described(parameter: click.Parameter) -> dict[str, Any]:
    found: dict[str, Any] = {"name": parameter.name, **_type_of(parameter)}
    if parameter.nargs != 1:
        found["nargs"] = parameter.nargs
    if isinstance(parameter, click.Option):
        found["opts"] = ["/".join((parameter.opts[-1], *parameter.secondary_opts)), *parameter.opts[:-1]]
        found["help"] = parameter.help or ""
        found |= {"flag": True} if parameter.is_flag else {}
        found |= {"multiple": True} if parameter.multiple else {}
        # `--resume` alone means something, and so does `--resume RUN`.
        found |= {"alone": True} if not parameter.is_flag and isinstance(parameter.flag_value, str) else {}
    return found


def _type_of(parameter: click.Parameter) -> dict[str, Any]:
    match parameter.type:
        case NameType(kind=kind):
            return {"names": kind}
        case FrameSizes():
            return {"names": "bytes"}
        case click.Choice(choices=choices):
            return {"choices": [str(getattr(choice, "value", choice)) for choice in choices]}
        case click.Path(file_okay=file_okay):
            return {"path": "file" if file_okay else "dir"}
    found = _PATH.search(parameter.metavar or "")
    return {"path": found[0].lower()} if found else {}


def _command(name: str, written: Mapping[str, Any]) -> click.Command:
    parameters = [_parameter(one) for one in written["parameters"]]
    if "verbs" not in written:
        return click.Command(name, params=parameters, help=written["help"])
    below = {verb: _command(verb, one) for verb, one in written["verbs"].items()}
    return click.Group(name, commands=below, params=parameters, help=written["help"])


def _parameter(written: Mapping[str, Any]) -> click.Parameter:
    kind, nargs = _type(written), written.get("nargs", 1)
    if "opts" not in written:
        return click.Argument([written["name"]], type=kind, nargs=nargs, required=False)
    words = [written["name"], *written["opts"]]
    if "flag" in written:
        return click.Option(words, is_flag=True, help=written["help"])
    if "alone" in written:
        return click.Option(words, type=kind, is_flag=False, flag_value="", help=written["help"])
    return click.Option(words, type=kind, nargs=nargs, multiple="multiple" in written, help=written["help"])


def _type(written: Mapping[str, Any]) -> Any:
    if "names" in written:
        return NameType(written["names"])
    if "choices" in written:
        return click.Choice(written["choices"])
    if "path" in written:
        return click.Path(file_okay=written["path"] == "file")
    return click.STRING
