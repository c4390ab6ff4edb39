"""`nfvbed runs`: what is in the store."""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from nfvbed.cli.settings import json_option, open_store, root_option, store_option
from nfvbed.records import RunRecord
from nfvbed.spec.loader import Project


@click.command(name="runs")
@root_option
@store_option
@json_option
def command(root: Path | None, store: str | None, as_json: bool) -> None:
    """List all runs, newest first, with how they ended."""
    with open_store(Project(root), store) as opened:
        runs, alive = opened.runs(), opened.writer() is not None
    if as_json:
        click.echo(json.dumps([run.model_dump(mode="json") for run in runs], indent=2))
        return
    table = Table()
    table.add_column("run", no_wrap=True)
    for heading in ("experiment", "site", "started (UTC)", "status", "reason"):
        table.add_column(heading)
    for run in runs:
        table.add_row(run.id, run.experiment, run.site, run.started_at[:19], _status(run, alive), run.reason)
    Console().print(table)


def _status(run: RunRecord, alive: bool) -> str:
    if run.status is not None:
        return run.status.value
    return "running" if alive else "crashed; nfvbed run --resume"
