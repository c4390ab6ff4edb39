"""Options that put other values in the place of an experiment's; they pass the same checks as the file."""

from collections.abc import Callable
from typing import Any, TypeVar

import click
import yaml

from nfvbed.cli.completion import FRAME_SIZE, SITE, TOPOLOGY, VARIANT
from nfvbed.spec import boundedyaml
from nfvbed.spec.document import is_misread

Function = TypeVar("Function", bound=Callable[..., Any])

KEYS = {
    "site": "site",
    "variant": "variants",
    "frame_size": "frame_sizes",
    "topology": "topologies",
    "purpose": "purpose",
    "look": "repetitions.looks",
    "repetitions": "repetitions.needed",
    "max_rounds": "repetitions.max_rounds",
    "time_limit": "repetitions.time_limit_s",
    "budget": "repetitions.budget_s",
    "flows": "traffic.flows",
    "quick": "quick",
}
"""Parameter: the key of the experiment that it replaces."""


def override_options(function: Function) -> Function:
    """Add the options; their parameters are collected by `collect`."""
    options = (
        click.option(
            "--site", type=SITE, metavar="NAME", help="Site: a name in deploy/sites. Default: the experiment's."
        ),
        click.option("--variant", type=VARIANT, multiple=True, metavar="NAME", help="Only this variant; repeatable."),
        click.option(
            "--frame-size",
            type=FRAME_SIZE,
            multiple=True,
            metavar="BYTES|imix",
            help="Only this frame size; repeatable.",
        ),
        click.option(
            "--topology", type=TOPOLOGY, multiple=True, metavar="NAME", help="Only this topology; repeatable."
        ),
        click.option(
            "--purpose",
            type=click.Choice(["compare", "survey"]),
            help="compare: rounds until verdicts are decided; survey: a few rounds, and no verdicts.",
        ),
        click.option(
            "--look",
            multiple=True,
            type=int,
            metavar="ROUNDS",
            help="Rounds after which verdicts are looked at; repeatable.",
        ),
        click.option(
            "--repetitions", type=int, help="Rounds of a survey, and repetitions of a test in one placement class."
        ),
        click.option("--max-rounds", type=int, help="Rounds after which to stop, whatever is missing."),
        click.option("--time-limit", type=float, metavar="S", help="No new round starts after so many seconds."),
        click.option(
            "--budget", type=float, metavar="S", help="End within so many seconds; what does not fit is blocked."
        ),
        click.option("--flows", type=int, help="Flows per direction."),
        click.option(
            "--quick",
            is_flag=True,
            default=None,
            help="The experiment's quick form, if it has one; searches take their quick presets, for laptops.",
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="KEY=VALUE",
            help="Any key of the experiment, dotted: trials.mrr_duration_s=1; repeatable.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def collect(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the experiment's keys with the values of the options that were given."""
    values: dict[str, Any] = {}
    for parameter, key in KEYS.items():
        value = parameters.get(parameter)
        if value is None or value == ():
            continue
        values[key] = [_size(size) for size in value] if parameter == "frame_size" else value
    for setting in parameters.get("settings", ()):
        key, separator, text = setting.partition("=")
        if not separator or not key:
            raise click.BadParameter(f"{setting!r} is not KEY=VALUE", param_hint="--set")
        values[key] = _yaml(setting, text)
    return values


def _yaml(setting: str, text: str) -> Any:
    if is_misread(text.strip()):
        fix = "write it in quotes within the shell's, KEY='\"VALUE\"', or without the leading zero"
        raise click.BadParameter(f"YAML reads the value of {setting!r} to another base; {fix}", param_hint="--set")
    try:
        return boundedyaml.load(text)
    except yaml.YAMLError as error:
        raise click.BadParameter(f"the value of {setting!r} is not YAML", param_hint="--set") from error


def _size(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text
