"""What `compare` and `report` share: their options, and reading runs from the store."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
from rich.console import Console

from nfvbed.cli.settings import open_store
from nfvbed.compare.agreement import supports_of
from nfvbed.compare.comparison import Options
from nfvbed.compare.rundata import RunData
from nfvbed.compare.verdict import Rules
from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.errors import StoreError
from nfvbed.plan.stored import never_reached
from nfvbed.records import FactRecord, RunRecord
from nfvbed.spec.experiment import BEST

if TYPE_CHECKING:
    from nfvbed.store import Store

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class LoadedRuns:
    """Runs with all that a report shows."""

    data: tuple[RunData, ...]
    variants: dict[str, dict[str, Any]]
    """Resolved configurations by hash."""
    facts: tuple[FactRecord, ...]
    baseline: str | None
    """What the first run's experiment names."""
    needed: int | None
    max_spread: float | None = None
    """What the first run's experiment calls stable."""
    looks: tuple[int, ...] | None = None
    """Rounds after which the first run's experiment looks at verdicts; None: not stored (older runs)."""
    purpose: Literal["compare", "survey"] = "compare"
    """Of the first run's experiment."""
    title: str = ""
    """Of the runs' experiments; empty where their plans are not stored."""


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


def make_options(loaded: LoadedRuns, chosen: dict[str, Any]) -> Options:
    """Join what the user chose with what the experiment says."""
    standard = Rules()
    needed = chosen["needed"] or loaded.needed or standard.needed
    return Options(
        baseline=chosen["baseline"] or loaded.baseline,
        placement_class=chosen["placement_class"],
        rules=Rules(
            needed=needed,
            margin=chosen["margin"],
            max_spread=loaded.max_spread or standard.max_spread,
            looks=loaded.looks or standard.looks,
            purpose=loaded.purpose,
        ),
    )


def text_width(otherwise: int) -> int:
    """Give the terminal's columns; without a terminal those of COLUMNS, or so many."""
    console = Console()
    return console.width if console.is_terminal else shutil.get_terminal_size((otherwise, 24)).columns


def load_runs(root: Path | None, store: str | None, names: Sequence[str]) -> LoadedRuns:
    """Read runs by id, beginning of an id, or `latest`; each once, in the order given.

    Raises:
        StoreError, UsageError: no results, no such run.
    """
    with open_store(open_project(root), store) as opened:
        runs = list({run.id: run for run in (opened.run(name) for name in names or ("latest",))}.values())
        data = tuple(_read(opened, run) for run in runs)
        configurations = {cell.config_hash for entry in data for cell in entry.cells}
        variants = {digest: _described(opened, digest) for digest in sorted(configurations)}
        facts = tuple(fact for run in runs for fact in opened.facts(run.id))
        experiments = [_described(opened, run.plan_hash).get("experiment", {}) for run in runs]
    experiment = experiments[0]
    measured = {cell.variant for entry in data for cell in entry.cells}
    baseline = experiment.get("baseline")
    repetitions = experiment.get("repetitions", {})
    found = {digest: value for digest, value in variants.items() if value}
    title = "; ".join(dict.fromkeys(entry["title"] for entry in experiments if entry.get("title")))
    return LoadedRuns(
        data=data,
        variants=found,
        facts=facts,
        baseline=baseline if baseline in (BEST, *measured) else None,
        needed=repetitions.get("needed"),
        max_spread=repetitions.get("max_spread"),
        looks=tuple(repetitions["looks"]) if "looks" in repetitions else None,
        purpose=experiment.get("purpose", "compare"),
        title=title,
    )


def _read(store: "Store", run: RunRecord) -> RunData:
    cells = tuple(store.cells(run.id))
    cells += never_reached(run, _described(store, run.plan_hash), cells, VariantModel)
    rigs = {digest: _described(store, digest) for digest in sorted({cell.rig_hash for cell in cells})}
    known = {digest: rig for digest, rig in rigs.items() if rig}
    host, results = _described(store, run.host_hash), tuple(store.results(run.id))
    supports = supports_of(_described(store, run.doctor_hash))
    configurations = {digest: _described(store, digest) for digest in {cell.config_hash for cell in cells}}
    ports, paths = (_told(configurations, key) for key in ("ports", "io_path"))
    return RunData(run, cells, tuple(store.trials(run.id)), known, host, results, supports, ports, paths)


def _told(configurations: Mapping[str, dict[str, Any]], key: str) -> dict[str, str]:
    return {digest: value[key] for digest, value in configurations.items() if key in value}


def _described(store: "Store", digest: str) -> dict[str, Any]:
    """Read a description; one that is not stored costs its table, not the comparison."""
    if not digest:
        return {}
    try:
        value = store.get_blob(digest)
    except StoreError:
        return {}
    return value if isinstance(value, dict) else {"value": value}
