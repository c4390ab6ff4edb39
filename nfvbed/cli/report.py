"""`nfvbed report`: one page, tables and figures of a run."""

import json
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.completion import RUN
from nfvbed.cli.results import chain_options, compare_runs, comparison_options, simulated_option
from nfvbed.cli.settings import json_option, root_option, store_option
from nfvbed.cli.standard_streams import require_folder
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.report.answer import answer
from nfvbed.report.files import write_report
from nfvbed.report.load import context_of
from nfvbed.report.wording import SIMULATED_MARK
from nfvbed.spec.below import below


@click.command(name="report")
@click.argument("runs", nargs=-1, type=RUN, metavar="[RUN]...")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write to; files of the same names are replaced. Default: results/reports/RUN in the root.",
)
@click.option("--quiet", is_flag=True, help="Print nothing: `nfvbed compare` then names the page.")
@simulated_option
@comparison_options
@chain_options
@json_option
@root_option
@store_option
def command(
    runs: tuple[str, ...],
    simulated: bool,
    output: Path | None,
    quiet: bool,
    as_json: bool,
    root: Path | None,
    store: str | None,
    **chosen: Any,
) -> None:
    """Write the page, CSV, JSON and figures of RUN (an id, its first or last digits, a label, or `latest`).

    Without RUN: of the newest run that has an answer; what is newer and has none is named.
    The page is one file that opens from disk, without a network. What cannot be compared is shown with the reason.
    """
    if output is not None:
        require_folder(output)
    found = compare_runs(root, store, runs, simulated, chosen)
    loaded, comparison = found.loaded, found.comparison
    folder = output or below(open_project(root).root / "results" / "reports", loaded.data[0].run.id)
    written = write_report(context_of(loaded, comparison), folder)
    said = answer(comparison)
    lacking = {"not_drawn": written.not_drawn} if written.not_drawn else {}
    if as_json:
        click.echo(
            json.dumps({"answer": said.headline, "files": [str(path) for path in written.files]} | lacking, indent=2)
        )
        return
    for name, reason in written.not_drawn.items():
        click.echo(f"not drawn: {name}: {reason}", err=True)
    if quiet:
        return
    for note in found.notes:
        click.echo(note)
    if comparison.simulated:
        click.echo(SIMULATED_MARK)
    click.echo(said.headline)
    click.echo(f"page: {written.files[0]}")
    click.echo(f"beside it: {', '.join(str(path.relative_to(folder)) for path in written.files[1:])}")
