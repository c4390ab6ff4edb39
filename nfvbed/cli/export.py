"""`nfvbed export`: a run as one JSON document."""

from pathlib import Path

import click

from nfvbed.cli.settings import open_store, root_option, store_option
from nfvbed.errors import StoreError
from nfvbed.spec.loader import Project


@click.command(name="export")
@click.argument("run", default="latest")
@click.option("--output", type=click.Path(path_type=Path), help="File to write. Default: standard output.")
@root_option
@store_option
def command(run: str, output: Path | None, root: Path | None, store: str | None) -> None:
    """Write RUN (its id, the beginning of it, or `latest`) with all that it refers to."""
    from nfvbed.store.transfer import export_run

    with open_store(Project(root), store) as opened:
        text = export_run(opened, opened.run(run)).model_dump_json(indent=2)
    if output is None:
        click.echo(text)
        return
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(
            "the export could not be written",
            where=str(output),
            observed=error.strerror or str(error),
            fix="name another file with --output",
        ) from error
    click.echo(f"wrote {output}")
