"""`nfvbed compare`: the variants of one or several runs, on one screen or in full."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.completion import RUN
from nfvbed.cli.console import Console
from nfvbed.cli.listing import Output, listing_options
from nfvbed.cli.published import show_published
from nfvbed.cli.results import (
    ComparedRuns,
    chain_options,
    compare_runs,
    comparison_options,
    simulated_option,
    text_width,
)
from nfvbed.cli.settings import root_option, store_option
from nfvbed.cli.standard_streams import STANDARD
from nfvbed.compare.comparison import Comparison, require_comparable
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.report.csv.export import COLUMNS, rows_of, to_csv, to_document
from nfvbed.report.handover import to_junit, to_markdown
from nfvbed.report.load import LoadedRuns
from nfvbed.report.onboarding import lines as onboarding_lines
from nfvbed.report.page.head import machine
from nfvbed.report.terminal.screen import WIDTH, ScreenContext, screen
from nfvbed.report.terminal.table import render
from nfvbed.spec.below import below
from nfvbed.wholefile import write_output

FILE_WIDTH = 140
"""Columns of the details when the output is no terminal: nothing is folded that a reader of a log would miss."""


@click.command(name="compare")
@click.argument("runs", nargs=-1, type=RUN, metavar="[RUN]...")
@comparison_options
@chain_options
@simulated_option
@click.option("--details", is_flag=True, help="Print all columns, limits, warnings with advice, and tests.")
@click.option(
    "--published",
    is_flag=True,
    help="Print published results beside those of these runs, or of the whole store, with verdicts on the claims.",
)
@listing_options(*COLUMNS)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a line for each row and ceiling, unrounded.")
@click.option("--junit", metavar="FILE", help="Write a case of JUnit's for each row too. -: print it instead.")
@click.option("--markdown", metavar="FILE", help="Write answer and rows as Markdown too. -: print it instead.")
@root_option
@store_option
def command(
    runs: tuple[str, ...],
    simulated: bool,
    details: bool,
    published: bool,
    output: Output,
    as_csv: bool,
    junit: str | None,
    markdown: str | None,
    root: Path | None,
    store: str | None,
    **chosen: Any,
) -> None:
    """Compare the variants of RUN (an id, its first or last digits, a label, or `latest`), or of several runs.

    Without RUN: of the newest run that has an answer; what is newer and has none is named. Simulated and hidden runs
    are taken where they are asked for, and simulated ones are never compared with others.

    Rates are compared round by round, by an exact test on their ratios; limited results count as lower bounds. One
    screen: each row with its rate and verdict, warnings once, and the answer; all else is behind --details and on the
    page of `nfvbed report`. Exit code 40 when nothing can be compared.
    """
    if as_csv and output.asked:
        raise UsageError(f"--csv and {output.asked} exclude each other", fix="choose one")
    if published:
        if as_csv or output.asked or details:
            fix = "leave out how it is listed; the dashboard has published figures as JSON and CSV"
            raise UsageError("--published is a page of its own", fix=fix)
        show_published(root, store, runs)
        return
    found = compare_runs(root, store, runs, simulated, chosen)
    loaded, comparison = found.loaded, found.comparison

    if STANDARD in (junit, markdown) and (as_csv or output.asked):
        raise UsageError(f"{output.asked or '--csv'} and what is printed with - exclude each other", fix="name a file")
    if _hand_over(comparison, junit, markdown):
        require_comparable(comparison)
        return

    def as_text() -> None:
        if as_csv:
            click.echo(to_csv(comparison), nl=False)
        else:
            _print(found, about(loaded, open_project(root).root, runs), details=details)

    output.show(lambda: rows_of(comparison), lambda: to_document(comparison), as_text)
    require_comparable(comparison)


def _hand_over(comparison: Comparison, junit: str | None, markdown: str | None) -> bool:
    """Write the files of `--junit` and `--markdown`, and return whether one was printed in place of the screen.

    Raises:
        UsageError: both are to be printed.
        StoreError: a file cannot be written.
    """
    if junit == markdown == STANDARD:
        raise UsageError("--junit and --markdown cannot both be printed", fix="name a file for one of them")
    for file, text, option in ((junit, to_junit, "--junit"), (markdown, to_markdown, "--markdown")):
        if file == STANDARD:
            click.echo(text(comparison), nl=False)
        elif file is not None:
            write_output(Path(file), text(comparison), "the comparison", f"name another file with {option}")
    return STANDARD in (junit, markdown)


def _print(found: ComparedRuns, around: ScreenContext, *, details: bool) -> None:
    loaded, comparison = found.loaded, found.comparison
    if details:
        width = text_width(FILE_WIDTH)
        console = Console(highlight=False, width=width)
        console.print(render(comparison, width))
        for line in onboarding_lines(loaded.facts):
            console.print(line, soft_wrap=True, markup=False)
    else:
        for note in found.notes:
            Console(highlight=False).print(note, style="yellow", soft_wrap=True)
        _print_screen(comparison, around, min(WIDTH, text_width(WIDTH)))


def _print_screen(comparison: Comparison, around: ScreenContext, width: int) -> None:
    console = Console(highlight=False, width=width)
    for line in screen(comparison, around, width):
        # A path or a name that is wider than the terminal stays in one piece.
        console.print(line, soft_wrap=True)


def about(loaded: LoadedRuns, root: Path, names: Sequence[str]) -> ScreenContext:
    """Return what was compared, on which machines, and where its page is, if it is written.

    Args:
        names: names as they were given; none: the run was chosen.
    """
    run = loaded.data[0].run
    page = below(root / "results" / "reports", run.id) / "index.html"
    near = page.relative_to(Path.cwd()) if page.is_relative_to(Path.cwd()) else page
    hosts = {entry.run.host_hash: entry.host for entry in loaded.data}
    return ScreenContext(
        title=loaded.title or run.experiment,
        machines=tuple(dict.fromkeys(text for host in hosts.values() if host and (text := machine(host)))),
        page=str(near) if page.is_file() else "",
        named=shlex.join(names),
    )
