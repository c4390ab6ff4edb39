"""Executes requests and responses between sockets."""

from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.sockets import Condition, between_sockets, check_congestion
from nfvbed.run.kinds.tools import netperf_programs
from nfvbed.spec.testkinds.request_response import RequestResponseTest
from nfvbed.traffic.sockets import netperf
from nfvbed.traffic.sockets.figures import SocketFigures
from nfvbed.traffic.sockets.hosts import SocketPair


def execute(bench: TestBench, spec: RequestResponseTest) -> Outcome:
    """Measure transactions of every size."""
    return between_sockets(bench, spec, lambda: _conditions(spec))


def _conditions(spec: RequestResponseTest) -> list[Condition]:
    check_congestion(spec.congestion)
    programs = netperf_programs()

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
