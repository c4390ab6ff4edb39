"""Executes datagrams between sockets."""

from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.sockets import Condition, between_sockets
from nfvbed.run.kinds.tools import netperf_programs
from nfvbed.spec.testkinds.udp_throughput import UdpThroughputTest
from nfvbed.traffic.sockets import iperf3, netperf, sockettools
from nfvbed.traffic.sockets.figures import SocketFigures
from nfvbed.traffic.sockets.hosts import SocketPair

NOTE = (
    "A datagram is lost wherever it is dropped: at the client's own device, on the path, or because the server's"
    " program did not come to read it."
)


def execute(bench: TestBench, spec: UdpThroughputTest) -> Outcome:
    """Measure datagrams of every size."""
    return between_sockets(bench, spec, lambda: _conditions(spec))


def _conditions(spec: UdpThroughputTest) -> list[Condition]:
    program = sockettools.program(iperf3.NAME) if spec.tool == iperf3.NAME else ()
    programs = netperf_programs() if spec.tool == netperf.NAME else None

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
            notes=(NOTE,),
        )

    return [condition(size) for size in spec.message_bytes]
