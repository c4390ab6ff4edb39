"""`nfvbed report`: one page, tables and figures of a run."""

import json
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.results import chain_options, comparison_options, load_runs
from nfvbed.cli.settings import json_option, root_option, store_option
from nfvbed.compare.comparison import compare
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.report.answer import answer
from nfvbed.report.files import write_report
from nfvbed.report.load import context_of, make_options
from nfvbed.report.wording import SIMULATED_MARK


@click.command(name="report")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write to; files of the same names are replaced. Default: results/reports/RUN in the root.",
)
@click.option("--quiet", is_flag=True, help="Print nothing: `nfvbed compare` then names the page.")
@comparison_options
@chain_options
@json_option
@root_option
@store_option
def command(
    runs: tuple[str, ...],
    output: Path | None,
    quiet: bool,
    as_json: bool,
    root: Path | None,
    store: str | None,
    **chosen: Any,
) -> None:
    """Write the page, CSV, JSON and figures of RUN (an id, the beginning of one, or `latest`, the default).

    The page is one file that opens from disk, without a network. What cannot be compared is shown with the reason.
    """
    loaded = load_runs(root, store, runs)
    comparison = compare(loaded.data, make_options(loaded, chosen))
    folder = output or open_project(root).root / "results" / "reports" / loaded.data[0].run.id
    written = write_report(context_of(loaded, comparison), folder)
    said = answer(comparison)
    if as_json:
        click.echo(json.dumps({"answer": said.headline, "files": [str(path) for path in written]}, indent=2))
        return
    if quiet:
        return
    if comparison.simulated:
        click.echo(SIMULATED_MARK)
    click.echo(said.headline)
    click.echo(f"page: {written[0]}")
    click.echo(f"beside it: {', '.join(str(path.relative_to(folder)) for path in written[1:])}")
