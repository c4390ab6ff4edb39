"""`nfvbed verify-bundle`: whether a bundle is consistent, and whose signature it has."""

import json
from pathlib import Path

import click

from nfvbed.cli.settings import json_option
from nfvbed.errors import BundleError, PrerequisiteError

_SHOWN = 10
"""Faults that are shown; the message says how many there are."""


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
@json_option
def command(file: Path, keys: tuple[Path, ...], as_json: bool) -> None:
    """Check the bundle FILE: digests, schema, and every verdict, recomputed from the raw trials. No network is used.

    It says whether the bundle is consistent, and whether it is signed by a key you trust, by an unknown key, or not.
    Consistent means that the verdicts follow from the trials, not that the trials happened: for that you have the word
    of who signed. Exit code 31: inconsistent, or not signed by a key of --trust.
    """
    from nfvbed.bundle.archive import MOST_BYTES
    from nfvbed.bundle.signing import read_trusted
    from nfvbed.bundle.statement import Signature
    from nfvbed.bundle.verification import verify
    from nfvbed.spec.textfile import read_bytes

    trusted = read_trusted(keys)
    found = verify(read_bytes(file, "give a file that `nfvbed bundle` wrote", MOST_BYTES), str(file), trusted)
    if as_json:
        click.echo(json.dumps(found.model_dump(mode="json") | {"is_consistent": found.is_consistent}, indent=2))
    elif found.is_consistent:
        key = f": {found.keyid}" if found.keyid else ""
        click.echo("consistent: the verdicts follow from the trials (which says nothing on whether those happened)")
        click.echo(f"{found.signature.value}{key}")
        click.echo(f"run {found.run}, experiment {found.experiment}, made by nfvbed {found.nfvbed} at {found.made_at}")
        redacted = "redacted" if found.redacted else "not redacted"
        click.echo(f"{found.files} files, {found.trials} trials, {found.verdicts} verdicts recomputed; {redacted}")
        if found.by_digest_alone:
            click.echo(f"by digest alone, not drawn again: {len(found.by_digest_alone)} pictures")
    if found.faults:
        raise BundleError(
            "this bundle is not consistent",
            where=found.faults[0].where,
            observed="; ".join(
                (found.faults[0].observed, *(f"{fault.where}: {fault.observed}" for fault in found.faults[1:_SHOWN]))
            )
            + (f"; {len(found.faults)} faults in all" if len(found.faults) > _SHOWN else ""),
            fix="do not rest on it; have it sent again by who measured",
        )
    if found.not_recomputed:
        raise PrerequisiteError(
            "its digests are right; its verdicts were not recomputed",
            where=str(file),
            observed=found.not_recomputed,
            fix=f"check it with nfvbed {found.nfvbed}",
        )
    if keys and found.signature is not Signature.TRUSTED:
        raise BundleError(
            "this bundle is consistent, and not signed by a key you trust",
            where=str(file),
            observed=f"{found.signature.value}{f': {found.keyid}' if found.keyid else ''}",
            fix="ask who gave it to you for their public key, by another way than the bundle came",
        )
