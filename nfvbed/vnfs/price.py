"""The price of avoiding the checksum trap: TCP through an ordinary VNF, offloads on and off, in turns.

Frames of a generator do not feel offloads; a stack does: without them every checksum is computed and every segment cut
before the VNF has it. What is turned off is what `offloads: false` turns off: the VNF's ports and the switch's that
lead to them. So the cost is measured with iperf3 between two hosts at the ends of the path (`onboard/sockets`).
"""

import statistics

from nfvbed.errors import OnboardError
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Deployment, PortKind, Record
from nfvbed.records.state import PlaneState
from nfvbed.traffic.sockets import iperf3, sockettools
from nfvbed.traffic.sockets.figures import THROUGHPUT
from nfvbed.vnfs.sockets.ends import socket_ends
from nfvbed.vnfs.sockets.hosts import HostResources

Ports = tuple[str, str]
"""A link's name and its namespace's path."""


class OffloadPrice(Record):
    """TCP goodput through the path, in bits/s, run by run in the order in which they were measured."""

    on_bits_per_s: tuple[int, ...]
    off_bits_per_s: tuple[int, ...]
    duration_s: float
    """Time of one run."""

    @property
    def ratio(self) -> float:
        """Median without offloads over median with them."""
        return statistics.median(self.off_bits_per_s) / statistics.median(self.on_bits_per_s)


class OffloadPricer:
    """Measures the price on one deployment.

    Args:
        deployment: a deployment that has only veth ports, and carries frames; no generator may be open on it.

    Raises:
        OnboardError: its ports are others.
    """

    def __init__(self, deployment: Deployment, around: HostResources) -> None:
        # As the VNFs have them: a mobile core moves each into the namespace of its gateway.
        inner = [port for handle in deployment.vnfs for port in handle.ports]
        kinds = [*(port.kind for port in deployment.ports), *(port.kind for port in inner)]
        if len(deployment.ports) != 2 or set(kinds) != {PortKind.VETH}:
            raise OnboardError(
                "the cost of offloads is measured between kernel ports",
                where=f"{deployment.variant}, {deployment.topology}",
                observed=f"ports: {', '.join(kinds)}",
                fix="choose linux-bridge, and a VNF that is a process",
            )
        self._deployment = deployment
        self._around = around
        switch = PlaneState.of(deployment).switch_netns or ""
        # Those that `offloads: false` is about: the VNF's own, and the switch's that lead to it.
        self._of_vnfs: list[Ports] = [(port.address, port.netns or "") for port in inner]
        self._of_vnfs += [(port.name, switch) for port in inner]

    def measure(self, repeats: int, duration_s: int) -> OffloadPrice:
        """Measure in turns: on, off, on, off, ...

        Raises:
            PrerequisiteError: iperf3 is not there.
            UnsupportedError: the VNF breaks the checksums of ordinary traffic.
            GeneratorError: iperf3 failed; the message holds its words.
        """
        program = sockettools.program(iperf3.NAME)
        found: dict[bool, list[int]] = {True: [], False: []}
        with socket_ends(self._deployment, self._around) as ends:
            for _ in range(repeats):
                for offloads in (True, False):
                    for name, netns in self._of_vnfs:
                        _set(name, netns, offloads)
                    run = iperf3.tcp(program, ends.pair, iperf3.Streams(1, duration_s))
                    found[offloads].append(round(run.value(THROUGHPUT) or 0))
        return OffloadPrice(on_bits_per_s=tuple(found[True]), off_bits_per_s=tuple(found[False]), duration_s=duration_s)


def _set(name: str, netns: str, offloads: bool) -> None:
    inside(netns, lambda: links.set_features(name, dict.fromkeys(links.TRANSMIT_OFFLOADS, offloads)))
