"""The tables of a simulated system, as tests see them."""

from nfvbed.dataplanes.tables import FilledTable, ForwardingTable, LearningTable, share_out
from nfvbed.traffic.simulated.tables import SimulatedTables


class SimulatedEntries(ForwardingTable):
    """Entries whose cost is known."""

    entry = "simulated entries"
    most = 1_000_000

    def __init__(self, tables: SimulatedTables) -> None:
        self._tables = tables

    def fill(self, entries: int, directions: int) -> FilledTable:
        """Set the number of entries."""
        shares = share_out(entries, directions)
        self._tables.entries = sum(shares)
        return FilledTable(entries=self._tables.entries, flows=min(shares))

    def close(self) -> None:
        """Go back to one entry."""
        self._tables.entries = 1


class SimulatedLearning(LearningTable):
    """Addresses whose number and rate are known."""

    def __init__(self, tables: SimulatedTables) -> None:
        self._tables = tables

    def forget(self) -> None:
        """Forget all addresses."""
        self._tables.learnt = 0

    def learnt(self) -> int | None:
        """Return None: the test is not told what is known."""
        return None

    def flooded(self) -> int:
        """Return the frames that were flooded."""
        return self._tables.flooded

    def close(self) -> None:
        """Forget all addresses."""
        self.forget()
