"""`nfvbed runs`: what is in the store."""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from nfvbed.cli.settings import json_option, open_store, root_option, store_option
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import RunRecord

CRASHED = "crashed"
PIPED_WIDTH = 140
"""Columns where there is no terminal to ask."""


@click.command(name="runs")
@root_option
@store_option
@json_option
def command(root: Path | None, store: str | None, as_json: bool) -> None:
    """List all runs, newest first, with how they ended."""
    with open_store(open_project(root), store) as opened:
        runs, alive = opened.runs(), opened.writer() is not None
    if as_json:
        click.echo(json.dumps([{**run.model_dump(mode="json"), "state": _state(run, alive)} for run in runs], indent=2))
        return
    table = Table()
    for heading in ("run", "started (UTC)", "state"):
        table.add_column(heading, no_wrap=True)
    for heading in ("experiment", "reason"):
        table.add_column(heading, overflow="fold")
    for run in runs:
        started = run.started_at[:16].replace("T", " ")
        table.add_row(run.id, started, _state(run, alive), run.experiment, run.reason.partition("\n")[0])
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPED_WIDTH)
    console.print(table)
    if any(_state(run, alive) == CRASHED for run in runs):
        console.print("a crashed run goes on with: nfvbed run --resume RUN", highlight=False)


def _state(run: RunRecord, alive: bool) -> str:
    """Say how a run ended; one without an end runs as long as somebody writes to the store."""
    if run.status is not None:
        return run.status.value
    return "running" if alive else CRASHED
