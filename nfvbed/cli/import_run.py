"""`nfvbed import`: an exported run into this store."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfvbed.cli.settings import open_store, root_option, store_option
from nfvbed.cli.standard_streams import STANDARD
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.spec.textfile import decoded, read_stream, read_text

if TYPE_CHECKING:
    from nfvbed.store.transfer import RunDocument

MOST_BYTES = 128 * 2**20
"""The largest file that is read as an exported run; one with a thousand trials has some 10 MB."""


@click.command(name="import")
@click.argument("file", type=click.Path(allow_dash=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Only check the file.")
@root_option
@store_option
def command(file: Path, dry_run: bool, root: Path | None, store: str | None) -> None:
    """Put the run in FILE, which `nfvbed export` or `nfvbed bundle` wrote, into the store; -: from standard input.

    A bundle is checked first, as `nfvbed verify-bundle` does.
    """
    from nfvbed.bundle.archive import is_bundle
    from nfvbed.store.transfer import EXPORTED, import_run, read_run

    if str(file) == STANDARD:
        content = read_stream(sys.stdin.buffer, "standard input", EXPORTED, MOST_BYTES)
        document = read_run(decoded(content, "standard input", EXPORTED), "standard input")
    elif is_bundle(file):
        document = _of_bundle(file)
    else:
        document = read_run(read_text(file, EXPORTED, MOST_BYTES), str(file))
    reported = f"run {document.run.id} ({document.run.experiment}): {len(document.trials)} trials"
    if dry_run:
        click.echo(f"would import {reported}")
        return
    with open_store(open_project(root), store, read_only=False) as opened:
        shared = import_run(opened, document)
    click.echo(f"imported {reported}")
    if shared:
        click.echo(f"its label is that of run {', '.join(shared)} too: name both by their ids, or label one anew")


def _of_bundle(file: Path) -> "RunDocument":
    from nfvbed.bundle.opening import read_bundle, require_consistent

    checked = read_bundle(file)
    require_consistent(checked.verification, str(file))
    assert checked.document is not None
    return checked.document
