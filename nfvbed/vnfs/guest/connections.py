"""Concurrent connections between two guests, over a given number of queues of their ports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nfvbed.records import Record
from nfvbed.vnfs.guest.machines import PathGuest

NetperfTest = Literal["TCP_STREAM", "TCP_RR"]
_ADDRESSES = ("198.18.64.1", "198.18.64.2")
"""RFC 2544's range, as the generator's; of the client's port and the server's."""
_PREFIX = 24
_MORE_S = 180.0


class ConnectionsRun(Record):
    """netperf's counts over all connections."""

    connections: int
    throughput: float
    """10^6 bit/s of TCP_STREAM, transactions/s of TCP_RR; the sum over all connections."""
    least: float
    most: float
    """Throughput of the fastest connection."""
    retransmissions: int
    overlap: float
    """The part of the time, from the first start to the last end, in which all connections ran."""
    sent_packets: tuple[int, ...]
    """By the client in each queue of its port, in order."""
    received_packets: tuple[int, ...]
    """By the server in each queue of its port, in order."""

    @property
    def sending_queues(self) -> int:
        """Those of the client that are in use."""
        return _in_use(self.sent_packets)

    @property
    def receiving_queues(self) -> int:
        """Those of the server that are in use."""
        return _in_use(self.received_packets)


@dataclass(frozen=True)
class Pair:
    """Two guests whose ports the switch joins. Their forwarding is paused."""

    client: PathGuest
    client_port: int
    server: PathGuest
    server_port: int

    def queues(self) -> tuple[int, int]:
        """Return the most queues that the client's and the server's port can have."""
        return _most_queues(self.client, self.client_port), _most_queues(self.server, self.server_port)

    def set_queues(self, queues: int) -> None:
        """Set the number of queues of both ports.

        Raises:
            AgentRefused: a port has fewer.
        """
        for guest, port in ((self.client, self.client_port), (self.server, self.server_port)):
            guest.agent.ask("channels", {"combined": queues, "ports": [guest.mac(port)]})

    def start_server(self) -> None:
        """Give the server its address and let it listen; it ends when its guest forwards again."""
        keys = {
            "tool": "netperf",
            "addresses": [[f"{_ADDRESSES[1]}/{_PREFIX}"]],
            "ports": [self.server.mac(self.server_port)],
        }
        self.server.agent.ask("serve", keys)

    def run(self, test: NetperfTest, connections: int, duration_s: int) -> ConnectionsRun:
        """Run all connections of the client at the same time.

        Raises:
            AgentRefused: one of them failed.
        """
        before = self._packets()
        keys = {
            "server": _ADDRESSES[1],
            "test": test,
            "connections": connections,
            "duration_s": duration_s,
            "server_cpus": len(self.server.agent.ask("info")["cpus"]),
            "addresses": [[f"{_ADDRESSES[0]}/{_PREFIX}"]],
            "ports": [self.client.mac(self.client_port)],
        }
        found = self.client.agent.ask("netperf", keys, timeout_s=duration_s + _MORE_S)
        after = self._packets()
        sent, received = (
            tuple(now - then for now, then in zip(second, first, strict=True))
            for first, second in zip(before, after, strict=True)
        )
        return ConnectionsRun(
            sent_packets=sent,
            received_packets=received,
            **{key: found[key] for key in ("connections", "throughput", "least", "most", "retransmissions", "overlap")},
        )

    def _packets(self) -> tuple[list[int], list[int]]:
        """Return what the client's queues have sent and the server's received."""
        ends = (("tx", self.client, self.client_port), ("rx", self.server, self.server_port))
        sent, received = (
            guest.agent.ask("queues", {"ports": [guest.mac(port)]})["ports"][0][side] for side, guest, port in ends
        )
        return sent, received


def _in_use(packets: Sequence[int]) -> int:
    """Count the queues with at least a hundredth of all packets."""
    total = sum(packets)
    return sum(1 for own in packets if own * 100 >= total > 0)


def _most_queues(guest: PathGuest, port: int) -> int:
    """Return the most queues of a port that the guest's kernel drives."""
    (found,) = [link for link in guest.agent.ask("links")["ports"] if link["mac"] == guest.mac(port)]
    return int(found["max_channels"])
