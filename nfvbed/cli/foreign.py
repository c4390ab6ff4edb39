"""`nfvbed foreign`: results of CSIT, NFVbench and VSPERF, as they reported them."""

import csv
import io
import json
from pathlib import Path

import click
from rich.table import Table

from nfvbed.characters import guarded
from nfvbed.cli.console import Console
from nfvbed.cli.settings import json_option
from nfvbed.errors import UsageError


@click.command(name="foreign")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead: a line for each number, unrounded.")
def command(files: tuple[Path, ...], as_json: bool, as_csv: bool) -> None:
    """Show the numbers in each FILE, with their source: what others measured, in one table.

    FILE is a test case's output of FD.io CSIT (UTI, model 1.5.1), a JSON result of NFVbench, or a result_*.csv of
    VSPERF. They are put into no store, compared with nothing and have no verdict: they were not measured in turn with
    anything of nfvbed's.
    """
    from nfvbed.foreign.reading import read_foreign
    from nfvbed.foreign.records import UNPAIRED, ForeignResult

    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other", fix="choose one")
    found = [result for file in files for result in read_foreign(file)]
    if as_json:
        document = {"unpaired": UNPAIRED, "results": [result.model_dump(mode="json") for result in found]}
        click.echo(json.dumps(document, indent=2))
        return
    if as_csv:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(ForeignResult.model_fields), lineterminator="\n")
        writer.writeheader()
        for result in found:
            writer.writerow({name: guarded(value) for name, value in result.model_dump(mode="json").items()})
        click.echo(text.getvalue(), nl=False)
        return
    table = Table("tool", "test")
    for name in ("frames", "quantity", "value"):
        table.add_column(name, no_wrap=True, justify="right" if name == "value" else "left")
    table.add_column("remark")
    for one in found:
        value = f"{one.value:,.0f} {one.unit}"
        table.add_row(f"{one.tool.value} {one.tool_version}", one.test, one.frame_size, one.quantity, value, one.remark)
    console = Console(highlight=False)
    console.print(table)
    console.print(UNPAIRED, soft_wrap=True)
