"""`nfvbed diff`: before and after of one variant, a verdict for each traffic point."""

from pathlib import Path

import click

from nfvbed.cli.completion import RUN
from nfvbed.cli.console import Console
from nfvbed.cli.results import selected, simulated_option, text_width
from nfvbed.cli.settings import json_option, open_store, root_option, store_option
from nfvbed.compare.verdict import Rules
from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.errors import NotComparableError
from nfvbed.report.diff import MEASURE_BOTH, NONE_COMPARABLE, read_diff
from nfvbed.report.sides import find_sides
from nfvbed.report.terminal.diff import diff_screen
from nfvbed.report.terminal.screen import WIDTH


@click.command(name="diff")
@click.argument("before", type=RUN)
@click.argument("after", type=RUN)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=Rules().margin,
    show_default=True,
    metavar="PART",
    help="Ratios this near to 1 count as the same.",
)
@simulated_option
@json_option
@root_option
@store_option
def command(
    before: str, after: str, margin: float, simulated: bool, as_json: bool, root: Path | None, store: str | None
) -> None:
    """Show what changed from BEFORE to AFTER: of one variant, a verdict for each traffic point.

    A side is RUN (an id, its first or last digits, a label, or `latest`) or RUN:VARIANT. It may also be a variant or
    altered variant, or options: KEY=VALUE[,KEY=VALUE]. Sides without a run are of the newest run that has both.

    Sides of one run were interleaved, and are judged by rounds. Those of two runs were not, which is said: they are
    judged relative to a pinned reference of the same plane and ports that both measured; where that moved too, it was
    the host. Exit code 40 when nothing can be compared.
    """
    with open_store(open_project(root), store) as opened:
        sides = find_sides(opened, (before, after), selected(simulated))
        found = read_diff(opened, sides, VariantModel, margin)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        width = min(WIDTH, text_width(WIDTH))
        console = Console(highlight=False, width=width)
        for line in diff_screen(found, width):
            console.print(line, soft_wrap=True)
    if not found.comparable:
        raise NotComparableError(
            NONE_COMPARABLE,
            where=f"runs {before} and {after}",
            observed="; ".join(sorted({entry.reason for entry in found.points})),
            fix=MEASURE_BOTH,
        )
