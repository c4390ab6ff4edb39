"""iperf3: streams of TCP and datagrams of UDP; its figures are those of its JSON document.

Throughput is what the receiver counted. Its CPU figures are those of the two processes, in % of one core.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from nfvbed.units import NS_PER_S

NAME = "iperf3"
PORT = 5201


@dataclass(frozen=True)
class Streams:
    """A request for TCP streams."""

    streams: int
    duration_s: int
    message_bytes: int | None = None
    """Size of one write; None: iperf3's own, 128 KiB."""
    congestion: str | None = None
    """Congestion control of the sender; None: the host's."""


@dataclass(frozen=True)
class Datagrams:
    """A request for UDP datagrams."""

    message_bytes: int
    duration_s: int
    load_bits_per_s: int | None = None
    """None: as fast as it can."""


def tcp(program: Sequence[str], pair: SocketPair, wanted: Streams) -> SocketFigures:
    """Send streams from the client to the server, all at once.

    Raises:
        GeneratorError: iperf3 failed; the message holds its words.
    """
    options = ["-P", str(wanted.streams)]
    options += ["-l", str(wanted.message_bytes)] if wanted.message_bytes is not None else []
    options += ["-C", wanted.congestion] if wanted.congestion is not None else []
    return parse_tcp(_run(program, pair, options, wanted.duration_s))


def udp(program: Sequence[str], pair: SocketPair, wanted: Datagrams) -> SocketFigures:
    """Send datagrams from the client to the server.

    Raises:
        GeneratorError: iperf3 failed; the message holds its words.
    """
    options = ["-u", "-b", str(wanted.load_bits_per_s or 0), "-l", str(wanted.message_bytes)]
    return parse_udp(_run(program, pair, options, wanted.duration_s), wanted.message_bytes)


def parse_tcp(text: str) -> SocketFigures:
    """Return the figures in iperf3's document on TCP.

    Raises:
        GeneratorError: it is none, or holds an error.
    """
    document = _document(text)
    try:
        end = document["end"]
        sent, received = end["sum_sent"], end["sum_received"]
        retransmits = sent.get("retransmits")
        return SocketFigures(
            engine=_engine(document),
            duration_ns=round(received["seconds"] * NS_PER_S),
            figures=(
                Figure(THROUGHPUT, float(received["bits_per_second"]), "bit/s"),
                Figure(RETRANSMITS, None if retransmits is None else float(retransmits), "segments"),
                *_cpu(end),
            ),
            raw={
                "bytes_sent": sent["bytes"],
                "bytes_received": received["bytes"],
                "congestion_control": end.get("sender_tcp_congestion", ""),
                "streams_bits_per_s": [stream["receiver"]["bits_per_second"] for stream in end["streams"]],
            },
        )
    except (KeyError, TypeError) as failure:
        raise _unexpected(text, failure) from failure


def parse_udp(text: str, message_bytes: int) -> SocketFigures:
    """Return the figures in iperf3's document on UDP.

    A datagram is lost when the server has not counted its bytes, even the last one.

    Raises:
        GeneratorError: it is none, or holds an error.
    """
    document = _document(text)
    try:
        end = document["end"]
        sent, seen = int(end["sum_sent"]["packets"]), end["sum_received"]
        received = int(seen["bytes"]) // message_bytes
        seconds = float(end["sum_sent"]["seconds"])
        jitter_ms = float(seen["jitter_ms"])
        out_of_order = sum(int(stream["udp"]["out_of_order"]) for stream in end["streams"])
    except (KeyError, TypeError, ValueError) as failure:
        raise _unexpected(text, failure) from failure
    counts = datagram_counts(sent, received, message_bytes)
    return SocketFigures(
        engine=_engine(document),
        duration_ns=round(seconds * NS_PER_S),
        figures=(*datagram_figures(counts, seconds, message_bytes), Figure("jitter", jitter_ms / 1e3, "s")),
        directions=(counts,),
        raw={"out_of_order": out_of_order, "cpu_percent": end["cpu_utilization_percent"]},
    )


def _run(program: Sequence[str], pair: SocketPair, options: Sequence[str], duration_s: int) -> str:
    server = [*program, "-s", "-1", "-B", pair.server.address, "-p", str(PORT)]
    client = [*program, "-c", pair.server.address, "-p", str(PORT), "-t", str(duration_s), "-J", *options]
    with served(pair, NAME, server, Listener("tcp", PORT)):
        return run_client(pair, NAME, client, duration_s)


def _document(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError as failure:
        raise _unexpected(text, failure) from failure
    if not isinstance(document, dict) or document.get("error"):
        reported = document.get("error") if isinstance(document, dict) else text[-300:]
        raise GeneratorError("iperf3 reports an error", where=NAME, observed=str(reported))
    return document


def _cpu(end: dict[str, Any]) -> tuple[Figure, ...]:
    found = end.get("cpu_utilization_percent", {})
    names = (("client CPU", "host_total"), ("server CPU", "remote_total"))
    return tuple(Figure(name, float(found[key]) if key in found else None, "%") for name, key in names)


def _engine(document: dict[str, Any]) -> Engine:
    version = str(document.get("start", {}).get("version", "")).removeprefix("iperf ")
    return Engine(name=NAME, version=version)


def _unexpected(text: str, failure: Exception) -> GeneratorError:
    return GeneratorError(
        "iperf3 answered something else than its JSON document", where=NAME, observed=f"{failure!r}: {text[-300:]}"
    )
