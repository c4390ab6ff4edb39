"""Executes the tests between sockets: the ports are freed for them, hosts are put on, every condition is run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from nfvbed.errors import GeneratorError, PrerequisiteError, UnsupportedError
from nfvbed.host import fixes
from nfvbed.measure.sockettrial import SocketMeter, Traffic
from nfvbed.records import Deployment, Status
from nfvbed.records.readings import Unavailable
from nfvbed.records.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.celltest import CellTest, Outcome, PlacementClassFilter
from nfvbed.run.kinds.freeports import ports_free
from nfvbed.run.kinds.guest_session import working_inside
from nfvbed.run.losses import next_step
from nfvbed.sites.hosted import require_host
from nfvbed.spec.testkinds.sockets import (
    RequestResponseTest,
    SocketLatencyTest,
    SocketTest,
    TcpThroughputTest,
    UdpThroughputTest,
)
from nfvbed.traffic.sockets import iperf3, netperf, sockperf
from nfvbed.traffic.sockets.figures import SocketFigures, over_runs
from nfvbed.traffic.sockets.hosts import SocketPair
from nfvbed.traffic.sockets.netperf import NetperfPrograms
from nfvbed.traffic.sockets.sockettools import Tools
from nfvbed.vnfs.guest.machines import PathGuests
from nfvbed.vnfs.sockets import offloads
from nfvbed.vnfs.sockets.ends import KERNEL, must_be_guests, socket_ends, tools_of, why_not
from nfvbed.vnfs.sockets.guest_hosts import guest_hosts
from nfvbed.vnfs.sockets.hosts import HostResources, SocketEnds
from nfvbed.vnfs.sockets.offloads import Offloads

CHECKSUM_LEFT = "the path does not complete a checksum that an end has left to its device"


@dataclass(frozen=True)
class Condition:
    """The run of a socket tool that one row is measured with."""

    label: str
    parameters: Mapping[str, str | int | float]
    traffic: Traffic
    notes: tuple[str, ...] = field(default=())
    offloads: Offloads | None = None
    """Offloads that both ends are given first; None: they stay as they are."""


def between_sockets(
    cell_test: CellTest, spec: SocketTest, conditions: Callable[[Tools], Sequence[Condition]]
) -> Outcome[TablePayload]:
    """Run every condition between two hosts at the ends of the path, and return the table of what came of it.

    Args:
        conditions: finds its tools among the hosts', and returns what is run with them.

    Raises:
        UnsupportedError: the kernel lacks something, or a VNF breaks ordinary traffic.
        GeneratorError: a tool failed; the deployment is given up with it.
    """
    deployment, site = cell_test.setup.deployment, cell_test.setup.site
    guests = site.path_guests(deployment) if spec.ends == "guests" or must_be_guests(deployment) else None
    reason = why_not(deployment, guests) or _no_such_ends(spec, guests)
    if reason or isinstance(guests, Unavailable):
        return Outcome(None, Status.NOT_APPLICABLE, reason)
    hosts = guests or _place(cell_test, spec)
    try:
        wanted = [_directed(condition, spec) for condition in conditions(tools_of(guests))]
        with _ends(cell_test, hosts) as ends, offloads.kept(ends):
            measured = _Rows(cell_test, spec, SocketMeter(site, deployment, ends, cell_test.setup.info.tsc_hz), ends)
            rows = tuple(measured.row(condition) for condition in wanted)
            of_ends = ends.told()
    except GeneratorError as failure:
        failure.fix = "; ".join(filter(None, (failure.fix, next_step(cell_test.plan, cell_test.cell, site))))
        raise
    except PrerequisiteError as failure:
        # A tool is missing: what needs others goes on.
        return Outcome(None, Status.UNSUPPORTED, str(failure))
    notes = (
        *_notes(deployment.variant, ends),
        *of_ends,
        *dict.fromkeys(note for condition in wanted for note in condition.notes),
    )
    return Outcome(TablePayload(rows=rows, notes=notes))


@contextmanager
def _ends(cell_test: CellTest, hosts: PathGuests | HostResources) -> Iterator[SocketEnds]:
    """Free the ports or the guests of a path for a block, and put hosts there."""
    deployment = cell_test.setup.deployment
    if isinstance(hosts, PathGuests):
        with working_inside(cell_test, hosts), guest_hosts(deployment, hosts) as ends:
            yield ends
        return
    with ports_free(cell_test), socket_ends(deployment, hosts) as ends:
        yield ends


def _no_such_ends(spec: SocketTest, guests: PathGuests | Unavailable | None) -> str:
    """Return why the ends that a test asks for cannot be; empty where they can."""
    if spec.ends in ("testpmd", "veth") and guests is not None:
        return f"ends: {spec.ends} is for hosts in namespaces; those of this path are virtual machines"
    return ""


def _directed(condition: Condition, spec: SocketTest) -> Condition:
    """Return a condition as it is in the test's direction; forward it stays what it was in runs before."""
    if spec.direction == "forward":
        return condition
    return replace(
        condition,
        label=f"{condition.label}, {spec.direction}",
        parameters={**condition.parameters, "direction": spec.direction},
        traffic=lambda pair: condition.traffic(pair.turned()),
    )


