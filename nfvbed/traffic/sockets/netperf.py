"""netperf: streams, requests and responses, datagrams; its figures are those of its keyval output (`-k`).

Its latencies are whole microseconds, from a histogram of its own. It tells CPU use of the whole host only, which is
that of both ends here; so it is not asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfvbed.errors import GeneratorError
from nfvbed.records import Engine
from nfvbed.traffic.sockets.figures import (
    RETRANSMITS,
    THROUGHPUT,
    Figure,
    SocketFigures,
    datagram_counts,
    datagram_figures,
)
from nfvbed.traffic.sockets.hosts import Listener, SocketPair, run_client, served
from nfvbed.traffic.sockets.sockettools import Tools
from nfvbed.units import NS_PER_S

NAME = "netperf"
PORT = 12865
_ELAPSED = "ELAPSED_TIME"
STREAM_KEYS = (
    "THROUGHPUT", "THROUGHPUT_UNITS", "LOCAL_TRANSPORT_RETRANS", "LOCAL_SEND_SIZE", "LOCAL_BYTES_SENT",
    "REMOTE_BYTES_RECVD", "TRANSPORT_MSS",
)  # fmt: skip
REQUEST_KEYS = (
    "THROUGHPUT", "THROUGHPUT_UNITS", "MIN_LATENCY", "MEAN_LATENCY", "P50_LATENCY", "P90_LATENCY", "P99_LATENCY",
    "MAX_LATENCY", "STDDEV_LATENCY", "LOCAL_TRANSPORT_RETRANS",
)  # fmt: skip
DATAGRAM_KEYS = ("LOCAL_SEND_SIZE", "LOCAL_SEND_CALLS", "REMOTE_RECV_CALLS", "LOCAL_BYTES_SENT", "REMOTE_BYTES_RECVD")
_UNITS = {"10^6bits/s": 1e6, "10^3bits/s": 1e3, "10^9bits/s": 1e9}


@dataclass(frozen=True)
class NetperfPrograms:
    """The command lines of client and server, without their options."""

    client: tuple[str, ...]
    server: tuple[str, ...]
    version: str

    @classmethod
    def of(cls, tools: Tools) -> "NetperfPrograms":
        """Find them.

        Raises:
            PrerequisiteError: one is not there, or does not run.
        """
        return cls(tools.command(NAME), tools.command("netserver"), tools.version(NAME))


@dataclass(frozen=True)
class Messages:
    """A request for messages."""

    message_bytes: int
    """Size of one write, one datagram, or one request and one response."""
    duration_s: int
    congestion: str | None = None
    """Congestion control of both ends; None: the host's."""


def tcp_stream(programs: NetperfPrograms, pair: SocketPair, wanted: Messages) -> SocketFigures:
    """Send one stream from the client to the server.

    Raises:
        GeneratorError: netperf failed; the message holds its words.
    """
    options = ["-m", str(wanted.message_bytes), *_congestion(wanted)]
    return parse_stream(_run(programs, pair, ("TCP_STREAM", wanted.duration_s), options, STREAM_KEYS), programs)


def tcp_rr(programs: NetperfPrograms, pair: SocketPair, wanted: Messages) -> SocketFigures:
    """Send a request, wait for its response, send the next one, on one connection.

    Raises:
        GeneratorError: netperf failed; the message holds its words.
    """
    options = ["-r", f"{wanted.message_bytes},{wanted.message_bytes}", *_congestion(wanted)]
    return parse_requests(_run(programs, pair, ("TCP_RR", wanted.duration_s), options, REQUEST_KEYS), programs)


def udp_stream(programs: NetperfPrograms, pair: SocketPair, wanted: Messages) -> SocketFigures:
    """Send datagrams from the client to the server as fast as it can.

    Raises:
        GeneratorError: netperf failed; the message holds its words.
    """
    # Without -R it refuses to leave the local network, which a route to a router would.
    options = ["-R", "1", "-m", str(wanted.message_bytes)]
    text = _run(programs, pair, ("UDP_STREAM", wanted.duration_s), options, DATAGRAM_KEYS)
    return parse_datagrams(text, programs, wanted.message_bytes)


