"""What is recorded of a running VPP."""

from typing import Annotated

from nfvbed.dataplanes.vpp.interfaces import Graph
from nfvbed.records.state import NESTED, Cores, State


class VppState(State):
    """Its program, its sockets, and its configuration."""

    program: str
    netns: str
    """Path of the network namespace that it runs in."""
    statistics: str
    """Socket of its counters."""
    interfaces: Annotated[dict[str, int], NESTED]
    """VPP's number (`sw_if_index`) of each interface by its name."""
    cores: Cores
    """Cores of its main thread and of its workers."""
    workers: int
    graph: Annotated[Graph, NESTED]
