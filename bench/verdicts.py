"""`make bench-verdicts`: how often verdicts are right, on simulated hosts of which the truth is known.

Every comparison has 12 rounds of two visits with three trials each, is paired and judged by nfvbed's own code, and is
looked at after 8 and 12 rounds. Nothing here is a measurement of a data plane.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import program
from rich.console import Console
from rich.table import Table
from simulated_visits import Host, Simulation

from nfvbed.compare.rows.visits import pair
from nfvbed.compare.samples.statistics import median_interval
from nfvbed.compare.verdict import Judgement, Rules, Verdict, judge

ROUNDS = 12
CHANGES_PER_S = (0.02, 0.3, 0.9, 3.0)
EQUAL, DIFFERENT, NOT_SAME, SHOWN = "equal", "different", "not the same", "shown"
MOST_WRONG = 0.065
LEAST_DECIDED = 0.95
MOST_SAME = 0.05
LEAST_COVERED = 0.935
"""Both looks together: 95.56 % of intervals cover at least; less three standard errors of 1,000 comparisons."""


@dataclass(frozen=True)
class Case:
    """A host, and what is asked of verdicts on it."""

    name: str
    host: Host
    aim: str


@dataclass(frozen=True)
class Found:
    """What came of a case, as parts of the comparisons."""

    name: str
    aim: str
    comparisons: int
    higher: float
    lower: float
    same: float
    depends: float
    early: float
    """Decided by the first look."""
    covered: float
    """Intervals that hold the true ratio."""
    width: float
    """Median of upper over lower end."""

    @property
    def reached(self) -> bool:
        """Whether the aim is reached; where all that is asked is to be shown, it is."""
        different = self.higher + self.lower
        return {
            EQUAL: different <= MOST_WRONG and self.covered >= LEAST_COVERED,
            DIFFERENT: self.higher >= LEAST_DECIDED and self.covered >= LEAST_COVERED,
            NOT_SAME: self.same <= MOST_SAME,
            SHOWN: True,
        }[self.aim]


def cases() -> list[Case]:
    """Return all cases: what must be shown, and what differs in each class."""
    found = []
    for states in (2, 3):
        for changes in CHANGES_PER_S:
            host = f"{states} states, {changes:g} changes/s"
            truth = {"states": states, "changes_per_s": changes}
            found.append(Case(f"equal; {host}", _host(1.0, truth), EQUAL))
            found.append(Case(f"factor 2; {host}", _host(2.0, truth), DIFFERENT))
    together = Host(ratio=2.0, states=3, together=True)
    return [
        *found,
        Case("factor 2; 3 states, 0.9 changes/s, both deployed", together, DIFFERENT),
        Case("3 %; quiet", Host(ratio=1.03, states=1, scatter=0.015, robbed=0), DIFFERENT),
        *(
            Case(f"7 %; scatter {s:.0%}", Host(ratio=1.07, states=1, scatter=s, robbed=0), NOT_SAME)
            for s in (0.03, 0.07)
        ),
        Case("7 %; 2 states, 0.02 changes/s", Host(ratio=1.07, changes_per_s=0.02, scatter=0.03), NOT_SAME),
        Case("x 2 near, x 0.8 far", Host(ratio=2.0, candidate_factor=6.25, changes_per_s=0.3), SHOWN),
        Case("x 4 near, x 0.8 far", Host(ratio=4.0, candidate_factor=12.5, changes_per_s=0.3), SHOWN),
    ]


def _host(ratio: float, truth: dict[str, float]) -> Host:
    return Host(ratio=ratio, states=int(truth["states"]), changes_per_s=truth["changes_per_s"])


def judged(host: Host, comparisons: int, seed: int) -> list[Judgement]:
    """Simulate comparisons and judge them."""
    rng = np.random.default_rng(seed)
    return [judge(pair(*Simulation(host, ROUNDS, rng).visits()), Rules()) for _ in range(comparisons)]


def measure(case: Case, comparisons: int, seed: int) -> Found:
    """Count what came of a case."""
    found = judged(case.host, comparisons, seed)
    intervals = [entry.interval for entry in found if entry.interval is not None]

    def part(holds: Callable[[Judgement], bool]) -> float:
        return sum(map(holds, found)) / comparisons

    return Found(
        name=case.name,
        aim=case.aim,
        comparisons=comparisons,
        higher=part(lambda entry: entry.verdict is Verdict.HIGHER),
        lower=part(lambda entry: entry.verdict is Verdict.LOWER),
        same=part(lambda entry: entry.verdict is Verdict.SAME),
        depends=part(lambda entry: entry.verdict is Verdict.DEPENDS_ON_PLACEMENT),
        early=part(lambda entry: entry.look < ROUNDS),
        covered=sum(entry.low <= case.host.ratio <= entry.high for entry in intervals) / comparisons,
        width=float(np.median([entry.high / entry.low for entry in intervals])),
    )


@dataclass(frozen=True)
class Coverage:
    """How often intervals of a median of skewed samples hold the true one."""

    samples: int
    level: float
    """That the interval says it has."""
    covered: float


def coverage(samples: int, tries: int, seed: int) -> Coverage:
    """Try `median_interval` on rates with a tail of disturbed ones."""
    rng = np.random.default_rng(seed)
    # The true median of a product: of as many draws as make its error small against an interval.
    true = float(np.median(_disturbed(rng, 400_000)))
    found = [median_interval(_disturbed(rng, samples).tolist()) for _ in range(tries)]
    held = sum(entry is not None and entry.low <= true <= entry.high for entry in found)
    return Coverage(samples, found[0].level if found[0] else 0.0, held / tries)


def _disturbed(rng: np.random.Generator, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    left = np.where(rng.random(count) < 0.3, rng.uniform(0.3, 1, count), 1.0)
    return np.asarray(5e6 * left * np.exp(rng.normal(0, 0.05, count)))


def show(found: Sequence[Found], covered: Sequence[Coverage]) -> None:
    """Print both tables."""
    table = Table(title="verdicts on simulated hosts, per cent of the comparisons", title_justify="left")
    for heading in ("truth", "higher", "lower", "same", "depends", "first look", "covered", "width", "aim"):
        table.add_column(heading, justify="left" if heading in ("truth", "aim") else "right")
    for row in found:
        shares = (row.higher, row.lower, row.same, row.depends, row.early)
        aim = f"[{'green' if row.reached else 'red'}]{row.aim}[/]"
        # Where the ratio depends on the state there is no one ratio to cover.
        held = "-" if row.aim == SHOWN else f"{100 * row.covered:.1f}"
        table.add_row(row.name, *(f"{100 * share:.1f}" for share in shares), held, f"{row.width:.2f}", aim)
    medians = Table(title="intervals of a median of disturbed rates", title_justify="left")
    for heading in ("samples", "says", "covers"):
        medians.add_column(heading, justify="right")
    for entry in covered:
        medians.add_row(str(entry.samples), f"{100 * entry.level:.1f} %", f"{100 * entry.covered:.1f} %")
    console = Console(width=120)
    console.print(table)
    console.print(medians)


def main() -> int:
    """Run the benchmark; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=1000, help="of each case (default 1000)")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--json", type=Path, help="write the result there as well")
    program.add_smoke(parser)
    arguments = parser.parse_args()
    comparisons = 2 if arguments.smoke else arguments.comparisons
    found = [measure(case, comparisons, arguments.seed + place) for place, case in enumerate(cases())]
    covered = [coverage(samples, 5 * comparisons, arguments.seed) for samples in range(6, 13)]
    show(found, covered)
    if arguments.json:
        arguments.json.write_text(json.dumps([*map(asdict, found), *map(asdict, covered)], indent=2))
    return 0 if arguments.smoke else program.ended([f"missed: {row.name}" for row in found if not row.reached])


if __name__ == "__main__":
    program.run(main)
