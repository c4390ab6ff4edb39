"""The interfaces of tables: one that rules or routes are put into, and one that a switch fills by learning."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from nfvbed.errors import NfvbedError
from nfvbed.traffic.generator import PLAIN, Addressing


class TableNotApplicable(Exception):
    """What is deployed has no such table; the text says why. This is no failure: there is nothing to measure."""


@dataclass(frozen=True)
class FilledTable:
    """A table after it was filled."""

    entries: int
    """Entries that frames can match, as the table's holder counts them."""
    flows: int
    """Per direction: so many flows hit as many different entries, spread over the table."""
    addressing: Addressing = PLAIN
    """What those flows look like."""
    duration_ns: int = 0
    """How long filling it took, until all entries were in force."""


class ForwardingTable(ABC):
    """A table of entries in which frames are looked up. One thread uses it; `close` is idempotent."""

    entry: str
    """What an entry is, in the plural: `OpenFlow entries`, `routes`."""
    most: int
    """The most entries that frames can distinguish."""
    notes: tuple[str, ...] = ()
    """What has to be known of its entries to read the figures rightly."""

    @abstractmethod
    def fill(self, entries: int, directions: int) -> FilledTable:
        """Replace the entries by this number of entries; every direction has its share.

        Args:
            entries: number of entries; at least one for each direction is written.

        Raises:
            DeployError: the table does not take them; the message says how many it took.
        """

    @abstractmethod
    def close(self) -> None:
        """Restore what was there before."""


class LearningTable(ABC):
    """The table of addresses that a switch learns, with a monitoring port on the switch (RFC 2889 section 5.7).

    Addresses are learnt at port 1 and asked for from port 0. One thread uses it; `close` is idempotent.
    """

    limit: int | None = None
    """The most addresses that it is set to hold; None: no limit is set, or none is known."""

    @abstractmethod
    def forget(self) -> None:
        """Remove all learnt addresses."""

    @abstractmethod
    def learnt(self) -> int | None:
        """Return the addresses that the switch says it holds; None where it does not say."""

    @abstractmethod
    def flooded(self) -> int:
        """Return the frames that the monitoring port received, cumulative: none of them was for it."""

    @abstractmethod
    def close(self) -> None:
        """Remove the monitoring port and forget what was learnt."""


Table = TypeVar("Table", ForwardingTable, LearningTable)


@contextlib.contextmanager
def closing(table: Table) -> Iterator[Table]:
    """Close a table at the end; where the block failed, its error is raised, not one of closing."""
    try:
        yield table
    except BaseException:
        with contextlib.suppress(NfvbedError, OSError):
            table.close()
        raise
    table.close()


def share_out(entries: int, directions: int) -> tuple[int, ...]:
    """Split entries over directions, at least one for each."""
    return tuple(max(1, entries // directions + (way < entries % directions)) for way in range(directions))
