"""What a comparison says of its hosts: their placement classes, the time that was stolen, how often cores moved."""

from collections.abc import Iterable, Sequence

from nfvbed.compare.rows.changes import find_changes
from nfvbed.compare.rows.choice import ClassChoice
from nfvbed.compare.rows.placement import Placement
from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import Record, RenewedPart, Status, TrialRecord
from nfvbed.units import NS_PER_S


class HostPlacement(Record):
    """The placement classes of one host, and the one in which tests beside the MRR are shown."""

    host_hash: str
    classes: tuple[str, ...]
    """Nearest first."""
    medians_ns: tuple[float, ...]
    boundaries_ns: tuple[float, ...]
    """Distances that separate states, those of states that are no class included."""
    choice: ClassChoice


class HostState(Record):
    """How quiet a host was while the trials ran."""

    host_hash: str
    trials: int
    """Trials that ended well."""
    stolen_ratio: float | None
    """Part of the trials' time in which the thread that lost most was kept from its core; None: not known."""
    changes_per_s: float | None
    """Changes of class, estimated from the ends of trials whose distances were read; None: none were."""
    hidden_ratio: float | None = None
    """Estimated part of the trials that look as if they ran in one class and did not; None: not known."""
    renewed: tuple[RenewedPart, ...] = ()
    """What visits set up again."""


def placement_of_host(host: str, placement: Placement, choice: ClassChoice) -> HostPlacement:
    """Return what is shown of a host's classes."""
    return HostPlacement(
        host_hash=host,
        classes=placement.classes,
        medians_ns=placement.medians_ns,
        boundaries_ns=placement.boundaries_ns,
        choice=choice,
    )


def state_of_host(host: str, runs: Sequence[RunData], placement: Placement) -> HostState:
    """Return how quiet a host was over all trials of its runs that ended well.

    Args:
        host: its hash.
        placement: that of all trials of these runs, in order.
    """
    every = [trial for entry in runs for trial in entry.trials]
    ended = [(trial, end) for trial, end in zip(every, placement.ends, strict=True) if trial.status is Status.OK]
    read = [(end, trial.duration_ns / NS_PER_S) for trial, end in ended if end is not None]
    changes = find_changes([end for end, _ in read], [duration for _, duration in read]) if read else None
    return HostState(
        host_hash=host,
        trials=len(ended),
        stolen_ratio=stolen_ratio(trial for trial, _ in ended),
        changes_per_s=changes.per_s if changes else None,
        hidden_ratio=changes.hidden if changes else None,
        renewed=tuple(sorted({trial.renewed for trial, _ in ended if trial.renewed is not None})),
    )


def stolen_ns(trial: TrialRecord) -> int | None:
    """Return how long the thread that lost most was kept from its core; None where it was not read."""
    known = [entry.stolen_ns for entry in trial.cpu if entry.stolen_ns is not None]
    return max(known) if known else None


def stolen_ratio(trials: Iterable[TrialRecord]) -> float | None:
    """Return the part of trials' time that was stolen; None where it was not read."""
    known = [(stolen, trial.duration_ns) for trial in trials if (stolen := stolen_ns(trial)) is not None]
    duration_ns = sum(duration for _, duration in known)
    return sum(stolen for stolen, _ in known) / duration_ns if duration_ns else None
