"""The runs of one setting in order of time: what is one setting, what its figures did, and what changed around it.

A series goes on when its machine gets another kernel, its switch another version or its rig another VNF image: what
that does is what a series is looked at for. So a setting is of a *machine* (processor and topology) and a site, not of
a host hash and a rig hash, and each change of a hash is marked at the run from which on it was so. Another machine is
another setting. Nothing here is a verdict: those are of runs of one host (see `scope`).

A sample is a figure of a cell that did not fail, in a run that came to its end: `ok`, or `blocked`, where only
repetitions are lacking. What failed or was interrupted is in the series with its state, and takes no part in it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from pydantic import Field

from nfvbed.compare.differences.descriptions import differences
from nfvbed.compare.samples.steps import NEWEST, RunFigure, SeriesFinding, find_steps
from nfvbed.records import Record, Sessions, Status
from nfvbed.records.quality import QualityWarning
from nfvbed.units import FrameSize

MRR: Final = "mrr"
"""The test of a setting whose figure is the maximum receive rate."""
MACHINE_CHANGES: Final = {"cpu": ("microcode",), "topology": ("isolated",)}
"""What of a machine may change, by the part of its description; of the other parts all may."""
SHOWN_OF_HASHES: Final = 12
CAME_TO_ITS_END: Final = (Status.OK, Status.BLOCKED)
"""Runs of which figures are samples."""


class Setting(Record):
    """What runs must share to be a series."""

    variant: str
    topology: str
    vnf: str = ""
    """Label of its VNFs; empty without."""
    frame_size: FrameSize
    flows: int
    bidirectional: bool
    test: str = MRR
    """`mrr`, or a test of the experiment and the figure of it that is looked at."""
    site: str
    machine: str
    """Name of the machine: see `machine_of`."""
    simulated: bool = False
    sessions: Sessions = Field(default=Sessions.UNREPLIED, exclude_if=lambda form: form is Sessions.UNREPLIED)
    neighbour: str = Field(default="", exclude_if=lambda line: not line)
    """The noisy neighbour beside it; empty: none."""

    @property
    def cell(self) -> str:
        """The name of its cell."""
        path = f"{self.topology}+{self.vnf}" if self.vnf else self.topology
        return f"{self.variant}/{path}/{self.frame_size}"

    @property
    def name(self) -> str:
        """Its name, unique among settings: what addresses and acknowledgements are about."""
        way = "both ways" if self.bidirectional else "one way"
        mark = ", mirrored sessions" if self.sessions is Sessions.MIRRORED else ""
        mark += f", beside {self.neighbour}" if self.neighbour else ""
        mark += ", simulated" if self.simulated else ""
        return f"{self.cell}, {self.flows} flows {way}, {self.test}, {self.site}, machine {self.machine}{mark}"


class SettingFigure(Record):
    """One run's figure of a setting, and what it was measured with."""

    setting: Setting
    run: str
    at: str
    """When the run began; UTC, ISO 8601."""
    cell: str
    value: float
    """Positive or 0; of rates the median over the visits."""
    unit: str
    """Unit, as `results.Quantity` has it: `frames/s`, `bit/s`, `s`, ..."""
    host_hash: str
    config_hash: str
    rig_hash: str
    status: Status = Status.OK
    """How the run ended: `ok`, or `blocked`."""
    warnings: tuple[QualityWarning, ...] = ()
    """Stored with its trials."""


class ExcludedRun(Record):
    """A run that is no sample of a setting: it has a state, and no figure."""

    setting: Setting
    run: str
    at: str
    """When the run began; UTC, ISO 8601."""
    cell: str
    status: Status
    """Status of the cell where that failed, else of the run."""
    reason: str


class Series(Record):
    """The runs of one setting over time, with the step or trend that was found."""

    setting: Setting
    unit: str
    measured: tuple[SettingFigure, ...]
    """In order of time; those that the finding is about."""
    left_out: tuple[ExcludedRun, ...] = ()
    """In order of time, since the first of them: runs that are no samples."""
    finding: SeriesFinding

    @property
    def all_runs(self) -> tuple[SettingFigure | ExcludedRun, ...]:
        """The runs in order of time, samples or not."""
        return tuple(sorted((*self.measured, *self.left_out), key=lambda entry: (entry.at, entry.run)))


class Change(Record):
    """What was not as it had been in the run before."""

    place: int
    """Place of the run in the series, from 0."""
    run: str
    what: tuple[str, ...]
    """`kernel: 6.12.9 -> 6.18.0`; a hash's name alone where descriptions are not stored."""


def machine_of(host: Mapping[str, Any], host_hash: str) -> str:
    """Return a name for a host's machine, made of what no update of its software changes.

    Args:
        host: its description; empty: not stored.
        host_hash: its hash, which is taken where there is no description.
    """
    if not host:
        return host_hash[:SHOWN_OF_HASHES]
    kept = {part: _lasting(host.get(part), loose) for part, loose in MACHINE_CHANGES.items()}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:SHOWN_OF_HASHES]


def _lasting(part: Any, loose: Sequence[str]) -> Any:
    return {key: value for key, value in part.items() if key not in loose} if isinstance(part, dict) else part


def by_setting(measured: Iterable[SettingFigure]) -> dict[str, tuple[SettingFigure, ...]]:
    """Return the figures of each setting in order of time, by its name; the newest `NEWEST` of each.

    Args:
        measured: those of all runs, in any order; one figure of a setting a run.
    """
    groups: dict[str, list[SettingFigure]] = {}
    for entry in measured:
        groups.setdefault(entry.setting.name, []).append(entry)
    return {
        name: tuple(sorted(members, key=lambda entry: (entry.at, entry.run))[-NEWEST:])
        for name, members in groups.items()
    }


def series_of(members: Sequence[SettingFigure], left_out: Iterable[ExcludedRun] = ()) -> Series:
    """Return what the figures of one setting did.

    Args:
        members: at least one; in order of time.
        left_out: runs of the setting that are no samples, in any order.
    """
    begin = members[0].at
    others = sorted((entry for entry in left_out if entry.at >= begin), key=lambda entry: (entry.at, entry.run))
    figures = [RunFigure(run=entry.run, at=entry.at, value=entry.value) for entry in members]
    newest = members[-1]
    return Series(
        setting=newest.setting,
        unit=newest.unit,
        measured=tuple(members),
        left_out=tuple(others),
        finding=find_steps(figures),
    )


def changes_in(series: Series, descriptions: Mapping[str, Mapping[str, Any]]) -> tuple[Change, ...]:
    """Return where host, rig or configuration of a series changed, and in what.

    Args:
        descriptions: those of hosts, rigs and configurations by hash, as far as they are stored.
    """
    found = []
    for place, (before, after) in enumerate(pairwise(series.measured), start=1):
        what: list[str] = []
        for name in ("host", "rig", "configuration"):
            left, right = (_hash_of(entry, name) for entry in (before, after))
            if left != right:
                known = differences(descriptions.get(left, {}), descriptions.get(right, {}))
                what += known or [f"{name}: hash {left[:SHOWN_OF_HASHES]} -> {right[:SHOWN_OF_HASHES]}"]
        if what:
            found.append(Change(place=place, run=after.run, what=tuple(what)))
    return tuple(found)


def _hash_of(entry: SettingFigure, name: str) -> str:
    return {"host": entry.host_hash, "rig": entry.rig_hash, "configuration": entry.config_hash}[name]
