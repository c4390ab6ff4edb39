"""Executes round trips between sockets."""

from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.sockets import Condition, between_sockets
from nfvbed.spec.testkinds.socket_latency import SocketLatencyTest
from nfvbed.traffic.sockets import sockettools, sockperf
from nfvbed.traffic.sockets.figures import SocketFigures
from nfvbed.traffic.sockets.hosts import SocketPair

NOTE = (
    "Times are of whole round trips, of every message in sockperf's log; its first 0.4 s and last 0.05 s are not in it."
)


def execute(bench: TestBench, spec: SocketLatencyTest) -> Outcome:
    """Measure round trips in every mode, of messages of every size."""
    return between_sockets(bench, spec, lambda: _conditions(spec))


def _conditions(spec: SocketLatencyTest) -> list[Condition]:
    program = sockettools.program(sockperf.NAME)
    version = sockettools.version(program, "--version")

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
            notes=(NOTE,),
        )

    return [condition(mode, size) for mode in spec.modes for size in spec.message_bytes]
