"""TCP's throughput."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.sockets import CONGESTION, MessageBytes, SocketTest

StreamCount = Annotated[int, Field(ge=1, le=128)]


class TcpThroughputTest(SocketTest):
    """Bulk TCP from the host at end 0 to the host at end 1, by number of streams and size of writes."""

    kind: Literal["tcp-throughput"]
    tool: Literal["iperf3", "netperf"] = "iperf3"
    streams: tuple[StreamCount, ...] | None = Field(None, min_length=1)
    """At the same time; None: 1 and 4. netperf sends one."""
    message_bytes: tuple[MessageBytes, ...] = Field((131_072,), min_length=1)
    """Of each write."""
    congestion: str = Field("cubic", pattern=CONGESTION)
    """Congestion control, as the kernel names it. Hosts differ in their own choice, so it is always said."""

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
        return len(self.stream_counts) * len(self.message_bytes)
