"""A switch's connection tracking: entries and their states, and what the datapath does with frames of them."""

from abc import ABC, abstractmethod

from nfvbed.records import Record


class Connections(Record):
    """Connection tracking of one switch at one moment; counts of packets are cumulative."""

    where: str
    ports: int
    """Ports at which connections are looked up; a session that passes all of them has an entry for each."""
    entries: int
    """UDP connections."""
    replied: int
    """Those of them of which both directions have been seen: they are established."""
    masks: int
    """Different masks of the datapath's flows."""
    packets: int
    """Packets that the datapath received."""
    recirculations: int
    """How often it took one of them up again: after a look-up, or out of a tunnel."""
    established: dict[str, int]
    """Packets that were looked up as established, by datapath flow; a flow that has ended took its count along."""
    not_established: dict[str, int]
    """The same of those that were not: their connection is new."""

    @property
    def unreplied(self) -> int:
        """Connections of which one direction alone has been seen."""
        return self.entries - self.replied


class ConnectionTracker(ABC):
    """Reads the connection tracking of a deployment's switches."""

    @abstractmethod
    def look(self) -> tuple[Connections, ...]:
        """Read the connection tracking of each switch, in the order of the path.

        Raises:
            DeployError: one does not answer.
        """
