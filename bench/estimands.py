"""`make bench-estimands`: how well searches of one data plane repeat, by what they claim.

It runs the experiment `estimands` (or reads runs of it) and prints of each goal the median, the interquartile range
and the whole range of its searches: of clean trials, relative to testpmd in the switch's place, and as delivered; with
the void shares, and what may be claimed. A/A is the ratio of each search to the one before, of which nothing but the
host differs; with `--runs 2` the newest two runs are beside each other, with the ratio of their medians.
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
from nfvbed.compare.samples.statistics import median
from nfvbed.records import RunRecord, Status
from nfvbed.records.results import ResultKind, ResultRecord
from nfvbed.report.relative import relative_throughputs
from nfvbed.report.throughput import SEARCHES_AS_DELIVERED
from nfvbed.search.result import SearchResult
from nfvbed.spec.searchpresets import Trials
from nfvbed.store import Store

ROOT = Path(__file__).resolve().parents[1]
AIM = 0.02
"""Aim for the interquartile range of relative throughput, over its median."""
LEAST = 4
"""Least number of figures of which a spread is given."""
RATE, SHARE = "frames/s", "of testpmd"


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
    trials: Trials = "clean"
    """Those that count."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is of, in any run."""
        return self.cell, self.test, self.goal, self.unit

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


@dataclass(frozen=True)
class Measured:
    """One run's figures."""

    run: str
    began: str
    """UTC."""
    status: str
    figures: list[Repeated]


def figures_of(results: Sequence[ResultRecord]) -> list[Repeated]:
    """Return what was repeated: conditional throughputs, then relative ones."""
    ended = [entry for entry in results if (entry.kind, entry.status) == (ResultKind.SEARCH, Status.OK)]
    searches = [(entry, SearchResult.model_validate(entry.payload)) for entry in ended if entry.payload]
    names = dict.fromkeys((entry.cell, entry.test, goal.goal.name) for entry, found in searches for goal in found.goals)
    absolute = [_absolute(name, searches) for name in names]
    relative = [
        Repeated(*name, SHARE, list(found.ratios), [f"{found.unpaired} not paired"] if found.unpaired else [], [])
        for name, found in relative_throughputs(results).items()
    ]
    return absolute + relative


def _absolute(name: tuple[str, str, str], searches: Iterable[tuple[ResultRecord, SearchResult]]) -> Repeated:
    mine = [(found, found.of(name[2])) for entry, found in searches if (entry.cell, entry.test) == name[:2]]
    return Repeated(
        *name,
        unit=RATE,
        values=[goal.conditional_throughput_pps or 0 for _, goal in mine if goal.regular],
        irregular=[goal.irregularity.value for _, goal in mine if goal.irregularity is not None],
        void_shares=[found.void.share for found, _ in mine if found.void is not None],
        trials=mine[0][0].search.trials,
    )


def problems_of(figures: Sequence[Repeated]) -> list[str]:
    """Say which relative throughput does not repeat as well as is aimed at."""
    relative = [entry for entry in figures if entry.unit == SHARE]
    missed = [
        f"{entry.cell}, {entry.test}, {entry.goal}: "
        + (f"{len(entry.values)} pairs" if entry.spread is None else f"spread {entry.spread:.1%}, the aim is {AIM:.0%}")
        for entry in relative
        if entry.spread is None or entry.spread >= AIM
    ]
    return missed or ([] if relative else ["nothing was measured relative to testpmd"])


def claims_of(runs: Sequence[Measured]) -> list[str]:
    """Say what each figure allows to claim, over all runs that are shown."""
    found: dict[tuple[str, str, str, str], list[Repeated]] = {}
    for run in runs:
        for entry in run.figures:
            found.setdefault(entry.key, []).append(entry)
    return [f"{cell}, {test}, {goal}: {_claim(entries)}" for (cell, test, goal, _), entries in found.items()]


def _claim(entries: Sequence[Repeated]) -> str:
    first, values = entries[0], [value for entry in entries for value in entry.values]
    lacking = sum(len(entry.irregular) for entry in entries)
    regular = f"{len(values)} regular, {lacking} irregular"
    if first.unit == RATE and first.trials == "all":
        if len(values) < SEARCHES_AS_DELIVERED:
            return f"as delivered: nothing, with {len(values)} of at least {SEARCHES_AS_DELIVERED} searches ({regular})"
        return f"as delivered: {min(values) / 1e6:.4g} .. {max(values) / 1e6:.4g} Mpps, the range of {regular} searches"
    if len(values) < LEAST:
        return f"nothing, with {len(values)} of at least {LEAST} figures"
    middle = median(values)
    half = sorted(abs(value / middle - 1) for value in values)
    said = f"half of the figures lie within {median(half):.1%} of the median, all within {half[-1]:.1%}"
    if first.unit == SHARE:
        return f"relative: {middle:.3f} of testpmd; {said} ({len(values)} pairs)"
    return f"clean trials: {middle / 1e6:.4g} Mpps; {said} ({regular})"


