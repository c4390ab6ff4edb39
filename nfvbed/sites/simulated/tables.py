"""The tables of a simulated system, as tests see them."""

from nfvbed.dataplanes.tables import Filling, ForwardingTable, LearningTable, share_out
from nfvbed.traffic.simulated.tables import SimulatedTables


class SimulatedEntries(ForwardingTable):
    """Entries whose cost is known."""

    entry = "simulated entries"
    most = 1_000_000

    def __init__(self, tables: SimulatedTables) -> None:
        self._tables = tables

    def fill(self, entries: int, directions: int) -> Filling:
        """Have so many."""
        shares = share_out(entries, directions)
        self._tables.entries = sum(shares)
        return Filling(entries=self._tables.entries, flows=min(shares))

    def close(self) -> None:
        """Have one again."""
        self._tables.entries = 1


class SimulatedLearning(LearningTable):
    """Addresses whose number and rate are known."""

    def __init__(self, tables: SimulatedTables) -> None:
        self._tables = tables

    def forget(self) -> None:
        """Forget them."""
        self._tables.learnt = 0

    def learnt(self) -> int | None:
        """None: what is known is not reported to the test."""
        return None

    def flooded(self) -> int:
        """Frames that were flooded."""
        return self._tables.flooded

    def close(self) -> None:
        """Forget them."""
        self.forget()
