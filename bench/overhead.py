"""`make bench-overhead`: what measuring itself costs: the rate with stamps and telemetry on against both off.

One deployment, one generator; every round has a trial of each side, in an order that changes. `stamps`: each frame
carries its time, and latency goes into a histogram. `telemetry`: the switch's counters and the threads' are read around
the trial, and softirqs and switches are traced during it, as in the traced trial of the test `cost`. The ratio is the
median over the rounds that were in one placement class, with its exact interval.
"""

import argparse
import contextlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import program
from pressure import Pressure, wait_until_quiet
from rich.console import Console
from rich.table import Table

from nfvbed.compare.rows.placement import MIXED, analyse
from nfvbed.compare.samples.statistics import Interval, median, median_interval
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.measure.task import TrialTask
from nfvbed.measure.telemetry.groups import groups_of
from nfvbed.measure.telemetry.probe import Instruments, Probe
from nfvbed.measure.telemetry.tracing import CoreTracer
from nfvbed.measure.trial import Measurement, with_sender
from nfvbed.records import CoreDistance, Deployment, PortKind, Preset, TrialRecord
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.hosted import require_host
from nfvbed.sites.site import Site
from nfvbed.traffic.generator import Generator, TrafficRequest
from nfvbed.units import NS_PER_S

ROOT = Path(__file__).resolve().parents[1]
OFF = "off"
SIDES = {OFF: (False, False), "stamps": (True, False), "telemetry": (False, True), "both": (True, True)}
"""Name of a side: whether frames are stamped, whether telemetry is on."""
WARM_UP_S = 0.2
QUIET = 0.1
NOT_KNOWN = 1.0
"""On kernel ports the generator's sender and its sinks share a core and wait for each other (0.8 of a trial on a quiet
machine), so that others' work cannot be separated from it; it is looked for before every round only."""


@dataclass(frozen=True)
class Trial:
    """One trial of one side."""

    round: int
    side: str
    rate_mpps: float
    distance: CoreDistance | None
    pressure: float
    """Share of the trial in which others wanted a CPU."""


@dataclass(frozen=True)
class SideResult:
    """One side against `off` in one placement class."""

    placement: str
    side: str
    rates_mpps: list[float]
    off_mpps: list[float]
    ratios: list[float]
    interval: Interval | None


def results_of(trials: Sequence[Trial], pressure_limit: float) -> list[SideResult]:
    """Compare the sides round by round; rounds in several classes, or disturbed, are left out."""
    labels = analyse([trial.distance for trial in trials]).labels
    rounds: dict[int, list[tuple[Trial, str]]] = {}
    for trial, label in zip(trials, labels, strict=True):
        rounds.setdefault(trial.round, []).append((trial, label))
    by_class: dict[str, list[dict[str, float]]] = {}
    for found in rounds.values():
        classes = {label for _, label in found}
        disturbed = any(trial.pressure > pressure_limit for trial, _ in found)
        if len(classes) == 1 and MIXED not in classes and not disturbed and len(found) == len(SIDES):
            by_class.setdefault(classes.pop(), []).append({trial.side: trial.rate_mpps for trial, _ in found})
    return [_result(name, side, found) for name, found in by_class.items() for side in SIDES if side != OFF]


def _result(placement: str, side: str, rounds: list[dict[str, float]]) -> SideResult:
    used = [rates for rates in rounds if rates[OFF] > 0]
    ratios = [rates[side] / rates[OFF] for rates in used]
    interval = median_interval(ratios) if ratios else None
    return SideResult(placement, side, [r[side] for r in used], [r[OFF] for r in used], ratios, interval)


class _Watched(contextlib.AbstractContextManager[object]):
    """Whether others wanted a CPU while frames were sent: what nfvbed reads before and after them is no disturbance."""

    def __init__(self) -> None:
        self.inside: Probe | None = None
        self.share = 0.0
        self._pressure: Pressure | None = None

    def __enter__(self) -> object:
        if self.inside is not None:
            self.inside.__enter__()
        self._pressure = Pressure()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._pressure is not None:
            self.share = self._pressure.share()
        if self.inside is not None:
            self.inside.__exit__(*error)


class Rig:
    """A deployment with a generator on it."""

    def __init__(self, site: Site, deployment: Deployment, generator: Generator, duration_s: float) -> None:
        self._site = site
        self._deployment = deployment
        self._info = generator.hello()
        self._duration_s = duration_s
        self._measurement = Measurement(site, deployment, generator)
        self._sequence = 0
        self._request = TrafficRequest(duration_ns=round(duration_s * NS_PER_S), frame_size=64)
        self._measurement.warm_up(replace(self._request, duration_ns=round(WARM_UP_S * NS_PER_S)))

    def trial(self, number: int, side: str) -> Trial:
        """Measure one trial of a side."""
        stamps, telemetry = SIDES[side]
        self._sequence += 1
        task = TrialTask(
            run=str(uuid.UUID(int=0)),
            cell="overhead",
            sequence=self._sequence,
            round=number,
            preset=Preset.MRR,
            request=replace(self._request, stamp=stamps),
            counters=telemetry,
        )
        watched = _Watched()
        record = self._with_telemetry(task, watched) if telemetry else self._measure(task, watched)
        return Trial(number, side, record.forwarded_rate_pps / 1e6, record.core_distance_ns, watched.share)

    def _measure(self, task: TrialTask, around: contextlib.AbstractContextManager[object]) -> TrialRecord:
        return self._measurement.measure(replace(task, around=lambda: around))

    def _with_telemetry(self, task: TrialTask, watched: "_Watched") -> TrialRecord:
        host = require_host(self._site, self._deployment, "what tracing costs")
        threads = with_sender(host.work_threads(), self._info)
        cores = host.arrangement.switch_cores
        groups = groups_of(self._deployment, threads, cores)
        readers = self._site.own_readers(self._deployment, self._duration_s)
        tracer = CoreTracer(host.workspace, {core for g in groups for core in g.cores})
        with contextlib.closing(tracer):
            watched.inside = Probe([(t.pid, t.tid) for t in threads], Instruments(tracer=tracer, own=readers))
            record = self._measure(task, watched)
            watched.inside.collect()
        return record


