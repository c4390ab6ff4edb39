"""What the tests between sockets share: the ports are freed for them, hosts are put on, and every condition is run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.measure.sockettrial import SocketMeter, Traffic
from nfvbed.records import Status
from nfvbed.results import MeasuredRow, TablePayload
from nfvbed.run import requests
from nfvbed.run.kinds.bench import OneClass, Outcome, TestBench
from nfvbed.sites.hosted import require_host
from nfvbed.spec.testkinds.sockets import SocketTest
from nfvbed.traffic.sockets.figures import SocketFigures, over_runs
from nfvbed.units import NS_PER_S
from nfvbed.vnfs.sockets.ends import socket_ends, why_not
from nfvbed.vnfs.sockets.hosts import MTU, SocketEnds, Surroundings

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_REOPENED_NS = NS_PER_S // 20


@dataclass(frozen=True)
class Condition:
    """What is run for one row."""

    label: str
    parameters: Mapping[str, str | int | float]
    traffic: Traffic
    notes: tuple[str, ...] = field(default=())


def between_sockets(bench: TestBench, spec: SocketTest, conditions: Callable[[], Sequence[Condition]]) -> Outcome:
    """Run every condition between two hosts at the ends of the path, and give the table of what came of it.

    Args:
        bench: what stands.
        spec: the test.
        conditions: finds the tools, and gives what is run with them.

    Raises:
        UnsupportedError: the kernel lacks something, or a VNF breaks ordinary traffic.
        GeneratorError: a tool failed; the deployment is given up with it.
    """
    deployment, site = bench.setup.deployment, bench.setup.site
    reason = why_not(deployment)
    if reason:
        return Outcome(None, Status.NOT_APPLICABLE, reason)
    try:
        wanted = conditions()
        with _ports_free(bench), socket_ends(deployment, _place(bench)) as ends:
            measured = _Rows(bench, spec, SocketMeter(site, deployment, ends))
            rows = tuple(measured.row(condition) for condition in wanted)
    except PrerequisiteError as failure:
        # A tool is missing: what needs others goes on.
        return Outcome(None, Status.UNSUPPORTED, str(failure))
    notes = (
        *_notes(deployment.variant, ends),
        *dict.fromkeys(note for condition in wanted for note in condition.notes),
    )
    return Outcome(TablePayload(rows=rows, notes=notes))


@contextmanager
def _ports_free(bench: TestBench) -> Iterator[None]:
    """Close the generator as long as the block lasts; what measures with it then learns of its new process."""
    setup, experiment = bench.setup, bench.plan.experiment
    short = replace(requests.plain(experiment, bench.cell), duration_ns=_REOPENED_NS)
    warm_up = requests.warm_up(experiment, bench.cell) or short
    try:
        with setup.generator.ports_free():
            yield
    except (UnsupportedError, PrerequisiteError):
        setup.measures.warm_up(warm_up)
        raise
    setup.measures.warm_up(warm_up)


def _place(bench: TestBench) -> Surroundings:
    host = require_host(bench.setup.site, bench.setup.deployment, "traffic between sockets")
    return Surroundings(host.workspace, host.arrangement)


def check_congestion(name: str, available: Path = AVAILABLE) -> None:
    """Make sure that the kernel has a congestion control.

    Raises:
        UnsupportedError: it has not.
    """
    there = available.read_text().split()
    if name not in there:
        raise UnsupportedError(
            f"the kernel has no congestion control {name}",
            where=str(available),
            observed=f"it has {', '.join(there)}",
            fix=f"modprobe tcp_{name}; or choose one of these",
        )


class _Rows:
    """Runs conditions in one placement class."""

    def __init__(self, bench: TestBench, spec: SocketTest, meter: SocketMeter) -> None:
        self._bench = bench
        self._repetitions = spec.repetitions
        self._meter = meter
        self._one_class = OneClass(bench)

    def row(self, condition: Condition) -> MeasuredRow:
        """Run a condition as often as asked."""
        runs = [self._one_class.take(partial(self._run, condition)) for _ in range(self._repetitions)]
        figures = [found for _, found in runs]
        return MeasuredRow(
            label=condition.label,
            parameters=dict(condition.parameters),
            quantities=over_runs(figures),
            sequences=tuple(sequence for sequence, _ in runs),
            reason=_missing(figures),
        )

    def _run(self, condition: Condition) -> tuple[int, SocketFigures]:
        record, figures = self._meter.measure(self._bench.task(), condition.traffic)
        self._bench.keep(record)
        return record.sequence, figures


def _missing(runs: Iterable[SocketFigures]) -> str:
    """Name the figures that a tool did not give."""
    names = dict.fromkeys(figure.name for run in runs for figure in run.figures if figure.value is None)
    return f"the tool does not tell {', '.join(names)}" if names else ""


def _notes(variant: str, ends: SocketEnds) -> tuple[str, ...]:
    cores = ends.cores
    polls = "" if cores.poller is None else f", their polling process on core {cores.poller}"
    return (
        f"Hosts on {variant}: {ends.what}; MTU {MTU}; client on core {cores.client}, server on core {cores.server}"
        f"{polls}.",
        "A figure is the median of the runs, with the least and the greatest.",
    )
