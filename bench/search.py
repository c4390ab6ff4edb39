"""`make bench-search`: `csit` searches for NDR and PDR against two plain binary searches, on a simulated system.

The system's answer is known: it forwards 5.0 Mpps and loses 1 to 50 frames now and then (10 % a second). Nothing here
is a measurement of a data plane. An error is the distance of the conditional throughput from that answer; `ratio` is
the median trial time of `csit` over that of the two plain searches together.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import program
from plain_search import binary_search, simulated_measurer
from rich.console import Console
from rich.table import Table

from nfvbed.compare.rows.placement import classify
from nfvbed.search.engine import Setting, search
from nfvbed.search.placement import PlacementRule
from nfvbed.search.result import LoadRange
from nfvbed.spec.search import SearchSpec
from nfvbed.spec.searchpresets import LOSS_RATIO_OF, NDR, PDR

CAPACITY_PPS = 5_000_000
BURSTS_PER_S = 0.1
LOADS = LoadRange(min_load_pps=10_000, max_load_pps=15_000_000)
PLAIN_TRIAL_S = 10.0
PLAIN_WIDTH = 0.005
ERROR_AIM = 0.01
RATIO_AIM = 0.5


@dataclass(frozen=True)
class Found:
    """One pair of searches of one kind."""

    ndr_pps: float
    pdr_pps: float
    trials: int
    trial_time_s: float
    regular: bool = True

    def error(self, name: str) -> float:
        """Return the distance from the known answer, as a part of it."""
        return abs((self.ndr_pps if name == NDR else self.pdr_pps) / CAPACITY_PPS - 1)


def find_csit(offset: int, preset: str, noise: float) -> Found:
    """Search for NDR and PDR together."""
    measurer = simulated_measurer(offset, **_options(noise))
    result = search(SearchSpec(preset=preset).resolved(), measurer, Setting(LOADS, placement=PlacementRule(classify)))
    rates = [result.of(name).conditional_throughput_pps or 0 for name in (NDR, PDR)]
    return Found(rates[0], rates[1], result.trials, result.trial_time_s, result.regular)


def find_plain(offset: int, noise: float) -> Found:
    """Search for NDR, then for PDR."""
    measurer = simulated_measurer(offset, **_options(noise))
    ndr, pdr = (binary_search(measurer, LOSS_RATIO_OF[name], LOADS, PLAIN_TRIAL_S, PLAIN_WIDTH) for name in (NDR, PDR))
    return Found(ndr.rate_pps, pdr.rate_pps, ndr.trials + pdr.trials, ndr.trial_time_s + pdr.trial_time_s)


def ratio_of(ours: list[Found], plain: list[Found]) -> float:
    """Return the ratio of the median trial times."""
    return median(found.trial_time_s for found in ours) / median(found.trial_time_s for found in plain)


def main() -> int:
    """Search, print a table, the ratio and the errors, write the raw figures; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=10, help="of each kind (default: 10)")
    parser.add_argument("--preset", default="csit", help="csit or csit-quick (default: csit)")
    parser.add_argument("--noise", type=float, default=0.0, help="relative deviation of the capacity (default: 0)")
    program.add_smoke(parser)
    parser.add_argument("--json", type=Path, default=Path("results/bench/search.json"), help="raw figures")
    arguments = parser.parse_args()
    offsets = range(1 if arguments.smoke else arguments.searches)
    ours = [find_csit(offset, arguments.preset, arguments.noise) for offset in offsets]
    plain = [find_plain(offset, arguments.noise) for offset in offsets]
    ratio = ratio_of(ours, plain)
    worst = max(found.error(name) for found in ours for name in (NDR, PDR))
    _print({arguments.preset: ours, "plain binary": plain})
    print(f"ratio {ratio:.3f} (aim: < {RATIO_AIM:g})")
    for name in (NDR, PDR):
        print(f"error {name} {max(found.error(name) for found in ours):.2%} at most (aim: < {ERROR_AIM:.0%})")
    document = {"simulated": True, "preset": arguments.preset, "noise": arguments.noise, "ratio": ratio}
    document |= {"csit": [asdict(found) for found in ours], "plain": [asdict(found) for found in plain]}
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(document, indent=2) + "\n")
    if arguments.smoke:
        return program.ended(
            ["a search ended without a bound"] if any(f.ndr_pps * f.pdr_pps == 0 for f in ours) else []
        )
    problems = {
        "the ratio misses its aim": ratio >= RATIO_AIM,
        "an error misses its aim": worst >= ERROR_AIM,
        "a search ended irregularly": not all(found.regular for found in ours),
    }
    return program.ended([text for text, holds in problems.items() if holds])


def _options(noise: float) -> dict[str, Any]:
    return {"capacity_pps": CAPACITY_PPS, "burst_probability_per_s": BURSTS_PER_S, "noise": noise}


def _print(kinds: dict[str, list[Found]]) -> None:
    table = Table(title=f"simulated, {CAPACITY_PPS / 1e6:g} Mpps; median (worst)", title_justify="left")
    for heading in ("search", "number", "trials", "trial time, s", "error of NDR", "error of PDR"):
        table.add_column(heading, justify="left" if heading == "search" else "right")
    for kind, found in kinds.items():
        times = [one.trial_time_s for one in found]
        errors = [[one.error(name) for one in found] for name in (NDR, PDR)]
        table.add_row(
            kind,
            str(len(found)),
            f"{median(one.trials for one in found):g}",
            f"{median(times):.0f} ({max(times):.0f})",
            *(f"{median(values):.2%} ({max(values):.2%})" for values in errors),
        )
    Console().print(table)


if __name__ == "__main__":
    program.run(main)
