"""`make bench-bisect`: how often bisections blame the right revision, the wrong one, or none, on simulated hosts.

Rounds have a heavy-tailed scatter (Student's t with 3 degrees of freedom), two placement states that a tenth of the
rounds do not share, a drift of the host, and builds whose layout is off by up to 2 % either way. nfvbed's own code
searches and judges. Nothing here is a measurement.
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import log
from pathlib import Path
from typing import Any, Final

import numpy as np
import program
from rich.console import Console
from rich.table import Table

from nfvbed.compare.bisection import BisectionRules, BisectionVerdict, Rounds, bisect
from nfvbed.compare.gating import GateRules
from nfvbed.compare.verdict import Pair
from nfvbed.distributions import binomial_bounds

REVISIONS: Final = 16
VISIT_S: Final = 1.1
"""Traffic of a visit: its warm-up and three trials of 0.3 s."""
MOST_WRONG = 0.05
MOST_S = 1200
FOUND, WRONG = "right", "wrong"
UNMATCHED = 0.1
"""Part of the rounds whose visits meet the host in different states."""
STATES = log(1.6)


@dataclass(frozen=True)
class Truth:
    """A list of revisions and a host."""

    name: str
    levels: tuple[float, ...]
    """Log ratios to the first, without the noise of builds."""
    step: int | None
    """The revision that is to be blamed; None: none."""
    layout: float = 0.0
    scatter: float = 0.015
    drift: float = 0.0
    """Drift of the host in a round, as a log ratio; the visits of a round are a quarter of it apart."""
    biased: float = 0.0
    """Log ratio by which the visit that comes first is slower than the others of its round, whatever it is."""


@dataclass
class Simulation:
    """One list of builds on one host."""

    truth: Truth
    rng: np.random.Generator
    visits: int = 0
    offsets: np.ndarray[Any, Any] = field(init=False)

    def __post_init__(self) -> None:
        """Draw the layout of each build."""
        self.offsets = self.rng.uniform(-self.truth.layout, self.truth.layout, REVISIONS)

    def rounds(self, one: int, other: int, count: int, twin: bool = False) -> list[float]:
        """Return log ratios of one revision to another, next to each other in each round."""
        truth, rng = self.truth, self.rng
        levels = [truth.levels[place] + self.offsets[place] for place in (one, other)]
        scatter = truth.scatter / np.sqrt(3) * rng.standard_t(3, count)
        states = np.where(rng.random(count) < UNMATCHED, rng.choice((-STATES, STATES), count) * 0.1, 0)
        order = np.where(np.arange(count) % 2, 1, -1)
        self.visits += count if twin else 2 * count
        return list(levels[0] - levels[1] + scatter + states + order * (truth.drift / 4) - truth.biased)

    def gate(self, baseline: int, candidate: int, rules: GateRules) -> Rounds:
        """Measure a gate; the visits of later looks than the deciding one are not counted."""
        count = rules.looks[-1]
        before = self.visits
        pairs = _pairs(self.rounds(candidate, baseline, count))
        reference = _pairs(self.rounds(baseline, baseline, count, twin=True))
        self.visits = before
        return Rounds(pairs=pairs, reference=reference)

    def ask(self, revisions: Sequence[int], count: int) -> Mapping[int, Sequence[float]]:
        """Measure revisions next to the first."""
        return {revision: self.rounds(revision, 0, count) for revision in revisions}


def _pairs(logs: Sequence[float]) -> tuple[Pair, ...]:
    return tuple(Pair(round=place, log_ratio=float(value)) for place, value in enumerate(logs, 1))


@dataclass(frozen=True)
class Found:
    """What came of a truth."""

    name: str
    bisections: int
    verdicts: dict[str, int]
    right: int
    wrong: int
    longest_s: float
    typical_s: float
    step: bool

    @property
    def problems(self) -> list[str]:
        """What misses an aim."""
        found = [f"{self.name}: blamed wrongly in {self.wrong / self.bisections:.1%}"] * (
            self.wrong / self.bisections > MOST_WRONG
        )
        return found + [f"{self.name}: up to {self.longest_s:.0f} s of trials"] * (
            self.step and self.longest_s > MOST_S
        )


def truths() -> list[Truth]:
    """Return all of them: with a step, and without one that is single."""

    def step(*places: tuple[int, float]) -> tuple[float, ...]:
        return tuple(sum(log(ratio) for at, ratio in places if place >= at) for place in range(REVISIONS))

    flat = (0.0,) * REVISIONS
    ramp = tuple(log(0.92) * place / (REVISIONS - 1) for place in range(REVISIONS))
    found = [Truth(f"-5 % at {place}", step((place, 0.95)), place) for place in (1, 8, 15)]
    return [
        *found,
        Truth("-5 % at 6, builds ± 2 %", step((6, 0.95)), 6, layout=0.02),
        Truth("-20 % at 11, builds ± 2 %", step((11, 0.8)), 11, layout=0.02),
        Truth("-5 % at 6, host drifts 2 % a round", step((6, 0.95)), 6, drift=0.02),
        Truth("-5 % at 6, scatter 5 %", step((6, 0.95)), 6, scatter=0.05),
        Truth("nothing", flat, None),
        Truth("nothing, builds ± 2 %", flat, None, layout=0.02),
        Truth("two steps of -5 %", step((4, 0.95), (11, 0.95)), None),
        Truth("two steps of -5 %, builds ± 2 %", step((4, 0.95), (11, 0.95)), None, layout=0.02),
        Truth("-5 % at 5, back at 10", step((5, 0.95), (10, 1 / 0.95)), None),
        Truth("a ramp of -8 %", ramp, None),
        Truth("a ramp of -8 %, builds ± 2 %", ramp, None, layout=0.02),
        Truth("nothing, the host slows what comes second by 6 %", flat, None, biased=0.06),
    ]


def simulated(truth: Truth, bisections: int, seed: int) -> Found:
    """Simulate bisections of one truth."""
    rules = BisectionRules(noise=truth.layout)
    verdicts: Counter[str] = Counter()
    right = wrong = 0
    seconds = []
    for number in range(bisections):
        simulation = Simulation(truth, np.random.default_rng((seed, number)))
        found = bisect(REVISIONS, simulation.gate, simulation.ask, rules)
        verdicts[found.verdict.value] += 1
        blamed = found.verdict is BisectionVerdict.STEP
        right += blamed and found.revision == truth.step
        wrong += blamed and found.revision != truth.step
        gates = found.ends.look + (found.neighbours.look if found.neighbours else 0)
        seconds.append((simulation.visits + 3 * gates) * VISIT_S)
    return Found(
        name=truth.name,
        bisections=bisections,
        verdicts=dict(verdicts),
        right=right,
        wrong=wrong,
        longest_s=max(seconds),
        typical_s=float(np.median(seconds)),
        step=truth.step is not None,
    )


def show(found: Sequence[Found]) -> None:
    """Print the table."""
    table = Table(title=f"bisections of {REVISIONS} revisions, per cent", title_justify="left")
    names = (
        "truth",
        FOUND,
        WRONG,
        "wrong, at most",
        *(kind.value for kind in BisectionVerdict),
        "median s",
        "longest s",
    )
    for heading in names:
        table.add_column(heading, justify="left" if heading == "truth" else "right")
    for row in found:
        parts = [row.right, row.wrong]
        bound = 100 * binomial_bounds(row.wrong, row.bisections)[1]
        verdicts = (row.verdicts.get(kind.value, 0) for kind in BisectionVerdict)
        shown = [f"{100 * count / row.bisections:.1f}" for count in parts]
        shown += [f"{bound:.1f}", *(f"{100 * count / row.bisections:.1f}" for count in verdicts)]
        table.add_row(row.name, *shown, f"{row.typical_s:.0f}", f"{row.longest_s:.0f}")
    Console(width=150).print(table)


def main() -> int:
    """Run the benchmark; 1 where the wrong revision is blamed more often than it may be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bisections", type=int, default=500, help="of each truth (default 500)")
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--json", type=Path, help="write the result there as well")
    program.add_smoke(parser)
    arguments = parser.parse_args()
    number = 10 if arguments.smoke else arguments.bisections
    found = [simulated(truth, number, arguments.seed) for truth in truths()]
    show(found)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(entry) for entry in found], indent=2) + "\n")
    return program.ended([] if arguments.smoke else [problem for entry in found for problem in entry.problems])


if __name__ == "__main__":
    program.run(main)
