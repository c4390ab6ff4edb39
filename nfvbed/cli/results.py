"""What `compare` and `report` share: their options, and the store that runs are read from."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console

from nfvbed.cli.settings import open_store
from nfvbed.compare.chains import HALF, Of
from nfvbed.compare.verdict import Rules
from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.report.load import LoadedRuns, load

if TYPE_CHECKING:
    pass

Function = TypeVar("Function", bound=Callable[..., Any])


def comparison_options(function: Function) -> Function:
    """Add what chooses and judges: `--baseline`, `--class`, `--needed`, `--margin`."""
    for option in reversed(
        (
            click.option(
                "--baseline",
                metavar="VARIANT|best",
                help="Judge against it; best: the highest rate of each traffic point. Default: the experiment's, or "
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
                type=click.Choice([of.value for of in Of]),
                default=Of.ONE_VNF.value,
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


def load_runs(root: Path | None, store: str | None, names: Sequence[str]) -> LoadedRuns:
    """Read runs of a store by id, beginning of an id, or `latest`.

    Raises:
        StoreError, UsageError: no results, no such run.
    """
    with open_store(open_project(root), store) as opened:
        return load(opened, names, VariantModel)