def parse_stream(text: str, programs: NetperfPrograms) -> SocketFigures:
    """Return the figures in the keyval output of TCP_STREAM.

    Raises:
        GeneratorError: a key is missing, or no number.
    """
    found = keyvals(text, STREAM_KEYS)
    units = found["THROUGHPUT_UNITS"]
    if units not in _UNITS:
        raise GeneratorError("netperf's throughput has an unknown unit", where=NAME, observed=units)
    return SocketFigures(
        engine=_engine(programs),
        duration_ns=_duration_ns(found),
        figures=(
            Figure(THROUGHPUT, _number(found, "THROUGHPUT") * _UNITS[units], "bit/s"),
            Figure(RETRANSMITS, _known(found, "LOCAL_TRANSPORT_RETRANS"), "segments"),
        ),
        raw=dict(found),
    )


def parse_requests(text: str, programs: NetperfPrograms) -> SocketFigures:
    """Return the figures in the keyval output of TCP_RR.

    Raises:
        GeneratorError: a key is missing, or no number.
    """
    found = keyvals(text, REQUEST_KEYS)
    names = ("P50", "P90", "P99", "MAX", "MEAN")
    latencies = (Figure(_title(name), _number(found, f"{name}_LATENCY") / 1e6, "s") for name in names)
    return SocketFigures(
        engine=_engine(programs),
        duration_ns=_duration_ns(found),
        figures=(
            Figure("transactions", _number(found, "THROUGHPUT"), "1/s"),
            *latencies,
            Figure(RETRANSMITS, _known(found, "LOCAL_TRANSPORT_RETRANS"), "segments"),
        ),
        raw=dict(found),
    )


def parse_datagrams(text: str, programs: NetperfPrograms, message_bytes: int) -> SocketFigures:
    """Return the figures in the keyval output of UDP_STREAM.

    Raises:
        GeneratorError: a key is missing, or no number.
    """
    found = keyvals(text, DATAGRAM_KEYS)
    sent, received = round(_number(found, "LOCAL_SEND_CALLS")), round(_number(found, "REMOTE_RECV_CALLS"))
    duration_ns = _duration_ns(found)
    counts = datagram_counts(sent, received, message_bytes)
    return SocketFigures(
        engine=_engine(programs),
        duration_ns=duration_ns,
        figures=datagram_figures(counts, duration_ns / NS_PER_S, message_bytes),
        directions=(counts,),
        raw=dict(found),
    )


def keyvals(text: str, wanted: Sequence[str]) -> dict[str, str]:
    """Return the values of lines `KEY=value`; other lines of netperf's are skipped.

    Raises:
        GeneratorError: one that was asked for is missing.
    """
    found = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and line.split("=", 1)[0].isupper())
    missing = [key for key in (*wanted, _ELAPSED) if key not in found]
    if missing:
        raise GeneratorError(
            "netperf does not tell what it was asked for",
            where=NAME,
            observed=f"no {', '.join(missing)} in: {text[-300:]}",
        )
    return found


def _run(
    programs: NetperfPrograms, pair: SocketPair, test: tuple[str, int], options: Sequence[str], keys: Sequence[str]
) -> str:
    name, duration_s = test
    # In the foreground, one connection after the other, without a file of its own for its words.
    server = [*programs.server, "-D", "-f", "-N", "-4", "-L", pair.server.address, "-p", str(PORT)]
    client = [*programs.client, "-4", "-H", pair.server.address, "-p", str(PORT), "-t", name, "-l", str(duration_s)]
    client += ["--", *options, "-k", ",".join((*keys, _ELAPSED))]
    with served(pair, NAME, server, Listener("tcp", PORT)):
        return run_client(pair, NAME, client, duration_s)


def _congestion(wanted: Messages) -> list[str]:
    return ["-K", f"{wanted.congestion},{wanted.congestion}"] if wanted.congestion else []


def _title(name: str) -> str:
    return f"latency {name if name.startswith('P') else name.lower()}"


def _engine(programs: NetperfPrograms) -> Engine:
    return Engine(name=NAME, version=programs.version)


def _duration_ns(found: Mapping[str, str]) -> int:
    return round(_number(found, _ELAPSED) * NS_PER_S)


def _known(found: Mapping[str, str], key: str) -> float | None:
    """Return a count, or None for netperf's -1: not known."""
    value = _number(found, key)
    return None if value < 0 else value


def _number(found: Mapping[str, str], key: str) -> float:
    try:
        return float(found[key])
    except ValueError as failure:
        raise GeneratorError("netperf gives no number", where=f"{NAME} {key}", observed=found[key]) from failure
