"""`nfvbed compare`: the variants of one or several runs, in a table."""

import shutil
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from nfvbed.cli.results import comparison_options, load_runs, make_options
from nfvbed.cli.settings import json_option, root_option, store_option
from nfvbed.compare.comparison import compare, require_comparable
from nfvbed.errors import UsageError
from nfvbed.report.export import to_csv, to_json
from nfvbed.report.terminal import render

FILE_WIDTH = 140
"""Columns when the output is no terminal: nothing is folded that a reader of a log would miss."""


@click.command(name="compare")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@comparison_options
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line for each row and ceiling, unrounded.")
@root_option
@store_option
def command(
    runs: tuple[str, ...], as_json: bool, as_csv: bool, root: Path | None, store: str | None, **chosen: Any
) -> None:
    """Compare the variants of RUN (an id, the beginning of one, or `latest`, the default), or of several runs.

    Rates are compared within one placement class, with a test on single trials; limited results count as lower
    bounds. Exit code 40 when nothing can be compared.
    """
    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other", fix="choose one")
    loaded = load_runs(root, store, runs)
    comparison = compare(loaded.data, make_options(loaded, chosen))
    if as_json:
        click.echo(to_json(comparison), nl=False)
    elif as_csv:
        click.echo(to_csv(comparison), nl=False)
    else:
        console = Console(highlight=False)
        width = console.width if console.is_terminal else shutil.get_terminal_size((FILE_WIDTH, 24)).columns
        Console(highlight=False, width=width).print(render(comparison, width))
    require_comparable(comparison)
