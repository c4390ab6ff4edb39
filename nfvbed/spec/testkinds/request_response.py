"""Requests and responses."""

from typing import Literal

from pydantic import Field

from nfvbed.spec.testkinds.sockets import CONGESTION, MessageBytes, SocketTest


class RequestResponseTest(SocketTest):
    """Transactions on one TCP connection (netperf TCP_RR), one at a time: how many, and how long they take."""

    kind: Literal["request-response"]
    message_bytes: tuple[MessageBytes, ...] = Field((1,), min_length=1)
    """Of each request and of each response."""
    congestion: str = Field("cubic", pattern=CONGESTION)
    """Congestion control, as the kernel names it."""

    @property
    def conditions(self) -> int:
        """How many rows there will be."""
        return len(self.message_bytes)
