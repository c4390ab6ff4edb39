"""`make bench-gateway`: what the user plane's gateway costs, against the XDP forwarder and the kernel's routing.

The same frames on the same veths and core: from a server to 1,000 UEs, which the gateway puts into tunnels, the kernel
routes and the forwarder hands on as they are. Every round has a trial of each, in an order that changes; a ratio is the
median over the rounds of one placement class, with its exact interval. Cycles are those of the ports' receive threads.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import program
from forwarding import GENERATOR_LINKS, MACS, PORTS, UES, Bed, run_time_ns
from pairs import CORES
from pressure import wait_until_quiet
from rich.console import Console
from rich.table import Table

from nfvbed.compare.rows.placement import MIXED, analyse
from nfvbed.compare.samples.statistics import Interval, median, median_interval
from nfvbed.errors import GeneratorError
from nfvbed.host.cores import coredistance
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.native import native_binary
from nfvbed.host.workspace.reap import reap
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import CoreDistance, GeneratorPort, PortKind
from nfvbed.traffic.generator import Addressing, TrafficRequest
from nfvbed.traffic.nfvgen import NfvgenClient, NfvgenOptions
from nfvbed.units import NS_PER_S

ROOT = Path(__file__).resolve().parents[1]
BEARERS_USED = 1000
WARM_UP_S = 0.1
QUIET = 0.1
BASE = "kernel's routing"
"""It reads and writes a packet's headers, as the gateway does; the forwarder touches no frame."""
OWN = "gateway"
LEAST_RATIO = 1.0
"""What the gateway must reach of the kernel's rate: nextepc's packets take the kernel's way and its own."""


@dataclass(frozen=True)
class Trial:
    """One trial of one side."""

    round: int
    side: str
    rate_kpps: float
    """Frames that came out."""
    cycles: float
    """TSC cycles of the ports' receive threads for each of them."""
    distance: CoreDistance


@dataclass(frozen=True)
class Row:
    """One side in one placement class."""

    placement: str
    side: str
    rates_kpps: list[float]
    cycles: list[float]
    ratios: list[float]
    """To the rate of the kernel's routing in the same round."""
    interval: Interval | None


class Load:
    """nfvgen at the generator's ends, at maximum load, downlink."""

    def __init__(self, workspace: Workspace, bed: Bed, frame_size: int) -> None:
        self._bed = bed
        self._frame_size = frame_size
        first, second = (
            GeneratorPort(engine="xdp", spec=name, kind=PortKind.VETH, netns=bed.generator) for name in GENERATOR_LINKS
        )
        options = NfvgenOptions(
            binary=native_binary("nfvgen"),
            engine="xdp",
            ports=(first, second),
            core=CORES[1],
            sink_core=CORES[1],
            socket_path=workspace.directory / "nfvgen.sock",
            destination_macs=(MACS[PORTS[0]], MACS[PORTS[1]]),
        )

        def spawn(argv: Sequence[str]) -> ManagedProcess:
            return workspace.spawn("nfvgen", argv, cores=[CORES[1]], netns=bed.generator)

        self.client = NfvgenClient(options, spawn)
        wait_for_links(self.client)

    def run(self, number: int, side: str, duration_s: float) -> Trial:
        """Warm up and measure one side, which is in its place."""
        self._send(WARM_UP_S)
        distance = coredistance.measure(CORES)
        arrived, worked = self._bed.arrived(), run_time_ns(self._bed.threads)
        duration_ns = self._send(duration_s)
        arrived, worked = self._bed.arrived() - arrived, run_time_ns(self._bed.threads) - worked
        after = coredistance.measure(CORES)
        if not arrived:
            raise GeneratorError(f"{side}: no frame came out", where=str(PORTS), fix="run it on a quiet machine")
        return Trial(
            round=number,
            side=side,
            rate_kpps=arrived * 1e6 / duration_ns,
            cycles=worked * distance.tsc_hz / NS_PER_S / arrived,
            distance=CoreDistance(before=distance.one_way_ns, after=after.one_way_ns),
        )

    def _send(self, duration_s: float) -> int:
        """Send as fast as the ports take it; give how long that took, in ns."""
        request = TrafficRequest(
            duration_ns=round(duration_s * NS_PER_S),
            frame_size=self._frame_size,
            flows=BEARERS_USED,
            bidirectional=False,
            backward=True,
            stamp=False,
            check=False,
            learning_frames=0,
            addressing=Addressing(flow_address="destination", ipv4=UES),
        )
        return self.client.run(request).duration_ns


