"""`make bench-switching-overhead`: Open vSwitch with DPDK against testpmd io in its place, on vhost-user ports.

Same core, ports, queue sizes and hugepages; interleaved pairs, the core distance around every trial. The figure is the
median over the pairs of one placement class of OVS's rate over testpmd's, with its exact interval.
"""

import argparse
import json
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import program
from rich.console import Console
from rich.table import Table
from switches import Switch, Trial, wait_until_quiet

from nfvbed.compare.rows.placement import MIXED, analyse
from nfvbed.compare.samples.statistics import Interval, median, median_interval
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.cores.arrangement import resolve
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.workspace.reap import reap
from nfvbed.records import CellRole
from nfvbed.spec.site import ArrangementSpec
from nfvbed.spec.variant import Variant

ROOT = Path(__file__).resolve().parents[1]
SIDES = (("ovs-dpdk", CellRole.SUBJECT), ("testpmd-io", CellRole.REFERENCE))
NEAR_BELOW_NS = 80.0
"""Which bound holds for a class; one-way times of 25-45 and 140-175 ns were seen, and nothing between."""
BOUNDS = {True: 0.65, False: 0.90}
"""What the interval's lower end must reach, near and far."""
STOLEN_LIMIT = 0.08
"""Undisturbed trials were seen at 0.02-0.055 (nfvbed itself shares the generator's core), disturbed ones above 0.14."""
JUDGED_BYTES = 64
"""The bounds are for these frames."""
GENERATOR_BUSY = 0.95
PUSHED_BACK = 0.01


@dataclass(frozen=True)
class ClassResult:
    """One placement class."""

    placement: str
    distance_ns: float
    ovs_mpps: list[float]
    testpmd_mpps: list[float]
    ratios: list[float]
    interval: Interval | None
    bound: float
    generator_limited: tuple[bool, bool]
    """Whether the generator, and not the switch, bounded OVS's and testpmd's rate: then the ratio is too kind."""

    @property
    def reached(self) -> bool:
        """Whether the lower end of the interval reaches the bound."""
        return self.interval is not None and self.interval.low >= self.bound


def classes_of(pairs: list[tuple[Trial, Trial]]) -> list[ClassResult]:
    """Put the pairs of each class together; pairs in two classes, or disturbed by other processes, are left out."""
    placement = analyse([trial.distance for pair in pairs for trial in pair])
    results = []
    for name, distance_ns in zip(placement.classes, placement.medians_ns, strict=False):
        own = [
            pair
            for place, pair in enumerate(pairs)
            if placement.labels[2 * place] == placement.labels[2 * place + 1] == name != MIXED
            and max(trial.stolen_ratio for trial in pair) <= STOLEN_LIMIT
        ]
        ratios = [ovs.rate_mpps / io.rate_mpps for ovs, io in own]
        results.append(
            ClassResult(
                placement=name,
                distance_ns=distance_ns,
                ovs_mpps=[ovs.rate_mpps for ovs, _ in own],
                testpmd_mpps=[io.rate_mpps for _, io in own],
                ratios=ratios,
                interval=median_interval(ratios) if ratios else None,
                bound=BOUNDS[distance_ns < NEAR_BELOW_NS],
                generator_limited=(is_limited([ovs for ovs, _ in own]), is_limited([io for _, io in own])),
            )
        )
    return results


def is_limited(trials: list[Trial]) -> bool:
    """Return whether the generator was busy all the time while the switch hardly ever pushed back."""
    if not trials:
        return False
    busy = median([trial.generator_busy_ratio for trial in trials])
    return busy > GENERATOR_BUSY and median([trial.refused_ratio for trial in trials]) < PUSHED_BACK


def measure(arguments: argparse.Namespace, variant: Variant) -> tuple[list[tuple[Trial, Trial]], list[ClassResult]]:
    """Measure pairs until both classes have enough, or the time is over."""
    arrangement = resolve(read_topology(), ArrangementSpec())
    os.sched_setaffinity(0, arrangement.control_cores)
    pairs: list[tuple[Trial, Trial]] = []
    with ExitStack() as stack:
        switches = {}
        for side, role in SIDES:
            switches[side] = Switch(side, role, variant, arrangement, ROOT)
            stack.callback(switches[side].close)
        deadline = time.monotonic() + arguments.time_limit
        cores = (arrangement.switch_cores[0], arrangement.generator_core)
        while arguments.smoke or wait_until_quiet(cores, deadline):
            # Who begins changes, so that a drift favours neither.
            order = list(switches)[:: 1 if len(pairs) % 2 == 0 else -1]
            done = {side: switches[side].trial(arguments.frame_size, arguments.duration) for side in order}
            pairs.append((done[SIDES[0][0]], done[SIDES[1][0]]))
            classes = classes_of(pairs)
            full = len(classes) == 2 and all(len(c.ratios) >= arguments.pairs for c in classes)
            if full or arguments.smoke:
                break
    return pairs, classes_of(pairs)