def _place(cell_test: CellTest, spec: SocketTest) -> HostResources:
    deployment = cell_test.setup.deployment
    host = require_host(cell_test.setup.site, deployment, "traffic between sockets")
    own = host.own_ends
    veths = own.get("veth") if spec.ends == "veth" else None
    if spec.ends == "veth" and veths is None and deployment.ports[0].kind not in KERNEL:
        raise _no_veths(deployment)
    taps = own.get("tap") if spec.ends == "own" else None
    return HostResources(host.workspace, host.arrangement, own_taps=taps, own_veths=veths)


def _no_veths(deployment: Deployment) -> UnsupportedError:
    return UnsupportedError(
        "this data plane has no veth ports for hosts",
        where="ends: veth",
        observed=f"{deployment.variant}'s ports are {deployment.ports[0].kind.value}, and it adds no veth port",
        fix="ends: own; Open vSwitch adds such ports where nfvbed writes its rules and its ports are vhost-user, memif",
    )


def check_congestion(name: str, tools: Tools) -> None:
    """Raise where the hosts' kernel lacks a congestion control.

    Raises:
        UnsupportedError: it is not available.
    """
    there = tools.congestion_controls()
    if name not in there:
        raise UnsupportedError(
            f"the kernel has no congestion control {name}",
            where="net.ipv4.tcp_available_congestion_control",
            observed=f"it has {', '.join(there)}",
            fix=f"{fixes.load(f'tcp_{name}', option=f'CONFIG_TCP_CONG_{name.upper()}')}; or choose one of these",
        )


class _Rows:
    """Runs conditions in one placement class."""

    def __init__(self, cell_test: CellTest, spec: SocketTest, meter: SocketMeter, ends: SocketEnds) -> None:
        self._ends = ends
        self._cell_test = cell_test
        self._repetitions = spec.repetitions
        self._meter = meter
        self._one_class = PlacementClassFilter(cell_test)

    def row(self, condition: Condition) -> MeasuredRow:
        """Run a condition as often as asked; where the ends cannot do its offloads, return a row that says so."""
        parameters = {**condition.parameters, **({"ends": self._ends.kind} if self._ends.kind else {})}
        if condition.offloads is None:
            return self._row(condition, parameters)
        try:
            has = offloads.set_both(self._ends, condition.offloads)
        except UnsupportedError as failure:
            reason = str(failure)
            return MeasuredRow(label=condition.label, parameters=parameters, status=Status.UNSUPPORTED, reason=reason)
        before, dropped = offloads.sent(self._ends), offloads.wrong_checksums(self._ends)
        try:
            row = self._row(condition, parameters)
        except GeneratorError:
            incomplete = offloads.wrong_checksums(self._ends) - dropped
            if condition.offloads == "none" or not incomplete:
                raise
            return MeasuredRow(
                label=condition.label,
                parameters={**parameters, "read_back": has},
                status=Status.UNSUPPORTED,
                reason=f"{CHECKSUM_LEFT}: {incomplete} segments came to a host with a wrong one, and were dropped",
            )
        frames, octets = (after - first for after, first in zip(offloads.sent(self._ends), before, strict=True))
        mean = octets / frames if frames else None
        wrong = offloads.check_frames(condition.offloads, mean)
        return row.model_copy(
            update={
                "quantities": (*row.quantities, Quantity(name="mean frame sent", value=mean, unit="B")),
                "parameters": {**row.parameters, "read_back": has},
                "status": Status.UNSUPPORTED if wrong else row.status,
                "reason": wrong or row.reason,
            }
        )

    def _row(self, condition: Condition, parameters: Mapping[str, str | int | float]) -> MeasuredRow:
        runs = [self._one_class.take(partial(self._run, condition)) for _ in range(self._repetitions)]
        figures = [found for _, found in runs]
        return MeasuredRow(
            label=condition.label,
            parameters=dict(parameters),
            quantities=over_runs(figures),
            sequences=tuple(sequence for sequence, _ in runs),
            reason=_missing(figures),
        )

    def _run(self, condition: Condition) -> tuple[int, SocketFigures]:
        record, figures = self._meter.measure(self._cell_test.task(), condition.traffic)
        self._cell_test.keep(record)
        return record.sequence, figures


