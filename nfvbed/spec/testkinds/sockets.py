"""What a file may say of tests between sockets."""

from abc import abstractmethod
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.base import NamedTest

CONGESTION = r"^[a-z0-9_]{1,15}$"
"""A name of the kernel's, at most TCP_CA_NAME_MAX long."""

MessageBytes = Annotated[int, Field(ge=1, le=1_048_576)]
DatagramBytes = Annotated[int, Field(ge=16, le=65_507)]
"""The least that every tool can number and stamp; the most that UDP over IPv4 takes."""


class SocketTest(NamedTest):
    """A test between two hosts at the ends of the path, in the place of the generator's ports."""

    duration_s: int = Field(5, ge=1, le=3600)
    """Length of each run of the tool, in whole seconds, as the tools take them."""
    ends: Literal["own", "veth", "testpmd", "guests"] = Field("own", exclude_if=lambda value: value == "own")
    """Ends of the path. `own`: ports of the switch's own where it has such beside the generator's (Open vSwitch's tap
    ports on the userspace datapath), else the generator's; `veth`: the generator's where those are veth, else veth
    ports that the switch adds (Open vSwitch's polling threads serve them by AF_XDP sockets); `testpmd`: always the
    generator's, on vhost-user and memif behind taps and testpmd; `guests`: the first two guests that are joined with
    each other, as those of a chain, whose forwarding is paused."""
    repetitions: int = Field(3, ge=1, le=100)
    """Runs under each condition; a row is their median, with the least and the greatest."""
    direction: Literal["forward", "reverse"] = "forward"
    """Direction of what the client sends: from end 0 to end 1, or back. In topology `vepc` forward is uplink, from
    a UE to the server."""

    @property
    @abstractmethod
    def conditions(self) -> int:
        """How many rows there will be."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        runs = self.conditions * self.repetitions
        return float(runs * self.duration_s), runs


StreamCount = Annotated[int, Field(ge=1, le=128)]


class TcpThroughputTest(SocketTest):
    """Bulk TCP from one host to the other, by number of streams and size of writes."""

    kind: Literal["tcp-throughput"]
    tool: Literal["iperf3", "netperf"] = "iperf3"
    """Tool that sends."""
    streams: tuple[StreamCount, ...] | None = Field(None, min_length=1)
    """Streams at the same time, a row each; None: 1 and 4. netperf sends one."""
    message_bytes: tuple[MessageBytes, ...] = Field((131_072,), min_length=1)
    """Sizes of a write."""
    congestion: str = Field("cubic", pattern=CONGESTION)
    """Congestion control, as the kernel names it. Hosts differ in their own choice, so it is always said."""
    offloads: tuple[Literal["none", "checksum", "tso"], ...] | None = Field(
        None, min_length=1, exclude_if=lambda value: value is None
    )
    """Offloads of both ends' devices, a row each: `none`, `checksum` without segmentation, `tso` with it. They are read
    back, and a row whose device does otherwise is `unsupported`. None: as the devices are."""

    @model_validator(mode="after")
    def streams_fit_the_tool(self) -> Self:
        if self.tool == "netperf" and self.streams not in (None, (1,)):
            raise ValueError(f"netperf sends one stream, not {list(self.streams or ())}; take iperf3")
        return self

    @property
    def stream_counts(self) -> tuple[int, ...]:
        """The numbers of streams that are measured."""
        return self.streams or ((1,) if self.tool == "netperf" else (1, 4))

    @property
    def conditions(self) -> int:
        """How many rows there will be."""
        return len(self.stream_counts) * len(self.message_bytes) * len(self.offloads or (None,))


class RequestResponseTest(SocketTest):
    """Transactions on one TCP connection (netperf TCP_RR), one at a time: how many, and how long they take."""

    kind: Literal["request-response"]
    message_bytes: tuple[MessageBytes, ...] = Field((1,), min_length=1)
    """Sizes of each request and of each response."""
    congestion: str = Field("cubic", pattern=CONGESTION)
    """Congestion control, as the kernel names it."""

    @property
    def conditions(self) -> int:
        """How many rows there will be."""
        return len(self.message_bytes)


class UdpThroughputTest(SocketTest):
    """Datagrams from one host to the other, by size: sent, received, lost."""

    kind: Literal["udp-throughput"]
    tool: Literal["iperf3", "netperf"] = "iperf3"
    """Tool that sends."""
    message_bytes: tuple[DatagramBytes, ...] = Field((64, 1400), min_length=1)
    """Sizes of a datagram, without headers; above 1,472 it is sent in fragments."""
    load_bits_per_s: int | None = Field(None, ge=1_000)
    """Load in bits/s of payload; None: as fast as the client can. netperf has no other."""

    @model_validator(mode="after")
    def load_fits_the_tool(self) -> Self:
        if self.tool == "netperf" and self.load_bits_per_s is not None:
            raise ValueError("netperf sends datagrams as fast as it can; take iperf3 for a load")
        return self

    @property
    def conditions(self) -> int:
        """How many rows there will be."""
        return len(self.message_bytes)


class SocketLatencyTest(SocketTest):
    """Round trips of messages between the hosts (sockperf): one at a time, and at a rate."""

    kind: Literal["socket-latency"]
    modes: tuple[Literal["ping-pong", "under-load"], ...] = Field(("ping-pong", "under-load"), min_length=1)
    """Modes: one after the other, each as soon as the last is back; or at a rate, whatever comes back."""
    load_messages_per_s: int = Field(10_000, ge=1, le=10_000_000)
    """Rate of `under-load`, messages/s."""
    message_bytes: tuple[DatagramBytes, ...] = Field((64,), min_length=1)
    """Sizes of a message."""
    transport: Literal["udp", "tcp"] = "udp"
    """Transport protocol."""

    @property
    def conditions(self) -> int:
        """How many rows there will be."""
        return len(self.modes) * len(self.message_bytes)