def rows_of(trials: list[Trial]) -> list[Row]:
    """Put the trials of each class together; rounds in more than one class are left out."""
    placement = analyse([trial.distance for trial in trials])
    by_round: dict[int, dict[str, tuple[Trial, str]]] = {}
    for trial, label in zip(trials, placement.labels, strict=True):
        by_round.setdefault(trial.round, {})[trial.side] = (trial, label)
    rows = []
    for name in placement.classes:
        whole = [
            sides for sides in by_round.values() if name != MIXED and {label for _, label in sides.values()} == {name}
        ]
        for side in whole[0] if whole else ():
            own = [sides[side][0] for sides in whole]
            ratios = [sides[side][0].rate_kpps / sides[BASE][0].rate_kpps for sides in whole]
            rates, cycles = [t.rate_kpps for t in own], [t.cycles for t in own]
            rows.append(Row(name, side, rates, cycles, ratios, median_interval(ratios)))
    return sorted(rows, key=lambda row: (row.placement, -median(row.ratios)))


def measure(arguments: argparse.Namespace) -> list[Trial]:
    """Measure all sides in every round."""
    trials = list[Trial]()
    workspace = Workspace.create()
    try:
        bed = Bed(workspace)
        load = Load(workspace, bed, arguments.frame_size)
        patience_s = float(arguments.patience)
        sides = list(bed.sides().items())
        for number in range(1 if arguments.smoke else arguments.rounds):
            for side, put_in_place in sides[:: 1 if number % 2 == 0 else -1]:
                patience_s = wait_until_quiet(QUIET, patience_s) if not arguments.smoke else 0.0
                with put_in_place():
                    trials.append(load.run(number, side, arguments.duration))
        load.client.close()
    finally:
        workspace.close()
    return trials


def show(rows: list[Row], frame_size: int) -> None:
    """Print the table."""
    table = Table(title=f"gateway: downlink, {BEARERS_USED} bearers, veth, {frame_size} B", title_justify="left")
    for heading in ("class", "side", "rounds", "kpps", "cycles a packet", f"rate to {BASE} (95 %)"):
        table.add_column(heading, justify="left" if heading in ("class", "side") else "right")
    for row in rows:
        between = f" ({row.interval.low:.3f}-{row.interval.high:.3f})" if row.interval else ""
        table.add_row(
            row.placement,
            row.side,
            str(len(row.ratios)),
            f"{median(row.rates_kpps):.0f} ({min(row.rates_kpps):.0f}-{max(row.rates_kpps):.0f})",
            f"{median(row.cycles):.0f} ({min(row.cycles):.0f}-{max(row.cycles):.0f})",
            f"{median(row.ratios):.3f}{between}",
        )
    Console().print(table)


def problems_of(rows: list[Row], wanted: int) -> list[str]:
    """Say in which class the gateway is too slow, or that none has enough rounds."""
    own = [row for row in rows if row.side == OWN and len(row.ratios) >= wanted]
    if not own:
        return [f"no class has {wanted} whole rounds: measure again on a quiet machine"]
    return [
        f"class {row.placement}: {median(row.ratios):.2f} of the rate of {BASE}, the aim is {LEAST_RATIO}"
        for row in own
        if median(row.ratios) < LEAST_RATIO
    ]


def _plain(value: Any) -> Any:
    return value.model_dump() if hasattr(value, "model_dump") else value


def main() -> int:
    """Measure, print, write the raw figures; 1 when the gateway misses its aim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="rounds (default: 20)")
    parser.add_argument("--wanted", type=int, default=6, help="rounds that a class needs (default: 6)")
    parser.add_argument("--frame-size", type=int, default=64, help="bytes with FCS, without the tunnel (default: 64)")
    parser.add_argument("--duration", type=float, default=0.5, help="seconds of a trial (default: 0.5)")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for a quiet machine (default: 60)")
    program.add_smoke(parser)
    parser.add_argument("--json", type=Path, default=ROOT / "results/bench/gateway.json", help="raw figures")
    arguments = parser.parse_args()
    if arguments.smoke:
        arguments.duration = program.SMOKE_S
    lock = HostLock()
    lock.acquire()
    try:
        reap(lock)
        trials = measure(arguments)
    finally:
        lock.release()
    rows = rows_of(trials)
    show(rows, arguments.frame_size)
    document = [{key: _plain(value) for key, value in asdict(trial).items()} for trial in trials]
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(
        json.dumps({"frame_size_bytes": arguments.frame_size, "trials": document}, indent=2) + "\n"
    )
    return 0 if arguments.smoke else program.ended(problems_of(rows, arguments.wanted))


if __name__ == "__main__":
    program.run(main)
