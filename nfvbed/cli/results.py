"""What `compare` and `report` share: their options, and the store that runs are read from."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from nfvbed.cli.completion import VARIANT_OR_BEST
from nfvbed.cli.console import Console
from nfvbed.cli.settings import open_store
from nfvbed.compare.chains import HALF, ShareReference
from nfvbed.compare.comparison import Comparison, compare
from nfvbed.compare.verdict import Rules
from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.errors import InternalError
from nfvbed.records import RunRecord
from nfvbed.records.annotations import LATEST
from nfvbed.records.selection import MEASURED, SIMULATED, Selection
from nfvbed.report.landing import LandingRun, land, why_unanswered
from nfvbed.report.load import LoadedRuns, load, make_options
from nfvbed.report.newest import AS_STORED

if TYPE_CHECKING:
    from nfvbed.store import Store

Function = TypeVar("Function", bound=Callable[..., Any])


def comparison_options(function: Function) -> Function:
    """Add what chooses and judges: `--baseline`, `--class`, `--needed`, `--margin`."""
    for option in reversed(
        (
            click.option(
                "--baseline",
                type=VARIANT_OR_BEST,
                metavar="VARIANT|best",
                help="Baseline of verdicts; best: the highest rate of each point. Default: the experiment's, or "
                "the first.",
            ),
            click.option(
                "--class",
                "placement_class",
                metavar="NAME|auto",
                default="auto",
                show_default=True,
                help="Use trials of this placement class alone; auto: all of them for the MRR, and for other tests the "
                "class in which all cells have enough.",
            ),
            click.option(
                "--needed",
                type=click.IntRange(min=1),
                help="Rounds of a survey, and results in one class of other tests, that there should be. Default: the "
                "experiment's, or 5.",
            ),
            click.option(
                "--margin",
                type=click.FloatRange(min=0, min_open=True, max=1, max_open=True),
                default=Rules().margin,
                show_default=True,
                help="Rates are the same where they are shown to differ by less than this part.",
            ),
        )
    ):
        function = option(function)
    return function


def chain_options(function: Function) -> Function:
    """Add what chains are asked to hold: `--chain-share`, `--chain-of`."""
    for option in reversed(
        (
            click.option(
                "--chain-share",
                type=click.FloatRange(min=0, min_open=True, max=1),
                default=HALF,
                show_default=True,
                help="Name the longest chain that holds this part of a shorter path's rate.",
            ),
            click.option(
                "--chain-of",
                type=click.Choice([of.value for of in ShareReference]),
                default=ShareReference.ONE_VNF.value,
                show_default=True,
                help="The path whose rate a chain's is a part of.",
            ),
        )
    ):
        function = option(function)
    return function


def text_width(otherwise: int) -> int:
    """Return the terminal's columns; without a terminal those of COLUMNS, or so many."""
    console = Console()
    return console.width if console.is_terminal else shutil.get_terminal_size((otherwise, 24)).columns


def simulated_option(function: Function) -> Function:
    """Add `--simulated`; the parameter is named `simulated`."""
    option = click.option(
        "--simulated", is_flag=True, help="Take simulated runs where none is named. Default: measured ones."
    )
    return option(function)


def selected(simulated: bool) -> Selection:
    """Return the runs among which one is taken that is not named; none that people have hidden."""
    return SIMULATED if simulated else MEASURED


def load_runs(root: Path | None, store: str | None, names: Sequence[str], simulated: bool) -> LoadedRuns:
    """Read runs of a store by id, a part of it, label, or `latest`.

    Args:
        names: at least one.
        simulated: whether `latest` is the newest simulated run.

    Raises:
        StoreError, UsageError: no results, no such run.
    """
    with open_store(open_project(root), store) as opened:
        return load(opened, names, VariantModel, selection=selected(simulated))


@dataclass(frozen=True)
class ComparedRuns:
    """Runs as they were asked for, and compared."""

    loaded: LoadedRuns
    comparison: Comparison
    """Its notes begin with the ones here."""
    notes: tuple[str, ...]
    """What is newer than the run that was taken, where none was named."""


def compare_runs(
    root: Path | None, store: str | None, names: Sequence[str], simulated: bool, chosen: Mapping[str, Any]
) -> ComparedRuns:
    """Compare runs of a store; where none is named, the newest that has an answer.

    Args:
        root: the project's folder.
        names: ids, parts of ids, labels, or `latest`.
        simulated: whether simulated runs are taken where none is named.
        chosen: what `comparison_options` and `chain_options` add.

    Raises:
        StoreError, UsageError: no results, no such run.
        NotComparableError: simulated runs beside measured ones.
    """
    loaded, landing = None, None
    with open_store(open_project(root), store) as opened:
        if names:
            loaded = load(opened, names, VariantModel, selection=selected(simulated))
        else:
            loaded, landing = _landed(opened, selected(simulated), chosen["margin"])
    comparison = compare(loaded.data, make_options(loaded, chosen))
    notes = landing.notes if landing else ()
    return ComparedRuns(loaded, comparison.model_copy(update={"notes": (*notes, *comparison.notes)}), notes)


def _landed(store: "Store", selection: Selection, margin: float) -> tuple[LoadedRuns, LandingRun]:
    newest: dict[str, LoadedRuns] = {}

    def read(run: RunRecord) -> LoadedRuns:
        # One at a time: a run of thousands of trials takes much memory.
        if run.id not in newest:
            newest.clear()
            newest[run.id] = load(store, (run.id,), VariantModel)
        return newest[run.id]

    def compared(run: RunRecord) -> Comparison:
        loaded = read(run)
        return compare(loaded.data, make_options(loaded, {**AS_STORED, "margin": margin}))

    landing = land(store.runs(selection), lambda run: why_unanswered(run, partial(compared, run)))
    if landing is None:
        store.run(LATEST, selection)  # It says what there is instead.
        raise InternalError("a run was stored while none was found")
    return read(landing.run), landing
