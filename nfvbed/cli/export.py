"""`nfvbed export`: a run as one JSON document or as rows of VSPERF's; all runs as a store, or for Prometheus."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from nfvbed.characters import shown
from nfvbed.cli.completion import RUN
from nfvbed.cli.results import load_runs, selected, simulated_option
from nfvbed.cli.settings import open_store, root_option, store_option
from nfvbed.cli.standard_streams import STANDARD
from nfvbed.cli.vsperf_options import VSPERF
from nfvbed.compare.verdict import Rules
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.records.selection import EVERY, OmittedRuns
from nfvbed.report.load import make_options
from nfvbed.spec.below import below
from nfvbed.store.views import views_text
from nfvbed.wholefile import not_written, write_output

JSON = "json"
SQLITE = "sqlite"
VSPERF_CSV = "vsperf-csv"
CSIT_UTI = "csit-uti"
OPENMETRICS = "openmetrics"
SQL_VIEWS = "sql-views"


@click.command(name="export")
@click.argument("run", type=RUN, default="latest")
@click.option(
    "--format",
    "form",
    type=click.Choice([JSON, VSPERF_CSV, CSIT_UTI, SQLITE, OPENMETRICS, SQL_VIEWS]),
    default=JSON,
    show_default=True,
    help="json: the whole run, for `nfvbed import`; vsperf-csv: its rows in the columns of VSPERF's result files; "
    "csit-uti: a folder of test cases as CSIT's model 1.5.1 has them; sqlite: a copy of all runs, for others to read "
    "with --store; openmetrics: the figures of all runs, or of RUN, with the times when they began, for Prometheus; "
    "sql-views: no results, but the statements that make views of a store in a connection of one's own.",
)
@click.option("--output", metavar="FILE", help="File to write, of csit-uti a folder. Default, and -: standard output.")
@simulated_option
@root_option
@store_option
def command(run: str, form: str, output: str | None, simulated: bool, root: Path | None, store: str | None) -> None:
    """Write RUN (an id, its first or last digits, a label, or `latest`) with all that it refers to.

    As JSON it has what people said of it too: label, note, whether it is hidden, and acknowledged steps. What was in
    FILE before is replaced by the whole of it, or stays.
    """
    if form == SQLITE:
        _copy(output, root, store)
        return
    if form == SQL_VIEWS:
        _write(views_text(), output)
        return
    if form == CSIT_UTI:
        _csit_uti(run, output, simulated, root, store)
        return
    if form == OPENMETRICS:
        _write(_openmetrics(run, simulated, root, store), output)
        return
    _write(shown((_json if form == JSON else _vsperf_csv)(run, simulated, root, store)), output)


def _write(text: str, output: str | None) -> None:
    if output is None or output == STANDARD:
        click.echo(text, nl=False)
        return
    write_output(Path(output), text, "the export")
    click.echo(f"wrote {output}")


def _copy(output: str | None, root: Path | None, store: str | None) -> None:
    if _is_named():
        raise UsageError("a copy has all runs", where="--format sqlite", fix="leave RUN out, or export it as JSON")
    if output is None or output == STANDARD:
        raise UsageError("a copy of the results is a file", where="--format sqlite", fix="name it with --output")
    with open_store(open_project(root), store) as opened:
        opened.copy_to(Path(output))
    click.echo(f"wrote {output}")


def _csit_uti(run: str, output: str | None, simulated: bool, root: Path | None, store: str | None) -> None:
    from nfvbed.compare.comparison import compare
    from nfvbed.foreign.csitwriting import to_uti

    if output is None or output == STANDARD:
        raise UsageError("test cases of CSIT are files", where="--format csit-uti", fix="name a folder with --output")
    loaded = load_runs(root, store, (run,), simulated)
    chosen = {"baseline": None, "placement_class": "auto", "needed": None, "margin": Rules().margin}
    versions = {digest: _versions(value) for digest, value in loaded.variants.items()}
    made = to_uti(compare(loaded.data, make_options(loaded, chosen)), loaded.data[0], versions)
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written("the export", error, "name another folder with --output") from error
    for name, document in made.items():
        write_output(below(folder, name), json.dumps(document, indent=2) + "\n", "the export")
    click.echo(f"wrote {len(made)} test cases to {folder}")


def _versions(variant: Mapping[str, Any]) -> str:
    versions = variant.get("versions")
    return ", ".join(f"{name} {version}" for name, version in versions.items()) if isinstance(versions, dict) else ""


def _is_named() -> bool:
    return click.get_current_context().get_parameter_source("run") is not ParameterSource.DEFAULT


def _openmetrics(run: str, simulated: bool, root: Path | None, store: str | None) -> str:
    from nfvbed.report.history import History
    from nfvbed.report.openmetrics import history_text

    with open_store(open_project(root), store) as opened:
        wanted = opened.run(run, selected(simulated)).id if _is_named() else None
        meant = EVERY if wanted else selected(simulated)
        found = [entry for entry in History(opened, meant).measured(most=None) if wanted in (None, entry.run)]
        others = OmittedRuns() if found or simulated else opened.left_out()
    if not found:
        raise UsageError(
            "there is nothing to export",
            observed=f"no ended run with a figure{f'; not looked at: {others.words}' if others else ''}",
            fix="nfvbed runs lists what is stored",
        )
    return history_text(found)


def _json(run: str, simulated: bool, root: Path | None, store: str | None) -> str:
    from nfvbed.store.transfer import export_run

    with open_store(open_project(root), store) as opened:
        return export_run(opened, opened.run(run, selected(simulated))).model_dump_json(indent=2) + "\n"


def _vsperf_csv(run: str, simulated: bool, root: Path | None, store: str | None) -> str:
    from nfvbed.compare.comparison import compare
    from nfvbed.vsperf.export.rows import to_vsperf_csv

    loaded = load_runs(root, store, (run,), simulated)
    if loaded.data[0].run.site == VSPERF:
        raise UsageError(
            "this run is VSPERF's own",
            observed=f"run {loaded.data[0].run.id} has no rows of nfvbed",
            fix="take the file that VSPERF wrote, below results/vsperf, or from `nfvbed export` as JSON (facts)",
        )
    chosen = {"baseline": None, "placement_class": "auto", "needed": None, "margin": Rules().margin}
    return to_vsperf_csv(compare(loaded.data, make_options(loaded, chosen)), loaded.data)
