"""`nfvbed bundle`: a run as one file that others can check."""

from pathlib import Path

import click

from nfvbed.cli.completion import RUN
from nfvbed.cli.results import selected, simulated_option
from nfvbed.cli.settings import open_store, root_option, store_option
from nfvbed.cli.standard_streams import STANDARD
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import BundleError, UsageError
from nfvbed.wholefile import write_output


@click.command(name="bundle")
@click.argument("run", type=RUN, default="latest")
@click.option("--output", metavar="FILE", help="File to write. Default: nfvbed-RUN.zip in the current folder.")
@click.option(
    "--redact",
    is_flag=True,
    help="Replace names of hosts, users, projects and clouds, addresses, serials, UUIDs; leave labels and notes out.",
)
@click.option(
    "--word", "words", multiple=True, metavar="NAME", help="With --redact: replace this name too. May be given again."
)
@click.option(
    "--sign", metavar="FILE", type=click.Path(path_type=Path), help="Sign it with the private key in FILE (PEM)."
)
@click.option("--dry-run", is_flag=True, help="Only list what would be disclosed.")
@simulated_option
@root_option
@store_option
def command(
    run: str,
    output: str | None,
    redact: bool,
    words: tuple[str, ...],
    sign: Path | None,
    dry_run: bool,
    simulated: bool,
    root: Path | None,
    store: str | None,
) -> None:
    """Write RUN (an id, its first or last digits, a label, or `latest`) as one file that others can check.

    The file has the run with every trial and histogram, its resolved files, versions and host. It has the verdicts with
    the version of their rules, tables and figures, and digests of all of it. What it discloses is listed first.
    `nfvbed verify-bundle FILE` checks it.
    """
    from nfvbed.bundle.making import make, prepare
    from nfvbed.bundle.signing import read_signer
    from nfvbed.bundle.verification import verify
    from nfvbed.store.transfer import export_run

    if words and not redact:
        raise UsageError("--word is what --redact replaces", where="--word", fix="give --redact too")
    if output == STANDARD:
        raise UsageError(
            "a bundle cannot be written to standard output", where="--output", observed=repr(output), fix="name a file"
        )
    signer = read_signer(sign) if sign else None
    with open_store(open_project(root), store) as opened:
        original = export_run(opened, opened.run(run, selected(simulated)))
    prepared = prepare(original, redacted=redact, words=words)
    for line in prepared.disclosed:
        click.echo(line)
    if dry_run:
        return
    made = make(prepared, original, signer)
    for name, reason in made.not_drawn.items():
        click.echo(f"not drawn: {name}: {reason}", err=True)
    place = output or f"nfvbed-{original.run.id}.zip"
    found = verify(made.content, place)
    if not found.is_consistent:
        first = next((f"{fault.where}: {fault.observed}" for fault in found.faults), found.not_recomputed)
        raise BundleError(
            "this run makes no consistent bundle",
            where=f"run {original.run.id}",
            observed=first,
            fix="look at the row that it names: rows were changed outside of nfvbed, or this is a fault of nfvbed",
        )
    write_output(Path(place), made.content, "the bundle")
    click.echo(f"wrote {place}: {len(made.content):,} bytes, {found.trials} trials, {found.verdicts} verdicts")
