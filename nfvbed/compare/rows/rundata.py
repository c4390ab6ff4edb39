"""What a comparison is made from: one run's records, as the store gives them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nfvbed.records import NEIGHBOUR, SESSIONS, CellRecord, RunRecord, Sessions, Support, TrialRecord
from nfvbed.records.results import ResultRecord
from nfvbed.spec.options import IO_PATHS


@dataclass(frozen=True)
class RunData:
    """One run with its cells, trials and the descriptions that its hashes stand for."""

    run: RunRecord
    cells: tuple[CellRecord, ...]
    trials: tuple[TrialRecord, ...]
    rigs: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Rig descriptions by hash; a missing one costs only the list of differences."""
    host: dict[str, Any] = field(default_factory=dict)
    """The host's description; empty when it is not stored."""
    results: tuple[ResultRecord, ...] = ()
    """Results of tests beside the MRR."""
    supports: tuple[Support, ...] = ()
    """What the doctor said of the variants before the run; none where it was not asked."""
    ports: dict[str, str] = field(default_factory=dict)
    """The ports of cells, by the hash of their configuration, where they are set otherwise than most of their kind."""

    io_paths: dict[str, str] = field(default_factory=dict)
    """The I/O path of cells, by the hash of their configuration, where the kind of their ports leaves it open."""

    tracking: frozenset[str] = frozenset()
    """Hashes of configurations whose switch tracks connections."""

    def sessions_of(self, cell: CellRecord) -> Sessions:
        """Return the form of a cell's traffic, as its rig has it; where it has none there was no choice yet."""
        return Sessions(self.rigs.get(cell.rig_hash, {}).get(SESSIONS, Sessions.UNREPLIED))

    def neighbour_of(self, cell: CellRecord) -> str:
        """Return the noisy neighbour beside a cell's trials, in one line; empty: there was none."""
        return neighbour_line(self.rigs.get(cell.rig_hash, {}))

    @property
    def simulated(self) -> bool:
        """Whether its numbers are a simulation's; no run has both."""
        return any(cell.simulated for cell in self.cells)

    def ports_of(self, cell: CellRecord) -> str:
        """Return the ports of a cell: their kind, and what few have set (`veth-no-offloads`)."""
        return self.ports.get(cell.config_hash, cell.port_kind.value)

    def io_path_of(self, cell: CellRecord) -> str:
        """Return the way by which frames pass the ports outside; empty where it is not known (older runs on veth)."""
        return self.io_paths.get(cell.config_hash) or IO_PATHS.get(cell.port_kind, "")


def neighbour_line(rig: Mapping[str, Any]) -> str:
    """Return a rig's noisy neighbour in one line: its program, workers and cores; empty: there was none."""
    found = rig.get(NEIGHBOUR)
    if not isinstance(found, Mapping):
        return ""
    workers = ", ".join(f"{count} {kind}" for kind, count in found["workers"].items())
    percent = found["memory_percent"]
    memory = f", {percent:g} % of the memory" if percent is not None else ""
    return f"{found['program']}: {workers} workers on cores {', '.join(map(str, found['cores']))}{memory}"