def _missing(runs: Iterable[SocketFigures]) -> str:
    """Return the names of the figures that a tool did not give."""
    names = dict.fromkeys(figure.name for run in runs for figure in run.figures if figure.value is None)
    return f"the tool does not tell {', '.join(names)}" if names else ""


def _notes(variant: str, ends: SocketEnds) -> tuple[str, ...]:
    return (
        f"Hosts on {variant}: {ends.what}; MTU {ends.mtu}; {ends.cores.described}.",
        "A figure is the median of the runs, with the least and the greatest.",
    )


def tcp_throughput(cell_test: CellTest, spec: TcpThroughputTest) -> Outcome[TablePayload]:
    """Measure every number of streams with every size of writes."""
    return between_sockets(cell_test, spec, lambda tools: _tcp_conditions(spec, tools))


def _tcp_conditions(spec: TcpThroughputTest, tools: Tools) -> list[Condition]:
    check_congestion(spec.congestion, tools)
    program = tools.command(iperf3.NAME) if spec.tool == iperf3.NAME else ()
    programs = NetperfPrograms.of(tools) if spec.tool == netperf.NAME else None

    def condition(streams: int, message_bytes: int) -> Condition:
        def traffic(pair: SocketPair) -> SocketFigures:
            if programs is not None:
                return netperf.tcp_stream(
                    programs, pair, netperf.Messages(message_bytes, spec.duration_s, spec.congestion)
                )
            return iperf3.tcp(program, pair, iperf3.Streams(streams, spec.duration_s, message_bytes, spec.congestion))

        return Condition(
            label=f"{streams} {'stream' if streams == 1 else 'streams'}, writes of {message_bytes:,} B, {spec.tool}",
            parameters={
                "tool": spec.tool,
                "streams": streams,
                "message_bytes": message_bytes,
                "congestion": spec.congestion,
                "duration_s": spec.duration_s,
            },
            traffic=traffic,
            notes=(
                f"TCP with {spec.congestion}; throughput is what the receiver's program got.",
                *(("CPU is of one core, as iperf3 tells it of its own processes.",) if programs is None else ()),
            ),
        )

    found = [condition(streams, size) for size in spec.message_bytes for streams in spec.stream_counts]
    if spec.offloads is None:
        return found
    return [
        replace(
            one,
            label=f"{one.label}, offloads {kind}",
            parameters={**one.parameters, "offloads": kind},
            offloads=kind,
        )
        for kind in spec.offloads
        for one in found
    ]


def request_response(cell_test: CellTest, spec: RequestResponseTest) -> Outcome[TablePayload]:
    """Measure transactions of every size."""
    return between_sockets(cell_test, spec, lambda tools: _request_conditions(spec, tools))


