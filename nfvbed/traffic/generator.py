"""The interface of a traffic generator."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal

from nfvbed.records import DirectionCounts, Engine, GeneratorPort, LoopGaps, Sessions
from nfvbed.spec.bearers import BearerTable
from nfvbed.traffic.timeline import Timeline
from nfvbed.units import FrameSize

FlowAddress = Literal["source", "destination", "destination-network"]
"""Which 16 bits of an IP address distinguish flows: the last of the source's or the destination's, or the first 16 of
an IPv4 destination (of an IPv6 one the number of a /64 in its /48)."""


@dataclass(frozen=True)
class Addressing:
    """The addresses of frames, and which of them move with the flow's number."""

    flow_address: FlowAddress = "source"
    flow_macs: tuple[Literal["source", "destination"], ...] = ()
    """MAC addresses to whose last three bytes the flow's number is added."""
    macs: tuple[str, str] | None = None
    """Addresses of both ports, which are those of flow 0; None: the ports' own."""
    ipv4: tuple[str, str] | None = None
    """The same of their IPv4 addresses; None: those of RFC 2544."""


PLAIN = Addressing()


@dataclass(frozen=True)
class BearerPath:
    """Bearers of a mobile core that frames go over, in turn: port 0 is the eNB on S1-U, port 1 the server on SGi.

    Frames of port 0 are sent in GTP-U and must arrive without, those of port 1 the other way round; a frame that comes
    with another bearer's TEID or address is corrupted.
    """

    table: BearerTable
    gateway_macs: tuple[str, str] | None = None
    """The gateway's addresses on S1-U and on SGi, which frames are sent to; None: as without bearers."""


@dataclass(frozen=True)
class LoadPhase:
    """A part of a trial at a load of its own."""

    rate_pps: int
    """Per direction."""
    duration_ns: int


@dataclass(frozen=True)
class TrafficRequest:
    """One trial as it is asked of the generator."""

    duration_ns: int
    frame_size: FrameSize
    rate_pps: int | None = None
    """Per direction; None: maximum load."""
    frames: int | None = None
    """Stop after so many frames per direction."""
    flows: int = 1
    bidirectional: bool = True
    backward: bool = False
    """The one direction is from port 1 to port 0; not with `bidirectional`."""
    ip: int = 4
    vlan: int | None = None
    sessions: Sessions = Sessions.UNREPLIED
    """Whether frames from port 1 are the replies to those from port 0, flow by flow."""
    check: bool = True
    stamp: bool = True
    learning_frames: int = 3
    """Broadcast frames from each port before the trial, so that a learning switch knows both; a trace sends none."""
    addressing: Addressing = PLAIN
    then: LoadPhase | None = None
    """Goes on at another load after `duration_ns`, without a pause; with `rate_pps`, without `frames`."""
    timeline_ns: int | None = None
    """Width of the bins of a timeline; None: none is kept. It needs `stamp`."""
    bearers: BearerPath | None = None
    """None: plain frames. Else `frame_size` is that on SGi (on S1-U frames are 36 bytes longer), and `flows` does not
    count: each bearer is a flow."""
    drain_ns: int | None = None
    """Longest wait for frames after the last one was sent, ended when all have come; None: the generator's own."""

    @property
    def directions(self) -> int:
        """How many there are."""
        return 2 if self.bidirectional else 1

    def share_of(self, load_pps: float) -> int:
        """Return each direction's part of a load, in whole frames/s; at least 1.

        Args:
            load_pps: frames/s over all directions, of which each has the same.
        """
        return max(1, round(load_pps / self.directions))

    @property
    def total_ns(self) -> int:
        """How long frames are sent, at most."""
        return self.duration_ns + (self.then.duration_ns if self.then else 0)


@dataclass(frozen=True)
class TrafficResult:
    """The generator's counts."""

    duration_ns: int
    busy_ns: int
    directions: tuple[DirectionCounts, ...]
    foreign: tuple[int, int]
    latency_hdr: tuple[str | None, ...]
    """Per direction: HdrHistogram V2 compressed, base64, ns; None when no frame was stamped or came back."""
    timelines: tuple[Timeline, ...] = ()
    """Per direction, where the request asks for them."""
    gaps: LoopGaps | None = None
    """Gaps of the generator's loop; None: it does not tell them."""
    reconnections: int = 0
    """How often the connection to a generator on another host was lost and made again during the trial."""
    missed: int = 0
    """Frames that the generator's own ports dropped on arrival, where it tells: they are among the lost ones."""
    checked: bool = True
    """Whether order, doubles and contents of frames were looked at; else their counts are 0 and say nothing."""


@dataclass(frozen=True)
class GeneratorInfo:
    """The generator's description of itself (`hello`)."""

    engine: Engine
    pid: int
    """The process on this machine; 0: it is none."""
    thread_id: int
    core: int
    tsc_hz: int
    min_frame_size_bytes: int
    max_frame_size_bytes: int
    max_flows: int
    link_up: tuple[bool, bool]
    more_threads: tuple[tuple[int, int], ...] = ()
    """Further threads that send and check: number and core."""
    mirrors: bool = True
    """Whether it can send mirrored sessions."""
    raw: dict[str, object] = field(default_factory=dict)


class Generator(ABC):
    """A generator that is open on two ports. One thread uses it; `close` is idempotent."""

    ports: tuple[GeneratorPort, ...]

    @abstractmethod
    def hello(self) -> GeneratorInfo:
        """Return engine, ports and limits as they are now."""

    @abstractmethod
    def run(self, request: TrafficRequest) -> TrafficResult:
        """Run one trial to its end.

        Raises:
            GeneratorError: the generator ended, refused, or a port failed; the message holds its own words.
        """

    @abstractmethod
    def close(self) -> None:
        """End the generator and free its ports."""

    def wait_until_ready(self) -> None:
        """Wait until the generator is ready, where it was launched without waiting.

        Raises:
            GeneratorError: it did not come up; nothing of it is left running.
        """
        self.hello()
