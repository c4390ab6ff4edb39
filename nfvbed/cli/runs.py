"""`nfvbed runs`: what is in the store."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from nfvbed.cli.settings import json_option, open_store, root_option, store_option
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import RunRecord

if TYPE_CHECKING:
    from nfvbed.store import Store

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
        runs = opened.runs()
        states = {run.id: _state(run, opened) for run in runs}
    if as_json:
        click.echo(json.dumps([{**run.model_dump(mode="json"), "state": states[run.id]} for run in runs], indent=2))
        return
    table = Table()
    for heading in ("run", "started (UTC)", "state"):
        table.add_column(heading, no_wrap=True)
    for heading in ("experiment", "reason"):
        table.add_column(heading, overflow="fold")
    for run in runs:
        started = run.started_at[:16].replace("T", " ")
        table.add_row(run.id, started, states[run.id], run.experiment, run.reason.partition("\n")[0])
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPED_WIDTH)
    console.print(table)
    if CRASHED in states.values():
        console.print("a crashed run goes on with: nfvbed run --resume RUN", highlight=False)


def _state(run: RunRecord, store: "Store") -> str:
    """Say how a run ended; one without an end runs as long as somebody writes it."""
    if run.status is not None:
        return run.status.value
    return "running" if store.writer(run.id) else CRASHED