def _request_conditions(spec: RequestResponseTest, tools: Tools) -> list[Condition]:
    check_congestion(spec.congestion, tools)
    programs = NetperfPrograms.of(tools)

    def condition(message_bytes: int) -> Condition:
        def traffic(pair: SocketPair) -> SocketFigures:
            return netperf.tcp_rr(programs, pair, netperf.Messages(message_bytes, spec.duration_s, spec.congestion))

        return Condition(
            label=f"{message_bytes:,} B, TCP_RR",
            parameters={
                "tool": netperf.NAME,
                "message_bytes": message_bytes,
                "congestion": spec.congestion,
                "duration_s": spec.duration_s,
            },
            traffic=traffic,
            notes=("A transaction is a request and its response; netperf tells its time in whole microseconds.",),
        )

    return [condition(size) for size in spec.message_bytes]


_DATAGRAM_NOTE = (
    "A datagram is lost wherever it is dropped: at the client's own device, on the path, or because the server's"
    " program did not come to read it."
)


def udp_throughput(cell_test: CellTest, spec: UdpThroughputTest) -> Outcome[TablePayload]:
    """Measure datagrams of every size."""
    return between_sockets(cell_test, spec, lambda tools: _udp_conditions(spec, tools))


def _udp_conditions(spec: UdpThroughputTest, tools: Tools) -> list[Condition]:
    program = tools.command(iperf3.NAME) if spec.tool == iperf3.NAME else ()
    programs = NetperfPrograms.of(tools) if spec.tool == netperf.NAME else None

    def condition(message_bytes: int) -> Condition:
        def traffic(pair: SocketPair) -> SocketFigures:
            if programs is not None:
                return netperf.udp_stream(programs, pair, netperf.Messages(message_bytes, spec.duration_s))
            return iperf3.udp(program, pair, iperf3.Datagrams(message_bytes, spec.duration_s, spec.load_bits_per_s))

        load = "" if spec.load_bits_per_s is None else f", {spec.load_bits_per_s / 1e6:g} Mbit/s"
        parameters: dict[str, str | int | float] = {"tool": spec.tool, "message_bytes": message_bytes}
        parameters |= {"duration_s": spec.duration_s}
        if spec.load_bits_per_s is not None:
            parameters["load_bits_per_s"] = spec.load_bits_per_s
        return Condition(
            label=f"{message_bytes:,} B{load}, {spec.tool}",
            parameters=parameters,
            traffic=traffic,
            notes=(_DATAGRAM_NOTE,),
        )

    return [condition(size) for size in spec.message_bytes]


_LATENCY_NOTE = (
    "Times are of whole round trips, of every message in sockperf's log; its first 0.4 s and last 0.05 s are not in it."
)


def socket_latency(cell_test: CellTest, spec: SocketLatencyTest) -> Outcome[TablePayload]:
    """Measure round trips in every mode, of messages of every size."""
    return between_sockets(cell_test, spec, lambda tools: _latency_conditions(spec, tools))


def _latency_conditions(spec: SocketLatencyTest, tools: Tools) -> list[Condition]:
    program, version = tools.command(sockperf.NAME), tools.version(sockperf.NAME)

    def condition(mode: sockperf.Mode, message_bytes: int) -> Condition:
        load = spec.load_messages_per_s if mode == "under-load" else None

        def traffic(pair: SocketPair) -> SocketFigures:
            wanted = sockperf.Exchange(mode, spec.transport, message_bytes, spec.duration_s, load)
            return sockperf.run(program, version, pair, wanted)

        at = "" if load is None else f" of {load:,} messages/s"
        parameters: dict[str, str | int | float] = {"tool": sockperf.NAME, "mode": mode, "transport": spec.transport}
        parameters |= {"message_bytes": message_bytes, "duration_s": spec.duration_s}
        if load is not None:
            parameters["load_messages_per_s"] = load
        return Condition(
            label=f"{mode}{at}, {message_bytes:,} B, {spec.transport.upper()}",
            parameters=parameters,
            traffic=traffic,
            notes=(_LATENCY_NOTE,),
        )

    return [condition(mode, size) for mode in spec.modes for size in spec.message_bytes]
