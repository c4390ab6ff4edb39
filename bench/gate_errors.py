"""`make bench-gate`: how often gates are wrong, made of recorded rounds to which a truth was given.

A simulated gate draws blocks of neighbouring rounds from a recording, deals its equal installations out to baseline,
candidate and reference anew in each round, and multiplies the candidate's rate by the true ratio. nfvbed's own code
judges. Of recordings of two variants, less their median, the sign is drawn, and the reference is drawn as well.
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import program
from rich.console import Console
from rich.table import Table

from nfvbed.compare.gating import GatePoint, GateRules, GateVerdict, judge_gate
from nfvbed.compare.verdict import Pair
from nfvbed.distributions import binomial_bounds

RECORDED = Path(__file__).parent / "recorded" / "gate-rounds.json"
RATIOS = (1.0, 0.98, 0.95, 0.8)
BLOCK = 4
"""Neighbouring rounds that stay together, as the host's state lasts."""
MOST_WRONG = 0.05
MOST_UNDECIDED = 0.2
INSTALLATIONS = 3


@dataclass(frozen=True)
class Found:
    """What came of gates of one truth."""

    recording: str
    ratio: float
    gates: int
    scatter: float
    """Standard deviation of a round's log ratio."""
    verdicts: dict[str, int]
    rounds: float
    """Mean over the gates."""
    wrong: int
    """Slower, where the truth is 1; not slower, where it is 0.95 or less."""

    @property
    def wrong_at_most(self) -> float:
        """The upper end of the exact 95 % interval of how often they are wrong."""
        return binomial_bounds(self.wrong, self.gates)[1]

    @property
    def problems(self) -> list[str]:
        """What misses an aim; how many are undecided is the host's doing, and judged of recordings of calm ones."""
        share = self.wrong / self.gates
        return [f"{self.recording}, true ratio {self.ratio}: wrong in {share:.1%}"] if share > MOST_WRONG else []


class Rounds:
    """The rounds of one recording, to draw from."""

    def __init__(self, recording: Mapping[str, Any]) -> None:
        self._equals = bool(recording["equals"])
        self._points = {name: _matrix(ratios) for name, ratios in recording["points"].items()}
        self._count = min(len(logs) for logs in self._points.values())
        self.scatter = float(np.mean([np.std(logs) for logs in self._points.values()]))

    def gate(self, ratio: float, rules: GateRules, rng: np.random.Generator) -> list[GatePoint]:
        """Return the points of one gate; the first one has the true ratio, all others have 1."""
        needed = rules.looks[-1]
        blocks = -(-needed // BLOCK)
        starts = rng.integers(self._count, size=blocks)
        taken = ((starts[:, None] + np.arange(BLOCK)) % self._count).ravel()[:needed]
        return [
            self._point(name, logs[taken], log(ratio) if place == 0 else 0.0, rng)
            for place, (name, logs) in enumerate(self._points.items())
        ]

    def _point(self, name: str, logs: np.ndarray[Any, Any], effect: float, rng: np.random.Generator) -> GatePoint:
        if self._equals:
            dealt = rng.permuted(np.tile(np.arange(INSTALLATIONS), (len(logs), 1)), axis=1)
            base, candidate, reference = (logs[np.arange(len(logs)), dealt[:, side]] for side in range(INSTALLATIONS))
            sides = candidate - base + effect, reference - base
        else:
            signs = rng.choice((-1.0, 1.0), size=(2, len(logs)))
            sides = logs[:, 1] * signs[0] + effect, rng.permutation(logs[:, 1]) * signs[1]
        pairs = [tuple(Pair(round=n, log_ratio=float(v)) for n, v in enumerate(side, 1)) for side in sides]
        return GatePoint(name=name, topology="p2p", frame_size=64, pairs=pairs[0], reference=pairs[1])


def _matrix(ratios: Mapping[str, Sequence[float]]) -> np.ndarray[Any, Any]:
    """Return the logarithms of all installations over the first, a row for each round.

    Each ratio was matched by class on its own, so that two of them need not give the third: it is left out.
    """
    count = min(map(len, ratios.values()))
    columns = [np.zeros(count), *(np.array(logs[:count]) for key, logs in ratios.items() if key.endswith("/0"))]
    return np.stack(columns, axis=1)


def simulated(recording: Mapping[str, Any], ratio: float, gates: int, seed: int) -> Found:
    """Simulate gates of one truth."""
    rng, rules, rounds = np.random.default_rng(seed), GateRules(), Rounds(recording)
    found = [judge_gate(rounds.gate(ratio, rules, rng), rules) for _ in range(gates)]
    verdicts = Counter(entry.verdict for entry in found)
    error = {1.0: GateVerdict.SLOWER}.get(ratio, GateVerdict.NOT_SLOWER if ratio <= 0.95 else None)
    return Found(
        recording=recording["name"],
        ratio=ratio,
        gates=gates,
        scatter=rounds.scatter,
        verdicts={kind.value: verdicts[kind] for kind in GateVerdict},
        rounds=float(np.mean([entry.look for entry in found])),
        wrong=verdicts[error] if error else 0,
    )


def show(found: Sequence[Found]) -> None:
    """Print the table."""
    table = Table(title="gates made of recorded rounds, per cent", title_justify="left")
    headings = ("recording", "scatter", "true ratio", *(kind.value for kind in GateVerdict), "wrong, at most", "rounds")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "recording" else "right")
    for row in found:
        shares = (f"{100 * row.verdicts[kind.value] / row.gates:.1f}" for kind in GateVerdict)
        bound = "-" if row.ratio == 0.98 else f"{100 * row.wrong_at_most:.1f}"
        table.add_row(row.recording, f"{row.scatter:.3f}", f"{row.ratio:g}", *shares, bound, f"{row.rounds:.0f}")
    Console(width=140).print(table)


def main() -> int:
    """Run the benchmark; 1 where gates are wrong more often than they may be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gates", type=int, default=1000, help="of each truth (default 1000)")
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="file of bench/gate_rounds.py")
    parser.add_argument("--json", type=Path, help="write the result there as well")
    program.add_smoke(parser)
    arguments = parser.parse_args()
    recordings = json.loads(arguments.recorded.read_text())
    gates = 20 if arguments.smoke else arguments.gates
    found = [simulated(entry, ratio, gates, arguments.seed) for entry in recordings for ratio in RATIOS]
    show(found)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(entry) for entry in found], indent=2) + "\n")
    return program.ended([] if arguments.smoke else [problem for entry in found for problem in entry.problems])


if __name__ == "__main__":
    program.run(main)
