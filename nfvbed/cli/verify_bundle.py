"""`nfvbed verify-bundle`: whether a bundle is consistent, and whose signature it has."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfvbed.cli.settings import json_option
from nfvbed.errors import UsageError

if TYPE_CHECKING:
    from nfvbed.bundle.verification import CheckedBundle, Verification


@click.command(name="verify-bundle")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--trust",
    "keys",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Public key (PEM) that you trust; without its signature the exit code is 31. May be given again.",
)
@click.option("--row", is_flag=True, help="Print its rows of docs/evidence/hardware.md instead.")
@json_option
def command(file: Path, keys: tuple[Path, ...], row: bool, as_json: bool) -> None:
    """Check the bundle FILE: digests, schema, and every verdict, recomputed from the raw trials. No network is used.

    It says whether the bundle is consistent, and whether it is signed by a key you trust, by an unknown key, or not.
    Consistent means that the verdicts follow from the trials, not that the trials happened: for that you have the word
    of who signed. Exit code 31: inconsistent, or not signed by a key of --trust.
    """
    from nfvbed.bundle.opening import read_bundle, require_consistent, require_trusted
    from nfvbed.bundle.signing import read_trusted

    checked = read_bundle(file, read_trusted(keys))
    found = checked.verification
    if as_json:
        click.echo(json.dumps(found.model_dump(mode="json") | {"is_consistent": found.is_consistent}, indent=2))
    elif found.is_consistent and not row:
        _show(found)
    require_consistent(found, str(file))
    if keys:
        require_trusted(found, str(file))
    if row:
        _show_rows(checked, file)


def _show(found: "Verification") -> None:
    key = f": {found.keyid}" if found.keyid else ""
    redacted = "redacted" if found.redacted else "not redacted"
    click.echo("consistent: the verdicts follow from the trials (which says nothing on whether those happened)")
    click.echo(f"{found.signature.value}{key}")
    click.echo(f"run {found.run}, experiment {found.experiment}, made by nfvbed {found.nfvbed} at {found.made_at}")
    click.echo(f"{found.files} files, {found.trials} trials, {found.verdicts} verdicts recomputed; {redacted}")
    if found.by_digest_alone:
        click.echo(f"by digest alone, not drawn again: {len(found.by_digest_alone)} pictures")


def _show_rows(checked: "CheckedBundle", file: Path) -> None:
    from nfvbed.bundle.hardware import HEAD, rows_of

    assert checked.document is not None and checked.comparison is not None
    rows = rows_of(checked.document, checked.comparison, checked.content)
    if not rows:
        raise UsageError(
            "this bundle has no row for docs/evidence/hardware.md",
            where=str(file),
            observed="nothing in it was measured on the ports of NICs",
            fix="measure a variant on NICs: make hardware (docs/howto/nics.md)",
        )
    for line in (HEAD, *rows):
        click.echo(line)
