"""UDP's throughput."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.sockets import DatagramBytes, SocketTest


class UdpThroughputTest(SocketTest):
    """Datagrams from the host at end 0 to the host at end 1, by size: sent, received, lost."""

    kind: Literal["udp-throughput"]
    tool: Literal["iperf3", "netperf"] = "iperf3"
    message_bytes: tuple[DatagramBytes, ...] = Field((64, 1400), min_length=1)
    """Of each datagram, without headers; above 1,472 it is sent in fragments."""
    load_bits_per_s: int | None = Field(None, ge=1_000)
    """Of payload; None: as fast as the client can. netperf has no other."""

    @model_validator(mode="after")
    def load_fits_the_tool(self) -> Self:
        if self.tool == "netperf" and self.load_bits_per_s is not None:
            raise ValueError("netperf sends datagrams as fast as it can; take iperf3 for a load")
        return self

    @property
    def conditions(self) -> int:
        """How many rows there will be."""
        return len(self.message_bytes)
