"""`nfvbed explain`: one row taken apart, trial by trial."""

from pathlib import Path
from typing import Any

import click

from nfvbed.cli.completion import CELL, RUN
from nfvbed.cli.console import Console
from nfvbed.cli.results import comparison_options, load_runs, simulated_option, text_width
from nfvbed.cli.settings import json_option, root_option, store_option
from nfvbed.compare.explain import explain
from nfvbed.report.load import make_options
from nfvbed.report.terminal.explained import explained
from nfvbed.report.terminal.screen import WIDTH


@click.command(name="explain")
@click.argument("run", type=RUN)
@click.argument("cell", type=CELL)
@simulated_option
@comparison_options
@json_option
@root_option
@store_option
def command(
    run: str, cell: str, simulated: bool, as_json: bool, root: Path | None, store: str | None, **chosen: Any
) -> None:
    """Explain a row of RUN: each trial of CELL, and what it was used for.

    RUN is an id, its first or last digits, a label, or `latest`.

    CELL is a name as in `nfvbed runs` and in the JSON of a comparison (`ovs-dpdk/p2p/64`), or the unique end of one.
    Visits, rate, limits and verdict follow the trials.
    """
    loaded = load_runs(root, store, (run,), simulated)
    found = explain(loaded.data, cell, make_options(loaded, chosen))
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    width = text_width(WIDTH)
    console = Console(highlight=False, width=width)
    for line in explained(found, width):
        console.print(line, soft_wrap=True)
