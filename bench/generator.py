"""`make bench-generator`: nfvgen against dpdk-testpmd in the same loops, interleaved, within one placement class.

nfvgen stamps, checksums and checks every frame, testpmd's flowgen only writes headers. Both are given one core. The
ratio is of medians of what came back, in frames/s over both directions, with its exact interval. testpmd is
measured with bursts of 32, its default, and of 64, nfvgen's, and so is nfvgen; in each class the better figure of
each counts. Beside that stands the paired ratio over all rounds, disturbed or not. The exit status is 1 where a loop
misses its aim: in a class that has enough trials, else by the whole interval of the rounds; or where neither can say.

It ends within the time that it is given, of which every loop has its share: a loop that is short of it goes on with the
better variant of each side, and a trial whose program fails is named and left out. Each loop reserves the hugepages of
its programs, and gives them back.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path

import program
from loops import Loop, memif, veth, virtio_user
from pairs import VARIANT, Limits, LoopResult, group_of, run_pairs
from rich.console import Console
from rich.table import Table

from nfvbed.errors import GeneratorError
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.workspace.reap import reap
from nfvbed.host.workspace.workspace import Workspace

LOOPS: dict[str, Callable[[Workspace, float], AbstractContextManager[Loop]]] = {
    "virtio-user": virtio_user,
    "memif": memif,
    "veth-one-core": partial(veth, two_cores=False),
    "veth-two-cores": partial(veth, two_cores=True),
}


def main() -> int:
    """Measure the loops that were asked for, print a table, write the raw figures; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loop", choices=sorted(LOOPS), action="append", help="only this loop; repeatable")
    parser.add_argument("--pairs", type=int, default=5, help="trials of each side in one class (default: 5)")
    parser.add_argument("--at-most", type=int, default=16, help="pairs before it stops waiting (default: 16)")
    parser.add_argument("--patience", type=float, default=20, help="s a loop waits for quiet CPUs (default: 20)")
    parser.add_argument("--within", type=float, default=900, help="s that all loops take together (default: 900)")
    parser.add_argument("--duration", type=float, default=0.5, help="seconds of a trial (default: 0.5)")
    parser.add_argument("--json", type=Path, default=Path("results/bench/generator.json"), help="raw figures")
    program.add_smoke(parser)
    arguments = parser.parse_args()
    smoke = arguments.smoke
    limits = Limits(1, 1, 0.0) if smoke else Limits(arguments.pairs, arguments.at_most, arguments.patience)
    names = list(dict.fromkeys(arguments.loop or LOOPS))
    ends = time.monotonic() + arguments.within
    duration_s = program.SMOKE_S if smoke else arguments.duration
    lock = HostLock()
    lock.acquire()
    results: list[LoopResult] = []
    problems: list[str] = []
    try:
        reap(lock)
        for place, name in enumerate(names):
            share_ends = time.monotonic() + max(0.0, ends - time.monotonic()) / (len(names) - place)
            workspace = Workspace.create()
            try:
                with LOOPS[name](workspace, duration_s) as (nfvgen, rivals, result):
                    results.append(result)
                    run_pairs(result, nfvgen, rivals, replace(limits, within_s=share_ends - time.monotonic()))
            except GeneratorError as failure:
                problems.append(f"{name}: given up: {failure}")
                continue
            finally:
                problems += workspace.close()
            _print(result)
    finally:
        lock.release()
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps([r.document() for r in results], indent=2) + "\n")
    problems += [text for result in results for text in (result.silent() if smoke else result.problems(limits.wanted))]
    return program.ended(problems)


def _print(result: LoopResult) -> None:
    console = Console()
    table = Table(title=result.name, title_justify="left")
    for heading in ("class", "trials", "nfvgen Mpps", "testpmd Mpps", "bursts", "against", "ratio (95 %)", "aim"):
        table.add_column(heading, justify="right" if heading != "class" else "left")
    for row in result.classes:
        low_high = f" ({row.interval[0]:.2f}-{row.interval[1]:.2f})" if row.interval else ""
        aimed = group_of(row.rival) == result.aim_rival
        colour = "default" if not aimed else "green" if row.ratio >= result.aim else "red"
        table.add_row(
            row.placement,
            f"{len(row.nfvgen_mpps)}/{len(row.testpmd_mpps)}",
            f"{row.nfvgen_median_mpps:.2f} ({min(row.nfvgen_mpps):.2f}-{max(row.nfvgen_mpps):.2f})",
            f"{row.testpmd_median_mpps:.2f} ({min(row.testpmd_mpps):.2f}-{max(row.testpmd_mpps):.2f})",
            " / ".join(side.partition(VARIANT)[2] or "-" for side in (row.own, row.rival)),
            group_of(row.rival),
            f"[{colour}]{row.ratio:.2f}{low_high}[/]",
            f">= {result.aim:g}" if aimed else "",
        )
    console.print(table)
    for pair in result.paired:
        bounds = f" ({pair.interval[0]:.2f}-{pair.interval[1]:.2f}, 95 %)" if pair.interval else " (too few rounds)"
        text = f"  paired, against {group_of(pair.rival)}: {pair.ratio:.2f}{bounds} in {len(pair.ratios)} rounds"
        notes = [f"{pair.disturbed} disturbed"] if pair.disturbed else []
        notes += [f"{pair.silent} more without frames"] if pair.silent else []
        console.print(f"{text}{': ' if notes else ''}{', '.join(notes)}", highlight=False)
    disturbed = sum(t.pressure > result.pressure_limit for t in result.trials)
    if disturbed:
        text = f"  {disturbed} of {len(result.trials)} trials are in no class: others wanted the CPUs"
        console.print(text, highlight=False)
    for text, times in Counter(result.failures).items():
        console.print(f"  left out, {times} of them: {text}", highlight=False)
    if result.out_of_time:
        console.print("  ended as its time was over", highlight=False)
    for name, rate in result.beside_mpps.items():
        console.print(f"  beside: {name}: {rate:.2f} Mpps", highlight=False)


if __name__ == "__main__":
    program.run(main)
