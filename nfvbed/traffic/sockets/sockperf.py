"""sockperf: the round trip of every message, read from its full log.

`ping-pong` sends the next message when the last one is back; `under-load` sends at a rate, whatever comes back. Times
here are of the whole round trip; sockperf's own summary halves them. Its first 400 ms and last 50 ms are warm-up, and
not in its log.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from hdrh.histogram import HdrHistogram

from nfvbed.errors import GeneratorError
from nfvbed.records import Engine
from nfvbed.traffic.sockets.figures import LOSS, Figure, SocketFigures, datagram_counts
from nfvbed.traffic.sockets.hosts import Listener, SocketPair, run_client, served
from nfvbed.units import NS_PER_S

NAME = "sockperf"
PORT = 11111
LOG = "sockperf.csv"
HEADER = "packet, txTime(sec), rxTime(sec)"
PERCENTILES = (50.0, 90.0, 99.0, 99.9)
_HIGHEST_NS = 60 * NS_PER_S

Mode = Literal["ping-pong", "under-load"]
Transport = Literal["udp", "tcp"]


@dataclass(frozen=True)
class Exchange:
    """A request for an exchange of messages."""

    mode: Mode
    transport: Transport
    message_bytes: int
    duration_s: int
    load_messages_per_s: int | None = None
    """Load of `under-load` alone."""


@dataclass(frozen=True)
class RoundTrips:
    """The content of a full log."""

    sent: int
    """In the valid part of the run: those whose answers are missing among them."""
    first_ns: int
    last_ns: int
    """When the first message was sent, and the last one came back."""
    times_ns: tuple[int, ...]
    """Round trip of each message that came back."""


def run(program: Sequence[str], version: str, pair: SocketPair, wanted: Exchange) -> SocketFigures:
    """Exchange messages between client and server.

    Raises:
        GeneratorError: sockperf failed, or none of its messages came back; the message holds its words.
    """
    tcp = ["--tcp"] if wanted.transport == "tcp" else []
    pair.client.take(LOG)  # of one before
    where = ["-i", pair.server.address, "-p", str(PORT)]
    client = [*program, wanted.mode, *where, *tcp, "-t", str(wanted.duration_s), "-m", str(wanted.message_bytes)]
    if wanted.mode == "under-load":
        client += ["--mps", str(wanted.load_messages_per_s), "--reply-every", "1"]
    client += ["--full-log", pair.client.path(LOG)]
    with served(pair, NAME, [*program, "server", *where, *tcp], Listener(wanted.transport, PORT)):
        words = run_client(pair, NAME, client, wanted.duration_s)
    text = pair.client.take(LOG)
    if text is None:
        raise GeneratorError(
            "sockperf wrote no log",
            where=pair.client.path(LOG),
            observed=words[-300:],
            fix="see whether frames get through in both directions",
        )
    return figures_of(parse_log(text), Engine(name=NAME, version=version), wanted)


def parse_log(text: str) -> RoundTrips:
    """Return the round trips in a full log: a summary, and a line for each message that came back.

    Raises:
        GeneratorError: it has no such lines.
    """
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines, 1) if line.startswith(HEADER)), None)
    times = list(_times(lines[start:])) if start is not None else []
    if not times:
        raise GeneratorError("no message of sockperf came back", where=NAME, observed=text[-300:])
    return RoundTrips(
        sent=_sent(lines),
        first_ns=times[0][0],
        last_ns=max(back for _, back in times),
        times_ns=tuple(back - sent for sent, back in times),
    )


def figures_of(found: RoundTrips, engine: Engine, wanted: Exchange) -> SocketFigures:
    """Return percentiles of the round trip, the rate of messages, and how many of them are missing."""
    histogram = HdrHistogram(1, _HIGHEST_NS, 3)
    for time_ns in found.times_ns:
        histogram.record_value(min(max(1, time_ns), _HIGHEST_NS))
    back, seconds = len(found.times_ns), (found.last_ns - found.first_ns) / NS_PER_S
    counts = datagram_counts(found.sent, back, wanted.message_bytes)
    percentiles = (
        Figure(f"round trip P{part:g}", histogram.get_value_at_percentile(part) / NS_PER_S, "s") for part in PERCENTILES
    )
    return SocketFigures(
        engine=engine,
        duration_ns=found.last_ns - found.first_ns,
        figures=(
            *percentiles,
            Figure("round trip max", max(found.times_ns) / NS_PER_S, "s"),
            Figure("answered", counts.received / seconds if seconds else None, "messages/s"),
            Figure(LOSS, 100 * counts.lost / counts.sent if counts.sent else None, "%"),
        ),
        directions=(counts,),
        latency_hdr=(str(histogram.encode().decode("ascii")),),
        raw={"messages": back, "load_messages_per_s": wanted.load_messages_per_s},
    )


def _times(lines: Iterable[str]) -> Iterable[tuple[int, int]]:
    """Yield when each message was sent and came back, in ns; exact, so not by way of a float."""
    for line in lines:
        parts = [part.strip() for part in line.split(",")]
        if len(parts) < 3 or not parts[0].isdigit():
            return
        yield _ns(parts[1]), _ns(parts[2])


def _ns(seconds: str) -> int:
    whole, _, part = seconds.partition(".")
    return int(whole) * NS_PER_S + int(part.ljust(9, "0")[:9])


def _sent(lines: Iterable[str]) -> int:
    """Return the number of messages in the valid part, from the summary.

    Raises:
        GeneratorError: it does not say.
    """
    for line in lines:
        if "[Valid Duration]" in line:
            for part in line.split(";"):
                name, _, value = part.strip().partition("=")
                if name == "SentMessages" and value.isdigit():
                    return int(value)
    raise GeneratorError("sockperf's log does not say how many messages were sent", where=NAME, observed="no summary")
