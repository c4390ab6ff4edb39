"""`nfvbed trend`: what each setting did from run to run."""

from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from nfvbed.cli.completion import VARIANT
from nfvbed.cli.console import Console
from nfvbed.cli.listing import Output, Row, listing_options
from nfvbed.cli.results import selected, text_width
from nfvbed.cli.settings import open_store, root_option, store_option
from nfvbed.compare.series import Series
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnknownNameError
from nfvbed.records.selection import MEASURED, SIMULATED, OmittedRuns
from nfvbed.report import wording
from nfvbed.report.history import History
from nfvbed.report.trend import (
    Trend,
    by_urgency,
    figure_of,
    headline,
    point,
    state_of,
    step_state,
    test_name,
    title,
    trend_of,
    warnings_of,
)
from nfvbed.spec.loader import Project
from nfvbed.store import Store
from nfvbed.store.clock import utc_now

PIPED_WIDTH = 140
"""Columns where there is no terminal to ask."""


@click.command(name="trend")
@click.option("--variant", type=VARIANT, metavar="NAME", help="Only settings of this variant.")
@click.option("--setting", metavar="NAME", help="One setting by its name, run by run; --json has the names.")
@click.option("--simulated", is_flag=True, help="Of simulated runs. Default: of measured ones.")
@listing_options(
    "name", "variant", "test", "runs", "newest_run", "newest_value", "unit", "newest_open", "simulated", "headline"
)
@root_option
@store_option
def command(
    variant: str | None, setting: str | None, simulated: bool, output: Output, root: Path | None, store: str | None
) -> None:
    """Show what the runs of each setting did over time: steps that a second run confirmed, trends, single runs apart.

    A setting is one variant, path, traffic and test on one machine; two runs of it make a series, six can have a step.
    Runs that people have hidden are left out.
    """
    project = open_project(root)
    with open_store(project, store) as opened:
        found = _trends(project, opened, variant, setting, simulated)
        others = OmittedRuns() if found or simulated else opened.left_out()
    output.show(
        lambda: map(_row, found),
        lambda: [{"name": t.series.setting.name, "headline": headline(t), **t.model_dump(mode="json")} for t in found],
        lambda: _print(found, others, setting),
    )


def _row(trend: Trend) -> Row:
    series, newest = trend.series, trend.series.measured[-1]
    return {
        "name": series.setting.name,
        "variant": series.setting.variant,
        "test": series.setting.test,
        "runs": len(series.measured),
        "newest_run": newest.run,
        "newest_value": newest.value,
        "unit": series.unit,
        "newest_open": trend.newest_open is not None,
        "simulated": series.setting.simulated,
        "headline": headline(trend),
    }


def _print(found: list[Trend], others: OmittedRuns, setting: str | None) -> None:
    console = Console(width=text_width(PIPED_WIDTH), highlight=False, markup=False)
    if not found:
        console.print("No setting was measured by two ended runs yet; steps need six.")
        if others:
            console.print(f"Not looked at: {others.words}.")
    elif setting:
        _print_runs(console, found[0])
    else:
        console.print(_settings(found))


def _trends(project: Project, store: Store, variant: str | None, setting: str | None, simulated: bool) -> list[Trend]:
    """Return the trends that are asked for, those with open steps first; a setting that is named may be simulated.

    Raises:
        UnknownNameError: there is no series of that setting, or no such variant.
    """
    said, now = store.acknowledgements(), utc_now()
    number, found, known = 0, [], set()
    for selection in (MEASURED, SIMULATED) if setting else (selected(simulated),):
        history = History(store, selection)
        every = history.series()
        number += len(every)
        known |= {entry.setting.variant for entry in every}
        wanted = [entry for entry in every if _fits(entry, variant, setting)]
        found += [trend_of(entry, history.descriptions(entry), said, now) for entry in wanted]
    if variant and variant not in known:
        project.load_variant(variant)  # an unknown name is no variant without results
    if setting and not found:
        raise UnknownNameError(
            f"there is no series of setting {setting!r}",
            where="--setting",
            observed=f"{number} settings were measured by two ended runs or more",
            fix="take a name that `nfvbed trend --json` lists",
        )
    return by_urgency(found)


def _fits(series: Series, variant: str | None, setting: str | None) -> bool:
    return series.setting.variant == (variant or series.setting.variant) and series.setting.name == (
        setting or series.setting.name
    )


def _settings(trends: list[Trend]) -> Table:
    table = Table()
    for name in ("variant", "traffic point", "figure", "runs", "newest", "what the series did"):
        table.add_column(name, justify="right" if name in ("runs", "newest") else "left")
    for trend in trends:
        series = trend.series
        mark = " (simulated)" if series.setting.simulated else ""
        newest = wording.quantity(series.measured[-1].value, series.unit)
        style = "yellow" if trend.newest_open else ""
        cells = (series.setting.variant + mark, point(series.setting), test_name(series.setting))
        table.add_row(*map(Text, (*cells, str(len(series.measured)), newest)), Text(headline(trend), style))
    return table


def _print_runs(console: Console, trend: Trend) -> None:
    series = trend.series
    if series.setting.simulated:
        console.print(wording.SIMULATED_MARK)
    console.print(f"{title(series.setting)}\n{headline(trend)}")
    table = Table()
    for name in ("run", "began (UTC)", "figure", "in the series", "warnings"):
        table.add_column(name, justify="right" if name == "figure" else "left")
    states = {seen.step.run: f"; {step_state(seen)}" for seen in trend.steps}
    for entry in reversed(series.all_runs):
        began, state = entry.at[:16].replace("T", " "), state_of(series, entry) + states.get(entry.run, "")
        table.add_row(*map(Text, (wording.short_run(entry.run), began, figure_of(entry), state, warnings_of(entry))))
    console.print(table)
    for change in reversed(trend.changes):
        run = wording.short_run(series.measured[change.place].run)
        console.print(f"changed before {run}: {'; '.join(change.what)}", highlight=False)
