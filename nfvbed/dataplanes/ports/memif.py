"""memif ports: rings in shared memory over a Unix socket, as DPDK's driver and Open vSwitch open them.

The listener must be there before the other side starts: DPDK's client connects once, when its port starts, and not
again when its peer has gone. So the switch listens, and generator and VNFs connect to it. A VNF that is looped back
alone listens itself.

Each thread of Open vSwitch sends on a transmit queue of its own: the main thread on queue 0, the polling threads on
those behind it. A memif has only the rings that its client asks for; with one, what a polling thread sends is lost. So
Open vSwitch's clients receive on one more queue than it has polling threads. The ceilings have one queue.

From a VNF Open vSwitch receives on as many queues as it sends on, and a VNF must open as many to send on, though it
uses one. For a queue that the client lacks, DPDK's driver (22.11) reads the ring of queue 0, and does so behind queue 0
itself. Each frame then comes twice, the second time as whatever the slot holds by then.
"""

from pathlib import Path

from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.ports.vhost_user import MACS
from nfvbed.records import GeneratorPort, PortKind, VnfPort
from nfvbed.spec.layout import End

MOST_THREADS = 15
"""Polling threads of Open vSwitch: nfvgen receives on 16 queues at most (`native/nfvgen/dpdk/port.c`)."""


def queues(threads: int) -> int:
    """Return how many queues Open vSwitch's peers receive on: one each for its main thread and its polling threads."""
    return 1 + threads


def devargs(device: str, path: Path | str, size: int, *, listens: bool) -> str:
    """Return DPDK's arguments of a port.

    Args:
        device: the device's name, which begins with `net_memif`.
        size: size of each ring, a power of two; where the two sides differ, the client's counts.
        listens: whether this side makes the socket.
    """
    role = "server" if listens else "client"
    return f"{device},role={role},socket={path},socket-abstract=no,id=0,rsize={size.bit_length() - 1}"


def generator_port(
    index: int, path: Path, size: int, *, listens: bool = False, queues: int = 1, sending: int = 1
) -> GeneratorPort:
    """Return a generator's port.

    Args:
        queues: that it receives on.
        sending: queues that it sends on, at most as many.
    """
    spec = f"{devargs(f'net_memif{index}', path, size, listens=listens)},mac={MACS[index]}"
    if queues > 1:
        spec = f"{spec},rx_queues={queues}"
    return GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.MEMIF, queues=sending, ring_size=size)


def vnf_port(end: End, path: Path, size: int, *, listens: bool = False, queues: int = 1) -> VnfPort:
    """Return a VNF's port: a socket like vhost-user's, except for which side listens."""
    port = vhost_user.vnf_port(end, path, size, queues)
    return port.model_copy(update={"kind": PortKind.MEMIF, "listens": listens})