def show(classes: list[ClassResult], frame_size: int, wanted: int, at_all: int) -> None:
    """Print the table, and what is missing in it."""
    table = Table(title=f"switching overhead: p2p, vhost-user, {frame_size} B", title_justify="left")
    for heading in ("class", "one way", "pairs", "OVS Mpps", "testpmd io Mpps", "ratio (95 %)", "aim"):
        table.add_column(heading, justify="right" if heading != "class" else "left")
    for row in classes:
        if not row.interval:
            continue
        low, high = row.interval.low, row.interval.high
        # With a reference that the generator cannot fill, the ratio is no better than an upper bound.
        relation = "<= " if row.generator_limited[1] else ""
        colour = "red" if not row.reached else "yellow" if relation else "green"
        table.add_row(
            row.placement,
            f"{row.distance_ns:.0f} ns",
            str(len(row.ratios)),
            _spread(row.ovs_mpps, row.generator_limited[0]),
            _spread(row.testpmd_mpps, row.generator_limited[1]),
            f"[{colour}]{relation}{median(row.ratios):.3f} ({low:.3f}-{high:.3f})[/]",
            f">= {row.bound:.2f}",
        )
    console = Console()
    console.print(table)
    used = sum(len(row.ratios) for row in classes)
    console.print(f"{at_all} pairs, {at_all - used} left out (class changed, or cores used by others)", highlight=False)
    for row in classes:
        if len(row.ratios) < wanted:
            console.print(f"blocked(placement): {row.placement} has {len(row.ratios)} of {wanted} pairs")
    if any(any(row.generator_limited) for row in classes):
        console.print("* generator-limited: that switch could do more; a ratio to such a testpmd is an upper bound")
    if len(classes) < 2:
        console.print("blocked(placement): this host showed one class only", highlight=False)


def _spread(values: list[float], generator_limited: bool) -> str:
    return f"{median(values):.2f}{'*' if generator_limited else ''} ({min(values):.2f}-{max(values):.2f})"


def _document(pairs: list[tuple[Trial, Trial]], classes: list[ClassResult], frame_size: int) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        return value.model_dump() if hasattr(value, "model_dump") else value

    rows = [{key: plain(value) for key, value in vars(row).items()} for row in classes]
    trials = [[{key: plain(value) for key, value in vars(trial).items()} for trial in pair] for pair in pairs]
    return {"frame_size_bytes": frame_size, "classes": rows, "pairs": trials}


def main() -> int:
    """Measure, print, write the raw figures; 1 when a class with enough pairs misses its bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10, help="pairs in each class (default: 10)")
    parser.add_argument("--frame-size", type=int, default=64, help="bytes with FCS (default: 64)")
    parser.add_argument("--duration", type=float, default=0.5, help="seconds of a trial (default: 0.5)")
    parser.add_argument("--time-limit", type=float, default=120, help="seconds to wait in (default: 120)")
    program.add_smoke(parser)
    parser.add_argument("--json", type=Path, default=ROOT / "results/bench/switching_overhead.json", help="raw figures")
    arguments = parser.parse_args()
    if arguments.smoke:
        arguments.duration = program.SMOKE_S
    variant = open_project(ROOT).load_variant("ovs-dpdk")
    lock = HostLock()
    lock.acquire()
    try:
        reap(lock)
        pairs, classes = measure(arguments, variant)
    finally:
        lock.release()
    show(classes, arguments.frame_size, arguments.pairs, len(pairs))
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(_document(pairs, classes, arguments.frame_size), indent=2) + "\n")
    if arguments.smoke:
        return program.ended([f"{t.side} moved no frame" for pair in pairs for t in pair if t.rate_mpps <= 0])
    return program.ended(problems_of(classes, arguments.pairs, judged=arguments.frame_size == JUDGED_BYTES))


def problems_of(classes: list[ClassResult], wanted: int, judged: bool) -> list[str]:
    """Say which class with enough pairs misses its bound, or that none has enough."""
    enough = [row for row in classes if len(row.ratios) >= wanted]
    if not enough:
        return ["no class has enough undisturbed pairs: measure again on a quiet machine"]
    return [f"class {row.placement} misses {row.bound:.2f}" for row in enough if judged and not row.reached]


if __name__ == "__main__":
    program.run(main)
