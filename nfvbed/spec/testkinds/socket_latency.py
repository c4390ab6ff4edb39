"""Latency between sockets."""

from typing import Literal

from pydantic import Field

from nfvbed.spec.testkinds.sockets import DatagramBytes, SocketTest


class SocketLatencyTest(SocketTest):
    """Round trips of messages between the hosts (sockperf): one at a time, and at a rate."""

    kind: Literal["socket-latency"]
    modes: tuple[Literal["ping-pong", "under-load"], ...] = Field(("ping-pong", "under-load"), min_length=1)
    """One after the other, each as soon as the last is back; or at a rate, whatever comes back."""
    load_messages_per_s: int = Field(10_000, ge=1, le=10_000_000)
    """Of `under-load`."""
    message_bytes: tuple[DatagramBytes, ...] = Field((64,), min_length=1)
    transport: Literal["udp", "tcp"] = "udp"

    @property
    def conditions(self) -> int:
        """How many rows there will be."""
        return len(self.modes) * len(self.message_bytes)