def measure(site: Site, variant: str, arguments: argparse.Namespace) -> tuple[list[Trial], float]:
    """Measure rounds of one variant until one class has enough of them; return the trials and the pressure's limit."""
    project = open_project(ROOT)
    chosen = project.load_variant(variant)
    limit = NOT_KNOWN if chosen.port_kind is PortKind.VETH else QUIET
    deployment = site.deploy(chosen, "p2p")
    trials: list[Trial] = []
    try:
        with contextlib.closing(site.open_generator(deployment)) as generator:
            rig = Rig(site, deployment, generator, arguments.duration)
            patience_s = arguments.patience
            for number in range(arguments.at_most):
                patience_s = wait_until_quiet(QUIET, patience_s)
                names = list(SIDES)
                # Who begins changes, so that a drift favours none.
                shift = number % len(names)
                trials += [rig.trial(number, side) for side in names[shift:] + names[:shift]]
                found = results_of(trials, limit)
                if any(len(row.ratios) >= arguments.rounds for row in found):
                    break
    finally:
        site.destroy(deployment)
    return trials, limit


def show(variant: str, rows: Sequence[SideResult], rounds: int) -> None:
    """Print the table, and how many rounds it leaves out."""
    table = Table(title=f"the overhead of measuring: {variant}, p2p, 64 B", title_justify="left")
    for heading in ("class", "on", "rounds", "off, Mpps", "on, Mpps", "ratio (95 %)"):
        table.add_column(heading, justify="left" if heading in ("class", "on") else "right")
    for row in rows:
        bounds = f" ({row.interval.low:.3f}-{row.interval.high:.3f})" if row.interval else ""
        off, on = (f"{median(values):.2f}" if values else "-" for values in (row.off_mpps, row.rates_mpps))
        ratio = f"{median(row.ratios):.3f}{bounds}" if row.ratios else "-"
        table.add_row(row.placement, row.side, str(len(row.ratios)), off, on, ratio)
    console = Console()
    console.print(table)
    used = sum(len(row.ratios) for row in rows if row.side == "both")
    console.print(
        f"{rounds} rounds, {rounds - used} left out (class changed, or cores used by others)", highlight=False
    )


def main() -> int:
    """Measure, print, write the raw figures; 1 where no class of a variant has enough rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", action="append", help="only this one; repeatable (default: both of the demo)")
    parser.add_argument("--rounds", type=int, default=9, help="in one class (default: 9)")
    parser.add_argument("--at-most", type=int, default=18, help="rounds before it stops (default: 18)")
    parser.add_argument("--duration", type=float, default=0.5, help="seconds of a trial (default: 0.5)")
    parser.add_argument("--patience", type=float, default=60, help="s in which it waits for quiet CPUs (default: 60)")
    program.add_smoke(parser)
    parser.add_argument("--json", type=Path, default=ROOT / "results/bench/overhead.json", help="raw figures")
    arguments = parser.parse_args()
    if arguments.smoke:
        arguments.rounds, arguments.at_most, arguments.duration, arguments.patience = 1, 1, program.SMOKE_S, 0.0
    document: dict[str, Any] = {}
    problems: list[str] = []
    site = open_site(open_project(ROOT).load_site("lab"), ROOT)
    try:
        for variant in arguments.variant or ("linux-bridge", "ovs-dpdk"):
            trials, limit = measure(site, variant, arguments)
            rows = results_of(trials, limit)
            show(variant, rows, len(trials) // len(SIDES))
            problems += silent(variant, trials) if arguments.smoke else too_few(variant, rows, arguments.rounds)
            document[variant] = {"results": _plain(rows), "trials": _plain(trials)}
    finally:
        site.close()
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(document, indent=2) + "\n")
    return program.ended(problems)


def too_few(variant: str, rows: Sequence[SideResult], wanted: int) -> list[str]:
    """Say that no class has enough rounds."""
    if any(len(row.ratios) >= wanted for row in rows):
        return []
    return [f"{variant}: no class has {wanted} undisturbed rounds: measure again on a quiet machine"]


def silent(variant: str, trials: Sequence[Trial]) -> list[str]:
    """Name the sides of which no trial moved a frame, whatever disturbed it."""
    moved = {trial.side for trial in trials if trial.rate_mpps > 0}
    return [f"{variant}: {side} moved no frame" for side in SIDES if side not in moved]


def _plain(rows: Sequence[Trial] | Sequence[SideResult]) -> list[dict[str, Any]]:
    return [
        {key: value.model_dump() if hasattr(value, "model_dump") else value for key, value in vars(row).items()}
        for row in rows
    ]


if __name__ == "__main__":
    program.run(main)
