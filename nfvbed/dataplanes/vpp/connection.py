"""What stays open to a VPP between two readings: its API, its statistics, and what its workers spent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nfvbed.dataplanes.vpp import reading
from nfvbed.dataplanes.vpp.api import VppApi
from nfvbed.dataplanes.vpp.busy import BusyMeter
from nfvbed.dataplanes.vpp.runtime import runtime_of
from nfvbed.dataplanes.vpp.statistics import Entries, Statistics
from nfvbed.errors import DeployError
from nfvbed.records import SwitchCounters


@dataclass(frozen=True)
class Connection:
    """A connection to the API of one VPP."""

    api: VppApi
    statistics: Statistics
    check: Callable[[], None]
    """Raises when it has ended."""
    meter: BusyMeter = field(default_factory=BusyMeter)

    @classmethod
    def open(cls, api: VppApi, statistics: Path, check: Callable[[], None]) -> "Connection":
        """Connect to the API and to the statistics.

        Raises:
            SwitchDiedError: VPP has ended.
            DeployError: it does not answer.
        """
        check()
        return cls(api.open(), Statistics(statistics), check)

    def close(self) -> None:
        """Close both."""
        self.api.close()
        self.statistics.close()

    def read(self, *, errors: bool = False) -> Entries:
        """Read the statistics of a VPP that lives: those of a dead one stay readable in shared memory.

        Raises:
            SwitchDiedError: VPP has ended.
            DeployError: they cannot be read.
        """
        try:
            entries = self.statistics.read(errors=errors)
        except DeployError:
            self.check()
            raise
        self.check()
        return entries

    def counters(self, numbers: Mapping[str, int]) -> SwitchCounters:
        """Return the frames that interfaces received, and what the workers' graph took for them.

        Two readings are taken: the first ends the count so far, the second shows what polling costs without frames.

        Args:
            numbers: VPP's numbers of the interfaces (`sw_if_index`), by name.
        """
        for _ in range(2):
            entries = self.read()
            self.meter.add(runtime_of(entries))
        return reading.counters(entries, numbers, self.meter.busy_cycles)