def show(runs: Sequence[Measured]) -> None:
    """Print the table, each run's figures beside the others', and what may be claimed."""
    console = Console(width=170)
    for run in runs:
        console.print(f"run {run.run}, began {run.began[:16].replace('T', ' ')} UTC, {run.status}", highlight=False)
    table = Table(title="searches of one data plane", title_justify="left")
    headings = ("cell", "search", "goal", "began", "n", "median", "IQR", "range", "A/A", "void", "irregular")
    for heading in headings:
        table.add_column(heading)
    for key in dict.fromkeys(entry.key for run in runs for entry in run.figures):
        mine = [(run, entry) for run in runs for entry in run.figures if entry.key == key]
        for run, entry in mine:
            named = (entry.cell, entry.test, entry.goal, run.began[11:16])
            table.add_row(*named, str(len(entry.values)), *_shown(entry))
        for text in _between([entry for _, entry in mine]):
            table.add_row("", "", "", "", "", text)
    console.print(table)
    for claim in claims_of(runs):
        console.print(claim, highlight=False)


def _between(entries: Sequence[Repeated]) -> Iterable[str]:
    """Write the ratio of each run's median to the first one's."""
    first, *others = [median(entry.values) for entry in entries if entry.values] or [0.0]
    yield from (f"× {other / first:.3f}" for other in others)


def _shown(entry: Repeated) -> tuple[str, ...]:
    scale = 1e6 if entry.unit == RATE else 1
    values, after = [value / scale for value in entry.values], entry.after_each_other
    void, irregular = entry.void_shares, dict.fromkeys(entry.irregular)
    return (
        f"{median(values):.4g}{'' if entry.unit == RATE else ' of testpmd'}" if values else "-",
        "-" if entry.spread is None else f"{entry.spread:.1%}",
        f"{min(values):.4g} .. {max(values):.4g}" if values else "-",
        f"{min(after):.3f} .. {max(after):.3f}" if after else "-",
        f"{median(void):.0%}, {min(void):.0%} .. {max(void):.0%}" if void else "-",
        ", ".join(f"{entry.irregular.count(reason)} {reason}" for reason in irregular) or "-",
    )


def main() -> int:
    """Run, print, write the raw figures; 1 where the aim is missed."""
    arguments = _arguments()
    Path(arguments.store).parent.mkdir(parents=True, exist_ok=True)
    status = 0 if arguments.read else _measure(arguments)
    if status and not Path(arguments.store).exists():
        return status
    runs = _stored(arguments.store, arguments.runs)
    show(runs)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps([asdict(run) for run in runs], indent=2) + "\n")
    if status:
        return status
    figures = runs[-1].figures
    if arguments.smoke:
        return program.ended([] if any(entry.values for entry in figures) else ["no search has a regular result"])
    return program.ended(problems_of(figures))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", default=str(ROOT / "results/bench/estimands.sqlite"), help="where the run is stored")
    parser.add_argument("--read", action="store_true", help="read what is there, and measure nothing")
    parser.add_argument("--runs", type=int, default=1, help="newest runs that are shown beside each other")
    parser.add_argument(
        "--minutes", type=float, help="begin nothing that would not end by then, and show what there is"
    )
    parser.add_argument("--set", action="append", default=[], help="of the experiment: variants=[vpp]")
    program.add_smoke(parser)
    parser.add_argument("--json", type=Path, default=ROOT / "results/bench/estimands.json", help="raw figures")
    return parser.parse_args()


def _measure(arguments: argparse.Namespace) -> int:
    """Run the experiment; what was measured is stored however it ends."""
    smoke = ("--set", "variants=[simulated]", "--repetitions", "1") if arguments.smoke else ()
    chosen = list(arguments.set)
    if arguments.minutes is not None:
        chosen.append(f"repetitions.budget_s={arguments.minutes * 60:g}")
    options = [option for value in chosen for option in ("--set", value)]
    return int(nfvbed(["run", "estimands", *smoke, *options, "--store", arguments.store, "--root", str(ROOT)]))


def _stored(location: str, count: int) -> list[Measured]:
    """Return the newest runs, the oldest of them first."""
    with Store.open(location, read_only=True) as store:
        newest = sorted(store.runs(), key=lambda run: run.started_at)[-max(1, count) :]
        return [
            Measured(run.id, run.started_at, _state(run), figures_of(list(store.results(run.id)))) for run in newest
        ]


def _state(run: RunRecord) -> str:
    status = run.status.value if run.status else "not ended"
    return f"{status}: {run.reason}" if run.reason else status


if __name__ == "__main__":
    program.run(main)
