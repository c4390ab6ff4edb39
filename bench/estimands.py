"""`make bench-estimands`: how well searches of one data plane repeat, by what they claim.

It runs the experiment `estimands` (or reads a run of it) and prints of each goal the median, the interquartile range
and the whole range of its searches: of clean trials, relative to testpmd in the switch's place, and as delivered; with
the void shares. A/A is the ratio of each search to the one before, of which nothing but the host differs.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles

import program
from rich.console import Console
from rich.table import Table

from nfvbed.cli.main import main as nfvbed
from nfvbed.compare.statistics import median
from nfvbed.records import Status
from nfvbed.report.relative import relative_throughputs
from nfvbed.results import ResultKind, ResultRecord
from nfvbed.search.result import SearchResult
from nfvbed.store import Store

ROOT = Path(__file__).resolve().parents[1]
AIM = 0.02
"""Of the interquartile range of relative throughput, over its median."""
LEAST = 4
"""Figures that a spread is given of."""


@dataclass(frozen=True)
class Repeated:
    """One goal's figures, in the order of the rounds."""

    cell: str
    test: str
    goal: str
    unit: str
    values: list[float]
    irregular: list[str]
    void_shares: list[float]

    @property
    def spread(self) -> float | None:
        """Interquartile range over the median; None of fewer than `LEAST`."""
        if len(self.values) < LEAST:
            return None
        low, _, high = quantiles(self.values, n=4, method="inclusive")
        return (high - low) / median(self.values)

    @property
    def after_each_other(self) -> list[float]:
        """The ratio of each to the one before it."""
        return [later / earlier for earlier, later in zip(self.values, self.values[1:], strict=False)]


def figures_of(results: Sequence[ResultRecord]) -> list[Repeated]:
    """Return what was repeated: conditional throughputs, then relative ones."""
    ended = [entry for entry in results if (entry.kind, entry.status) == (ResultKind.SEARCH, Status.OK)]
    searches = [(entry, SearchResult.model_validate(entry.payload)) for entry in ended if entry.payload]
    names = dict.fromkeys((entry.cell, entry.test, goal.goal.name) for entry, found in searches for goal in found.goals)
    absolute = [_absolute(name, searches) for name in names]
    relative = [
        Repeated(
            *name, "of testpmd", list(found.ratios), [f"{found.unpaired} not paired"] if found.unpaired else [], []
        )
        for name, found in relative_throughputs(results).items()
    ]
    return absolute + relative


def _absolute(name: tuple[str, str, str], searches: Iterable[tuple[ResultRecord, SearchResult]]) -> Repeated:
    mine = [(found, found.of(name[2])) for entry, found in searches if (entry.cell, entry.test) == name[:2]]
    return Repeated(
        *name,
        unit="frames/s",
        values=[goal.conditional_throughput_pps or 0 for _, goal in mine if goal.regular],
        irregular=[goal.irregularity.value for _, goal in mine if goal.irregularity is not None],
        void_shares=[found.void.share for found, _ in mine if found.void is not None],
    )


def problems_of(figures: Sequence[Repeated]) -> list[str]:
    """Say which relative throughput does not repeat as well as is aimed at."""
    relative = [entry for entry in figures if entry.unit != "frames/s"]
    missed = [
        f"{entry.cell}, {entry.test}, {entry.goal}: "
        + (f"{len(entry.values)} pairs" if entry.spread is None else f"spread {entry.spread:.1%}, the aim is {AIM:.0%}")
        for entry in relative
        if entry.spread is None or entry.spread >= AIM
    ]
    return missed or ([] if relative else ["nothing was measured relative to testpmd"])


def show(figures: Sequence[Repeated]) -> None:
    """Print the table."""
    table = Table(title="searches of one data plane", title_justify="left")
    for heading in ("cell", "search", "goal", "n", "median", "IQR", "range", "A/A", "void", "irregular"):
        table.add_column(heading)
    for entry in figures:
        table.add_row(entry.cell, entry.test, entry.goal, str(len(entry.values)), *_shown(entry))
    Console(width=160).print(table)


def _shown(entry: Repeated) -> tuple[str, ...]:
    scale = 1e6 if entry.unit == "frames/s" else 1
    values, after = [value / scale for value in entry.values], entry.after_each_other
    void, irregular = entry.void_shares, dict.fromkeys(entry.irregular)
    return (
        f"{median(values):.4g}" if values else "-",
        "-" if entry.spread is None else f"{entry.spread:.1%}",
        f"{min(values):.4g} .. {max(values):.4g}" if values else "-",
        f"{min(after):.3f} .. {max(after):.3f}" if after else "-",
        f"{min(void):.0%} .. {max(void):.0%}" if void else "-",
        ", ".join(f"{entry.irregular.count(reason)} {reason}" for reason in irregular) or "-",
    )


def main() -> int:
    """Run, print, write the raw figures; 1 where the aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", default=str(ROOT / "results/bench/estimands.sqlite"), help="where the run is stored")
    parser.add_argument("--read", action="store_true", help="read the newest run there, and measure nothing")
    parser.add_argument("--set", action="append", default=[], help="of the experiment: variants=[vpp]")
    program.add_smoke(parser)
    parser.add_argument("--json", type=Path, default=ROOT / "results/bench/estimands.json", help="raw figures")
    arguments = parser.parse_args()
    Path(arguments.store).parent.mkdir(parents=True, exist_ok=True)
    smoke = ("--set", "variants=[simulated]", "--repetitions", "1") if arguments.smoke else ()
    options = [option for value in arguments.set for option in ("--set", value)]
    if not arguments.read:
        status = nfvbed(["run", "estimands", *smoke, *options, "--store", arguments.store, "--root", str(ROOT)])
        if status:
            return int(status)
    with Store.open(arguments.store, read_only=True) as store:
        newest = max(store.runs(), key=lambda run: run.started_at)
        figures = figures_of(list(store.results(newest.id)))
    show(figures)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({"run": newest.id, "figures": [asdict(e) for e in figures]}, indent=2) + "\n")
    if arguments.smoke:
        return program.ended([] if any(entry.values for entry in figures) else ["no search has a regular result"])
    return program.ended(problems_of(figures))


if __name__ == "__main__":
    program.run(main)
