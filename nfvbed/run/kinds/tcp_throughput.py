"""Executes bulk TCP between sockets."""

from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.sockets import Condition, between_sockets, check_congestion
from nfvbed.run.kinds.tools import netperf_programs
from nfvbed.spec.testkinds.tcp_throughput import TcpThroughputTest
from nfvbed.traffic.sockets import iperf3, netperf, sockettools
from nfvbed.traffic.sockets.figures import SocketFigures
from nfvbed.traffic.sockets.hosts import SocketPair


def execute(bench: TestBench, spec: TcpThroughputTest) -> Outcome:
    """Measure every number of streams with every size of writes."""
    return between_sockets(bench, spec, lambda: _conditions(spec))


def _conditions(spec: TcpThroughputTest) -> list[Condition]:
    check_congestion(spec.congestion)
    program = sockettools.program(iperf3.NAME) if spec.tool == iperf3.NAME else ()
    programs = netperf_programs() if spec.tool == netperf.NAME else None

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

    return [condition(streams, size) for size in spec.message_bytes for streams in spec.stream_counts]
